//! Where warps are: each scheduler has so many places for them.

use super::Sm;
use super::warp::Warp;
use crate::place::Place;
use crate::time::Cycle;

impl Sm {
    /// Which scheduler goes first.
    pub(super) fn turn(&self, now: Cycle) -> usize {
        (now.get() - self.rested) as usize
    }

    /// Places for warps of each scheduler.
    pub(super) fn places(&self) -> u8 {
        (self.warps.len() / self.layout.domains()) as u8
    }

    /// The slot of a place.
    pub(super) fn slot(&self, domain: usize, index: u8) -> u16 {
        let domain = domain as u8;
        self.layout.slot_at(Place { domain, index })
    }

    /// The warps of a scheduler of which something `is` so, a bit each: what policies are told.
    pub(super) fn those(&self, domain: usize, is: impl Fn(u16, &Warp) -> bool) -> u64 {
        let mut set = 0;
        let places = match self.here[domain] {
            0 => 0,
            _ => self.places(),
        };
        for index in 0..places {
            let slot = self.slot(domain, index);
            let warp = &self.warps[usize::from(slot)];
            set |= u64::from(warp.resident && is(slot, warp)) << index;
        }
        set
    }

    /// A warp comes to a slot.
    pub(super) fn come(&mut self, slot: u16, block: u16, now: Cycle) {
        let warp = &mut self.warps[usize::from(slot)];
        warp.arrive(block, self.next_age, now);
        self.here[usize::from(warp.place.domain)] += 1;
        self.policy.launched(warp.place, self.next_age, block);
        self.next_age += 1;
    }

    /// A warp leaves its slot.
    pub(super) fn go(&mut self, slot: u16) {
        let warp = &mut self.warps[usize::from(slot)];
        self.here[usize::from(warp.place.domain)] -= u32::from(warp.resident);
        warp.leave();
    }
}
