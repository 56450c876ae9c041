//! How semantics read and write registers: rows of 32 lanes.
//!
//! An operation is a function over [`Regs`]. It reads source rows, computes all 32 lanes in a
//! loop that the compiler vectorises, and commits the result under the mask of executed lanes.
//! Inactive lanes may hold anything, so lane functions must be total.

use crate::rows::{Row, words, words_mut};
use crate::state::LANES;
use std::ops::Range;

/// Where a source row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Src {
    /// The first of its rows among the home warp's register rows.
    Reg(u32),
    /// The first of its rows in the constant pool.
    Pool(u32),
    /// Index of a temporary row, filled before the instruction.
    Temp(u8),
}

/// Where a result row goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dst {
    /// The first of its rows among the home warp's register rows.
    Reg(u32),
    /// Index of a temporary row, copied out after the instruction.
    Temp(u8),
    /// `_`
    Sink,
}

/// A predicate operand: `(slot or none) ^ flip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PredSrc {
    /// Slot, or [`NO_SLOT`] for a constant.
    pub slot: u32,
    /// All ones when inverted.
    pub flip: u32,
}

impl PredSrc {
    /// The value by lane.
    #[inline]
    pub fn bits(self, predicates: &[u32]) -> u32 {
        if self.slot == NO_SLOT {
            self.flip
        } else {
            predicates[self.slot as usize] ^ self.flip
        }
    }
}

/// No predicate slot.
pub(crate) const NO_SLOT: u32 = u32::MAX;
/// The predicate that is always true.
pub(crate) const TRUE: PredSrc = PredSrc {
    slot: NO_SLOT,
    flip: u32::MAX,
};

/// The registers an operation works on. They are rows rather than words, so that the compiler knows how they are aligned: all
/// that an operand may be, or it would not know of any.
pub(crate) struct Regs<'a> {
    pub rows: &'a mut [Row],
    pub predicates: &'a mut [u32],
    pub carry: &'a mut u32,
    pub pool: &'a [Row],
    /// Temporary rows, each with room for 64-bit lanes.
    pub temps: &'a mut [Row],
    /// Lanes that execute.
    pub mask: u32,
}

/// A lane's value in a row.
pub(crate) trait Value: Copy {
    /// A row of 32 lanes.
    type Row: Copy;
    /// Two words per lane.
    const WIDE: bool;
    /// All zeros.
    const ZERO: Self::Row;
    /// The row that starts at the front of `words`.
    fn row(words: &[u32]) -> &Self::Row;
    /// The row that starts at the front of `words`, to be changed.
    fn row_mut(words: &mut [u32]) -> &mut Self::Row;
    /// The row that these are, as a value: so it is known how it is aligned.
    #[inline(always)]
    fn load(rows: &[Row]) -> Self::Row {
        *Self::row(words(rows))
    }
    /// Overwrites the row that these are.
    #[inline(always)]
    fn store(rows: &mut [Row], row: &Self::Row) {
        *Self::row_mut(words_mut(rows)) = *row;
    }
    /// A lane.
    fn get(row: &Self::Row, lane: usize) -> Self;
    /// Sets a lane.
    fn put(row: &mut Self::Row, lane: usize, value: Self);
    /// Copies the lanes of a mask, all their words and nothing of the others: those may hold
    /// another register that shares the slot.
    fn blend(row: &mut Self::Row, from: &Self::Row, mask: u32);
}

macro_rules! narrow {
    ($($t:ty: |$w:ident| $from:expr, |$v:ident| $to:expr;)*) => {$(
        impl Value for $t {
            type Row = [u32; LANES];
            const WIDE: bool = false;
            const ZERO: Self::Row = [0; LANES];
            #[inline(always)]
            fn load(rows: &[Row]) -> Self::Row {
                rows[0].0
            }
            #[inline(always)]
            fn store(rows: &mut [Row], row: &Self::Row) {
                rows[0].0 = *row;
            }
            #[inline(always)]
            fn row(words: &[u32]) -> &Self::Row {
                words.first_chunk().expect("a whole row")
            }
            #[inline(always)]
            fn row_mut(words: &mut [u32]) -> &mut Self::Row {
                words.first_chunk_mut().expect("a whole row")
            }
            #[inline(always)]
            fn get(row: &Self::Row, lane: usize) -> Self {
                let $w = row[lane];
                $from
            }
            #[inline(always)]
            fn put(row: &mut Self::Row, lane: usize, $v: Self) {
                row[lane] = $to;
            }
            #[inline(always)]
            fn blend(row: &mut Self::Row, from: &Self::Row, mask: u32) {
                for lane in 0..LANES {
                    let keep = u32::from(mask & LANE_BIT[lane] != 0).wrapping_sub(1);
                    row[lane] = from[lane] & !keep | row[lane] & keep;
                }
            }
        }
    )*};
}

