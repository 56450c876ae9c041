//! What the GPU tells an SM, and asks of it.

use super::Sm;
use crate::exec::memory::image::GlobalMemory;
use crate::exec::state::Threads;
use crate::sm::launch::SmFault;
use crate::sm::residents::{Coming, Ended, Request};
use crate::stats::SmStats;
use crate::time::Cycle;

impl Sm {
    /// Accounts for the end of a launch with cycle `end`.
    pub fn finish(&mut self, end: Cycle) {
        self.count_power(end);
        let [read, written] = std::mem::take(&mut self.port.traffic);
        self.stats.counters.read_bytes += read;
        self.stats.counters.written_bytes += written;
        self.take_back(end, self.ran);
    }

    /// What is to come to it in cycle `at`, behind what comes in the same cycle.
    pub fn expect(&mut self, at: Cycle, what: Coming) {
        let behind = self.arrivals.partition_point(|(other, _)| *other <= at);
        self.arrivals.insert(behind, (at, what));
    }

    /// Whether the issue policy wants to hear when no block is left to be handed out.
    pub fn hears_of_last_block(&self) -> bool {
        self.policy.hears_blocks()
    }

    /// Takes the number of blocks that have completed since this was asked last.
    pub fn take_completed(&mut self) -> u32 {
        std::mem::take(&mut self.completed)
    }

    /// Takes the logical blocks that virtual ones have asked for since this was asked last.
    pub fn take_requests(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.requests)
    }

    /// Whether nothing is resident or on its way.
    pub fn is_idle(&self) -> bool {
        let comes = |(_, what): &(Cycle, Coming)| matches!(what, Coming::Block(_));
        self.memory.is_empty() && self.has_no_block() && !self.arrivals.iter().any(comes)
    }

    /// The cycle behind the last in which something happened.
    pub fn moved(&self) -> Cycle {
        self.moved
    }

    /// The cycle in which a warp retired last.
    pub fn last_retired(&self) -> Cycle {
        self.last_retired
    }

    /// Blocks of this launch that have ended, in order.
    pub fn ended(&self) -> &[Ended] {
        &self.ended
    }

    /// The deepest reconvergence stack of this launch.
    pub fn deepest_stack(&self) -> u32 {
        self.model.deepest()
    }

    /// What it has counted.
    pub fn stats(&self) -> &SmStats {
        &self.stats
    }

    /// What its threads have in registers.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Performs an atomic, given by its token, that has reached L2.
    pub fn perform_atomic(&mut self, token: u32, image: &mut GlobalMemory) -> Result<(), SmFault> {
        self.memory.perform_atomic(token, image)
    }
}
