//! Showing how far a run is: a bar on a terminal, a line now and then in a pipe.

use crate::console::failure::tell;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use warpsim_sim::progress::{Progress, Silent, Snapshot};

/// What suits standard error, or nothing when `quiet`.
pub fn choose(quiet: bool) -> Box<dyn Progress> {
    if quiet {
        Box::new(Silent)
    } else if std::io::stderr().is_terminal() {
        Box::new(Bar::new())
    } else {
        Box::new(Lines::new())
    }
}

/// Cycles, instructions per cycle, and how fast the simulation goes, for people.
fn describe(snapshot: Snapshot, since: Instant) -> String {
    let ipc = snapshot.warp_instructions as f64 / snapshot.cycles.max(1) as f64;
    let seconds = since.elapsed().as_secs_f64().max(1e-9);
    format!(
        "{} cycles, warp IPC {ipc:.2}, {} warp instr/s",
        amount(snapshot.cycles as f64),
        amount(snapshot.warp_instructions as f64 / seconds),
    )
}

/// A number with three or four digits and a letter for its size.
pub fn amount(n: f64) -> String {
    match n {
        n if n >= 1e9 => format!("{:.2}G", n / 1e9),
        n if n >= 1e6 => format!("{:.2}M", n / 1e6),
        n if n >= 1e4 => format!("{:.1}k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

/// The end of a name that would leave no room for the bar: mangled names begin alike.
fn short(name: &str) -> String {
    const LONGEST: usize = 24;
    let length = name.chars().count();
    if length <= LONGEST {
        return name.to_string();
    }
    let tail: String = name.chars().skip(length - (LONGEST - 2)).collect();
    format!("..{tail}")
}

struct Bar {
    bar: ProgressBar,
    start: Instant,
}

impl Bar {
    fn new() -> Bar {
        let bar = ProgressBar::new(0);
        // A malformed template would be a mistake here, not the user's: fall back.
        if let Ok(style) = ProgressStyle::with_template(
            "{prefix} [{bar:24}] {pos}/{len} blocks  {elapsed}  {wide_msg}",
        ) {
            bar.set_style(style.progress_chars("=> "));
        }
        Bar {
            bar,
            start: Instant::now(),
        }
    }
}

impl Progress for Bar {
    fn kernel(&mut self, name: &str, blocks: u64) {
        self.bar.set_prefix(short(name));
        self.bar.set_length(blocks);
        self.bar.set_position(0);
    }
    fn update(&mut self, snapshot: Snapshot) {
        self.bar.set_length(snapshot.blocks_total);
        self.bar.set_position(snapshot.blocks_done);
        self.bar.set_message(describe(snapshot, self.start));
    }
    fn finish(&mut self, _snapshot: Snapshot) {
        self.bar.finish_and_clear();
    }
}

struct Lines {
    start: Instant,
    last: Instant,
    kernel: String,
}

impl Lines {
    /// Seldom enough for a log file.
    const EVERY: Duration = Duration::from_secs(5);

    fn new() -> Lines {
        Lines {
            start: Instant::now(),
            last: Instant::now(),
            kernel: String::new(),
        }
    }
}

impl Progress for Lines {
    fn kernel(&mut self, name: &str, _blocks: u64) {
        self.kernel = warpsim_present::mangled::shown(name);
    }
    fn update(&mut self, snapshot: Snapshot) {
        if self.last.elapsed() >= Self::EVERY {
            self.last = Instant::now();
            tell!(
                "{}: {}/{} blocks, {}",
                self.kernel,
                snapshot.blocks_done,
                snapshot.blocks_total,
                describe(snapshot, self.start)
            );
        }
    }
    fn finish(&mut self, _snapshot: Snapshot) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(short("matmul"), "matmul");
        let shown = short("_Z19a_kernel_with_a_very_long_namePfS_i");
        assert_eq!(shown, ".._a_very_long_namePfS_i");
        assert_eq!(shown.chars().count(), 24);
    }

    #[test]
    fn amounts_are_short() {
        let shown = [0.0, 9_999.0, 12_345.0, 2_500_000.0, 7.25e9].map(amount);
        assert_eq!(shown, ["0", "9999", "12.3k", "2.50M", "7.25G"]);
    }
}
