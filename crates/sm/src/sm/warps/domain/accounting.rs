//! What the warps of a domain wait for, counted: a handful of population counts.

use super::Domain;
use crate::stats::{SchedulerState, WarpState, WarpStates};

/// What the cycles of a scheduler that issued nothing count as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Warps are ready, but there is no room for them.
    Stalled,
    /// No warp is ready, and some wait for memory.
    Memory,
    /// No warp is ready, and none waits for memory.
    Other,
}

impl Domain {
    /// Warps that wait for a branch: for siblings that have not come to it, for its way out of
    /// the pipeline, or for its target.
    #[inline]
    fn in_control(&self) -> u64 {
        self.stopped | self.on_the_way()
    }

    /// Of those, the ones that wait for no siblings.
    #[inline]
    fn on_the_way(&self) -> u64 {
        let target = (self.control | self.unresolved) & !self.head;
        self.head & !self.matched | target
    }

    /// Calls `f` with the state of every resident warp, as sets. Those that could issue are
    /// `Structural` here, whether their unit has room or not.
    #[inline(always)]
    pub fn classify(&self, mut f: impl FnMut(WarpState, u64)) {
        let mut rest = self.resident;
        let take = |rest: &mut u64, set: u64| {
            let taken = *rest & set;
            *rest &= !set;
            taken
        };
        // Most often every warp is one that the scheduler looks at.
        if rest & !self.candidates() != 0 {
            f(WarpState::ExitSiblings, take(&mut rest, self.retired));
            f(WarpState::ExitStores, take(&mut rest, self.finished));
            if rest & self.held != 0 {
                let barrier = self.barrier | self.members;
                f(WarpState::Barrier, take(&mut rest, barrier));
                // Most often it is a barrier.
                if rest & self.held != 0 {
                    f(WarpState::ExitSiblings, take(&mut rest, self.siblings));
                    f(WarpState::NextBlock, take(&mut rest, self.next_block));
                    let memory = self.fence | self.atomic;
                    f(WarpState::DataMemory, take(&mut rest, memory));
                    f(WarpState::DataAlu, take(&mut rest, self.asleep));
                }
            }
            if rest & self.stopped != 0 {
                let memory = self.settling_memory;
                f(WarpState::DataMemory, take(&mut rest, memory));
                f(WarpState::DataAlu, take(&mut rest, self.settling));
                f(WarpState::Control, take(&mut rest, self.stopped));
            }
        }
        f(WarpState::Control, take(&mut rest, self.on_the_way()));
        f(WarpState::Fetch, take(&mut rest, !self.head));
        let memory = !self.clear & self.wait_memory;
        f(WarpState::DataMemory, take(&mut rest, memory));
        f(WarpState::DataAlu, take(&mut rest, !self.clear));
        f(WarpState::Structural, rest);
    }

    /// Accounts `cycles` cycles for every resident warp; says what they are if none issued.
    /// `issued` is the set that issued (all of them could) and `room` those whose unit has room.
    #[inline(always)] // a call would cost as much as the counting
    pub fn account(&self, issued: u64, room: u64, cycles: u64, states: &mut WarpStates) -> Idle {
        // Counting no warps is cheaper than asking whether there are any.
        let mut count = |state, set: u64| states.count(state, set.count_ones() as u64 * cycles);
        let (mut ready, mut memory, mut alu) = (0, 0, 0);
        self.classify(|state, set| match state {
            WarpState::Structural => ready = set,
            WarpState::DataMemory => memory |= set,
            WarpState::DataAlu => alu |= set,
            _ => count(state, set),
        });
        count(WarpState::DataMemory, memory);
        count(WarpState::DataAlu, alu);
        count(WarpState::Structural, ready & !room & !issued);
        if (room | issued) != 0 {
            count(WarpState::Eligible, ready & room & !issued);
            count(WarpState::Issued, issued);
        }
        if ready != 0 {
            Idle::Stalled
        } else if memory != 0 {
            Idle::Memory
        } else {
            Idle::Other
        }
    }

    /// Why a scheduler that issued nothing did not, given the warp it ranks first.
    #[inline(always)] // as accounting asks it
    pub fn stall(&self, first: Option<u8>) -> SchedulerState {
        let Some(i) = first else {
            return if self.resident == 0 {
                SchedulerState::Idle
            } else {
                SchedulerState::Exit
            };
        };
        let is = |set: u64| set >> i & 1 != 0;
        if !is(self.candidates() & self.head & self.matched) {
            self.stall_otherwise(i)
        } else if is(self.clear) {
            SchedulerState::Structural
        } else if is(self.wait_memory) {
            SchedulerState::DataMemory
        } else {
            SchedulerState::DataAlu
        }
    }

    /// What a warp waits for that waits neither for data nor for room.
    #[inline(never)]
    fn stall_otherwise(&self, i: u8) -> SchedulerState {
        let is = |set: u64| set >> i & 1 != 0;
        if is(self.candidates()) {
            // None of what makes warps wait otherwise.
            return match is(self.in_control()) {
                true => SchedulerState::Control,
                false => SchedulerState::Fetch,
            };
        }
        if is(self.barrier | self.members) {
            SchedulerState::Barrier
        } else if is(self.next_block | self.siblings) {
            SchedulerState::Exit
        } else if is(self.fence | self.atomic) {
            SchedulerState::DataMemory
        } else if is(self.asleep) {
            SchedulerState::DataAlu
        } else if is(self.settling_memory) {
            SchedulerState::DataMemory
        } else if is(self.settling) {
            SchedulerState::DataAlu
        } else if is(self.in_control()) {
            SchedulerState::Control
        } else {
            debug_assert!(!is(self.head), "it waits for data or room");
            SchedulerState::Fetch
        }
    }
}
