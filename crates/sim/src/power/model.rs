//! Power of an SM's lanes: gates, folding and their accounts together.

use super::adaptive::IdleDetect;
use super::folding::{self, Folding, Way};
use super::gating::Gates;
use super::lanes::{Gate, Lanes, Rules};
use super::phases::{Buffered, IssuedSoFar, Phases};
use super::units::{lanes_of, sides_of};
use super::{Side, folding_of, gating_of};
use crate::config::{Machine, Per, Unit};
use crate::place::Layout;
use crate::stats::PipeCounters;
use crate::time::Cycle;

/// A pipeline with its lanes.
#[derive(Clone, Debug)]
struct Pipeline {
    /// By side; a unit that takes nothing of a side has none of it.
    sides: [Option<Lanes>; 2],
    /// Its first lane among those of the SM, and how wide the warps are that it serves.
    first: u32,
    width: u32,
    /// Its lanes.
    lanes: u32,
}

/// An instruction that enters a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its lanes.
    pub way: Way,
    /// It enters in this cycle,
    pub now: Cycle,
    /// is in its lanes for so long,
    pub latency: u64,
    /// and keeps the entry so long.
    pub interval: u64,
}

/// Power of an SM's lanes.
pub struct Power {
    gates: Option<Gates>,
    folding: Option<Folding>,
    cluster: u32,
    /// By pipeline.
    pipelines: Vec<Option<Pipeline>>,
    idle_detect: IdleDetect,
    phases: Option<Phases>,
    /// When the rules for idle lanes last changed.
    rules_since: Cycle,
    /// The lanes of instructions that have been issued and have not entered a pipeline, by their
    /// order numbers.
    under_way: Vec<(u64, u32)>,
    counters: [PipeCounters; 2],
    /// Up to here, what depends on the warps is known.
    caught_up: Cycle,
    began: Cycle,
}

impl Power {
    /// That of an SM of a machine, where its power is looked at at all. `pipelines` has the unit
    /// of each pipeline, with the first of the domains that it serves.
    pub fn new(machine: &Machine, pipelines: &[(&Unit, usize)], minded: bool) -> Option<Power> {
        let gating = gating_of(machine);
        let folding = folding_of(machine);
        if !gating.watch && folding.is_none() && !minded {
            return None;
        }
        let layout = Layout::of(machine);
        let cluster = machine.pipes.cluster;
        let by_lane = gating.gates.is_some_and(|g| g.by_lane);
        let pipeline = |&(unit, domain): &(&Unit, usize)| {
            let sides = sides_of(unit);
            let (_, lanes) = lanes_of(unit, machine);
            let (first, width) = match unit.per {
                Per::Sm => (0, 32),
                Per::Slice | Per::Scheduler => {
                    let slice = layout.slice_of(domain) as u32;
                    (slice * machine.sm.warp_width, machine.sm.warp_width)
                }
            };
            let upper = !folding::lower(cluster);
            let lanes_if = |has: bool| has.then(|| Lanes::new(lanes, upper, by_lane));
            (sides != [false; 2]).then(|| Pipeline {
                sides: sides.map(lanes_if),
                first,
                width,
                lanes,
            })
        };
        let pipelines: Vec<_> = pipelines.iter().map(pipeline).collect();
        let with = |side: Side| {
            let has = |p: &&Pipeline| p.sides[side as usize].is_some();
            pipelines.iter().flatten().filter(has).count() as u64
        };
        let most = IssuedSoFar {
            all: layout.domains() as u64,
            sides: Side::ALL.map(with),
        };
        let first = gating.gates.map_or(0, |g| g.idle_detect);
        let adaptive = gating.gates.and_then(|g| g.adaptive);
        Some(Power {
            gates: gating.gates,
            folding,
            cluster,
            phases: folding.map(|f| Phases::new(f, most)),
            pipelines,
            idle_detect: IdleDetect::new(first, adaptive),
            rules_since: Cycle::ZERO,
            under_way: Vec::new(),
            counters: Default::default(),
            caught_up: Cycle::ZERO,
            began: Cycle::ZERO,
        })
    }

