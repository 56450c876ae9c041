//! A run that is interrupted (Ctrl-C, `kill`) says so, with what it had.

use crate::console::failure::say;
use crate::console::progress::amount;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use warpsim_sim::progress::{Progress, Snapshot};
use warpsim_study::plan::Run;
use warpsim_study::record::Record;
use warpsim_study::runner::Watch;

/// The exit code of a program that an interrupt ended, as shells have it.
pub const INTERRUPTED: i32 = 130;

/// What is to be said.
static STATE: Mutex<String> = Mutex::new(String::new());

/// Folders that go away with the program, however it ends.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// From now on an interrupt removes these folders, too.
pub fn remove(folders: &[&Path]) {
    let mut all = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    all.extend(folders.iter().map(|folder| folder.to_path_buf()));
}

fn state() -> MutexGuard<'static, String> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on an interrupt ends the program with a message.
pub fn listen() {
    // Without it the program still ends, in silence.
    let _ = ctrlc::set_handler(|| {
        let had = state().clone();
        let had = if had.is_empty() {
            String::new()
        } else {
            format!(": {had}")
        };
        say(&format!("\ninterrupted{had}\n"));
        for folder in &*FOLDERS.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = std::fs::remove_dir_all(folder);
        }
        std::process::exit(INTERRUPTED);
    });
}

/// Keeps what is known of a run for the message.
pub struct Noting {
    inner: Box<dyn Progress>,
    kernel: String,
}

impl Noting {
    /// Tells `inner`, too.
    pub fn new(inner: Box<dyn Progress>) -> Noting {
        *state() = "nothing has run yet, and nothing was written".into();
        Noting {
            inner,
            kernel: String::new(),
        }
    }
}

impl Progress for Noting {
    fn kernel(&mut self, name: &str, blocks: u64) {
        self.kernel = warpsim_present::mangled::shown(name);
        *state() = format!(
            "in kernel {} of {blocks} blocks; nothing was written",
            self.kernel
        );
        self.inner.kernel(name, blocks);
    }
    fn update(&mut self, snapshot: Snapshot) {
        *state() = format!(
            "{} cycles and {} warp instructions were simulated, {} of {} blocks of kernel {} are done; \
             nothing was written",
            amount(snapshot.cycles as f64),
            amount(snapshot.warp_instructions as f64),
            snapshot.blocks_done,
            snapshot.blocks_total,
            self.kernel
        );
        self.inner.update(snapshot);
    }
    fn finish(&mut self, snapshot: Snapshot) {
        self.inner.finish(snapshot);
    }
}

/// Keeps what is known of a study for the message.
pub struct NotingStudy {
    inner: Box<dyn Watch>,
    command: String,
    done: usize,
    total: usize,
}

impl NotingStudy {
    /// Tells `inner`, too. `command` goes on with the study.
    pub fn new(inner: Box<dyn Watch>, command: &str) -> NotingStudy {
        NotingStudy {
            inner,
            command: command.to_string(),
            done: 0,
            total: 0,
        }
    }

    fn remember(&self) {
        *state() = format!(
            "{} of {} runs are done and kept; to go on with the others:\n{}",
            self.done, self.total, self.command
        );
    }
}

impl Watch for NotingStudy {
    fn begin(&mut self, total: usize, reused: usize, jobs: usize) {
        (self.total, self.done) = (total, reused);
        self.remember();
        self.inner.begin(total, reused, jobs);
    }
    fn started(&mut self, run: &Run) {
        self.inner.started(run);
    }
    fn finished(&mut self, run: &Run, record: &Record) {
        self.done += 1;
        self.remember();
        self.inner.finished(run, record);
    }
    fn tick(&mut self, left: Option<Duration>) {
        self.inner.tick(left);
    }
    fn note(&mut self, text: &str) {
        self.inner.note(text);
    }
    fn end(&mut self) {
        self.inner.end();
    }
    fn width(&self) -> Option<usize> {
        crate::console::terminal::width()
    }
}
