//! Telling an observer what warps do and when their state changes. Without one, nothing here
//! runs but a test of a flag.

use crate::divergence::Group;
use crate::exec::state::{LANES, Lanes};
use crate::observe::{Observer, WarpEvent};
use crate::place::{Layout, Place};
use crate::sm::warps::Domain;
use crate::stats::WarpState;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

/// What the observer is told at the end of a run of cycles. Cycles may be accounted for after
/// they have passed, so events wait here rather than needing the observer at hand everywhere.
#[derive(Debug, Default)]
pub struct Watch {
    /// An observer listens.
    on: bool,
    /// The state each warp was last reported in.
    states: Vec<Option<WarpState>>,
    /// The threads that each warp was last reported to hold, and on which lanes.
    holds: Vec<Option<(Lanes, u32)>>,
    /// Cycle, slot and what happened.
    events: Vec<(Cycle, u16, WarpEvent)>,
}

impl Watch {
    /// Whether an observer listened last.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// An observer listens to so many slots, or none does.
    pub fn switch(&mut self, on: bool, slots: usize) {
        self.on = on;
        if on {
            self.states.resize(slots, None);
            self.holds.resize(slots, None);
        }
    }

    /// After cycles have run: tells the observer.
    pub fn hand_over(&mut self, sm: u16, observer: &mut dyn Observer) {
        for (cycle, slot, event) in self.events.drain(..) {
            observer.warp(cycle, sm, slot, event);
        }
    }

    /// Reports the warps of domain `d` whose state from cycle `now` on differs from the one
    /// they were last reported in. The arguments are those the cycle is accounted with.
    #[inline]
    pub fn states(
        &mut self,
        layout: Layout,
        d: usize,
        domain: &Domain,
        issued: u64,
        room: u64,
        now: Cycle,
    ) {
        if self.on {
            self.report_states(layout, d, domain, issued, room, now);
        }
    }

    #[cold]
    fn report_states(
        &mut self,
        layout: Layout,
        d: usize,
        domain: &Domain,
        issued: u64,
        room: u64,
        now: Cycle,
    ) {
        let Watch { states, events, .. } = self;
        let mut report = |state, mut set: u64| {
            while set != 0 {
                let slot = layout.slot_at(Place {
                    domain: d as u8,
                    index: set.trailing_zeros() as u8,
                });
                set &= set - 1;
                if states[slot as usize].replace(state) != Some(state) {
                    events.push((now, slot, WarpEvent::State(state)));
                }
            }
        };
        report(WarpState::Issued, issued);
        domain.classify(|state, set| match state {
            WarpState::Structural => {
                report(state, set & !issued & !room);
                report(WarpState::Eligible, set & !issued & room);
            }
            _ => report(state, set),
        });
    }

    /// Reports what the warp in `slot` did.
    #[inline]
    pub fn tell(&mut self, now: Cycle, slot: u16, event: WarpEvent) {
        if self.on {
            if matches!(event, WarpEvent::Launched { .. } | WarpEvent::Formed) {
                // Whatever state it is in next is news.
                self.states[slot as usize] = None;
                self.holds[slot as usize] = None;
            }
            self.events.push((now, slot, event));
        }
    }

    /// Reports that the warp in `slot` issued.
    #[inline]
    pub fn tell_issue(&mut self, now: Cycle, slot: u16, pc: Pc, lanes: u32) {
        if self.on {
            let event = WarpEvent::Issued { pc, lanes };
            self.events.push((now, slot, event));
        }
    }

    /// Reports which threads the warp in `slot` holds, where that has changed; `home` gives the number of a
    /// home warp's block, and its number there.
    #[cold]
    pub fn tell_holds(
        &mut self,
        now: Cycle,
        slot: u16,
        group: &Group,
        home: impl Fn(u16) -> (u64, u16),
    ) {
        // A static warp may get back lanes that are off now.
        let mut left = match group.lanes {
            Lanes::Static(_) => !0,
            Lanes::Gathered(_) => group.mask,
        };
        let known = &mut self.holds[slot as usize];
        let told = |(lanes, told): &(Lanes, u32)| *lanes == group.lanes && left & !told == 0;
        if known.as_ref().is_some_and(told) {
            return;
        }
        *known = Some((group.lanes.clone(), left));
        while left != 0 {
            let first = group.lanes.home(left.trailing_zeros() as usize);
            let same = |l: &usize| left >> l & 1 != 0 && group.lanes.home(*l) == first;
            let lanes = (0..LANES).filter(same).fold(0, |all, l| all | 1u32 << l);
            left &= !lanes;
            let (block, warp) = home(first);
            let event = WarpEvent::Holds { block, warp, lanes };
            self.events.push((now, slot, event));
        }
    }
}
