//! Entering pipelines whose lanes may be off, or are used by one half of a warp after the other.

use super::heard::Folded;
use super::{EXIT_STAGES, Units};
use crate::power::{Entries, Entry, Side, UnderWay};
use crate::sm::facts::OpFacts;
use crate::sm::fixed_list::FixedList;
use crate::sm::operands::{Collectors, Registers};
use crate::sm::units::Done;
use crate::time::Cycle;

/// Instructions that enter one after the other, oldest first.
#[derive(Clone, Copy, Debug)]
enum Queue {
    /// All of a set of units: the two sides of a unit share its entry.
    All,
    /// The instructions of a side, or of none, where each side has an entry of its own.
    Of(Option<Side>),
}

impl Queue {
    /// The queues before a set of units.
    fn all(own_entries: bool) -> &'static [Queue] {
        const OWN: [Queue; 3] = [
            Queue::Of(Some(Side::Int)),
            Queue::Of(Some(Side::Fp)),
            Queue::Of(None),
        ];
        match own_entries {
            true => &OWN,
            false => &[Queue::All],
        }
    }

    /// Where its first instruction is. What is behind an instruction for the load/store unit is in no queue yet.
    fn first(self, behind: &Registers, facts: &[OpFacts]) -> Option<usize> {
        let ops = &behind.ops[..behind.count as usize];
        let facts = |at: &usize| &facts[ops[*at].pc as usize];
        let before_memory = (0..ops.len()).take_while(|at| !facts(at).is_memory());
        before_memory.into_iter().find(|at| match self {
            Queue::All => true,
            Queue::Of(side) => facts(at).through.side == side,
        })
    }
}

/// What became of an instruction that tried to enter a pipeline.
enum Tried {
    /// The instruction entered, and is written back in this cycle; it was folded, and an observer wants to know of that.
    Entered(Cycle, Option<Folded>),
    /// Its lanes are off.
    Asleep,
    /// The entry is taken, or the way out would be.
    Refused,
}

impl Units {
    /// An instruction has been issued. Where its lanes are asked for at once, they are.
    pub(super) fn note_under_way(&mut self, instruction: UnderWay, now: Cycle) {
        let Some(power) = &mut self.power else { return };
        power.issued(instruction);
        if power.asks_from_issue_on() {
            self.ask_for_set(instruction.group.into(), &[], now);
        }
    }

    /// Whether instructions that are not collected yet ask for their lanes in every cycle.
    #[inline]
    pub fn are_asked_for_lanes(&self) -> bool {
        let power = self.power.as_ref();
        power.is_some_and(|power| power.asks_from_issue_on())
    }

    /// Instructions that have not entered a pipeline ask for their lanes: those that have their operands, or all that
    /// have been issued.
    pub(super) fn ask_for_lanes(&mut self, now: Cycle, collectors: &Collectors) {
        let Some(power) = &self.power else { return };
        let mut sets = match power.asks_from_issue_on() {
            true => power.sets_under_way(),
            false => collectors.collected_to_compute(),
        };
        while sets != 0 {
            let group = sets.trailing_zeros() as usize;
            sets &= sets - 1;
            let mut collected = std::mem::take(&mut self.collected);
            collected.clear();
            collected.extend(collectors.collected(group).map(|op| op.order));
            self.ask_for_set(group, &collected, now);
            self.collected = collected;
        }
    }

    fn ask_for_set(&mut self, group: usize, collected: &[u64], now: Cycle) {
        let pipelines = self.plan.groups[group].pipelines.clone();
        let free = |pipeline| Side::ALL.map(|side| self.free_at(pipeline, Some(side)).max(now));
        let entries = Entries {
            first: pipelines.start,
            free: pipelines.map(free).collect(),
            own: self.own_entries(),
        };
        if let Some(power) = &mut self.power {
            power.ask(group as u8, collected, entries, now);
        }
    }

    /// Collected instructions enter units, where the power of the lanes is looked at: an instruction takes a pipeline whose
    /// lanes are on.
    #[inline(never)]
    pub(super) fn enter_gated(
        &mut self,
        group: usize,
        now: Cycle,
        collectors: &mut Collectors,
        facts: &[OpFacts],
    ) {
        let all = Queue::all(self.own_entries());
        let mut queues = FixedList::<(usize, usize), 3>::default();
        for (number, queue) in all.iter().enumerate() {
            if let Some(first) = queue.first(collectors.behind(group), facts) {
                queues.push((first, number));
            }
        }
        // The queues share the way out: the one with the oldest instruction goes first.
        queues.sort_unstable();
        for (_, number) in queues.iter() {
            self.enter_from(all[*number], group, now, collectors, facts);
        }
    }

