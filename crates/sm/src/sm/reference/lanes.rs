//! Power of the lanes: instructions enter pipelines whose lanes are on, or go through them one half behind the other. What
//! the lanes themselves do is in [`power`](crate::power); here is what the pipelines and the warps have to do with it.

use super::execute::{EXIT_STAGES, Passage, Pipelines};
use super::operands::{Collectors, Issued};
use crate::power::{Entries, Entry, Side, UnderWay};
use crate::sm::facts::OpFacts;
use crate::time::Cycle;

/// Instructions before a set of units that enter one after the other: all of them, or those of a side (or of none) where
/// each side has an entry of its own.
#[derive(Clone, Copy, Debug)]
enum Queue {
    All,
    Of(Option<Side>),
}

impl Queue {
    /// Where its first instruction is. What stands behind one for the load/store unit is in no queue.
    fn first(self, waiting: &[Issued], code: &[OpFacts]) -> Option<usize> {
        let mut compute = waiting.iter().take_while(|op| op.memory.is_none());
        compute.position(|op| match self {
            Queue::All => true,
            Queue::Of(side) => code[op.pc as usize].through.side == side,
        })
    }
}

/// What became of an instruction that tried to enter a pipeline.
#[derive(PartialEq)]
enum Tried {
    Entered,
    /// Its lanes are off.
    Asleep,
    Refused,
}

impl Pipelines {
    /// An instruction has issued for these lanes, by a warp of a domain.
    pub fn note_issued(
        &mut self,
        op: &Issued,
        lanes: u32,
        domain: usize,
        facts: &OpFacts,
        now: Cycle,
    ) {
        let group = self.plan.routes[domain][usize::from(facts.unit)];
        let Some(power) = &mut self.power else { return };
        power.issued(UnderWay {
            order: op.order,
            lanes,
            side: facts.through.side,
            interval: facts.interval,
            group,
            issued: now,
        });
        if power.asks_from_issue_on() {
            self.ask(group.into(), &[], now);
        }
    }

    /// A cycle of the pipelines, where the power of the lanes is looked at.
    pub(super) fn step_watched(
        &mut self,
        now: Cycle,
        collectors: &mut Collectors,
        code: &[OpFacts],
    ) {
        let all = self.plan.groups.iter().enumerate();
        let computing: Vec<usize> = all
            .filter(|(_, group)| group.computes)
            .map(|(at, _)| at)
            .collect();
        let early = self
            .power
            .as_ref()
            .is_some_and(|power| power.asks_from_issue_on());
        let under_way = self
            .power
            .as_ref()
            .map_or(0, |power| power.sets_under_way());
        for &group in &computing {
            let asks = match early {
                true => under_way >> group & 1 != 0,
                false => !collectors.collected(group).is_empty(),
            };
            if asks {
                let collected = collectors.all_collected(group);
                self.ask(group, &collected, now);
            }
        }
        for group in computing {
            let all: &[Queue] = match self.own_entries {
                true => &[
                    Queue::Of(Some(Side::Int)),
                    Queue::Of(Some(Side::Fp)),
                    Queue::Of(None),
                ],
                false => &[Queue::All],
            };
            let waiting = collectors.collected(group);
            let first = |queue: &Queue| Some((queue.first(waiting, code)?, *queue));
            let mut queues: Vec<(usize, Queue)> = all.iter().filter_map(first).collect();
            // They share the way out: the one with the oldest instruction goes first.
            queues.sort_by_key(|(first, _)| *first);
            for (_, queue) in queues {
                self.enter_from(queue, group, now, waiting, code);
            }
        }
    }

    /// Instructions of a set of units that have not entered ask for their lanes: these that are collected, or all.
    fn ask(&mut self, group: usize, collected: &[u64], now: Cycle) {
        let pipelines = self.plan.groups[group].pipelines.clone();
        let free = |pipeline| Side::ALL.map(|side| self.free_at(pipeline, Some(side)).max(now));
        let entries = Entries {
            first: pipelines.start,
            free: pipelines.map(free).collect(),
            own: self.own_entries,
        };
        if let Some(power) = &mut self.power {
            power.ask(group as u8, collected, entries, now);
        }
    }

