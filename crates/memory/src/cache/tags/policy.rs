//! The replacement policy of an array: when it is asked, and what it hears.

use super::{BARRED, Geometry, Lookup, NO_TAG, Slot, TagArray};
use crate::replacement::{Lru, Replacement, Ways};
use std::any::Any;

impl TagArray {
    /// An empty array in which this policy says which line makes room.
    pub fn with(geometry: Geometry, policy: Box<dyn Replacement>) -> TagArray {
        let mut tags = TagArray::new(geometry);
        tags.decide_by(policy);
        tags
    }

    /// As [`with`](TagArray::with), where any policy is asked, the most common one too.
    #[cfg(test)]
    pub fn asking(geometry: Geometry, policy: Box<dyn Replacement>) -> TagArray {
        let mut tags = TagArray::new(geometry);
        tags.policy = Some(policy);
        tags
    }

    /// From now on this policy says which line makes room; the array has to be empty.
    pub fn decide_by(&mut self, policy: Box<dyn Replacement>) {
        let itself: &dyn Any = &*policy;
        self.policy = (!itself.is::<Lru>()).then_some(policy);
    }

    /// Sets and ways.
    pub fn shape(&self) -> (usize, usize) {
        (self.slots() / self.ways.max(1), self.ways)
    }

    /// How many lines there can be.
    pub fn slots(&self) -> usize {
        self.tags.len()
    }

    /// Whether a policy hears of every use: what has happened to a line then counts, not only what happened to it last.
    #[inline]
    pub fn is_told(&self) -> bool {
        self.policy.is_some()
    }

    /// A line that was just [used](TagArray::touch) is used so many times more, and no other meanwhile.
    #[inline]
    pub fn touch_again(&mut self, slot: Slot, times: u32) {
        if self.policy.is_some() {
            (0..times).for_each(|_| self.touch(slot));
        }
    }

    /// Tells the policy something about the line in a slot.
    #[inline(never)] // the most common policy is not told
    pub(super) fn tell(&mut self, slot: Slot, what: fn(&mut dyn Replacement, usize, usize)) {
        let index = slot.number();
        if let Some(policy) = &mut self.policy {
            what(&mut **policy, index / self.ways, index % self.ways);
        }
    }

    /// All lines that are there are about to be dropped.
    pub(super) fn tell_of_all_dropped(&mut self) {
        if let Some(policy) = &mut self.policy {
            let there = (0..self.tags.len()).filter(|&index| self.tags[index] != NO_TAG);
            there.for_each(|index| policy.invalidated(index / self.ways, index % self.ways));
        }
    }

    /// What to replace in the set that begins at `base`, as a policy says.
    pub(super) fn victim_by(&self, policy: &dyn Replacement, base: usize) -> Lookup {
        let tags = &self.tags[base..base + self.ways];
        let at = |way: usize| Lookup::Miss(Slot((base + way) as u32));
        if let Some(free) = tags.iter().position(|&tag| tag == NO_TAG) {
            return at(free);
        }
        let lines = &self.lines[base..base + self.ways];
        let may = Ways::that(self.ways, |way| lines[way].age & BARRED == 0);
        if may.is_empty() {
            return Lookup::Blocked;
        }
        let way = policy.victim(base / self.ways, &may);
        assert!(
            may.has(way),
            "the replacement policy {policy:?} chose way {way}, which may not be replaced"
        );
        at(way)
    }
}
