//! Instructions on their way to the pipelines, and the lanes that they ask for.

use super::Power;
use crate::power::Side;
use crate::power::folding::Way;
use crate::power::gating::Gates;
use crate::time::Cycle;

/// An instruction that has been issued and has not entered a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct UnderWay {
    /// Its order number.
    pub order: u64,
    /// The lanes that it is for.
    pub lanes: u32,
    /// The side of them that it takes, if it takes one.
    pub side: Option<Side>,
    /// How long it keeps the entry, in one piece.
    pub interval: u16,
    /// The set of units that it is for.
    pub group: u8,
    /// When that was.
    pub issued: Cycle,
}

/// When the entries of a set's pipelines are free, as far as is known.
#[derive(Clone, Debug)]
pub struct Entries {
    /// The first pipeline.
    pub first: usize,
    /// By pipeline, then by side.
    pub free: Vec<[Cycle; 2]>,
    /// Each side has an entry of its own.
    pub own: bool,
}

impl Entries {
    fn take(&mut self, pipeline: usize, side: Side, until: Cycle) {
        let free = &mut self.free[pipeline - self.first];
        match self.own {
            true => free[side as usize] = until,
            false => *free = [until; 2],
        }
    }
}

impl Power {
    /// An instruction has been issued.
    pub fn issued(&mut self, instruction: UnderWay) {
        self.under_way.push(instruction);
    }

    /// An instruction has entered something else than one of these lanes.
    pub fn forget(&mut self, order: u64) {
        if let Some(at) = self.under_way.iter().position(|i| i.order == order) {
            self.under_way.remove(at);
        }
    }

    /// Whether instructions that have been issued ask for their lanes before they are collected.
    #[inline]
    pub fn asks_from_issue_on(&self) -> bool {
        self.gates.is_some_and(|g| g.early) && !self.under_way.is_empty()
    }

    /// Whether lanes that are woken can be used in the same cycle.
    pub fn wakes_in_no_time(&self) -> bool {
        self.gates.is_some_and(|g| g.wake_up == 0)
    }

    /// The sets of units, a bit each, for which instructions have been issued that have not entered them.
    pub fn sets_under_way(&self) -> u32 {
        let bit = |i: &UnderWay| 1 << i.group;
        self.under_way.iter().map(bit).fold(0, |all, bit| all | bit)
    }

    /// Instructions that have been issued for a set of units ask for their lanes in cycle `now`, oldest first: those of
    /// them that are collected (their order numbers), or all where they ask from issue on.
    ///
    /// Each asks for the lanes of the pipeline that it would come to enter first, with those before it on their way,
    /// and, where several are as good, of one whose lanes are on already. Those that are off begin to wake up; none of
    /// them is switched off before it has had the chance to ask again, in the next cycle.
    pub fn ask(&mut self, group: u8, collected: &[u64], mut entries: Entries, now: Cycle) {
        let Some(gates) = self.gates else { return };
        for at in 0..self.under_way.len() {
            let instruction = self.under_way[at];
            let asks = gates.early || collected.contains(&instruction.order);
            if instruction.group == group && asks {
                self.ask_for(instruction, gates, &mut entries, now);
            }
        }
    }

    fn ask_for(&mut self, i: UnderWay, gates: Gates, entries: &mut Entries, now: Cycle) {
        let Some(side) = i.side else { return };
        let break_even = u64::from(gates.break_even);
        let woken = |since: Cycle| {
            let from = match gates.blackout {
                true => now.max(since + break_even),
                false => now,
            };
            from + u64::from(gates.wake_up)
        };
        let mut best: Option<((Cycle, bool), usize, Way)> = None;
        for at in 0..entries.free.len() {
            let pipeline = entries.first + at;
            if !self.has(pipeline, side) {
                return; // it needs no lanes that could be off
            }
            let way = self.way_of(pipeline, side, i.lanes, now);
            let (own, _) = self.settled(pipeline, side, now);
            let usable = own.usable(way.lanes, now, woken);
            let enters = usable.max(entries.free[at][side as usize]);
            let how = (enters, own.off_since(way.lanes).is_some());
            if best.is_none_or(|(other, ..)| how < other) {
                best = Some((how, pipeline, way));
            }
        }
        let Some(((enters, sleeps), pipeline, way)) = best else {
            return;
        };
        let interval = u64::from(i.interval) << u32::from(way.folded);
        entries.take(pipeline, side, enters + interval);
        if sleeps {
            self.wake(pipeline, side, way.lanes, now);
        }
        let (own, _) = self.settled(pipeline, side, now);
        own.hold_until(way.lanes, now + 2);
    }

    /// Lanes of a pipeline of which some are off begin to wake up, if the policy lets them.
    pub fn wake(&mut self, pipeline: usize, side: Side, lanes: u32, now: Cycle) {
        let Some(gates) = self.gates else { return };
        let (own, counters) = self.settled(pipeline, side, now);
        let Some(since) = own.off_since(lanes) else {
            return;
        };
        let ends = since + u64::from(gates.break_even);
        if gates.blackout && now < ends {
            return;
        }
        let critical = gates.blackout && now == ends;
        counters.critical_wakes += u64::from(critical);
        own.wake(lanes, now + u64::from(gates.wake_up));
        if critical {
            self.idle_detect.critical(side);
        }
    }
}
