//! The lanes of one side of a pipeline: which are busy, idle, gated or waking, and since when.
//!
//! Lanes with the same history are kept together as a *part*. What a part does by itself (it falls
//! idle, is switched off, passes the break-even time, has woken up) is worked out when its cycles are
//! accounted for, by [`settle`](Lanes::settle), which is called before anything else changes.

use super::changes::Changes;
use crate::stats::PipeCounters;
use crate::time::Cycle;

/// Whether lanes are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// They are.
    On,
    /// Not since this cycle.
    Off(Cycle),
    /// They will be in this cycle.
    Waking(Cycle),
}

/// By which rules lanes are switched off now.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// After so many idle cycles; never by themselves, else.
    pub detect: Option<u64>,
    /// These rules are applied from this cycle on.
    pub since: Cycle,
    /// Idle upper lanes are switched off at once between these two cycles.
    pub eager: Option<(Cycle, Cycle)>,
    /// Time off that saves what switching costs.
    pub break_even: u64,
}

/// Lanes with the same history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    lanes: u32,
    /// They are the upper ones of their clusters.
    upper: bool,
    /// The first cycle in which no instruction is in them.
    busy_until: Cycle,
    /// They may be switched off from this cycle on: before, they were woken, or waited for.
    held_until: Cycle,
    gate: Gate,
}

/// The lanes of one side of a pipeline.
#[derive(Clone, Debug)]
pub struct Lanes {
    parts: Vec<Part>,
    /// Each lane has its own gate; else they are switched together.
    by_lane: bool,
    all: u32,
    upper: u32,
    /// First cycle that is not accounted for.
    accounted: Cycle,
    /// When its entry was free after the last instruction, if there was one.
    entry_free: Option<Cycle>,
    /// What an observer will hear.
    changes: Changes,
}

/// Bubbles shorter than this are short: the paper's figure 2.
pub const SHORT: u64 = 10;

impl Lanes {
    /// So many lanes, of which these are the upper ones of their clusters.
    pub fn new(count: u32, upper: u32, by_lane: bool) -> Lanes {
        let all = (((1u64 << count) - 1) & u64::from(u32::MAX)) as u32;
        let mut lanes = Lanes {
            parts: Vec::new(),
            by_lane,
            all,
            upper: upper & all,
            accounted: Cycle::ZERO,
            entry_free: None,
            changes: Changes::default(),
        };
        lanes.begin(Cycle::ZERO);
        lanes
    }

    /// A launch begins, with every lane on.
    pub fn begin(&mut self, now: Cycle) {
        let part = |lanes: u32, upper: bool| Part {
            lanes,
            upper,
            busy_until: now,
            held_until: now,
            gate: Gate::On,
        };
        for part in &self.parts {
            if part.gate != Gate::On {
                self.changes.note(now, part.lanes, Gate::On);
            }
        }
        self.parts.clear();
        self.parts.push(part(self.all & !self.upper, false));
        if self.upper != 0 {
            self.parts.push(part(self.upper, true));
        }
        self.accounted = now;
        self.entry_free = None;
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.all.count_ones()
    }

    /// Accounts for the cycles before `to`, in which no instruction asked for these lanes. What happens in
    /// cycle `to` itself by the rules has happened then.
    pub fn settle(&mut self, to: Cycle, rules: &Rules, counters: &mut PipeCounters) {
        let span = [self.accounted, to];
        let [from, _] = span;
        let changes = &mut self.changes;
        if self.by_lane {
            for part in &mut self.parts {
                walk(std::slice::from_mut(part), span, rules, counters, changes);
            }
        } else {
            walk(&mut self.parts, span, rules, counters, changes);
        }
        self.accounted = from.max(to);
    }

    /// Whether these lanes can be used in cycle `now`, which has been settled.
    pub fn are_on(&self, lanes: u32, now: Cycle) -> bool {
        let on = |gate| match gate {
            Gate::On => true,
            Gate::Waking(until) => until <= now,
            Gate::Off(_) => false,
        };
        self.asked(lanes).all(|part| on(part.gate))
    }

