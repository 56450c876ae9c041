//! A set-associative array of tags with, optionally, sectors. It knows what is where and in which state; it holds no
//! data and no time. Which line makes room for another a [policy](crate::replacement) says. The most common one, least
//! recently used, is known by its type, and the array goes by the age of lines instead of asking it.
//!
//! A sector is in one of five states:
//!
//! | state          | meaning                                            | readable |
//! |----------------|----------------------------------------------------|----------|
//! | invalid        | nothing here                                       | no       |
//! | pending        | a fetch is under way (reserved)                    | no       |
//! | valid          | as in memory                                       | yes      |
//! | dirty          | all bytes known, some newer than memory            | yes      |
//! | partly written | some bytes written, the others never fetched       | no       |
//!
//! A pending sector may also have been written; when its fill arrives it becomes dirty.
//! A line with a pending sector is never chosen as a victim, so a fill finds its line unless
//! the line was invalidated meanwhile. A cache without sectors has one sector per line.

mod policy;

use super::mshr::BYTES_PER_PLACE;
use crate::replacement::{self, Replacement};
use std::cell::Cell;
use warpsim_machine::Cache;

/// How an address selects a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetIndex {
    /// Line number modulo sets.
    Modulo,
    /// The GTX 480's L1 data cache: line number XOR address bits {19, 17, 15, 14, 13}.
    FermiHash,
}

/// Size and shape. `line` and `sector` are powers of two, at most 8 sectors per line.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// Sets.
    pub sets: u32,
    /// Ways.
    pub ways: u32,
    /// Bytes per line.
    pub line: u32,
    /// Bytes per sector; as many as `line` for no sectors.
    pub sector: u32,
    /// Set index function.
    pub index: SetIndex,
}

impl Geometry {
    /// The shape of one of an SM's caches, which have no sectors.
    pub fn of(cache: &Cache) -> Geometry {
        Geometry {
            sets: cache.sets,
            ways: cache.ways,
            line: cache.line,
            sector: cache.line,
            index: if cache.hashed_index {
                SetIndex::FermiHash
            } else {
                SetIndex::Modulo
            },
        }
    }
}

/// A line's place in the array. Stays good until the line is replaced or invalidated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

impl Slot {
    /// Its number among all of the array.
    #[inline]
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

/// A sector's place in the array: the slot of its line and which of the line's sectors it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(pub u32);

/// What [`TagArray::lookup`] finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The sector is readable.
    Hit(Slot),
    /// The sector is being fetched.
    Pending(Slot),
    /// The sector has written bytes but must be fetched before it can be read.
    PartlyWritten(Slot),
    /// The line is here, the sector is not.
    SectorMiss(Slot),
    /// The line is not here; this slot is the one to replace.
    Miss(Slot),
    /// The line is not here and every way of its set waits for a fill.
    Blocked,
}

/// Dirty data that a replacement pushed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// First byte of the line.
    pub addr: u64,
    /// Bit s: sector s has written bytes.
    pub dirty_sectors: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// When it was last used, above [`WAY_BITS`] bits that are left for the number of its way, and [`BARRED`]
    /// while any of its sectors is pending: the least of a set's is what to replace. Zero where there is no line.
    age: u64,
    valid: u8,
    pending: u8,
    dirty: u8,
}

impl Line {
    /// A pending sector has come.
    #[inline]
    fn fill(&mut self, bit: u8) {
        self.pending &= !bit;
        self.valid |= bit;
        if self.pending == 0 {
            self.age &= !BARRED;
        }
    }
}

const NO_TAG: u64 = u64::MAX;

/// Bytes of the host's memory that an array takes for each line of up to 128 bytes, and with it a table of the waiters for its sectors.
pub const BYTES_PER_LINE: u64 = (size_of::<u64>() + size_of::<Line>() + size_of::<u128>()) as u64
    + MOST_SECTORS * BYTES_PER_PLACE
    + replacement::BYTES_PER_LINE;

