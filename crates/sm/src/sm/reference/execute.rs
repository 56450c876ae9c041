//! Execute: the pipelines of the SM. An instruction holds the entry of a pipeline for its initiation interval and leaves
//! it after its latency; no two leave a pipeline together, and no more than there are result buses leave all
//! pipelines that share them. So it is known on entry when the result is written back. Where the power of the lanes
//! is looked at, an instruction enters a pipeline whose lanes are on ([`lanes`](super::lanes)).

use super::operands::{Collectors, Issued};
use crate::config::{Entrances, Machine};
use crate::power::{Power, Side};
use crate::sm::facts::OpFacts;
use crate::sm::units::UnitPlan;
use crate::time::Cycle;
use std::collections::BTreeMap;

/// Cycles between leaving a pipeline and writeback: one in its last stage, one on the bus.
pub(super) const EXIT_STAGES: u64 = 2;

/// A result that is written back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    /// The warp that it is for.
    pub slot: u16,
    /// The instruction.
    pub pc: u32,
    /// The pipeline that it comes from.
    pipeline: Option<usize>,
}

/// How an instruction goes through a pipeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub pipeline: usize,
    /// The side of the lanes that it takes, if it takes one.
    pub side: Option<Side>,
    /// Cycles that it holds the entry.
    pub interval: u64,
    /// When its result is written back.
    pub at: Cycle,
}

/// The pipelines.
pub(super) struct Pipelines {
    pub plan: UnitPlan,
    buses: u32,
    /// Each side of the lanes has an entry of its own.
    pub own_entries: bool,
    /// By pipeline, then by side: the first cycle in which its entry is free.
    entry_free: Vec<[Cycle; 2]>,
    /// Results under way, by the cycle in which they are written back, in the order of entry.
    results: BTreeMap<u64, Vec<Done>>,
    /// Instructions that several warps have issued together, by their numbers: those behind the first.
    gangs: BTreeMap<u64, Vec<u16>>,
    /// Power of the lanes, where it is looked at.
    pub power: Option<Box<Power>>,
}

impl Pipelines {
    /// All are empty. `minded`: the issue policy goes by the power of the lanes.
    pub fn new(machine: &Machine, plan: UnitPlan, minded: bool) -> Pipelines {
        let pipelines = plan.groups.last().map_or(0, |group| group.pipelines.end);
        Pipelines {
            power: Power::new(machine, &plan.pipelines(machine), minded).map(Box::new),
            plan,
            buses: machine.sm.result_buses,
            own_entries: machine.pipes.entries == Entrances::Own,
            entry_free: vec![[Cycle::ZERO; 2]; pipelines],
            results: BTreeMap::new(),
            gangs: BTreeMap::new(),
        }
    }

    /// The results that are written back in cycle `now`.
    pub fn take(&mut self, now: Cycle) -> Vec<Done> {
        self.results.remove(&now.get()).unwrap_or_default()
    }

    /// Whether no result is under way.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// An instruction was issued by these warps, too.
    pub fn note_gang(&mut self, order: u64, others: Vec<u16>) {
        if !others.is_empty() {
            self.gangs.insert(order, others);
        }
    }

    /// A warp has the result of an instruction in cycle `at`, which passes no pipeline.
    pub fn have_result(&mut self, at: Cycle, slot: u16, pc: u32) {
        let done = Done {
            slot,
            pc,
            pipeline: None,
        };
        self.results.entry(at.get()).or_default().push(done);
    }

    /// Instructions with all their operands enter pipelines in cycle `now`, the oldest of each set of units first. What
    /// stands behind an instruction for the load/store unit waits for that.
    pub fn step(&mut self, now: Cycle, collectors: &mut Collectors, code: &[OpFacts]) {
        if self.power.is_some() {
            return self.step_watched(now, collectors, code);
        }
        for group in 0..self.plan.groups.len() {
            let waiting = collectors.collected(group);
            for pipeline in self.plan.groups[group].pipelines.clone() {
                let Some(&op) = waiting.first().filter(|op| op.memory.is_none()) else {
                    break;
                };
                let facts = &code[op.pc as usize];
                let passage = Passage {
                    pipeline,
                    side: None,
                    interval: facts.interval.into(),
                    at: now + u64::from(facts.latency) + EXIT_STAGES,
                };
                if self.enter(group, passage, op, now) {
                    waiting.remove(0);
                }
            }
        }
    }

    /// When the entry of a pipeline is free for instructions of a side; those of none need all its entries.
    pub fn free_at(&self, pipeline: usize, side: Option<Side>) -> Cycle {
        let [int, fp] = self.entry_free[pipeline];
        match side.filter(|_| self.own_entries) {
            Some(Side::Int) => int,
            Some(Side::Fp) => fp,
            None => int.max(fp),
        }
    }

    /// An instruction of a set of units enters a pipeline, if it can; says whether.
    pub fn enter(&mut self, group: usize, passage: Passage, op: Issued, now: Cycle) -> bool {
        let Passage {
            pipeline,
            side,
            interval,
            at,
        } = passage;
        if now < self.free_at(pipeline, side) {
            return false;
        }
        let bus = self.plan.groups[group].bus;
        let then = self.results.entry(at.get()).or_default();
        let shares = |done: &&Done| done.pipeline.is_some_and(|other| bus >> other & 1 != 0);
        let on_bus = then.iter().filter(shares).count() as u32;
        if on_bus >= self.buses || then.iter().any(|done| done.pipeline == Some(pipeline)) {
            return false;
        }
        then.push(Done {
            slot: op.slot,
            pc: op.pc,
            pipeline: Some(pipeline),
        });
        let others = self.gangs.remove(&op.order).unwrap_or_default();
        then.extend(others.into_iter().map(|slot| Done {
            slot,
            pc: op.pc,
            pipeline: None,
        }));
        let free = &mut self.entry_free[pipeline];
        match side.filter(|_| self.own_entries) {
            Some(side) => free[side as usize] = now + interval,
            None => *free = [now + interval; 2],
        }
        true
    }
}
