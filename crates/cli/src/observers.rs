//! Several observers at once.

use std::io;
use warpsim_ptx::kernel::Kernel;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::stats::{EnergyCounters, MemoryCounters, SmCounters};
use warpsim_sim::time::Cycle;

/// Tells all of them everything, in order.
pub struct Observers(pub Vec<Box<dyn Observer>>);

impl Observers {
    /// One observer that stands for all of `list`, if there are any.
    pub fn of(mut list: Vec<Box<dyn Observer>>) -> Option<Box<dyn Observer>> {
        match list.len() {
            0 | 1 => list.pop(),
            _ => Some(Box::new(Observers(list))),
        }
    }
}

impl Observer for Observers {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        for observer in &mut self.0 {
            observer.warp(cycle, sm, slot, event);
        }
    }

    fn launched(&mut self, cycle: Cycle, kernel: &Kernel, files: &[(u32, String)]) {
        for observer in &mut self.0 {
            observer.launched(cycle, kernel, files);
        }
    }

    fn ended(&mut self, cycle: Cycle) {
        for observer in &mut self.0 {
            observer.ended(cycle);
        }
    }

    fn samples_every(&self) -> Option<u64> {
        let every = self.0.iter().filter_map(|o| o.samples_every());
        every.min()
    }

    fn sample(&mut self, from: Cycle, to: Cycle, spent: &EnergyCounters) {
        for observer in &mut self.0 {
            observer.sample(from, to, spent);
        }
    }

    fn counted(&mut self, from: Cycle, to: Cycle, sm: &SmCounters, memory: &MemoryCounters) {
        for observer in &mut self.0 {
            observer.counted(from, to, sm, memory);
        }
    }

    fn complete(&mut self) -> io::Result<Option<String>> {
        let mut notes = Vec::new();
        for observer in &mut self.0 {
            notes.extend(observer.complete()?);
        }
        Ok((!notes.is_empty()).then(|| notes.join("\nnote: ")))
    }
}