    /// Instructions of a queue enter, as far as they can. A pipeline whose lanes were off for one is asked again for the
    /// next where that one got in elsewhere. Where waking up takes no time, lanes of such a pipeline are woken for one
    /// that no other takes.
    fn enter_from(
        &mut self,
        queue: Queue,
        group: usize,
        now: Cycle,
        waiting: &mut Vec<Issued>,
        code: &[OpFacts],
    ) {
        let mut left: Vec<usize> = self.plan.groups[group].pipelines.clone().collect();
        let mut at_once = false;
        loop {
            let (mut asleep, mut entered) = (Vec::new(), false);
            for pipeline in left {
                let Some(at) = queue.first(waiting, code) else {
                    return;
                };
                let op = waiting[at];
                match self.try_pipeline(group, pipeline, op, &code[op.pc as usize], now, at_once) {
                    Tried::Entered => {
                        entered = true;
                        waiting.remove(at);
                    }
                    Tried::Asleep => asleep.push(pipeline),
                    Tried::Refused => {}
                }
            }
            let in_no_time = self
                .power
                .as_ref()
                .is_some_and(|power| power.wakes_in_no_time());
            let may_wake = !at_once && in_no_time;
            if asleep.is_empty() || !(entered || may_wake) {
                return;
            }
            at_once = !entered;
            left = asleep;
        }
    }

    /// An instruction enters a pipeline if that can take it; its lanes wake up `at_once`, or are on.
    fn try_pipeline(
        &mut self,
        group: usize,
        pipeline: usize,
        op: Issued,
        facts: &OpFacts,
        now: Cycle,
        at_once: bool,
    ) -> Tried {
        let Some(power) = &mut self.power else {
            return Tried::Refused;
        };
        let (mut interval, mut latency) = (u64::from(facts.interval), u64::from(facts.latency));
        let stages = power.stages(pipeline) + EXIT_STAGES;
        let side = facts.through.side.filter(|side| power.has(pipeline, *side));
        let mut way = None;
        if let Some(side) = side {
            let its = power.way(pipeline, side, op.order, now);
            if at_once {
                power.wake(pipeline, side, its.lanes, now);
            }
            if !power.are_on(pipeline, side, its.lanes, now) {
                return Tried::Asleep;
            }
            if its.folded {
                // The second half enters when the first has been taken.
                latency += interval;
                interval *= 2;
            }
            way = Some((side, its));
        }
        let passage = Passage {
            pipeline,
            side,
            interval,
            at: now + latency + stages,
        };
        if !self.enter(group, passage, op, now) {
            return Tried::Refused;
        }
        match (&mut self.power, way) {
            (Some(power), Some((side, way))) => {
                let entry = Entry {
                    way,
                    now,
                    latency,
                    interval,
                };
                power.enter(pipeline, side, op.order, entry);
            }
            (Some(power), None) => power.forget(op.order),
            (None, _) => {}
        }
        Tried::Entered
    }

    /// Whether an instruction of a domain for these lanes would find lanes that are on, in one of the pipelines that it
    /// can take; if it needs any.
    pub(super) fn would_find_lanes_on(
        &mut self,
        domain: usize,
        facts: &OpFacts,
        lanes: u32,
        now: Cycle,
    ) -> bool {
        let group = self.plan.routes[domain][usize::from(facts.unit)];
        let mut pipelines = self.plan.groups[usize::from(group)].pipelines.clone();
        let (Some(power), Some(side)) = (&mut self.power, facts.through.side) else {
            return true;
        };
        pipelines.any(|pipeline| {
            !power.has(pipeline, side) || {
                let way = power.way_of(pipeline, side, lanes, now);
                power.are_on(pipeline, side, way.lanes, now)
            }
        })
    }
}
