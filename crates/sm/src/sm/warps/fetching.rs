//! What fetch keeps for itself, on which no account depends, and what it brings.

use super::accounting::pass_plainly;
use super::{Edit, WarpTable, domain};
use crate::divergence::Groups;
use crate::place::{Place, each};
use crate::sm::facts::OpFacts;
use crate::sm::observe::Books;
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
        self.fetch_for_one_under_way(place);
    }

    /// Until what was fetched is decoded, no other port fetches the same again; for a warp in a domain that is alone in its class.
    #[inline]
    pub fn fetch_for_one_under_way(&mut self, place: Place) {
        debug_assert!(self.classes.is_alone(place.domain.into()));
        let set = &mut self.domains[place.domain as usize].wants_fetch;
        domain::assign(set, place.index, false);
    }

    /// What was fetched from `pc` goes into a warp's buffer, if that is still what the warp waits for: it may
    /// have gone elsewhere meanwhile. The turns of this cycle are over.
    #[inline(never)] // several call it
    pub fn decode(
        &mut self,
        slot: u16,
        pc: Pc,
        groups: &Groups,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        if self.special {
            return self.decode_specially(slot, pc, groups, code, books);
        }
        let warp = &mut self.warps[slot as usize];
        let Place { domain: d, index } = warp.place;
        let domain = &mut self.domains[d as usize];
        if domain.running >> index & 1 == 0 || warp.buffer.fetch_pc() != pc {
            return;
        }
        self.stirred.issue |= 1 << d;
        self.stirred.fetch |= books.plans(); // see `stir`
        debug_assert_eq!(self.turned, !0);
        pass_plainly(domain, d as usize, self.now + 1, books);
        // As `edit_touched`, which would find the warp again: 0.4% of a run that decodes in most cycles.
        let mut edit = Edit {
            domain,
            warp,
            scoreboard: &self.scoreboard,
            rules: &self.rules,
            stirs_fetch: &mut self.stirred.fetch,
            residency: &mut self.residency,
            slot,
            index,
        };
        let next = groups.get(slot).pc;
        edit.decode(pc, next, code);
        edit.refresh_head(next, code);
    }

    #[inline(never)]
    fn decode_specially(
        &mut self,
        slot: u16,
        pc: Pc,
        groups: &Groups,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        if self.is_running(slot) && self.fetch_pc(slot) == pc {
            let next = groups.get(slot).pc;
            let mut edit = self.edit(slot, books);
            edit.decode(pc, next, code);
            edit.refresh_head(next, code);
        }
    }

    /// Warps of a domain, or of all that it stands for, lose the wrong paths in their buffers, behind its turn.
    #[inline(always)] // its one caller is what drops them
    pub fn drop_wrong_paths(
        &mut self,
        d: usize,
        wrong: u64,
        groups: &Groups,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        let next = |slot| groups.get(slot).pc;
        if self.special {
            return self.drop_specially(d, wrong, next, code, books);
        }
        debug_assert!(self.domains[d].accounted > self.now);
        self.stirred.issue |= 1 << d;
        self.stirred.fetch = true;
        for index in each(wrong) {
            let slot = self.slot_in(d, index as u8);
            self.warps[slot as usize].buffer.flush(next(slot));
        }
        self.domains[d].drop_heads(wrong);
    }

    #[inline(never)]
    fn drop_specially(
        &mut self,
        d: usize,
        wrong: u64,
        next: impl Fn(u16) -> Pc,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        let alone = self.classes.is_alone(d);
        for index in each(wrong) {
            if !alone {
                self.drop_class_path(d, index as u8, &next, code, books);
                continue;
            }
            let slot = self.slot_in(d, index as u8);
            let pc = next(slot);
            let mut edit = self.edit_after_turn(slot, books);
            edit.drop_wrong_path(pc);
            edit.refresh_head(pc, code);
        }
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
    pub fn fetch_from(&mut self, slot: u16, end: Pc, next: impl FnOnce(u16) -> Pc) -> Pc {
        debug_assert_eq!(self.kept(slot), slot, "one of several that are kept as one");
        let buffer = &mut self.warps[slot as usize].buffer;
        if buffer.head().is_none() && buffer.fetch_pc() >= end {
            buffer.flush(next(slot));
        }
        buffer.fetch_pc()
    }
}
