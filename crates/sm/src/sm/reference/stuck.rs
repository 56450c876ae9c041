//! Whether anything happens, and what warps of a run that does not go on wait for.

use super::Sm;
use crate::divergence::GroupState;
use crate::sm::launch::Launched;
use crate::sm::observe::StuckWarp;
use crate::stats::WarpState;
use crate::time::Cycle;

impl Sm {
    /// Instructions issued and fetched, and blocks that have ended.
    pub(super) fn done(&self) -> [u64; 3] {
        let counters = &self.stats.counters;
        [
            counters.warp_instructions,
            counters.fetches,
            counters.blocks,
        ]
    }

    /// Whether something has happened in cycle `now`, before which so much was [done](Sm::done), or is under way by itself.
    pub(super) fn has_moved(&self, before: [u64; 3], now: Cycle) -> bool {
        let comes = |next: Cycle| next != Cycle::NEVER && next > now;
        self.done() != before
            || !self.pipelines.is_empty()
            || !self.sleepers.is_empty()
            || !self.arrivals.is_empty()
            || comes(self.model.next())
            || self.policy.ticks() && comes(self.policy.next())
    }

    /// Every warp that has not finished, and what it does.
    pub fn stuck(&self, launched: &Launched) -> Vec<StuckWarp> {
        let mut stuck = Vec::new();
        for (slot, warp) in (0..).zip(&self.warps) {
            let group = self.groups.get(slot);
            let gone = matches!(group.state, GroupState::Finished | GroupState::Free);
            if !warp.resident || gone || group.mask == 0 {
                continue;
            }
            let home = &self.threads.warps[usize::from(group.first_home())];
            let does = warp.does(group.pc, &launched.facts, self.one_in_flight);
            stuck.push(StuckWarp {
                sm: self.id,
                slot,
                block: self.threads.blocks[usize::from(home.block)].ctaid,
                warp: home.index,
                pc: group.pc,
                place: launched.kernel.origin(group.pc).to_string(),
                waits_for: waits_for(does).into(),
            });
        }
        stuck
    }
}

/// What a warp waits for that does this, in words.
fn waits_for(does: WarpState) -> &'static str {
    match does {
        WarpState::Fetch => "instructions",
        WarpState::Control => "a branch, or siblings that the divergence model waits for",
        WarpState::DataMemory => "memory",
        WarpState::DataAlu => "a result, or the end of its nanosleep",
        WarpState::Barrier => "a barrier, or threads that its .sync operation names",
        WarpState::NextBlock => "its next logical block",
        WarpState::Structural | WarpState::Eligible | WarpState::Issued => "its turn",
        WarpState::ExitStores | WarpState::ExitSiblings => "siblings",
    }
}
