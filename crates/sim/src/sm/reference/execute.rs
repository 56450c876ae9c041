//! Execute: the pipelines of the SM. An instruction holds the entry of a pipeline for its initiation interval and leaves
//! it after its latency; no two leave a pipeline together, and no more than there are result buses leave all
//! pipelines that share them. So it is known on entry when the result is written back.

use super::operands::{Collectors, Issued};
use crate::config::Machine;
use crate::sm::facts::OpFacts;
use crate::sm::units::UnitPlan;
use crate::time::Cycle;
use std::collections::BTreeMap;

/// Cycles between leaving a pipeline and writeback: one in its last stage, one on the bus.
const EXIT_STAGES: u64 = 2;

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

/// The pipelines.
#[derive(Debug)]
pub(super) struct Pipelines {
    plan: UnitPlan,
    buses: u32,
    /// By pipeline: the first cycle in which its entry is free.
    entry_free: Vec<Cycle>,
    /// Results under way, by the cycle in which they are written back, in the order of entry.
    results: BTreeMap<u64, Vec<Done>>,
}

impl Pipelines {
    /// All are empty.
    pub fn new(machine: &Machine, plan: UnitPlan) -> Pipelines {
        let pipelines = plan.groups.last().map_or(0, |group| group.pipelines.end);
        Pipelines {
            plan,
            buses: machine.sm.result_buses,
            entry_free: vec![Cycle::ZERO; pipelines],
            results: BTreeMap::new(),
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
        for number in 0..self.plan.groups.len() {
            let group = &self.plan.groups[number];
            let (pipelines, bus) = (group.pipelines.clone(), group.bus);
            let waiting = collectors.collected(number);
            for pipeline in pipelines {
                let Some(&op) = waiting.first().filter(|op| op.memory.is_none()) else {
                    break;
                };
                if self.enter(pipeline, bus, op, now, &code[op.pc as usize]) {
                    waiting.remove(0);
                }
            }
        }
    }

    /// An instruction enters a pipeline, if it can; says whether. `bus`: the pipelines that share its buses, a bit each.
    fn enter(
        &mut self,
        pipeline: usize,
        bus: u32,
        op: Issued,
        now: Cycle,
        facts: &OpFacts,
    ) -> bool {
        if now < self.entry_free[pipeline] {
            return false;
        }
        let at = now + u64::from(facts.latency) + EXIT_STAGES;
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
        self.entry_free[pipeline] = now + u64::from(facts.interval);
        true
    }
}
