//! Decoded instructions of a warp.

use crate::config::{Eligible, Fetch};
use warpsim_ptx::kernel::Pc;

/// Decoded instructions of a warp: consecutive PCs, so that the first and the number suffice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    first: Pc,
    len: u8,
    /// The buffer has been told where to fetch from since the warp came.
    touched: bool,
}

impl Buffer {
    /// The next instruction.
    #[inline]
    pub fn head(&self) -> Option<Pc> {
        (self.len != 0).then_some(self.first)
    }

    /// Takes the next instruction.
    #[inline]
    pub fn pop(&mut self) -> Option<Pc> {
        let head = self.head()?;
        self.first += 1;
        self.len -= 1;
        Some(head)
    }

    /// Where to fetch from.
    #[inline]
    pub fn fetch_pc(&self) -> Pc {
        self.first + self.len as Pc
    }

    /// Drops everything and goes on at `pc`.
    #[inline]
    pub fn flush(&mut self, pc: Pc) {
        (self.first, self.len, self.touched) = (pc, 0, true);
    }

    /// Goes on at `pc`: drops everything if that is not what comes next.
    #[inline]
    pub fn go_on_at(&mut self, pc: Pc) {
        if self.first != pc {
            self.flush(pc);
        }
        self.touched = true;
    }

    /// Takes so many instructions from `pc`, while it is empty.
    #[inline]
    pub fn begin(&mut self, pc: Pc, count: u32) {
        debug_assert!(self.len == 0);
        (self.first, self.len) = (pc, count as u8);
    }

    /// Adds up to `count` instructions from `pc`, as far as the code goes and the buffer, of
    /// `entries` entries, has room.
    #[inline]
    pub fn fill(&mut self, pc: Pc, count: u32, end: Pc, entries: u32) {
        if self.len == 0 {
            self.first = pc;
        }
        let room = entries - self.len as u32;
        self.len += count.min(end.saturating_sub(pc)).min(room) as u8;
    }

    /// Whether it has not been told where to fetch from since the warp came.
    pub fn is_untouched(&self) -> bool {
        !self.touched
    }

    /// Instructions in it.
    #[inline]
    pub fn len(&self) -> u8 {
        self.len
    }

    /// Whether the fetch unit may bring more of the code, which goes up to `end`, to what is in it.
    #[inline]
    pub fn wants_more(&self, fetch: &Fetch, end: Pc) -> bool {
        fetch.eligible == Eligible::Room && self.has_room(fetch, end)
    }

    /// Whether more of the code can be fetched while there is something in it.
    #[inline(never)] // not asked on most machines
    fn has_room(&self, fetch: &Fetch, end: Pc) -> bool {
        (self.len as u32) < fetch.buffer && self.fetch_pc() < end
    }
}