/// Bytes that a byte mask reaches over, as a power of two: a longer line has several masks.
const MASK_SHIFT: u32 = u128::BITS.ilog2();

/// The most sectors of a line.
const MOST_SECTORS: u64 = u8::BITS as u64;

/// Bits for the number of a way.
const WAY_BITS: u32 = 16;

/// The line is not to be replaced. As part of its age this makes it younger than any without.
const BARRED: u64 = 1 << 63;

/// The array.
#[derive(Debug)]
pub struct TagArray {
    /// Line numbers, a set's ways side by side: a lookup reads one or two host cache lines.
    tags: Vec<u64>,
    lines: Vec<Line>,
    /// Bytes written in partly written sectors, a bit each, by position in the line, `masks` of them for a line. Empty while
    /// nothing is: most caches of a GPU are never written to.
    written: Vec<u128>,
    masks: usize,
    sets: u64,
    /// `sets` less one where that is a power of two.
    set_mask: Option<u64>,
    ways: usize,
    line_shift: u32,
    sector_shift: u32,
    /// Sectors per line, less one, and the bits in which they are numbered.
    sector_mask: u64,
    sector_bits: u32,
    index: SetIndex,
    clock: u64,
    /// Says which line makes room; nothing where that is the one least recently used.
    policy: Option<Box<dyn Replacement>>,
    /// Where the last line that was looked for was found, by the low bits of its tag. The sectors of a line are
    /// asked for one after the other, and warps that take turns at few lines ask for them in turn, so it
    /// is mostly the one wanted next; its tag tells.
    found: [Cell<u16>; FOUND],
}

/// Lines of which it is known where they were found last. (Beyond the places that 16 bits can tell apart, it is not known.)
const FOUND: usize = 64;

impl TagArray {
    /// An empty array, in which the line least recently used makes room. A geometry of zero sets or ways gives an array
    /// that is always blocked.
    pub fn new(geometry: Geometry) -> TagArray {
        let slots = geometry.sets as usize * geometry.ways as usize;
        let sectors = u64::from(geometry.line / geometry.sector.max(1)).max(1);
        TagArray {
            tags: vec![NO_TAG; slots],
            lines: vec![Line::default(); slots],
            written: Vec::new(),
            masks: (geometry.line >> MASK_SHIFT).max(1) as usize,
            sets: u64::from(geometry.sets.max(1)),
            set_mask: (geometry.sets.max(1).is_power_of_two())
                .then(|| u64::from(geometry.sets.max(1) - 1)),
            ways: if slots == 0 {
                0
            } else {
                geometry.ways as usize
            },
            line_shift: geometry.line.max(1).ilog2(),
            sector_shift: geometry.sector.max(1).ilog2(),
            sector_mask: sectors - 1,
            sector_bits: sectors.ilog2(),
            index: geometry.index,
            clock: 0,
            policy: None,
            found: [const { Cell::new(0) }; FOUND],
        }
    }

    /// First byte of the line that `addr` is in.
    pub fn line_of(&self, addr: u64) -> u64 {
        addr >> self.line_shift << self.line_shift
    }

    /// The set that `addr` maps to.
    pub fn set_of(&self, addr: u64) -> usize {
        let line = addr >> self.line_shift;
        let index = match self.index {
            SetIndex::Modulo => line,
            SetIndex::FermiHash => {
                let upper = (addr >> 13 & 0b111) | (addr >> 17 & 1) << 3 | (addr >> 19 & 1) << 4;
                line ^ upper
            }
        };
        match self.set_mask {
            Some(mask) => (index & mask) as usize,
            None => (index % self.sets) as usize,
        }
    }

    #[inline]
    fn sector_bit(&self, addr: u64) -> u8 {
        1 << (addr >> self.sector_shift & self.sector_mask)
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.tags.len() << self.sector_bits
    }

