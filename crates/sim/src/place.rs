//! Where hardware warps sit: the one place where slots, domains, slices and home warps are
//! turned into each other.
//!
//! The lanes of an SM are cut into *slices* as wide as a hardware warp; each slice has so many
//! *schedulers*. A scheduler of a slice is a *domain*, with at most 64 warps, so that a set of
//! them is a word. A *slot* is the number of a place on the SM: slots go round the domains.

use crate::config::Machine;
use crate::exec::state::LANES;
use std::ops::Range;

/// Where a hardware warp sits: its domain, and its index there (below 64).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct Place {
    pub domain: u8,
    pub index: u8,
}

/// How the warps of an SM are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    slices: u16,
    schedulers: u16,
}

impl Layout {
    /// So many slices, each with so many schedulers.
    pub fn new(slices: u16, schedulers: u16) -> Layout {
        Layout { slices, schedulers }
    }

    /// That of a machine's SMs.
    pub fn of(machine: &Machine) -> Layout {
        let slices = LANES as u32 / machine.sm.warp_width;
        Layout::new(slices as u16, machine.sm.schedulers as u16)
    }

    /// Slices that the lanes are cut into.
    #[inline]
    pub fn slices(&self) -> u16 {
        self.slices
    }

    /// Schedulers of each slice.
    #[inline]
    pub fn schedulers(&self) -> u16 {
        self.schedulers
    }

    /// Domains of the SM.
    #[inline]
    pub fn domains(&self) -> usize {
        (self.slices * self.schedulers) as usize
    }

    /// HomeSlots for so many home warps, each of which takes one in every slice.
    pub fn slots_for(&self, homes: usize) -> usize {
        homes.div_ceil(self.schedulers as usize) * self.domains()
    }

    /// The slot at a place.
    #[inline]
    pub fn slot_at(&self, place: Place) -> u16 {
        place.index as u16 * self.domains() as u16 + place.domain as u16
    }

    /// The place of a slot.
    #[inline]
    pub fn place_of(&self, slot: u16) -> Place {
        let domains = self.domains() as u16;
        Place {
            domain: (slot % domains) as u8,
            index: (slot / domains) as u8,
        }
    }

    /// The slot of a home warp's part on a slice: home warps go round the schedulers.
    pub fn slot_of(&self, home: u16, slice: u16) -> u16 {
        let domain = slice * self.schedulers + home % self.schedulers;
        home / self.schedulers * self.domains() as u16 + domain
    }

    /// The home warp and the slice of a slot.
    pub fn home_of(&self, slot: u16) -> (u16, u16) {
        let place = self.place_of(slot);
        let domain = place.domain as u16;
        let home = place.index as u16 * self.schedulers + domain % self.schedulers;
        (home, domain / self.schedulers)
    }

    /// The slice of a domain.
    pub fn slice_of(&self, domain: usize) -> usize {
        domain / self.schedulers as usize
    }

    /// The domains of a slice.
    pub fn domains_of(&self, slice: usize) -> std::ops::Range<usize> {
        let schedulers = self.schedulers as usize;
        slice * schedulers..(slice + 1) * schedulers
    }

    /// The lanes of a slice, a bit each.
    pub fn lanes_of(&self, slice: u16) -> u32 {
        let width = LANES as u32 / self.slices as u32;
        (!0 >> (LANES as u32 - width)) << (slice as u32 * width)
    }
}

/// HomeSlots of a home warp, the first one first.
#[derive(Clone, Debug)]
pub struct HomeSlots {
    /// That of a slice, and how many there are from one slice to the next.
    pub first: u16,
    /// See `first`.
    pub step: u16,
    /// Which slices, counted from there, a bit each.
    pub slices: u8,
}

impl HomeSlots {
    /// The slots as a range, if they lie one behind the other.
    #[inline]
    pub fn row(&self) -> Option<Range<u16>> {
        let before = self.slices.trailing_zeros() as u16;
        let side_by_side = u32::from(self.slices >> (before % 8));
        let row = self.step == 1 && side_by_side & (side_by_side + 1) == 0;
        let first = self.first + before;
        row.then(|| first..first + self.slices.count_ones() as u16)
    }
}

impl Iterator for HomeSlots {
    type Item = u16;

    #[inline]
    fn next(&mut self) -> Option<u16> {
        if self.slices == 0 {
            return None;
        }
        let slice = self.slices.trailing_zeros() as u16;
        self.slices &= self.slices - 1;
        Some(self.first + slice * self.step)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.slices.count_ones() as usize;
        (count, Some(count))
    }
}

/// The numbers of the bits in a set.
#[inline]
pub fn each(mut set: u64) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        let next = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(next)
    })
}

/// The members of a set, which is not empty, for which `key` is what it is for the first; and that.
#[inline]
pub fn alike<K: PartialEq>(set: u64, key: impl Fn(usize) -> K) -> (u64, K) {
    let its = key(set.trailing_zeros() as usize);
    let same = each(set & (set - 1)).filter(|member| key(*member) == its);
    let same = same.fold(set & set.wrapping_neg(), |all, member| all | 1 << member);
    (same, its)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_slices_side_by_side_lie_in_a_row() {
        let slots = |step, slices| HomeSlots {
            first: 40,
            step,
            slices,
        };
        for slices in 1..=u8::MAX {
            let all: Vec<u16> = slots(1, slices).collect();
            let row = all.windows(2).all(|two| two[0] + 1 == two[1]);
            let range = row.then(|| all[0]..all[0] + all.len() as u16);
            assert_eq!(slots(1, slices).row(), range);
        }
        assert_eq!(slots(2, 0b11).row(), None);
        assert!(slots(2, 0b1011).eq([40, 42, 46]));
    }

    #[test]
    fn members_of_a_set_are_alike_by_what_is_asked_of_them() {
        assert_eq!(alike(0b1011_0100, |i| i % 2), (0b0001_0100, 0));
        assert_eq!(alike(0b1010_0000, |i| i % 2), (0b1010_0000, 1));
        assert_eq!(alike(1 << 63, |i| i), (1 << 63, 63));
    }

    #[test]
    fn every_slot_has_one_place_and_one_part_of_a_home_warp() {
        for (slices, schedulers) in [(1, 1), (1, 2), (2, 3), (8, 1), (8, 2)] {
            let layout = Layout::new(slices, schedulers);
            let mut seen = 0;
            for home in 0..6 * schedulers {
                for slice in 0..slices {
                    let slot = layout.slot_of(home, slice);
                    assert_eq!(layout.home_of(slot), (home, slice));
                    let place = layout.place_of(slot);
                    assert_eq!(layout.slot_at(place), slot);
                    let domain = place.domain as usize;
                    assert_eq!(layout.slice_of(domain), slice as usize);
                    assert!(layout.domains_of(slice as usize).contains(&domain));
                    seen += 1;
                }
            }
            assert_eq!(seen, layout.slots_for(6 * schedulers as usize));
        }
    }

    #[test]
    fn slices_share_out_the_lanes() {
        let layout = Layout::new(8, 1);
        assert_eq!(layout.lanes_of(0), 0xf);
        assert_eq!(layout.lanes_of(7), 0xf000_0000);
        assert_eq!(Layout::new(1, 2).lanes_of(0), !0);
    }
}