// Signed narrow values are kept sign-extended, unsigned ones zero-extended: what `cvt` and `ld`
// into a wider register ask for, and invisible to everything else.
narrow! {
    u32: |w| w, |v| v;
    i32: |w| w as i32, |v| v as u32;
    u16: |w| w as u16, |v| u32::from(v);
    i16: |w| w as i16, |v| v as i32 as u32;
    u8: |w| w as u8, |v| u32::from(v);
    i8: |w| w as i8, |v| v as i32 as u32;
    f32: |w| f32::from_bits(w), |v| v.to_bits();
}

/// A row of 64-bit lanes as the bytes of each lane.
#[inline(always)]
fn lanes64(row: &[u32; 2 * LANES]) -> &[[u8; 8]; LANES] {
    // SAFETY: both are 256 bytes, and bytes have no alignment.
    unsafe { &*std::ptr::from_ref(row).cast() }
}

#[inline(always)]
fn lanes64_mut(row: &mut [u32; 2 * LANES]) -> &mut [[u8; 8]; LANES] {
    // SAFETY: as above; every bit pattern is a valid `u32`.
    unsafe { &mut *std::ptr::from_mut(row).cast() }
}

macro_rules! wide {
    ($($t:ty: |$w:ident| $from:expr, |$v:ident| $to:expr;)*) => {$(
        impl Value for $t {
            type Row = [u32; 2 * LANES];
            const WIDE: bool = true;
            const ZERO: Self::Row = [0; 2 * LANES];
            #[inline(always)]
            fn row(words: &[u32]) -> &Self::Row {
                words.first_chunk().expect("a whole row")
            }
            #[inline(always)]
            fn row_mut(words: &mut [u32]) -> &mut Self::Row {
                words.first_chunk_mut().expect("a whole row")
            }
            #[inline(always)]
            fn get(row: &Self::Row, lane: usize) -> Self {
                let $w = u64::from_le_bytes(lanes64(row)[lane]);
                $from
            }
            #[inline(always)]
            fn put(row: &mut Self::Row, lane: usize, $v: Self) {
                let value: u64 = $to;
                lanes64_mut(row)[lane] = value.to_le_bytes();
            }
            #[inline(always)]
            fn blend(row: &mut Self::Row, from: &Self::Row, mask: u32) {
                for word in 0..2 * LANES {
                    let keep = u32::from(mask & WORD_BIT[word] != 0).wrapping_sub(1);
                    row[word] = from[word] & !keep | row[word] & keep;
                }
            }
        }
    )*};
}

wide! {
    u64: |w| w, |v| v;
    i64: |w| w as i64, |v| v as u64;
    f64: |w| f64::from_bits(w), |v| v.to_bits();
}

/// `1 << lane`: comparing against a table vectorises where a variable shift does not.
const LANE_BIT: [u32; LANES] = bits_of_lanes(1);

/// The same for each word of a row of 64-bit lanes.
const WORD_BIT: [u32; 2 * LANES] = bits_of_lanes(2);

/// By word of a row with so many words for each lane: the bit of its lane.
const fn bits_of_lanes<const N: usize>(words: usize) -> [u32; N] {
    let mut bits = [0; N];
    let mut i = 0;
    while i < N {
        bits[i] = 1 << (i / words);
        i += 1;
    }
    bits
}

/// The rows of an operand that begins with this one: with both ends known, one comparison tells whether they are there.
#[inline(always)]
fn rows_of<T: Value>(first: u32) -> Range<usize> {
    let first = first as usize;
    first..first + if T::WIDE { 2 } else { 1 }
}

