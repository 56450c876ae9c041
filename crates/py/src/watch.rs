//! Waiting for a run: signals, progress, and what went wrong in Python meanwhile.

use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use warpsim_present::mangled::shown;
use warpsim_sim::progress::{Progress, Snapshot};

/// How often Python is asked: soon enough for a person, seldom enough to cost nothing.
const EVERY: Duration = Duration::from_millis(50);

/// The first exception that Python code raised while a run went on; the run then ends.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps the first one.
    pub fn keep(&self, error: PyErr) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(error);
    }

    /// Whether there is one.
    pub fn any(&self) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.is_some()
    }

    /// Takes it.
    pub fn take(&self) -> Option<PyErr> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.take()
    }
}

/// Looks for signals now and then, and tells Python how far the run is.
pub struct Watch {
    callback: Option<Py<PyAny>>,
    raised: Raised,
    last: Instant,
    kernel: String,
    seen: Option<Snapshot>,
}

impl Watch {
    /// Calls `callback(kernel, blocks_done, blocks, cycles, warp_instructions)`.
    pub fn new(callback: Option<Py<PyAny>>, raised: Raised) -> Watch {
        Watch {
            callback,
            raised,
            last: Instant::now(),
            kernel: String::new(),
            seen: None,
        }
    }

    fn ask_python(&mut self) -> PyResult<()> {
        let seen = self.seen.take();
        Python::attach(|py| {
            py.check_signals()?;
            if let (Some(callback), Some(s)) = (&self.callback, seen) {
                let (done, all) = (s.blocks_done, s.blocks_total);
                let arguments = (&self.kernel, done, all, s.cycles, s.warp_instructions);
                callback.call1(py, arguments)?;
            }
            Ok(())
        })
    }
}

impl Progress for Watch {
    fn kernel(&mut self, name: &str, _blocks: u64) {
        self.kernel = shown(name);
    }
    fn update(&mut self, snapshot: Snapshot) {
        self.seen = Some(snapshot);
    }
    fn stops(&mut self) -> bool {
        if self.last.elapsed() >= EVERY {
            if let Err(error) = self.ask_python() {
                self.raised.keep(error);
            }
            self.last = Instant::now();
        }
        self.raised.any()
    }
    fn finish(&mut self, _snapshot: Snapshot) {}
}
