//! Telling an observer what warps do and when their state changes. Without one, nothing here
//! runs but a test of a flag.

use super::details::{Details, Told};
use crate::divergence::Group;
use crate::exec::state::{LANES, Lanes};
use crate::observe::{Detail, Observer, WarpEvent};
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
    /// What one that wants details hears, where one listens.
    details: Option<Box<Details>>,
    /// The state each warp was last reported in.
    states: Vec<Option<WarpState>>,
    /// The threads that each warp was last reported to hold, and on which lanes.
    holds: Vec<Option<(Lanes, u32)>>,
    /// Cycle, slot and what happened.
    events: Vec<(Cycle, u16, Told)>,
}

/// What is kept for an observer that wants details, and what it will hear.
pub type Detailed<'a> = (&'a mut Details, &'a mut Vec<(Cycle, u16, Told)>);

impl Watch {
    /// Whether an observer listened last.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Whether it wanted details.
    #[inline]
    pub fn hears_details(&self) -> bool {
        self.details.is_some()
    }

    /// An observer listens to so many slots, to details of them if so, or none does.
    pub fn switch(&mut self, on: bool, details: bool, slots: usize) {
        self.on = on;
        if details != self.hears_details() {
            self.details = details.then(|| Box::new(Details::new(slots)));
        }
        if on {
            self.states.resize(slots, None);
            self.holds.resize(slots, None);
        }
    }

    /// After cycles have run: tells the observer.
    pub fn hand_over(&mut self, sm: u16, observer: &mut dyn Observer) {
        // A change behind a domain's turn belongs to the next cycle, and others of this one may come behind it.
        self.events.sort_by_key(|(cycle, ..)| *cycle);
        for (cycle, slot, told) in self.events.drain(..) {
            match told {
                Told::Warp(event) => observer.warp(cycle, sm, slot, event),
                Told::Executed(lanes) => {
                    observer.detail(cycle, sm, slot, Detail::Executed { lanes });
                }
                Told::Written(register) => {
                    observer.detail(cycle, sm, slot, Detail::Written { register });
                }
                Told::Paths(range) => {
                    let details = self.details.as_deref();
                    let paths = details.map_or(&[][..], |d| d.paths(range));
                    observer.detail(cycle, sm, slot, Detail::Paths(paths));
                }
            }
        }
        if let Some(details) = &mut self.details {
            details.forget_told();
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
                    events.push((now, slot, Told::Warp(WarpEvent::State(state))));
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
                if let Some(details) = &mut self.details {
                    details.is_new(slot, now);
                }
            }
            self.events.push((now, slot, Told::Warp(event)));
        }
    }

    /// Reports that the warp in `slot` issued, with these `lanes` active, and which of them `execute`.
    #[inline]
    pub fn tell_issue(&mut self, now: Cycle, slot: u16, pc: Pc, lanes: u32, execute: u32) {
        if self.on {
            let event = WarpEvent::Issued { pc, lanes };
            self.events.push((now, slot, Told::Warp(event)));
            if let Some(details) = &mut self.details {
                details.issued(slot, pc);
                if execute != lanes {
                    self.events.push((now, slot, Told::Executed(execute)));
                }
            }
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
            self.events.push((now, slot, Told::Warp(event)));
        }
    }

    /// What is kept for an observer that wants details, and where what it will hear is written down.
    #[inline]
    pub fn details(&mut self) -> Option<Detailed<'_>> {
        let details = self.details.as_deref_mut()?;
        Some((details, &mut self.events))
    }
}
