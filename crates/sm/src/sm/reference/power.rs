//! Power of the lanes at the start of a cycle: what the warps have in their buffers for them, and what the issue policy
//! hears.

use super::Sm;
use super::warp::Warp;
use crate::place::each;
use crate::power::Buffered;
use crate::sm::launch::Launched;
use crate::time::Cycle;

impl Sm {
    /// A launch begins: every lane is on.
    pub(super) fn begin_power(&mut self, now: Cycle) {
        if let Some(power) = &mut self.pipelines.power {
            power.begin(now);
        }
        let length = self.policy.minds_power().and_then(|policy| policy.phase());
        self.phase_ends = length.map_or(Cycle::NEVER, |length| now + length);
    }

    /// The power of the lanes at the start of cycle `now`, and what the issue policy hears of it. Without warps nothing
    /// has to be known.
    pub(super) fn power_stage(&mut self, now: Cycle, launched: &Launched) {
        let comes = self.arrivals.front().is_some_and(|(at, _)| *at <= now);
        if self.pipelines.power.is_none() || !comes && self.here.iter().all(|count| *count == 0) {
            return;
        }
        let buffered = self.buffered(launched);
        let issued = self.stats.counters.warp_instructions;
        let Some(power) = &mut self.pipelines.power else {
            return;
        };
        power.catch_up(now, buffered, issued);
        let Some(policy) = self.policy.minds_power() else {
            return;
        };
        policy.blackout(power.in_blackout(now));
        while self.phase_ends <= now {
            policy.phase_starts(buffered.full, buffered.partial);
            self.phase_ends = policy
                .phase()
                .map_or(Cycle::NEVER, |length| self.phase_ends + length);
        }
        if policy.avoids_sleepers() {
            self.tell_sleepers(now, launched);
        }
    }

    /// The warps of a scheduler's active set whose next instruction is in their buffer and that wait for nothing else, a
    /// bit each.
    fn about_to_issue(&self, d: usize) -> u64 {
        let known =
            |slot: u16, warp: &Warp| warp.is_candidate() && warp.has_next(self.groups.get(slot).pc);
        self.policy.active(d) & self.those(d, known)
    }

    /// What the warps of the active sets have in their buffers for the lanes.
    fn buffered(&self, launched: &Launched) -> Buffered {
        let mut all = Buffered::default();
        for d in 0..self.layout.domains() {
            for index in each(self.about_to_issue(d)) {
                let group = self.groups.get(self.slot(d, index as u8));
                let Some(side) = launched.facts[group.pc as usize].through.side else {
                    continue;
                };
                all.sides[side as usize] += 1;
                let full = group.mask.count_ones() == self.machine.sm.warp_width;
                *match full {
                    true => &mut all.full,
                    false => &mut all.partial,
                } += 1;
            }
        }
        all
    }

    /// The policy hears which warps of the active sets would find their lanes off, or waking up.
    fn tell_sleepers(&mut self, now: Cycle, launched: &Launched) {
        for d in 0..self.layout.domains() {
            let mut asleep = 0;
            for index in each(self.about_to_issue(d)) {
                let group = self.groups.get(self.slot(d, index as u8));
                let facts = &launched.facts[group.pc as usize];
                let on = self
                    .pipelines
                    .would_find_lanes_on(d, facts, group.mask, now);
                asleep |= u64::from(!on) << index;
            }
            if let Some(policy) = self.policy.minds_power() {
                policy.sleepers(d, asleep);
            }
        }
    }

    /// What the lanes did before cycle `end`, with which a launch has ended.
    pub(super) fn count_power(&mut self, end: Cycle) {
        let issued = self.stats.counters.warp_instructions;
        if let Some(power) = &mut self.pipelines.power {
            power.catch_up(end, Buffered::default(), issued);
            [self.stats.int_pipe, self.stats.fp_pipe] = power.counted(end);
        }
    }
}
