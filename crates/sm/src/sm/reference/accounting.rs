//! What every warp and every scheduler does in every cycle: each is counted once, at the turn of its scheduler.

use super::Sm;
use crate::divergence::GroupState;
use crate::place::each;
use crate::sm::launch::Launched;
use crate::stats::{SchedulerState, WarpState};
use crate::time::Cycle;

impl Sm {
    /// The turn of a scheduler in cycle `now`: its warp `issued`, or none. `room`: its warps with room at their units, a
    /// bit each.
    pub(super) fn account(
        &mut self,
        d: usize,
        issued: Option<u8>,
        room: u64,
        now: Cycle,
        launched: &Launched,
    ) {
        let (mut ready, mut waits_for_memory) = (false, false);
        for index in each(self.those(d, |_, _| true)).map(|index| index as u8) {
            let slot = self.slot(d, index);
            let state = match self.does(slot, launched) {
                WarpState::Structural if issued == Some(index) => WarpState::Issued,
                WarpState::Structural if room >> index & 1 != 0 => WarpState::Eligible,
                state => state,
            };
            ready |= matches!(state, WarpState::Structural | WarpState::Eligible);
            waits_for_memory |= state == WarpState::DataMemory;
            self.stats.warps.count(state, 1);
            self.stats.counters.warp_cycles += 1;
        }
        self.stats.counters.scheduler_cycles += 1;
        if issued.is_some() {
            self.stats.schedulers.count(SchedulerState::Issued, 1);
            return;
        }
        let counters = &mut self.stats.counters;
        *match () {
            () if self.issue_free[d] > now => &mut counters.issue_held,
            () if ready => &mut counters.issue_stalled,
            () if waits_for_memory => &mut counters.w0_memory,
            () => &mut counters.w0_idle,
        } += 1;
        let state = self.stall(d, launched);
        self.stats.schedulers.count(state, 1);
        if self.here[d] > 0 {
            self.policy.advance(d, now, now + 1);
        }
    }

    /// What a warp does in this cycle, if it issues nothing and finds no room at its unit.
    fn does(&self, slot: u16, launched: &Launched) -> WarpState {
        let next = self.groups.get(slot).pc;
        self.warps[usize::from(slot)].does(next, &launched.facts, self.one_in_flight)
    }

    /// Why a scheduler issues nothing: what the warp that comes first in the policy's order waits for, of those with
    /// threads that have not exited.
    fn stall(&self, d: usize, launched: &Launched) -> SchedulerState {
        let ranked = self.those(d, |_, warp| {
            warp.is_running() || warp.state == GroupState::Stopped
        });
        let Some(first) = self.policy.first(d, ranked) else {
            return match self.those(d, |_, warp| warp.resident) {
                0 => SchedulerState::Idle,
                _ => SchedulerState::Exit,
            };
        };
        match self.does(self.slot(d, first), launched) {
            WarpState::Fetch => SchedulerState::Fetch,
            WarpState::Control => SchedulerState::Control,
            WarpState::DataMemory => SchedulerState::DataMemory,
            WarpState::DataAlu => SchedulerState::DataAlu,
            WarpState::Barrier => SchedulerState::Barrier,
            WarpState::NextBlock | WarpState::ExitStores | WarpState::ExitSiblings => {
                SchedulerState::Exit
            }
            WarpState::Structural | WarpState::Eligible | WarpState::Issued => {
                SchedulerState::Structural
            }
        }
    }

    /// The launch has ended with cycle `end`, and the SM has run up to cycle `now`: nothing was resident in the cycles
    /// behind the end, and they do not count.
    pub(super) fn take_back(&mut self, end: Cycle, now: Cycle) {
        let beyond = now.since(end) * self.layout.domains() as u64;
        let counters = &mut self.stats.counters;
        counters.scheduler_cycles -= beyond;
        counters.w0_idle -= beyond;
        self.stats.schedulers.uncount(SchedulerState::Idle, beyond);
    }
}
