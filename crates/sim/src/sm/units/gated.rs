//! Entering pipelines whose lanes may be off, or are used by one half of a warp after the other.

use super::{EXIT_STAGES, Units};
use crate::power::Entry;
use crate::sm::facts::OpFacts;
use crate::sm::fixed_list::FixedList;
use crate::sm::operands::Collectors;
use crate::sm::units::Done;
use crate::time::Cycle;

impl Units {
    /// As [`enter_all`](Units::enter_all) where the power of the lanes is looked at: an instruction
    /// takes a pipeline whose lanes are on; if none of those is free, one that is off is woken.
    #[inline(never)]
    pub(super) fn enter_gated(
        &mut self,
        group: usize,
        now: Cycle,
        collectors: &mut Collectors,
        facts: &[OpFacts],
    ) {
        for pipeline in self.plan.groups[group].pipelines.clone() {
            let Some(op) = collectors.oldest(group) else {
                return;
            };
            let (order, facts) = (op.order, &facts[op.pc as usize]);
            if facts.is_memory() {
                return;
            }
            if let Some(at) = self.try_pipeline(group, pipeline, order, facts, now) {
                let op = collectors.leave(group);
                let results = &mut self.results;
                let done = |slot| results.push(at, Done::alone(slot, op.pc));
                self.gangs.each(op, done);
            }
        }
        if let Some(op) = collectors.oldest(group) {
            let (order, facts) = (op.order, &facts[op.pc as usize]);
            if !facts.is_memory() {
                self.ask_for_lanes(group, order, facts, now, false);
            }
        }
    }

    /// Puts an instruction into a pipeline if it can take it. Returns when it is written back.
    fn try_pipeline(
        &mut self,
        group: usize,
        pipeline: usize,
        order: u64,
        facts: &OpFacts,
        now: Cycle,
    ) -> Option<Cycle> {
        let bus = self.plan.groups[group].bus;
        let power = self.power.as_mut()?;
        let mut interval = u64::from(facts.interval);
        let mut latency = u64::from(facts.latency);
        let stages = power.stages(pipeline) + EXIT_STAGES;
        let Some(side) = facts.through.side.filter(|s| power.has(pipeline, *s)) else {
            let at = now + latency + stages;
            let enters = self.enter(pipeline, bus, now, interval as u16, at);
            if enters && let Some(power) = &mut self.power {
                power.forget(order);
            }
            return enters.then_some(at);
        };
        let way = power.way(pipeline, side, order, now);
        if !power.are_on(pipeline, side, way.lanes, now) {
            return None;
        }
        if way.folded {
            // The second half enters when the first has been taken.
            latency += interval;
            interval *= 2;
        }
        let at = now + latency + stages;
        if !self.enter(pipeline, bus, now, interval as u16, at) {
            return None;
        }
        let entry = Entry {
            way,
            now,
            latency,
            interval,
        };
        if let Some(power) = &mut self.power {
            power.enter(pipeline, side, order, entry);
        }
        Some(at)
    }

    /// An instruction asks for its lanes: when it is issued, or as the oldest that has not entered a
    /// pipeline. Unless those of one are on (and, if it could enter, the entry is free, so that only
    /// the way out is not), some are woken for it.
    pub(super) fn ask_for_lanes(
        &mut self,
        group: usize,
        order: u64,
        facts: &OpFacts,
        now: Cycle,
        at_issue: bool,
    ) {
        let Some(power) = &mut self.power else { return };
        let Some(side) = facts.through.side else {
            return;
        };
        let mut asleep = FixedList::<_, 16>::default();
        for pipeline in self.plan.groups[group].pipelines.clone() {
            if !power.has(pipeline, side) {
                return; // it needs no lanes that could be off
            }
            let way = power.way(pipeline, side, order, now);
            let on = match at_issue {
                true => power.keep_on(pipeline, side, way.lanes, now),
                false => power.are_on(pipeline, side, way.lanes, now),
            };
            if !on {
                asleep.push((pipeline, way));
            } else if at_issue || self.entry_free[pipeline] <= now {
                return;
            }
        }
        power.wake(&asleep, side, now);
    }
}

#[cfg(test)]
#[path = "gated_tests.rs"]
mod tests;
