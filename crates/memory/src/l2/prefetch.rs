//! Prefetches into a slice: their sectors are fetched, and the slice sends no reply.

use super::arrivals::Arrival;
use super::serve::PLACES_FOR_FETCH;
use super::{Outcome, Slice, Surroundings};
use crate::cache::mshr::Admission;
use crate::cache::tags::Lookup;

impl Slice {
    /// A piece of a prefetch, for which the tags say `found`. It never has to wait.
    pub(super) fn prefetch(
        &mut self,
        head: &Arrival,
        found: Lookup,
        around: &mut Surroundings,
    ) -> Outcome {
        let answered = around.inflight.answer(head.piece());
        debug_assert!(answered.is_none(), "no warp waits for it");
        let sector = head.sector;
        let slot = match found {
            Lookup::Hit(_) => return Outcome::Hit,
            Lookup::Pending(_) => return Outcome::Merge,
            Lookup::Blocked => {
                around.stats.l2_prefetches_dropped += 1;
                return Outcome::Miss;
            }
            Lookup::PartlyWritten(slot) | Lookup::SectorMiss(slot) | Lookup::Miss(slot) => slot,
        };
        let room = self.miss_room(PLACES_FOR_FETCH);
        if !room || self.mshrs.admit(sector) != Admission::Fresh {
            around.stats.l2_prefetches_dropped += 1;
            return Outcome::Miss;
        }
        let place = self.tags.place(slot, sector);
        let fetch = self.mshrs.open_without_waiter(sector, place);
        self.fetch(slot, sector, found, fetch, around.stats);
        Outcome::Miss
    }
}
