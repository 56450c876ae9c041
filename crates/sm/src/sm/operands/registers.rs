//! Where instructions wait behind the collectors.

use super::Issued;

/// The pipeline registers behind the collectors: a few, oldest first. In this order, the
/// first ones are in one line of the host's cache with their number.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Registers {
    /// How many instructions there are.
    pub count: u8,
    /// The instructions, oldest first.
    pub ops: [Issued; Registers::MOST],
}

impl Registers {
    /// As many as a group may have ports.
    pub const MOST: usize = 16;

    /// Adds one.
    #[inline]
    pub fn push(&mut self, op: Issued) {
        debug_assert!((self.count as usize) < Registers::MOST);
        let at = self.count as usize % Registers::MOST;
        self.ops[at] = op;
        self.count += 1;
        // By order of issue: collectors may finish out of it.
        if at != 0 && self.ops[at - 1].order > op.order {
            self.move_down(at);
        }
    }

    /// Takes the oldest.
    #[inline]
    pub fn pop(&mut self) -> Issued {
        let op = self.ops[0];
        self.count -= 1;
        // Most often there is one, or two.
        self.ops[0] = self.ops[1];
        if self.count > 1 {
            self.move_up();
        }
        op
    }

    #[inline(never)]
    fn move_up(&mut self) {
        self.ops.copy_within(2..1 + self.count as usize, 1);
    }

    /// Takes one that is there.
    pub fn take(&mut self, at: usize) -> Issued {
        let op = self.ops[at];
        self.ops.copy_within(at + 1..self.count as usize, at);
        self.count -= 1;
        op
    }

    /// Takes the oldest so many, which the caller has seen.
    #[inline]
    pub fn drop_oldest(&mut self, dropped: u8) {
        self.count -= dropped;
        // Most often all have gone, or one is left.
        if self.count != 0 {
            self.ops[0] = self.ops[dropped as usize % Registers::MOST];
            if self.count > 1 {
                self.close_up(dropped);
            }
        }
    }

    #[inline(never)]
    fn close_up(&mut self, dropped: u8) {
        let from = dropped as usize;
        self.ops
            .copy_within(1 + from..from + self.count as usize, 1);
    }

    /// The last one, at this place, goes before those that were issued later.
    #[inline(never)]
    fn move_down(&mut self, mut at: usize) {
        while at != 0 && self.ops[at - 1].order > self.ops[at].order {
            self.ops.swap(at - 1, at);
            at -= 1;
        }
    }
}
