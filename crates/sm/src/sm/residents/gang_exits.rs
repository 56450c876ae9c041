//! A gang whose threads all exit. Each of its warps is followed as if it had exited by itself; slices that are in
//! lockstep (`warps/lockstep`) stay so.

use super::Residents;
use super::blocks::ResidentBlock;
use crate::divergence::GroupState;
use crate::place::each;
use crate::schedule::Together;
use crate::sm::launch::Launched;
use warpsim_ptx::kernel::Pc;

impl Residents {
    /// Whether no thread of a warp's block waits for others, at a barrier or in a `.sync` operation: then no thread goes on
    /// because others exit.
    #[inline(never)]
    pub fn exits_alone(&self, slot: u16) -> bool {
        let block = self.blocks.get(self.warps.warp(slot).block);
        !self.follows_all
            && self.meetings.is_empty()
            && !block.is_some_and(ResidentBlock::has_arrivals)
    }

    /// The active threads of a gang's warps have exited, [alone](Self::exits_alone), at `pc`.
    #[inline(never)]
    pub fn gang_exits(&mut self, gang: Together, pc: Pc, launched: &Launched) {
        let mut finished = 0;
        for slice in each(gang.slices().into()) {
            let slot = self.warps.slot_at(gang.among(1 << slice).leader());
            let lanes = self.groups.get(slot).mask;
            self.model.exited(slot, lanes, pc + 1, &mut self.groups);
            if self.groups.get(slot).state != GroupState::Finished {
                self.follow_issue(slot, launched); // other threads of it go on
                continue;
            }
            self.warp_exited(slot);
            match self.groups.take_only_change(slot) {
                true => finished |= 1 << slice,
                false => self.follow(launched),
            }
        }
        if finished != 0 {
            self.follow_finished(gang.among(finished), pc, launched);
        }
    }

    /// All threads of a gang's warps have exited: so do the warps.
    fn follow_finished(&mut self, gang: Together, pc: Pc, launched: &Launched) {
        let slots = self.warps.slots_of(gang);
        if !self.warps.finish_gang(gang, pc, &mut self.books) {
            let ownership = self.ownership;
            return slots.for_each(|slot| ownership.follow(self, slot, launched));
        }
        for slot in slots {
            self.warps.warp_mut(slot).lanes = 0;
        }
    }
}
