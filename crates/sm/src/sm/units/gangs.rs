//! Instructions of gangs: those of warps with units of their own enter all their pipelines as one, and
//! of warps that share their units it is known which they are.

use super::{Done, EXIT_STAGES, Units};
use crate::place::each;
use crate::sm::facts::OpFacts;
use crate::sm::fixed_list::FixedList;
use crate::sm::limits::MOST_PIPELINES;
use crate::sm::operands::{GangIssued, Issued};
use crate::time::Cycle;

impl Units {
    /// Whether instructions of gangs may come as one: the warps of a home warp sit one behind the other,
    /// the power of their lanes is not watched, and there is a bus for every pipeline.
    #[inline]
    pub fn takes_gangs(&self) -> bool {
        self.takes_gangs
    }

    /// An operation of a gang enters a pipeline of each of its slices, if all of them can take it; says
    /// whether.
    #[inline(never)]
    pub(super) fn enter_gang(&mut self, gang: &GangIssued, now: Cycle, facts: &[OpFacts]) -> bool {
        let facts = &facts[gang.op.pc as usize];
        // The groups of the slices lie one behind the other, and so do their pipelines, one each.
        let first = self.plan.groups[gang.first as usize].pipelines.start;
        let pipelines = u64::from(gang.slices) << first;
        let is_busy = |pipeline: usize| now < self.entry_free[pipeline % MOST_PIPELINES];
        if now < self.all_free && each(pipelines).any(is_busy) {
            return false;
        }
        let at = now + facts.latency as u64 + EXIT_STAGES;
        if !self.results.claim_all(at, pipelines as u32) {
            return false;
        }
        let interval = facts.interval as u64;
        // Nothing else comes to them in this cycle.
        if interval > 1 {
            let free = now + interval;
            each(pipelines).for_each(|p| self.entry_free[p % MOST_PIPELINES] = free);
            self.all_free = self.all_free.max(free);
        }
        let Issued { slot, pc, .. } = gang.op;
        let slices = gang.slices;
        self.results.push(at, Done { slot, slices, pc });
        true
    }
}

/// Warps that issued an instruction together, by the order number of the instruction. Most
/// instructions have no entry here: their one warp is in the instruction itself.
#[derive(Debug, Default)]
pub(super) struct Gangs {
    pub members: Vec<(u64, FixedList<u16, 8>)>,
}

impl Gangs {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Calls `f` for every warp that issued `op`, and forgets the gang.
    #[inline]
    pub fn each(&mut self, op: Issued, mut f: impl FnMut(u16)) {
        let gang = |(order, _): &(u64, FixedList<u16, 8>)| *order == op.order;
        if let Some(at) = self.members.iter().position(gang) {
            let (_, slots) = self.members.swap_remove(at);
            slots.iter().copied().for_each(f);
        } else {
            f(op.slot);
        }
    }
}

#[cfg(test)]
#[path = "gang_tests.rs"]
mod tests;
