//! Lines of a cache that were prefetched and that no access has used yet.

use crate::memory::cache::tags::Slot;

/// What has become of prefetched lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Used for the first time.
    pub useful: u64,
    /// Of those: while it was still on its way.
    pub late: u64,
    /// Gone before an access used it.
    pub unused: u64,
}

/// Which lines these are, by slot.
#[derive(Debug)]
pub struct Unused {
    lines: Vec<bool>,
    /// What has become of others.
    pub uses: Uses,
}

impl Unused {
    /// None of so many.
    pub fn new(slots: usize) -> Unused {
        Unused {
            lines: vec![false; slots],
            uses: Uses::default(),
        }
    }

    /// The line in this slot is being prefetched.
    pub fn prefetched(&mut self, slot: Slot) {
        self.lines[slot.number()] = true;
    }

    /// The line in this slot is used, perhaps while it is still on its way.
    #[inline]
    pub fn used(&mut self, slot: Slot, on_its_way: bool) {
        if std::mem::take(&mut self.lines[slot.number()]) {
            self.uses.useful += 1;
            self.uses.late += u64::from(on_its_way);
        }
    }

    /// The line in this slot goes.
    pub fn left(&mut self, slot: Slot) {
        let unused = std::mem::take(&mut self.lines[slot.number()]);
        self.uses.unused += u64::from(unused);
    }

    /// All lines go.
    pub fn all_left(&mut self) {
        let left = self.lines.iter_mut().map(std::mem::take);
        self.uses.unused += left.filter(|&unused| unused).count() as u64;
    }
}
