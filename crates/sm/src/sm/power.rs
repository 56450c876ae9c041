//! The power of the lanes as a part of an SM: what it sees of the warps, and what the issue policy
//! hears of it.

use super::Sm;
use super::launch::Launched;
use super::residents::Residents;
use super::units::Units;
use crate::place::Place;
use crate::power::{Buffered, Side};
use crate::stats::SmStats;
use crate::time::Cycle;

/// Phases of an issue policy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PolicyPhases {
    length: Option<u64>,
    ends: Cycle,
}

impl PolicyPhases {
    /// The first phase of a launch begins.
    pub fn begin(residents: &mut Residents, now: Cycle) -> PolicyPhases {
        let length = residents.books.policy.minds_power();
        let length = length.and_then(|policy| policy.phase());
        PolicyPhases {
            length,
            ends: length.map_or(Cycle::NEVER, |length| now + length),
        }
    }
}

impl Sm {
    /// Brings the power of the lanes up to date at the start of a cycle that runs, before any warp
    /// changes. Where no warp is and none comes, that can wait.
    pub(super) fn catch_up_power(&mut self, now: Cycle, launched: &Launched) {
        if self.minds_warps(now) {
            self.settle_power(now, launched);
        }
    }

    /// Whether warps are here, or come in cycle `now`.
    pub(super) fn minds_warps(&self, now: Cycle) -> bool {
        let residents = &self.residents;
        residents.warps.any_resident() || residents.blocks.next_arrival() <= now
    }

    /// Brings power up to date where warps are here.
    fn settle_power(&mut self, now: Cycle, launched: &Launched) {
        let residents = &mut self.residents;
        let Some(power) = self.units.power() else {
            return;
        };
        let phases = &mut self.policy_phases;
        let buffered = match power.looks_at_warps(now) || phases.ends <= now {
            true => buffered(residents, launched),
            false => Buffered::default(),
        };
        let issued = residents.books.stats.counters.warp_instructions;
        power.catch_up(now, buffered, issued);
        let Some(policy) = residents.books.policy.minds_power() else {
            return;
        };
        policy.blackout(power.in_blackout(now));
        let avoids_sleepers = policy.avoids_sleepers();
        while phases.ends <= now {
            policy.phase_starts(buffered.full, buffered.partial);
            phases.ends += phases.length.unwrap_or(u64::MAX);
        }
        if avoids_sleepers {
            tell_sleepers(residents, &mut self.units, launched, now);
        }
    }

    /// What has been counted before cycle `now`, which has not run; warp and scheduler states may
    /// be behind.
    pub fn sampled(&mut self, now: Cycle, launched: &Launched) -> SmStats {
        if self.residents.books.considers() {
            self.ask_for_skipped(now, launched);
        }
        let issued = self.stats().counters.warp_instructions;
        if self.minds_warps(now) {
            self.settle_power(now, launched);
        } else if let Some(power) = self.units.power() {
            // Without warps the policy hears of nothing, sampled or not.
            power.catch_up(now, Buffered::default(), issued);
        }
        let [int_pipe, fp_pipe] = self.units.pipe_counters(now);
        let mut stats = SmStats {
            int_pipe,
            fp_pipe,
            ..self.stats().clone()
        };
        // Counted at the end of a launch: until then, those whose state is known.
        stats.counters.warp_cycles = stats.warps.sum();
        stats.counters.scheduler_cycles = stats.schedulers.sum();
        stats
    }

    /// What the lanes did before cycle `end`, at the end of a launch: no warp is left.
    pub(super) fn count_power(&mut self, end: Cycle) {
        let issued = self.residents.books.stats.counters.warp_instructions;
        let Some(power) = self.units.power() else {
            return;
        };
        power.catch_up(end, Buffered::default(), issued);
        let [int, fp] = self.units.pipe_counters(end);
        let stats = &mut self.residents.books.stats;
        (stats.int_pipe, stats.fp_pipe) = (int, fp);
    }
}

/// The policy hears which warps of the active sets would find their lanes off, or waking up.
fn tell_sleepers(residents: &mut Residents, units: &mut Units, launched: &Launched, now: Cycle) {
    for d in 0..residents.warps.layout().domains() {
        let active = residents.books.policy.active(d);
        let mut left = active & residents.warps.sets(d).next_known();
        let mut asleep = 0;
        while left != 0 {
            let index = left.trailing_zeros() as u8;
            left &= left - 1;
            let place = Place {
                domain: d as u8,
                index,
            };
            let slot = residents.warps.slot_at(place);
            let facts = &launched.facts[residents.warps.next_of_any(slot) as usize];
            let lanes = residents.groups.get(slot).mask;
            let on = units.would_find_lanes_on(d, facts, lanes, now);
            asleep |= u64::from(!on) << index;
        }
        if let Some(policy) = residents.books.policy.minds_power() {
            policy.sleepers(d, asleep);
        }
    }
}

/// What the warps of the active sets have in their buffers for the lanes.
fn buffered(residents: &Residents, launched: &Launched) -> Buffered {
    let mut all = Buffered::default();
    let warps = &residents.warps;
    let width = 32 / warps.layout().slices() as u32;
    for d in 0..warps.layout().domains() {
        let mut left = residents.books.policy.active(d) & warps.sets(d).next_known();
        while left != 0 {
            let index = left.trailing_zeros() as u8;
            left &= left - 1;
            let place = Place {
                domain: d as u8,
                index,
            };
            let slot = warps.slot_at(place);
            let pc = warps.next_of_any(slot);
            let Some(side) = launched.facts[pc as usize].through.side else {
                continue;
            };
            all.sides[side as usize] += 1;
            let full = residents.groups.get(slot).mask.count_ones() == width;
            *match full {
                true => &mut all.full,
                false => &mut all.partial,
            } += 1;
        }
    }
    debug_assert_eq!(
        all.sides[Side::Int as usize] + all.sides[Side::Fp as usize],
        all.full + all.partial
    );
    all
}
