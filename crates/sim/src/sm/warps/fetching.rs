//! What fetch keeps for itself: no account depends on it.

use super::{WarpTable, domain};
use crate::place::Place;
use warpsim_ptx::kernel::Pc;

impl WarpTable {
    /// Whether fetch has to look at the warps again; it has then.
    #[inline]
    pub fn take_fetch_stir(&mut self) -> bool {
        std::mem::take(&mut self.stirred.fetch)
    }

    /// Whether fetch has to look at the warps again.
    #[inline]
    pub fn stirs_fetch(&self) -> bool {
        self.stirred.fetch
    }

    /// A warp waits for an instruction-cache miss, or does not any more. Returns whether it did.
    #[inline]
    pub fn set_missing(&mut self, place: Place, missing: bool) -> bool {
        self.isolate(1 << place.domain);
        let set = &mut self.domains[place.domain as usize].missing;
        let was = *set >> place.index & 1 != 0;
        domain::assign(set, place.index, missing);
        was
    }

    /// Whether a warp that is kept by itself, or stands for others, waits for the instructions at `pc`.
    #[inline]
    pub fn waits_at(&self, slot: u16, pc: Pc) -> bool {
        debug_assert_eq!(self.kept(slot), slot, "one of several that are kept as one");
        self.warps[slot as usize].buffer.fetch_pc() == pc && self.is_running(slot)
    }

    /// Until what was fetched is decoded, no other port fetches the same again.
    #[inline]
    pub fn fetch_under_way(&mut self, place: Place) {
        self.isolate(1 << place.domain);
        let set = &mut self.domains[place.domain as usize].wants_fetch;
        domain::assign(set, place.index, false);
    }

    /// Fetch for a warp with an empty buffer, which is kept by itself or stands for others, goes on at
    /// `pc`.
    pub fn restart_fetch(&mut self, slot: u16, pc: Pc) {
        debug_assert!(self.warps[slot as usize].buffer.head().is_none());
        self.warps[slot as usize].buffer.flush(pc);
    }

    /// Where to fetch from for such a warp, whose next instruction is `next`: behind the last
    /// instruction, which is at `end`, there is nothing, and the warp goes elsewhere.
    #[inline]
    pub fn fetch_from(&mut self, slot: u16, next: Pc, end: Pc) -> Pc {
        debug_assert_eq!(self.kept(slot), slot, "one of several that are kept as one");
        let buffer = &mut self.warps[slot as usize].buffer;
        if buffer.head().is_none() && buffer.fetch_pc() >= end {
            buffer.flush(next);
        }
        buffer.fetch_pc()
    }
}