    /// Instructions of a queue enter, as far as they can. A pipeline whose lanes were off for one is asked again for the
    /// next where that one got in elsewhere. Where waking up takes no time, lanes of such a pipeline are woken for one that
    /// no other takes.
    fn enter_from(
        &mut self,
        queue: Queue,
        group: usize,
        now: Cycle,
        collectors: &mut Collectors,
        facts: &[OpFacts],
    ) {
        let mut left = FixedList::<usize, 16>::default();
        let pipelines = self.plan.groups[group].pipelines.clone();
        pipelines.for_each(|pipeline| left.push(pipeline));
        let mut at_once = false;
        loop {
            let mut asleep = FixedList::<usize, 16>::default();
            let mut entered = false;
            for &pipeline in left.iter() {
                let Some(at) = queue.first(collectors.behind(group), facts) else {
                    return;
                };
                let op = collectors.behind(group).ops[at];
                let facts = &facts[op.pc as usize];
                match self.try_pipeline(group, pipeline, op.order, facts, now, at_once) {
                    Tried::Entered(at_last, folded) => {
                        entered = true;
                        collectors.behind(group).take(at);
                        collectors.note_left(group);
                        let results = &mut self.results;
                        let heard = self.folded.as_mut().zip(folded);
                        let (mut folds, folded) = heard.unzip();
                        self.gangs.each(op, |slot| {
                            results.push(at_last, Done::alone(slot, op.pc));
                            folds
                                .iter_mut()
                                .for_each(|list| list.extend(folded.map(|f| (slot, f))));
                        });
                    }
                    Tried::Asleep => asleep.push(pipeline),
                    Tried::Refused => {}
                }
            }
            let power = self.power.as_ref();
            let may_wake = !at_once && power.is_some_and(|power| power.wakes_in_no_time());
            if asleep.is_empty() || !(entered || may_wake) {
                return;
            }
            at_once = !entered;
            left = asleep;
        }
    }

    /// Puts an instruction into a pipeline if it can take it; its lanes wake up `at_once`, or are on.
    fn try_pipeline(
        &mut self,
        group: usize,
        pipeline: usize,
        order: u64,
        facts: &OpFacts,
        now: Cycle,
        at_once: bool,
    ) -> Tried {
        let bus = self.plan.groups[group].bus;
        let Some(power) = &mut self.power else {
            return Tried::Refused;
        };
        let mut interval = u64::from(facts.interval);
        let mut latency = u64::from(facts.latency);
        let stages = power.stages(pipeline) + EXIT_STAGES;
        let Some(side) = facts.through.side.filter(|s| power.has(pipeline, *s)) else {
            let at = now + latency + stages;
            if !self.enter(pipeline, None, bus, now, interval as u16, at) {
                return Tried::Refused;
            }
            if let Some(power) = &mut self.power {
                power.forget(order);
            }
            return Tried::Entered(at, None);
        };
        let way = power.way(pipeline, side, order, now);
        if at_once {
            power.wake(pipeline, side, way.lanes, now);
        }
        if !power.are_on(pipeline, side, way.lanes, now) {
            return Tried::Asleep;
        }
        if way.folded {
            // The second half enters when the first has been taken.
            latency += interval;
            interval *= 2;
        }
        let at = now + latency + stages;
        if !self.enter(pipeline, Some(side), bus, now, interval as u16, at) {
            return Tried::Refused;
        }
        let entry = Entry {
            way,
            now,
            latency,
            interval,
        };
        let mut folded = None;
        if let Some(power) = &mut self.power {
            if way.folded && self.folded.is_some() {
                folded = Some(Folded {
                    entered: now,
                    issued: power.issued_at(order).unwrap_or(now),
                    cycles: interval as u16,
                });
            }
            power.enter(pipeline, side, order, entry);
        }
        Tried::Entered(at, folded)
    }

    /// Whether an instruction of a domain for these lanes would find lanes that are on at the start of cycle `now`, in
    /// one of the pipelines it can take; if it needs any.
    pub fn would_find_lanes_on(
        &mut self,
        domain: usize,
        facts: &OpFacts,
        lanes: u32,
        now: Cycle,
    ) -> bool {
        let group = self.plan.routes[domain][facts.unit as usize];
        let pipelines = self.plan.groups[group as usize].pipelines.clone();
        let (Some(power), Some(side)) = (&mut self.power, facts.through.side) else {
            return true;
        };
        pipelines.into_iter().any(|pipeline| {
            !power.has(pipeline, side) || {
                let way = power.way_of(pipeline, side, lanes, now);
                power.are_on(pipeline, side, way.lanes, now)
            }
        })
    }
}

#[cfg(test)]
#[path = "gated_tests.rs"]
mod tests;
