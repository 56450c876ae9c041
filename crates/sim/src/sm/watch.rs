//! Telling an observer what warps do and when their state changes. Without one, nothing here
//! runs but a test of a flag.

use super::stand::Stirred;
use super::{Quantum, Sm};
use crate::exec::state::{LANES, Lanes};
use crate::observe::WarpEvent;
use crate::stats::WarpState;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

/// What the observer is told at the end of a run of cycles. Cycles may be accounted for after
/// they have passed, so events wait here rather than needing the observer at hand everywhere.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Somebody listens.
    on: bool,
    /// The state each warp was last reported in.
    states: Vec<Option<WarpState>>,
    /// The threads that each warp was last reported to hold, and on which lanes.
    holds: Vec<Option<(Lanes, u32)>>,
    /// Cycle, slot and what happened.
    events: Vec<(u64, u16, WarpEvent)>,
}

impl Watch {
    /// Whether somebody listened last.
    pub(super) fn on(&self) -> bool {
        self.on
    }
}

impl Sm {
    /// Before cycles run: looks whether anybody listens.
    #[inline]
    pub(super) fn watch_begin(&mut self, quantum: &Quantum) {
        if quantum.observer.is_some() != self.watch.on {
            self.watch_change(quantum.observer.is_some());
        }
    }

    /// Somebody listens, or nobody does.
    #[cold]
    pub(super) fn watch_change(&mut self, on: bool) {
        self.watch.on = on;
        // A policy that rotates is asked for its order by critical fetch too: it must be the
        // order of this very cycle.
        let everywhere =
            self.policy_refreshes || self.policy_rotates || self.policy_gangs || self.watch.on;
        if self.everywhere != everywhere {
            self.everywhere = everywhere;
            self.stirred = Stirred::ALL;
            self.wake_at = self.ran;
        }
        if self.watch.on {
            self.watch.states.resize(self.slots.len(), None);
            self.watch.holds.resize(self.slots.len(), None);
        }
    }

    /// After cycles have run: tells the observer.
    pub(super) fn watch_end(&mut self, quantum: &mut Quantum) {
        if let Some(observer) = quantum.observer.as_deref_mut() {
            for (cycle, slot, event) in self.watch.events.drain(..) {
                observer.warp(Cycle::new(cycle), self.id, slot, event);
            }
        }
    }

    /// Reports the warps of domain `d` whose state from cycle `now` on differs from the one
    /// they were last reported in. The arguments are those the cycle is accounted with.
    #[inline]
    pub(super) fn watch(&mut self, d: usize, issued: u64, room: u64, now: u64) {
        if self.watch.on {
            self.watch_changes(d, issued, room, now);
        }
    }

    #[cold]
    fn watch_changes(&mut self, d: usize, issued: u64, room: u64, now: u64) {
        let domains = self.domains.len() as u16;
        let Watch { states, events, .. } = &mut self.watch;
        let mut report = |state, mut set: u64| {
            while set != 0 {
                let index = set.trailing_zeros() as u16;
                set &= set - 1;
                let slot = index * domains + d as u16;
                if states[slot as usize].replace(state) != Some(state) {
                    events.push((now, slot, WarpEvent::State(state)));
                }
            }
        };
        report(WarpState::Issued, issued);
        self.domains[d].classify(|state, set| match state {
            WarpState::Structural => {
                report(state, set & !issued & !room);
                report(WarpState::Eligible, set & !issued & room);
            }
            _ => report(state, set),
        });
    }

    /// Reports what the warp in `slot` did.
    #[inline]
    pub(super) fn tell(&mut self, now: u64, slot: u16, event: WarpEvent) {
        if self.watch.on {
            if matches!(event, WarpEvent::Launched { .. } | WarpEvent::Formed) {
                // Whatever state it is in next is news.
                self.watch.states[slot as usize] = None;
                self.watch.holds[slot as usize] = None;
            }
            self.watch.events.push((now, slot, event));
        }
    }

    /// Reports that the warp in `slot` issued, and whom it holds where that has changed.
    #[inline]
    pub(super) fn tell_issue(&mut self, now: u64, slot: u16, pc: Pc, lanes: u32) {
        if self.watch.on {
            self.tell_holds(now, slot);
            let event = WarpEvent::Issued { pc, lanes };
            self.watch.events.push((now, slot, event));
        }
    }

    #[cold]
    fn tell_holds(&mut self, now: u64, slot: u16) {
        let group = self.groups.get(slot);
        // A static warp may get back lanes that are off now.
        let mut left = match group.lanes {
            Lanes::Static(_) => !0,
            Lanes::Gathered(_) => group.mask,
        };
        let known = &mut self.watch.holds[slot as usize];
        let told = |(lanes, told): &(Lanes, u32)| *lanes == group.lanes && left & !told == 0;
        if known.as_ref().is_some_and(told) {
            return;
        }
        *known = Some((group.lanes.clone(), left));
        while left != 0 {
            let home = group.lanes.home(left.trailing_zeros() as usize);
            let same = |l: &usize| left >> l & 1 != 0 && group.lanes.home(*l) == home;
            let lanes = (0..LANES).filter(same).fold(0, |all, l| all | 1u32 << l);
            left &= !lanes;
            let warp = &self.threads.warps[home as usize];
            let block = self.blocks[warp.block as usize].as_ref();
            let event = WarpEvent::Holds {
                block: block.map_or(0, |b| b.number),
                warp: warp.index,
                lanes,
            };
            self.watch.events.push((now, slot, event));
        }
    }
}
