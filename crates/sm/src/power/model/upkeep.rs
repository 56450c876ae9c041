//! What the lanes do by themselves, brought up to date: phases, epochs, coordinated blackout.

use super::Power;
use crate::power::Side;
use crate::power::lanes::Gate;
use crate::power::phases::{Buffered, IssuedSoFar, Phases};
use crate::time::Cycle;

impl Power {
    /// Whether catching up to cycle `now` takes a look at the warps.
    #[inline]
    pub fn looks_at_warps(&self, now: Cycle) -> bool {
        let ends = self.phases.as_ref().map_or(Cycle::NEVER, Phases::ends);
        ends <= now || self.gates.is_some_and(|g| g.coordinated)
    }

    /// Catches up to the start of cycle `now`, before which no warp has changed since the last
    /// call: the warps have these instructions in their buffers, and so many were issued.
    pub fn catch_up(&mut self, now: Cycle, buffered: Buffered, issued: u64) {
        loop {
            let phase = self.phases.as_ref().map_or(Cycle::NEVER, Phases::ends);
            let epoch = self.idle_detect.ends();
            let next = phase.min(epoch);
            if next > now {
                break;
            }
            self.coordinate(next, buffered.sides);
            self.settle_all(next);
            if epoch == next {
                self.idle_detect.next_epoch();
                self.rules_since = next + 1;
            }
            if phase == next {
                self.start_phase(next, buffered, issued);
            }
        }
        self.coordinate(now, buffered.sides);
    }

    fn start_phase(&mut self, now: Cycle, buffered: Buffered, issued: u64) {
        let Some(phases) = &mut self.phases else {
            return;
        };
        for side in Side::ALL {
            let cycles = phases.folding_cycles(side, now);
            self.counters[side as usize].folding_cycles += cycles;
        }
        let issued = IssuedSoFar {
            all: issued,
            sides: [self.counters[0].issues, self.counters[1].issues],
            slots: self.slots,
        };
        phases.start(now, issued, buffered);
    }

    /// Accounts for all lanes up to cycle `to`.
    pub(super) fn settle_all(&mut self, to: Cycle) {
        for side in Side::ALL {
            let rules = self.rules(side);
            for p in self.pipelines.iter_mut().flatten() {
                if let Some(lanes) = &mut p.sides[side as usize] {
                    lanes.settle(to, &rules, &mut self.counters[side as usize]);
                }
            }
        }
    }

    /// Coordinated blackout up to cycle `to`: the sides of a type are switched off in the order in
    /// which they have been idle for long enough, the last one only if no warp is about to use it.
    fn coordinate(&mut self, to: Cycle, waiting: [u32; 2]) {
        let first = self.caught_up + 1;
        self.caught_up = self.caught_up.max(to);
        if !self.gates.is_some_and(|g| g.coordinated) || to < first {
            return;
        }
        for side in Side::ALL {
            let detect = self.idle_detect.cycles(side);
            let earliest = first.max(self.rules_since);
            let mut due: Vec<(Cycle, usize)> = Vec::new();
            for (at, p) in self.pipelines.iter().enumerate() {
                let lanes = p.as_ref().and_then(|p| p.sides[side as usize].as_ref());
                if let Some(lanes) = lanes
                    && !matches!(lanes.domain_gate(), Gate::Off(_))
                {
                    due.push((lanes.domain_idle_at(detect).max(earliest), at));
                }
            }
            let mut left = due.len();
            due.retain(|(at, _)| *at <= to);
            due.sort_unstable();
            for (at, pipeline) in due {
                if left > 1 || waiting[side as usize] == 0 {
                    let (lanes, counters) = self.settled(pipeline, side, at);
                    lanes.switch_off(at, counters);
                    left -= 1;
                }
            }
        }
    }

    /// Whether all lanes of each side are in blackout in cycle `now`.
    pub fn in_blackout(&mut self, now: Cycle) -> [bool; 2] {
        let Some(gates) = self.gates.filter(|g| g.blackout) else {
            return [false; 2];
        };
        self.settle_all(now);
        Side::ALL.map(|side| {
            let pipelines = self.pipelines.iter().flatten();
            let mut lanes = pipelines.filter_map(|p| p.sides[side as usize].as_ref());
            lanes.all(|lanes| match lanes.domain_gate() {
                Gate::Off(since) => now < since + u64::from(gates.break_even),
                _ => false,
            })
        })
    }
}