/// The rows of a temporary row.
#[inline(always)]
pub(crate) fn rows_of_temp(n: u8) -> Range<usize> {
    2 * usize::from(n)..2 * usize::from(n) + 2
}

impl Regs<'_> {
    /// The rows of a source.
    #[inline(always)]
    fn source<T: Value>(&self, src: Src) -> &[Row] {
        match src {
            Src::Reg(at) => &self.rows[rows_of::<T>(at)],
            Src::Pool(at) => &self.pool[rows_of::<T>(at)],
            Src::Temp(n) => &self.temps[rows_of_temp(n)],
        }
    }

    /// A source row.
    #[inline(always)]
    pub fn row<T: Value>(&self, src: Src) -> &T::Row {
        T::row(words(self.source::<T>(src)))
    }

    /// A source row as a value, for operations that compute all lanes.
    #[inline(always)]
    pub fn value<T: Value>(&self, src: Src) -> T::Row {
        match src {
            Src::Reg(at) => T::load(&self.rows[rows_of::<T>(at)]),
            Src::Pool(at) => T::load(&self.pool[rows_of::<T>(at)]),
            Src::Temp(n) => T::load(&self.temps[rows_of_temp(n)]),
        }
    }

    /// One lane of a source.
    #[inline(always)]
    pub fn lane<T: Value>(&self, src: Src, lane: usize) -> T {
        T::get(self.row::<T>(src), lane)
    }

    /// The rows that a result goes to.
    #[inline(always)]
    fn result_rows<T: Value>(&mut self, dst: Dst) -> Option<&mut [Row]> {
        Some(match dst {
            Dst::Reg(at) => &mut self.rows[rows_of::<T>(at)],
            Dst::Temp(n) => &mut self.temps[rows_of_temp(n)],
            Dst::Sink => return None,
        })
    }

    /// The row that a result goes to; a caller that writes there itself leaves lanes that do not
    /// execute alone.
    #[inline(always)]
    pub fn result<T: Value>(&mut self, dst: Dst) -> Option<&mut T::Row> {
        Some(T::row_mut(words_mut(self.result_rows::<T>(dst)?)))
    }

    /// Writes a result row under the mask.
    #[inline(always)]
    pub fn commit<T: Value>(&mut self, dst: Dst, out: &T::Row) {
        self.commit_masked::<T>(dst, out, self.mask);
    }

    /// Writes a result row to some lanes.
    #[inline(always)]
    pub fn commit_masked<T: Value>(&mut self, dst: Dst, out: &T::Row, mask: u32) {
        let Some(rows) = self.result_rows::<T>(dst) else {
            return;
        };
        if mask == u32::MAX {
            T::store(rows, out);
        } else {
            T::blend(T::row_mut(words_mut(rows)), out, mask);
        }
    }

    /// Writes 64-bit lanes, or the low halves of them, under the mask.
    pub fn commit_bits(&mut self, dst: Dst, out: &<u64 as Value>::Row, wide: bool) {
        if wide {
            self.commit::<u64>(dst, out);
        } else {
            let narrow: [u32; LANES] = std::array::from_fn(|lane| u64::get(out, lane) as u32);
            self.commit::<u32>(dst, &narrow);
        }
    }

    /// A predicate operand, one bit per lane.
    #[inline(always)]
    pub fn predicate(&self, src: PredSrc) -> u32 {
        src.bits(self.predicates)
    }

    /// Writes a predicate under the mask.
    #[inline(always)]
    pub fn set_predicate(&mut self, slot: u32, value: u32) {
        if slot != NO_SLOT {
            let p = &mut self.predicates[slot as usize];
            *p = *p & !self.mask | value & self.mask;
        }
    }

    /// Writes the carry flags under the mask.
    #[inline(always)]
    pub fn set_carry(&mut self, value: u32) {
        *self.carry = *self.carry & !self.mask | value & self.mask;
    }
}

/// How wide an operand position is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// No operand.
    None,
    /// 32 bits or fewer.
    Narrow,
    /// 64 bits.
    Wide,
    /// A predicate.
    Predicate,
}

/// The width at which a value is kept.
pub(crate) fn width<T: Value>() -> Width {
    if T::WIDE { Width::Wide } else { Width::Narrow }
}
