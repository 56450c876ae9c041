//! Power of an SM's lanes: gates, folding and their accounts together.

mod requests;
mod upkeep;

use super::adaptive::IdleDetect;
use super::folding::{self, Folding, Way};
use super::gating::Gates;
use super::lanes::{Gate, Lanes, Rules};
use super::phases::{IssuedSoFar, Phases};
use super::{Side, folding_of, gating_of};
use crate::place::Layout;
use crate::stats::PipeCounters;
use crate::time::Cycle;
pub use requests::{Entries, UnderWay};
use warpsim_machine::lanes::{lanes_of, sides_of};
use warpsim_machine::{Entrances, Machine, Per, Unit};

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
    /// Instructions that have been issued and have not entered a pipeline, oldest first.
    under_way: Vec<UnderWay>,
    /// Cycles for which entries have been taken.
    slots: u64,
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
        let own_entries = machine.pipes.entries == Entrances::Own;
        if !gating.watch && folding.is_none() && !minded && !own_entries {
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
        let sides = Side::ALL.map(with);
        let most = IssuedSoFar {
            all: layout.domains() as u64,
            sides,
            slots: match own_entries {
                true => sides.iter().sum(),
                false => pipelines.iter().flatten().count() as u64,
            },
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
            slots: 0,
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
        self.slots = 0;
        self.counters = Default::default();
        (self.rules_since, self.caught_up, self.began) = (now, now, now);
    }

    fn all_lanes(&mut self) -> impl Iterator<Item = &mut Lanes> {
        let pipelines = self.pipelines.iter_mut().flatten();
        pipelines.flat_map(|p| p.sides.iter_mut().flatten())
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

    /// When an instruction that has not entered a pipeline was issued.
    pub fn issued_at(&self, order: u64) -> Option<Cycle> {
        let found = self.under_way.iter().find(|i| i.order == order);
        found.map(|i| i.issued)
    }

    /// The way of an instruction through a pipeline that it enters in cycle `now`.
    pub fn way(&self, pipeline: usize, side: Side, order: u64, now: Cycle) -> Way {
        let found = self.under_way.iter().find(|i| i.order == order);
        self.way_of(pipeline, side, found.map_or(!0, |i| i.lanes), now)
    }

    /// The way of an instruction for these lanes.
    pub fn way_of(&self, pipeline: usize, side: Side, active: u32, now: Cycle) -> Way {
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

    /// Whether lanes of a pipeline can be used in cycle `now`.
    pub fn are_on(&mut self, pipeline: usize, side: Side, lanes: u32, now: Cycle) -> bool {
        self.settled(pipeline, side, now).0.are_on(lanes, now)
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
        self.slots += interval;
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

    /// An observer listens to the gates, or none does.
    pub fn watch(&mut self, on: bool) {
        self.all_lanes().for_each(|lanes| lanes.watch(on));
    }

    /// What the gates have done since this was asked last: cycle, pipe, number of the gate, what it is.
    pub fn take_changes(&mut self) -> Vec<(Cycle, u16, u16, Gate)> {
        let mut all = Vec::new();
        for (pipe, lanes) in (0..).zip(self.all_lanes()) {
            let its = lanes.take_changes().into_iter();
            all.extend(its.map(|(at, number, gate)| (at, pipe, number, gate)));
        }
        all.sort_by_key(|(at, ..)| *at);
        all
    }

    /// The state of every lane of every pipeline, settled up to cycle `now`.
    pub fn states(&mut self, now: Cycle) -> Vec<Vec<Gate>> {
        self.settle_all(now);
        self.all_lanes().map(|lanes| lanes.gates()).collect()
    }
}