    /// From which cycle on these lanes can be used, where those that have been off since a cycle can be from
    /// `woken` of it on, if they are asked for now. Cycle `now` has been settled.
    pub fn usable(&self, lanes: u32, now: Cycle, woken: impl Fn(Cycle) -> Cycle) -> Cycle {
        let from = |part: &Part| match part.gate {
            Gate::On => now,
            Gate::Waking(until) => until,
            Gate::Off(since) => woken(since),
        };
        self.asked(lanes).map(from).fold(now, Cycle::max)
    }

    /// Since when some of these lanes have been off, if they are.
    pub fn off_since(&self, lanes: u32) -> Option<Cycle> {
        let since = |part: &Part| match part.gate {
            Gate::Off(since) => Some(since),
            _ => None,
        };
        self.asked(lanes).filter_map(since).max()
    }

    /// The gate that all lanes have in common.
    pub fn domain_gate(&self) -> Gate {
        self.parts[0].gate
    }

    /// When lanes that are switched together could be switched off, having been idle for `detect`
    /// cycles.
    pub fn domain_idle_at(&self, detect: u64) -> Cycle {
        idle_at(&self.parts, detect)
    }

    /// The parts that lanes belong to; where all are switched together, all of them.
    fn asked(&self, lanes: u32) -> impl Iterator<Item = &Part> {
        let of = match self.by_lane {
            true => lanes,
            false if lanes == 0 => 0,
            false => !0,
        };
        self.parts.iter().filter(move |part| part.lanes & of != 0)
    }

    /// These lanes are not switched off before cycle `until`.
    pub fn hold_until(&mut self, lanes: u32, until: Cycle) {
        if lanes == 0 {
            return;
        }
        self.change(lanes, |part| {
            part.held_until = part.held_until.max(until);
        });
    }

    /// Those of these lanes that are off begin to wake up and can be used from cycle `at` on.
    pub fn wake(&mut self, lanes: u32, at: Cycle) {
        let mut woken = 0;
        self.change(lanes, |part| {
            if let Gate::Off(_) = part.gate {
                part.gate = Gate::Waking(at);
                woken |= part.lanes;
            }
        });
        if woken != 0 {
            self.changes.note(self.accounted, woken, Gate::Waking(at));
        }
    }

    /// Lanes that are switched together are switched off in cycle `at`, which has been settled.
    pub fn switch_off(&mut self, at: Cycle, counters: &mut PipeCounters) {
        for part in &mut self.parts {
            part.gate = Gate::Off(at);
        }
        self.changes.note(at, self.all, Gate::Off(at));
        counters.gatings += u64::from(self.count());
    }

    /// An instruction enters in cycle `now`, uses these lanes until `until` and keeps the entry
    /// until `entry_free`.
    pub fn enter(
        &mut self,
        lanes: u32,
        now: Cycle,
        until: Cycle,
        entry_free: Cycle,
        counters: &mut PipeCounters,
    ) {
        counters.issues += 1;
        if let Some(free) = self.entry_free {
            let bubble = now.since(free);
            counters.bubbles += bubble;
            if bubble < SHORT {
                counters.short_bubbles += bubble;
            }
        }
        self.entry_free = Some(entry_free);
        self.split(lanes);
        for part in &mut self.parts {
            if part.lanes & lanes != 0 {
                part.busy_until = part.busy_until.max(until);
            }
        }
        self.merge();
    }

    /// Changes what is kept for the gates of these lanes.
    fn change(&mut self, lanes: u32, mut f: impl FnMut(&mut Part)) {
        if !self.by_lane {
            return self.parts.iter_mut().for_each(f);
        }
        self.split(lanes);
        for part in &mut self.parts {
            if part.lanes & lanes != 0 {
                f(part);
            }
        }
    }

    /// Makes parts of which each has all of its lanes among these, or none.
    fn split(&mut self, lanes: u32) {
        for at in 0..self.parts.len() {
            let part = self.parts[at];
            let (inside, outside) = (part.lanes & lanes, part.lanes & !lanes);
            if inside != 0 && outside != 0 {
                self.parts[at].lanes = inside;
                self.parts.push(Part {
                    lanes: outside,
                    ..part
                });
            }
        }
    }

