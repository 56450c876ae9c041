//! Showing how far a study is: a bar with what runs on a terminal, a line for each run in a pipe.

use crate::console::failure::tell;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use warpsim_present::visible;
use warpsim_study::plan::Run;
use warpsim_study::record::Record;
use warpsim_study::runner::{Silent, Watch};
use warpsim_study::words;

/// What suits standard error, or nothing when `quiet`.
pub fn choose(quiet: bool) -> Box<dyn Watch> {
    if quiet {
        Box::new(Silent)
    } else if std::io::stderr().is_terminal() {
        Box::new(Bar::default())
    } else {
        Box::new(Lines::new())
    }
}

#[derive(Default)]
struct Bar {
    bar: Option<ProgressBar>,
    running: Vec<String>,
    failed: usize,
}

impl Bar {
    fn show(&self, left: Option<Duration>) {
        let Some(bar) = &self.bar else {
            return;
        };
        let failed = match self.failed {
            0 => String::new(),
            n => format!("{n} failed, "),
        };
        let left = left.map_or(String::new(), |l| format!("{}  ", words::left(l)));
        let running = self.running.join(", ");
        bar.set_message(format!("{failed}{left}{}", visible(&running)));
    }
}

impl Watch for Bar {
    fn begin(&mut self, total: usize, reused: usize, _jobs: usize) {
        let bar = ProgressBar::new(total as u64);
        if let Ok(style) =
            ProgressStyle::with_template("[{bar:24}] {pos}/{len} runs  {elapsed}  {wide_msg}")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_position(reused as u64);
        self.bar = Some(bar);
    }
    fn started(&mut self, run: &Run) {
        self.running.push(run.shown());
        self.show(None);
    }
    fn finished(&mut self, run: &Run, record: &Record) {
        self.running.retain(|r| *r != run.shown());
        self.failed += usize::from(!record.status.good());
        if let Some(bar) = &self.bar {
            bar.inc(1);
            if !record.status.good() {
                let reason = record.reason.lines().next().unwrap_or_default();
                let status = record.status.name();
                let line = format!("{status}: {}: {reason}", run.shown());
                bar.println(visible(&line));
            }
        }
    }
    fn tick(&mut self, left: Option<Duration>) {
        self.show(left);
    }
    fn note(&mut self, text: &str) {
        tell!("{text}");
    }
    fn end(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

struct Lines {
    start: Instant,
    total: usize,
    done: usize,
    left: Option<Duration>,
}

impl Lines {
    fn new() -> Lines {
        Lines {
            start: Instant::now(),
            total: 0,
            done: 0,
            left: None,
        }
    }
}

impl Watch for Lines {
    fn begin(&mut self, total: usize, reused: usize, jobs: usize) {
        (self.total, self.done, self.start) = (total, reused, Instant::now());
        if reused > 0 {
            tell!("{total} runs, {reused} of them done before; {jobs} at a time");
        } else {
            tell!("{total} runs, {jobs} at a time");
        }
    }
    fn finished(&mut self, run: &Run, record: &Record) {
        self.done += 1;
        let left = self.left.filter(|_| self.done < self.total);
        let left = left.map_or(String::new(), |l| format!(", {}", words::left(l)));
        tell!(
            "{}/{} {}: {}, {}{left}",
            self.done,
            self.total,
            run.shown(),
            record.status.name(),
            words::time(record.seconds),
        );
    }
    fn tick(&mut self, left: Option<Duration>) {
        self.left = left;
    }
    fn note(&mut self, text: &str) {
        tell!("{text}");
    }
    fn end(&mut self) {
        tell!(
            "ran for {}",
            words::time(self.start.elapsed().as_secs_f64())
        );
    }
}
