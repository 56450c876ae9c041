//! Progress of launches that take long: those that do not are told of by the line at their end.

use crate::console::progress;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use warpsim_sim::progress::{Progress, Snapshot};

/// Launches that take less are not shown.
const LONG: Duration = Duration::from_secs(1);

#[derive(Default)]
struct State {
    shown: Option<Box<dyn Progress>>,
    kernel: String,
    blocks: u64,
    since: Option<Instant>,
    last: Snapshot,
}

/// Shows a launch once it has taken a while.
#[derive(Clone, Default)]
pub struct Late(Arc<Mutex<State>>);

impl Late {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes away what is shown, so that something else can be written.
    pub fn clear(&self) {
        let mut state = self.state();
        let last = state.last;
        if let Some(mut shown) = state.shown.take() {
            shown.finish(last);
        }
    }
}

impl Progress for Late {
    fn kernel(&mut self, name: &str, blocks: u64) {
        self.clear();
        let mut state = self.state();
        state.kernel = name.to_string();
        state.blocks = blocks;
        state.since = Some(Instant::now());
    }

    fn update(&mut self, snapshot: Snapshot) {
        let mut state = self.state();
        state.last = snapshot;
        if state.since.is_none_or(|since| since.elapsed() < LONG) {
            return;
        }
        let (kernel, blocks) = (state.kernel.clone(), state.blocks);
        let shown = state.shown.get_or_insert_with(|| {
            let mut shown = progress::choose(false);
            shown.kernel(&kernel, blocks);
            shown
        });
        shown.update(snapshot);
    }

    fn finish(&mut self, _snapshot: Snapshot) {
        self.clear();
    }
}