    /// A launch begins: every lane is on.
    pub fn begin(&mut self, now: Cycle) {
        for lanes in self.all_lanes() {
            lanes.begin(now);
        }
        self.idle_detect.begin(now);
        if let Some(phases) = &mut self.phases {
            phases.begin(now);
        }
        self.under_way.clear();
        self.counters = Default::default();
        (self.rules_since, self.caught_up, self.began) = (now, now, now);
    }

    fn all_lanes(&mut self) -> impl Iterator<Item = &mut Lanes> {
        let pipelines = self.pipelines.iter_mut().flatten();
        pipelines.flat_map(|p| p.sides.iter_mut().flatten())
    }

    /// An instruction has been issued with these lanes.
    pub fn issued(&mut self, order: u64, lanes: u32) {
        self.under_way.push((order, lanes));
    }

    /// Whether a pipeline has lanes of a side.
    pub fn has(&self, pipeline: usize, side: Side) -> bool {
        let pipeline = self.pipelines[pipeline].as_ref();
        pipeline.is_some_and(|p| p.sides[side as usize].is_some())
    }

    /// Stages that the hardware for folding adds to a pipeline.
    pub fn stages(&self, pipeline: usize) -> u64 {
        let shifts = self.pipelines[pipeline].is_some();
        self.folding.filter(|_| shifts).map_or(0, |f| f.stages)
    }

    /// The way of an instruction through a pipeline that it enters in cycle `now`.
    pub fn way(&self, pipeline: usize, side: Side, order: u64, now: Cycle) -> Way {
        let found = self.under_way.iter().find(|(o, _)| *o == order);
        let active = found.map_or(!0, |(_, lanes)| *lanes);
        let p = self.pipelines[pipeline].as_ref().expect("it has lanes");
        let own = u64::from(active >> p.first) & ((1 << p.width) - 1);
        // Fewer lanes than threads: they are used several times.
        let mut lanes = 0u64;
        for at in (0..p.width).step_by(p.lanes as usize) {
            lanes |= own >> at & ((1 << p.lanes) - 1);
        }
        let lanes = lanes as u32;
        match (&self.folding, &self.phases) {
            (Some(folding), Some(phases)) => {
                let folds = phases.folds(side, now);
                folding.way(lanes, p.lanes.min(p.width), self.cluster, folds)
            }
            _ => Way {
                lanes,
                folded: false,
            },
        }
    }

    fn rules(&self, side: Side) -> Rules {
        let gates = self.gates;
        let detect = gates.filter(|g| !g.coordinated);
        Rules {
            detect: detect.map(|_| self.idle_detect.cycles(side)),
            since: self.rules_since,
            eager: match gates {
                Some(_) => self.phases.as_ref().and_then(|p| p.eager(side)),
                None => None,
            },
            break_even: gates.map_or(0, |g| g.break_even.into()),
        }
    }

    /// The lanes of a side of a pipeline, accounted for up to cycle `now`, with their counters.
    fn settled(
        &mut self,
        pipeline: usize,
        side: Side,
        now: Cycle,
    ) -> (&mut Lanes, &mut PipeCounters) {
        let rules = self.rules(side);
        let p = self.pipelines[pipeline].as_mut().expect("it has lanes");
        let lanes = p.sides[side as usize].as_mut().expect("of this side");
        let counters = &mut self.counters[side as usize];
        lanes.settle(now, &rules, counters);
        (lanes, counters)
    }

    /// Whether lanes of a pipeline can be used in cycle `now`. An instruction waits for them: they
    /// are not switched off in this cycle.
    pub fn are_on(&mut self, pipeline: usize, side: Side, lanes: u32, now: Cycle) -> bool {
        let (own, _) = self.settled(pipeline, side, now);
        let on = own.are_on(lanes, now);
        if on {
            own.hold(lanes, now);
        }
        on
    }

    /// Whether instructions ask for their lanes when they are issued.
    #[inline]
    pub fn asks_at_issue(&self) -> bool {
        self.gates.is_some_and(|g| g.early)
    }

