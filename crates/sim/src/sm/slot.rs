//! What the pipeline keeps for each hardware warp beside its bit sets: the instruction buffer
//! and what is in flight.

use crate::config::{Eligible, Fetch};
use crate::schedule::Place;
use warpsim_ptx::kernel::Pc;

/// State of a hardware warp.
#[derive(Clone, Debug, Default)]
pub struct Slot {
    /// Where it sits; the same for whatever warp is here.
    pub place: Place,
    /// Decoded instructions.
    pub buffer: Buffer,
    /// Slot of its block.
    pub block: u16,
    /// Instructions issued and not complete.
    pub in_flight: u16,
    /// Of those, the ones that access memory.
    pub memory_in_flight: u16,
    /// Stores not acknowledged.
    pub stores: u32,
    /// Sets of threads that its `.sync` operation still waits for.
    pub awaits: u16,
    /// When it came, or the last barrier that it waited at opened.
    pub phase_began: u64,
    /// When it came to the barrier that it waits at, or exited.
    pub phase_ended: u64,
    /// All its threads have exited.
    pub exited: bool,
}

impl Slot {
    /// A warp that has just come.
    pub fn new(place: Place, block: u16, now: u64) -> Slot {
        Slot {
            place,
            block,
            phase_began: now,
            ..Slot::default()
        }
    }

    /// Whether it has nothing in flight and no store on its way.
    pub fn is_settled(&self) -> bool {
        self.in_flight == 0 && self.stores == 0
    }
}

/// Decoded instructions of a warp: consecutive PCs, so that the first and the number suffice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Buffer {
    first: Pc,
    len: u8,
    /// It has been told where to fetch from since the warp came.
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
    pub fn flush(&mut self, pc: Pc) {
        (self.first, self.len, self.touched) = (pc, 0, true);
    }

    /// Adds up to `count` instructions from `pc`, as far as the code goes and the buffer, of
    /// `entries` entries, has room.
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

    /// Whether the fetch unit may bring more of the code, which goes up to `end`.
    #[inline]
    pub fn wants_fetch(&self, fetch: &Fetch, end: Pc) -> bool {
        self.len == 0
            || fetch.eligible == Eligible::Room
                && (self.len as u32) < fetch.buffer
                && self.fetch_pc() < end
    }
}
