//! Where every cycle of every warp and scheduler went. Cycles are accounted for together as long
//! as nothing changes: whoever changes a warp's state calls [`touch`](Sm::touch) before.

use super::domain::Idle;
use super::*;

impl Sm {
    /// Accounts for the time up to the end of a launch. An SM may have run a little beyond:
    /// nothing was resident then, and those cycles are taken back.
    pub fn finish(&mut self, end: Cycle) {
        let end = end.get();
        self.count_active(end);
        let [read, written] = std::mem::take(&mut self.port.traffic);
        self.stats.counters.read_bytes += read;
        self.stats.counters.written_bytes += written;
        for d in 0..self.domains.len() {
            let accounted = self.domains[d].accounted;
            if accounted <= end {
                self.pass(d, end);
                continue;
            }
            let beyond = accounted - end;
            self.stats.schedulers.uncount(SchedulerState::Idle, beyond);
            self.stats.counters.scheduler_cycles -= beyond;
            self.stats.counters.w0_idle -= beyond;
            self.domains[d].accounted = end;
            self.ran = end;
        }
    }

    /// The state of a warp of `domain` is about to change: accounts for the domain's cycles up
    /// to the one from which on the change counts.
    #[inline(always)]
    pub(super) fn touch(&mut self, domain: u8) {
        if self.everywhere {
            return self.touch_all();
        }
        self.stirred.stir(domain);
        let d = domain as usize;
        self.pass(d, self.now + (self.turned >> d & 1));
    }

    /// The same for all domains.
    pub(super) fn touch_all(&mut self) {
        self.stirred = Stirred::ALL;
        for d in 0..self.domains.len() {
            self.pass(d, self.now + (self.turned >> d & 1));
        }
    }

    /// Accounts for the domain's cycles before `to` that are not yet accounted for: nothing
    /// issued in them and every warp was in the state it is in now.
    #[inline]
    pub(super) fn pass(&mut self, d: usize, to: u64) {
        if self.domains[d].accounted < to {
            self.account_to(d, to);
        }
    }

    fn account_to(&mut self, d: usize, to: u64) {
        let from = self.domains[d].accounted;
        if !self.policy_rotates || self.domains[d].resident == 0 {
            self.policy.advance(d, from, to);
        }
        if self.policy_refreshes {
            let facts = self.facts(d);
            self.policy.refresh(d, &facts);
        }
        // Issue keeps `room` up to date where it makes a difference: for warps that could issue
        // but for it.
        let room = self.domains[d].room;
        self.watch(d, 0, room, from);
        let domain = &self.domains[d];
        let idle = domain.account(0, room, to - from, &mut self.stats.warps);
        if !self.policy_rotates || domain.resident == 0 {
            let state = domain.stall(self.policy.first(d, domain.running | domain.stopped));
            self.stats.schedulers.count(state, to - from);
        } else {
            self.count_turns(d, from, to);
        }
        self.count_idle(d, idle, from, to);
        self.count_cycles(d, to);
    }

    /// Accounts for a cycle in which a scheduler looked at its warps and issued none.
    #[inline(never)]
    pub(super) fn account_stall(&mut self, d: usize, room: u64, now: u64) {
        let idle = self.domains[d].account(0, room, 1, &mut self.stats.warps);
        self.count_idle(d, idle, now, now + 1);
        self.watch(d, 0, room, now);
        self.count_stall(d);
    }

    /// Why a scheduler did not issue, cycle by cycle: who is first changes as they pass.
    fn count_turns(&mut self, d: usize, from: u64, to: u64) {
        for cycle in from..to {
            self.count_stall(d);
            self.policy.advance(d, cycle, cycle + 1);
        }
    }

    /// Nothing issued from cycle `from` to `to`: what that is to the paper on thread block
    /// compaction.
    #[inline]
    fn count_idle(&mut self, d: usize, idle: Idle, from: u64, to: u64) {
        let held = self.domains[d].issue_free.min(to).saturating_sub(from);
        let counters = &mut self.stats.counters;
        counters.issue_held += held;
        *match idle {
            Idle::Stalled => &mut counters.issue_stalled,
            Idle::Memory => &mut counters.w0_memory,
            Idle::Other => &mut counters.w0_idle,
        } += to - from - held;
    }

    /// The domain's cycles before `to` are accounted for.
    #[inline]
    pub(super) fn count_cycles(&mut self, d: usize, to: u64) {
        let domain = &mut self.domains[d];
        let cycles = to - domain.accounted;
        domain.accounted = to;
        self.stats.counters.warp_cycles += domain.resident.count_ones() as u64 * cycles;
        self.stats.counters.scheduler_cycles += cycles;
    }

    /// Counts the cycles before `to` in which warps were resident; called before any comes or
    /// leaves.
    pub(super) fn count_active(&mut self, to: u64) {
        if self.active_from < to {
            let active = if self.pools {
                self.blocks.iter().any(Option::is_some)
            } else {
                self.domains.iter().any(|d| d.resident != 0)
            };
            self.stats.counters.active_cycles += (to - self.active_from) * active as u64;
            self.active_from = to;
        }
    }

    /// Which unit groups can take an instruction this cycle, as [`Collectors::room`] says it.
    #[inline]
    pub(super) fn room(&self) -> u8 {
        self.collectors.room()
    }

    pub(super) fn facts(&self, domain: usize) -> crate::schedule::Facts {
        let d = &self.domains[domain];
        crate::schedule::Facts {
            running: d.running,
            waiting: d.waiting(),
            long_wait: d.long_wait,
        }
    }

    fn count_stall(&mut self, domain: usize) {
        let d = &self.domains[domain];
        let first = self.policy.first(domain, d.running | d.stopped);
        let state = d.stall(first);
        debug_assert!(state != SchedulerState::Issued);
        self.stats.schedulers.count(state, 1);
    }
}
