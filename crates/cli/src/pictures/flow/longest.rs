//! How much each launch of a run executes.

use std::cell::RefCell;
use std::rc::Rc;
use warpsim_ptx::kernel::Kernel;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::time::Cycle;

/// Counts the instructions of threads, launch by launch.
pub struct Counter {
    launches: Rc<RefCell<Vec<u64>>>,
}

impl Counter {
    /// The counter, and what it counts.
    pub fn new() -> (Counter, Rc<RefCell<Vec<u64>>>) {
        let launches = Rc::default();
        let counter = Counter {
            launches: Rc::clone(&launches),
        };
        (counter, launches)
    }
}

impl Observer for Counter {
    fn warp(&mut self, _: Cycle, _: u16, _: u16, event: WarpEvent) {
        if let WarpEvent::Issued { lanes, .. } = event
            && let Some(launch) = self.launches.borrow_mut().last_mut()
        {
            *launch += u64::from(lanes.count_ones());
        }
    }

    fn launched(&mut self, _: Cycle, _: &Kernel, _: &[(u32, String)]) {
        self.launches.borrow_mut().push(0);
    }
}
