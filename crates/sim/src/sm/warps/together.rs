//! Whether the warps of a whole gang hold the same: what slices in [lockstep](super::lockstep) ask
//! before they do something once for all of them.

use super::WarpTable;
use crate::sm::facts::OpFacts;

impl WarpTable {
    /// Whether, while all domains hold the same, the warps of a whole gang are known to have the same
    /// in their buffers and in flight.
    #[inline]
    pub fn is_together(&self, first: u16) -> bool {
        self.together >> self.place(first).index & 1 != 0
    }

    /// Whether, while all domains hold the same, the warps of a whole gang have the same in their
    /// buffers and the same holds it back.
    #[inline]
    pub(super) fn heads_alike(&mut self, first: u16, code: &[OpFacts]) -> bool {
        self.is_together(first) || self.compare_heads(first, code)
    }

    #[inline(never)]
    fn compare_heads(&mut self, first: u16, code: &[OpFacts]) -> bool {
        if !self.buffers_alike(first) {
            return false;
        }
        let all = self.whole(first);
        let flying = |slot: u16| {
            let warp = &self.warps[slot as usize];
            (warp.in_flight, warp.memory_in_flight, warp.ahead)
        };
        if all.clone().all(|slot| flying(slot) == flying(first))
            && self.scoreboard.owes_alike(all.clone())
        {
            self.together |= 1 << self.place(first).index;
            return true;
        }
        let Some(pc) = self.warps[first as usize].buffer.head() else {
            return true;
        };
        let facts = &code[pc as usize];
        let hazard = self.hazard(first, facts);
        let same = |slot| self.hazard(slot, facts) == hazard;
        all.clone().all(same)
    }

    #[inline]
    pub(super) fn buffers_alike(&self, first: u16) -> bool {
        let all = self.whole(first);
        let all = &self.warps[all.start as usize..all.end as usize];
        all.iter().all(|warp| warp.buffer == all[0].buffer)
    }
}