    /// Whether lanes of a pipeline are on in cycle `now`. An instruction has been issued for which
    /// they then stay on, as if they had been used.
    pub fn keep_on(&mut self, pipeline: usize, side: Side, lanes: u32, now: Cycle) -> bool {
        let detect = self.idle_detect.cycles(side);
        let (own, _) = self.settled(pipeline, side, now);
        let on = own.are_on(lanes, now);
        if on {
            own.hold_until(lanes, now + detect + 1);
        }
        on
    }

    /// An instruction enters a pipeline.
    pub fn enter(&mut self, pipeline: usize, side: Side, order: u64, entry: Entry) {
        self.forget(order);
        let Entry {
            way,
            now,
            latency,
            interval,
        } = entry;
        let (own, counters) = self.settled(pipeline, side, now);
        counters.folded += u64::from(way.folded);
        own.enter(way.lanes, now, now + latency, now + interval, counters);
    }

    /// An instruction has entered something else than one of these lanes.
    pub fn forget(&mut self, order: u64) {
        if let Some(at) = self.under_way.iter().position(|(o, _)| *o == order) {
            self.under_way.swap_remove(at);
        }
    }

    /// An instruction of this side, with the way it would take through each, has found none of
    /// these pipelines awake and free: one of them is woken, if none is waking already and the
    /// policy lets it.
    pub fn wake(&mut self, candidates: &[(usize, Way)], side: Side, now: Cycle) {
        let Some(gates) = self.gates else { return };
        // It asks again in every cycle, unless its operands are not there yet.
        let held = match gates.early {
            true => now + u64::from(gates.wake_up) + self.idle_detect.cycles(side) + 1,
            false => now + 2,
        };
        let coming = |&(pipeline, way): &(usize, Way)| {
            let lanes = self.lanes(pipeline, side);
            !lanes.are_on(way.lanes, now) && lanes.are_coming(way.lanes)
        };
        if let Some(&(pipeline, way)) = candidates.iter().find(|c| coming(c)) {
            // Those that are on already wait for the others.
            let (own, _) = self.settled(pipeline, side, now);
            own.hold_until(way.lanes, held);
            return;
        }
        for &(pipeline, way) in candidates {
            let Some(since) = self.lanes(pipeline, side).off_since(way.lanes) else {
                continue;
            };
            let ends = since + u64::from(gates.break_even);
            if gates.blackout && now < ends {
                continue;
            }
            if gates.blackout && now == ends {
                self.idle_detect.critical(side);
                self.counters[side as usize].critical_wakes += 1;
            }
            let at = now + u64::from(gates.wake_up);
            let (own, _) = self.settled(pipeline, side, now);
            own.wake(way.lanes, at);
            own.hold_until(way.lanes, held);
            return;
        }
    }

    fn lanes(&self, pipeline: usize, side: Side) -> &Lanes {
        let p = self.pipelines[pipeline].as_ref().expect("it has lanes");
        p.sides[side as usize].as_ref().expect("of this side")
    }

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
        };
        phases.start(now, issued, buffered);
    }

    /// Accounts for all lanes up to cycle `to`.
    fn settle_all(&mut self, to: Cycle) {
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

    /// What has been counted before cycle `now`, which is not before the last one that ran.
    pub fn counted(&mut self, now: Cycle) -> [PipeCounters; 2] {
        self.settle_all(now);
        let mut all = self.counters.clone();
        for side in Side::ALL {
            let of_phase = self.phases.as_ref();
            let counters = &mut all[side as usize];
            counters.folding_cycles += of_phase.map_or(0, |p| p.folding_cycles(side, now));
            let pipelines = self.pipelines.iter().flatten();
            let those = pipelines.filter(|p| p.sides[side as usize].is_some());
            counters.pipeline_cycles = those.count() as u64 * now.since(self.began);
            let even = self.gates.map_or(0, |g| g.break_even.into());
            counters.overhead = counters.gatings * even;
            counters.leaking = counters.busy + counters.idle + counters.waking + counters.overhead;
            if self.folding.is_some() {
                counters.shifts = counters.issues + counters.folded;
            }
        }
        all
    }

    /// The state of every lane of every pipeline, settled up to cycle `now`.
    #[cfg(test)]
    pub fn states(&mut self, now: Cycle) -> Vec<Vec<Gate>> {
        self.settle_all(now);
        self.all_lanes().map(|lanes| lanes.gates()).collect()
    }
}