    /// Puts parts with the same history together.
    fn merge(&mut self) {
        let mut at = 0;
        while at < self.parts.len() {
            let same = |other: &Part| {
                Part {
                    lanes: self.parts[at].lanes,
                    ..*other
                } == self.parts[at]
            };
            match self.parts[at + 1..].iter().position(same) {
                Some(behind) => {
                    let other = self.parts.swap_remove(at + 1 + behind);
                    self.parts[at].lanes |= other.lanes;
                }
                None => at += 1,
            }
        }
    }

    /// An observer listens to the gates, or none does.
    pub fn watch(&mut self, on: bool) {
        self.changes.watch(on);
    }

    /// What the gates have done since this was asked last: cycle, number of the gate, what it is.
    pub fn take_changes(&mut self) -> Vec<(Cycle, u16, Gate)> {
        self.changes.take(self.by_lane)
    }

    /// The state of every lane in cycle `now`, which has been settled.
    pub fn gates(&self) -> Vec<Gate> {
        let gate = |lane: u32| {
            let part = self.parts.iter().find(|p| p.lanes >> lane & 1 != 0);
            part.expect("every lane is in a part").gate
        };
        (0..self.count()).map(gate).collect()
    }
}

/// When parts that are switched together could be switched off, having been idle for `detect` cycles.
fn idle_at(parts: &[Part], detect: u64) -> Cycle {
    let mut at = Cycle::ZERO;
    for part in parts {
        let woken = match part.gate {
            Gate::Waking(until) => until,
            _ => Cycle::ZERO,
        };
        at = at
            .max(part.busy_until.max(woken).saturating_add(detect))
            .max(part.held_until);
    }
    at
}

/// When parts that are on and switched together are switched off.
fn off_at(parts: &[Part], rules: &Rules) -> Cycle {
    let Some(detect) = rules.detect else {
        return Cycle::NEVER;
    };
    let usual = idle_at(parts, detect).max(rules.since);
    match rules.eager {
        Some((from, to)) if parts.iter().all(|part| part.upper) => {
            let eager = idle_at(parts, 0).max(from);
            if eager < to { usual.min(eager) } else { usual }
        }
        _ => usual,
    }
}

/// Accounts for the cycles, from one up to another, of parts that are switched together.
fn walk(
    parts: &mut [Part],
    [from, to]: [Cycle; 2],
    rules: &Rules,
    counters: &mut PipeCounters,
    changes: &mut Changes,
) {
    let mut now = from;
    let all = parts.iter().fold(0, |all, part| all | part.lanes);
    let lanes = u64::from(all.count_ones());
    loop {
        match parts[0].gate {
            Gate::Waking(until) => {
                let end = until.min(to);
                counters.waking += end.since(now) * lanes;
                now = now.max(end);
                if until > to {
                    return;
                }
                changes.note(until, all, Gate::On);
                for part in parts.iter_mut() {
                    part.gate = Gate::On;
                    // Nothing has been in them since: they have been idle from now on.
                    part.busy_until = part.busy_until.max(until);
                }
            }
            Gate::On => {
                let off = off_at(parts, rules).max(now);
                let end = off.min(to);
                for part in parts.iter() {
                    let lanes = u64::from(part.lanes.count_ones());
                    let busy = part.busy_until.min(end).since(now);
                    counters.busy += busy * lanes;
                    counters.idle += (end.since(now) - busy) * lanes;
                }
                now = now.max(end);
                if off > to {
                    return;
                }
                counters.gatings += lanes;
                changes.note(off, all, Gate::Off(off));
                parts.iter_mut().for_each(|p| p.gate = Gate::Off(off));
            }
            Gate::Off(since) => {
                let even = since
                    .saturating_add(rules.break_even)
                    .max(now)
                    .min(to.max(now));
                counters.gated_early += even.since(now) * lanes;
                counters.gated += to.since(even) * lanes;
                return;
            }
        }
    }
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
mod tests;