    /// The place of the sector of `addr`, whose line is in this slot.
    #[inline]
    pub fn place(&self, slot: Slot, addr: u64) -> Place {
        let sector = addr >> self.sector_shift & self.sector_mask;
        Place(slot.0 << self.sector_bits | sector as u32)
    }

    /// Places that are being fetched.
    pub fn pending_places(&self) -> impl Iterator<Item = Place> + '_ {
        let all = (0..self.places() as u32).map(Place);
        all.filter(|&place| {
            let (index, bit) = self.line_at(place);
            self.lines[index].pending & bit != 0
        })
    }

    /// The line that a place is in, and the bit of its sector.
    #[inline]
    fn line_at(&self, place: Place) -> (usize, u8) {
        let sector = place.0 & self.sector_mask as u32;
        ((place.0 >> self.sector_bits) as usize, 1 << sector)
    }

    /// Where the first way of the set of `addr` is.
    #[inline]
    fn set_at(&self, addr: u64) -> usize {
        self.set_of(addr) * self.ways
    }

    /// Where in the set that begins at `base` the line of `addr` is. The host
    /// cannot predict which way that is, so ways are compared four at a time before there is a
    /// branch.
    #[inline]
    fn search(&self, base: usize, addr: u64) -> Option<usize> {
        let tag = addr >> self.line_shift;
        let set = &self.tags[base..base + self.ways];
        let (fours, rest) = set.as_chunks::<4>();
        for (number, [a, b, c, d]) in fours.iter().enumerate() {
            let is = |way: &u64| u32::from(*way == tag);
            let found = is(a) | is(b) << 1 | is(c) << 2 | is(d) << 3;
            if found != 0 {
                return Some(base + number * 4 + found.trailing_zeros() as usize);
            }
        }
        let way = rest.iter().position(|&way| way == tag)?;
        Some(base + fours.len() * 4 + way)
    }

    /// Which of those found last a line may be.
    #[inline]
    fn found_at(&self, addr: u64) -> usize {
        (addr >> self.line_shift) as usize % FOUND
    }

    /// The line is in this place.
    #[inline]
    fn is_at(&self, index: usize, addr: u64) -> bool {
        self.tags.get(index) == Some(&(addr >> self.line_shift))
    }

    /// State of the sector that `addr` is in; where the line is missing, what to replace: a
    /// free way, else what the policy says of those without a fetch under way. Changes nothing.
    #[inline]
    pub fn lookup(&self, addr: u64) -> Lookup {
        let last = self.found[self.found_at(addr)].get() as usize;
        if self.is_at(last, addr) {
            self.state(last, addr)
        } else {
            self.look_further(addr)
        }
    }

    /// Where the sector that `addr` is in can be read, if it can.
    #[inline]
    pub fn find(&self, addr: u64) -> Option<Slot> {
        let mut index = self.found[self.found_at(addr)].get() as usize;
        if !self.is_at(index, addr) {
            index = self.search(self.set_at(addr), addr)?;
            self.found[self.found_at(addr)].set(index as u16);
        }
        let readable = self.lines[index].valid & self.sector_bit(addr) != 0;
        readable.then_some(Slot(index as u32))
    }

    #[inline(never)]
    fn look_further(&self, addr: u64) -> Lookup {
        let base = self.set_at(addr);
        match self.search(base, addr) {
            Some(index) => {
                self.found[self.found_at(addr)].set(index as u16);
                self.state(index, addr)
            }
            None => self.victim(base),
        }
    }

    #[inline]
    fn state(&self, index: usize, addr: u64) -> Lookup {
        let (line, bit) = (&self.lines[index], self.sector_bit(addr));
        let slot = Slot(index as u32);
        // No sector is both valid and pending.
        if line.valid & bit != 0 {
            Lookup::Hit(slot)
        } else if line.pending & bit != 0 {
            Lookup::Pending(slot)
        } else if line.dirty & bit != 0 {
            Lookup::PartlyWritten(slot)
        } else {
            Lookup::SectorMiss(slot)
        }
    }

    /// The sector of `addr`, whose line is in this slot, and those behind it are readable,
    /// `sectors` in all. None beyond the line is.
    #[inline]
    pub fn readable(&self, slot: Slot, addr: u64, sectors: u32) -> bool {
        let line = &self.lines[slot.0 as usize];
        let wanted = ((1 << sectors) - 1) * u32::from(self.sector_bit(addr));
        u32::from(line.valid) & wanted == wanted
    }

    /// What to replace in the set that begins at `base`.
    #[inline(never)] // most lookups find their line, and need fewer registers than this
    fn victim(&self, base: usize) -> Lookup {
        if let Some(policy) = &self.policy {
            return self.victim_by(&**policy, base);
        }
        let mut oldest = u64::MAX;
        let mut first = 0;
        let (fours, rest) = self.lines[base..base + self.ways].as_chunks::<4>();
        // A free way was never used. The way below its age, so that the least tells both: the
        // host cannot predict any of this either.
        for [a, b, c, d] in fours {
            let one = (a.age | first).min(b.age | (first + 1));
            let other = (c.age | (first + 2)).min(d.age | (first + 3));
            oldest = oldest.min(one).min(other);
            first += 4;
        }
        for (way, line) in (first..).zip(rest) {
            oldest = oldest.min(line.age | way);
        }
        if oldest & BARRED != 0 {
            return Lookup::Blocked;
        }
        let way = oldest & ((1 << WAY_BITS) - 1);
        Lookup::Miss(Slot(base as u32 + way as u32))
    }

    /// The line is used: it is the most recently used of its set.
    #[inline]
    pub fn touch(&mut self, slot: Slot) {
        self.grow_young(slot);
        if self.policy.is_some() {
            self.tell(slot, |policy, set, way| policy.hit(set, way));
        }
    }

    /// The line is the most recently used of its set.
    #[inline]
    pub fn grow_young(&mut self, slot: Slot) {
        self.clock += 1;
        let line = &mut self.lines[slot.0 as usize];
        line.age = line.age & BARRED | self.clock << WAY_BITS;
    }

    /// The address of the line in a slot, if there is one.
    #[inline]
    pub fn occupant(&self, slot: Slot) -> Option<u64> {
        let tag = self.tags[slot.0 as usize];
        (tag != NO_TAG).then(|| tag << self.line_shift)
    }

    /// Gives the slot of a [`Lookup::Miss`] to the line of `addr`, all sectors invalid and
    /// most recently used; returns what must be written back.
    pub fn replace(&mut self, slot: Slot, addr: u64) -> Option<Evicted> {
        let index = slot.0 as usize;
        let old = self.lines[index];
        let evicted = (old.dirty != 0).then(|| Evicted {
            addr: self.tags[index] << self.line_shift,
            dirty_sectors: old.dirty,
        });
        self.tags[index] = addr >> self.line_shift;
        self.found[self.found_at(addr)].set(index as u16);
        self.lines[index] = Line::default();
        self.forget_written(slot);
        self.grow_young(slot);
        if self.policy.is_some() {
            self.tell(slot, |policy, set, way| policy.reserved(set, way));
        }
        evicted
    }

    /// Marks the sector of `addr` as being fetched.
    #[inline]
    pub fn reserve(&mut self, slot: Slot, addr: u64) {
        let bit = self.sector_bit(addr);
        let line = &mut self.lines[slot.0 as usize];
        line.age |= BARRED;
        line.pending |= bit;
        line.valid &= !bit;
    }

    /// The fetch to a place has arrived, whose line has not been dropped meanwhile.
    #[inline]
    pub fn fill_place(&mut self, place: Place) {
        let (index, bit) = self.line_at(place);
        let line = &mut self.lines[index];
        debug_assert!(line.pending & bit != 0);
        line.fill(bit);
        if self.policy.is_some() {
            self.tell(Slot(index as u32), |policy, set, way| {
                policy.filled(set, way)
            });
        }
    }

    /// Writes some bytes of the sector of `addr`; bit i of `bytes` is byte i of the line, or of the 128 bytes of a
    /// longer one that `addr` lies in, and
    /// bits outside the sector are ignored. Once all of a sector's bytes are written it is
    /// readable without a fetch.
    pub fn write(&mut self, slot: Slot, addr: u64, bytes: u128) {
        let (index, bit) = (slot.0 as usize, self.sector_bit(addr));
        let line = &mut self.lines[index];
        line.dirty |= bit;
        if line.valid & bit != 0 {
            return;
        }
        let width = 1u32 << self.sector_shift;
        let whole = u128::MAX >> 128u32.saturating_sub(width).min(127);
        let start = addr >> self.sector_shift << self.sector_shift;
        let sector = whole << (start & ((1 << self.line_shift.min(MASK_SHIFT)) - 1));
        if self.written.is_empty() {
            self.written = vec![0; self.tags.len() * self.masks];
        }
        let masks = &mut self.written[index * self.masks..][..self.masks];
        let mask = (addr >> MASK_SHIFT) as usize % self.masks;
        masks[mask] |= bytes & sector;
        // A sector that is longer than a mask has all of the line's.
        let is_whole = match self.sector_shift <= MASK_SHIFT {
            true => masks[mask] & sector == sector,
            false => masks.iter().all(|&mask| mask == u128::MAX),
        };
        if is_whole && line.pending & bit == 0 {
            line.valid |= bit;
        }
    }

    /// Forgets which bytes of a line were written, but not which sectors can be read.
    pub fn forget_written(&mut self, slot: Slot) {
        let first = slot.0 as usize * self.masks;
        if let Some(written) = self.written.get_mut(first..first + self.masks) {
            written.fill(0);
        }
    }

    /// Marks a readable sector dirty, whatever bytes changed.
    pub fn dirty(&mut self, slot: Slot, addr: u64) {
        let bit = self.sector_bit(addr);
        self.lines[slot.0 as usize].dirty |= bit;
    }

    /// Makes the sectors that hold `bytes` bytes from `addr` on, as far as they are in its
    /// line, valid at once, as a copy from outside does, replacing another line if it must.
    /// Does nothing where every way waits for a fill.
    pub fn install(&mut self, addr: u64, bytes: u64) {
        let slot = match self.lookup(addr) {
            Lookup::Blocked => return,
            Lookup::Miss(slot) => {
                self.replace(slot, addr);
                slot
            }
            Lookup::Hit(slot)
            | Lookup::Pending(slot)
            | Lookup::PartlyWritten(slot)
            | Lookup::SectorMiss(slot) => {
                self.touch(slot);
                slot
            }
        };
        let line_end = self.line_of(addr) + (1 << self.line_shift);
        let end = addr.saturating_add(bytes.max(1)).min(line_end) - 1;
        // From the first sector's bit up to the last one's.
        let all =
            ((self.sector_bit(end) - 1) | self.sector_bit(end)) & !(self.sector_bit(addr) - 1);
        let line = &mut self.lines[slot.0 as usize];
        line.valid |= all & !line.pending;
    }

    /// Drops the line of `addr`, dirty or not; says whether it was there.
    pub fn invalidate(&mut self, addr: u64) -> bool {
        let Some(index) = self.search(self.set_at(addr), addr) else {
            return false;
        };
        self.tags[index] = NO_TAG;
        self.lines[index] = Line::default();
        let slot = Slot(index as u32);
        self.forget_written(slot);
        if self.policy.is_some() {
            self.tell(slot, |policy, set, way| policy.invalidated(set, way));
        }
        true
    }

    /// Drops everything.
    pub fn invalidate_all(&mut self) {
        self.tell_of_all_dropped();
        self.tags.fill(NO_TAG);
        self.lines.fill(Line::default());
        self.written.fill(0);
    }
}

#[cfg(test)]
#[path = "tags_tests.rs"]
mod tests;
