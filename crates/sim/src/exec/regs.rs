//! How semantics read and write registers: rows of 32 lanes.
//!
//! An operation is a function over [`Regs`]. It reads source rows, computes all 32 lanes in a
//! loop that the compiler vectorises, and commits the result under the mask of executed lanes.
//! Inactive lanes may hold anything, so lane functions must be total.

use super::code::Decoded;
use super::state::LANES;

/// Function of an instruction that touches only registers. Unsafe to call because some
/// versions need CPU features; decoding picks those only where the host has them.
pub(super) type AluFn = unsafe fn(&Decoded, &mut Regs<'_>);

/// Where a source row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Src {
    /// Word offset in the home warp's register rows.
    Reg(u32),
    /// Word offset in the constant pool.
    Pool(u32),
    /// Index of a temporary row, filled before the instruction.
    Temp(u8),
}

/// Where a result row goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dst {
    /// Word offset in the home warp's register rows.
    Reg(u32),
    /// Index of a temporary row, copied out after the instruction.
    Temp(u8),
    /// `_`
    Sink,
}

/// A predicate operand: `(slot or none) ^ flip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PredSrc {
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
pub(super) const NO_SLOT: u32 = u32::MAX;
/// The predicate that is always true.
pub(super) const TRUE: PredSrc = PredSrc {
    slot: NO_SLOT,
    flip: u32::MAX,
};

/// A temporary row of 32- or 64-bit lanes.
pub(super) type Temp = [u32; 2 * LANES];

/// The registers an operation works on.
pub(super) struct Regs<'a> {
    pub rows: &'a mut [u32],
    pub predicates: &'a mut [u32],
    pub carry: &'a mut u32,
    pub pool: &'a [u32],
    pub temps: &'a mut [Temp],
    /// Lanes that execute.
    pub mask: u32,
}

/// A lane's value in a row.
pub(super) trait Value: Copy {
    /// A row of 32 lanes.
    type Row: Copy;
    /// Two words a lane.
    const WIDE: bool;
    /// All zeros.
    const ZERO: Self::Row;
    /// The row that starts at the front of `words`.
    fn row(words: &[u32]) -> &Self::Row;
    /// The same, to be changed.
    fn row_mut(words: &mut [u32]) -> &mut Self::Row;
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
                    let keep = u32::from(mask & LANE_BIT[word / 2] != 0).wrapping_sub(1);
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
const LANE_BIT: [u32; LANES] = {
    let mut bits = [0; LANES];
    let mut i = 0;
    while i < LANES {
        bits[i] = 1 << i;
        i += 1;
    }
    bits
};

impl Regs<'_> {
    /// The words from where `src` starts.
    #[inline(always)]
    fn words(&self, src: Src) -> &[u32] {
        match src {
            Src::Reg(at) => &self.rows[at as usize..],
            Src::Pool(at) => &self.pool[at as usize..],
            Src::Temp(n) => &self.temps[usize::from(n)],
        }
    }

    /// A source row.
    #[inline(always)]
    pub fn row<T: Value>(&self, src: Src) -> &T::Row {
        T::row(self.words(src))
    }

    /// One lane of a source.
    #[inline(always)]
    pub fn lane<T: Value>(&self, src: Src, lane: usize) -> T {
        T::get(self.row::<T>(src), lane)
    }

    /// The row that a result goes to; whoever writes there himself leaves lanes that do not
    /// execute alone.
    #[inline(always)]
    pub fn result<T: Value>(&mut self, dst: Dst) -> Option<&mut T::Row> {
        Some(T::row_mut(match dst {
            Dst::Reg(at) => &mut self.rows[at as usize..],
            Dst::Temp(n) => &mut self.temps[usize::from(n)][..],
            Dst::Sink => return None,
        }))
    }

    /// Writes a result row under the mask.
    #[inline(always)]
    pub fn commit<T: Value>(&mut self, dst: Dst, out: &T::Row) {
        self.commit_masked::<T>(dst, out, self.mask);
    }

    /// Writes a result row to some lanes.
    #[inline(always)]
    pub fn commit_masked<T: Value>(&mut self, dst: Dst, out: &T::Row, mask: u32) {
        let Some(row) = self.result::<T>(dst) else {
            return;
        };
        if mask == u32::MAX {
            *row = *out;
        } else {
            T::blend(row, out, mask);
        }
    }

    /// A predicate operand, one bit a lane.
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

    /// `dst = f(a)` in every lane.
    #[inline(always)]
    pub fn map1<A: Value, R: Value>(&mut self, d: &Decoded, f: impl Fn(A) -> R) {
        let mut out = R::ZERO;
        let a = self.row::<A>(d.src[0]);
        for i in 0..LANES {
            R::put(&mut out, i, f(A::get(a, i)));
        }
        self.commit::<R>(d.dst[0], &out);
    }

    /// `dst = f(a, b)` in every lane.
    #[inline(always)]
    pub fn map2<A: Value, B: Value, R: Value>(&mut self, d: &Decoded, f: impl Fn(A, B) -> R) {
        let mut out = R::ZERO;
        let (a, b) = (self.row::<A>(d.src[0]), self.row::<B>(d.src[1]));
        for i in 0..LANES {
            R::put(&mut out, i, f(A::get(a, i), B::get(b, i)));
        }
        self.commit::<R>(d.dst[0], &out);
    }

    /// `dst = f(a, b, c)` in every lane.
    #[inline(always)]
    pub fn map3<A: Value, B: Value, C: Value, R: Value>(
        &mut self,
        d: &Decoded,
        f: impl Fn(A, B, C) -> R,
    ) {
        let mut out = R::ZERO;
        let a = self.row::<A>(d.src[0]);
        let b = self.row::<B>(d.src[1]);
        let c = self.row::<C>(d.src[2]);
        for i in 0..LANES {
            R::put(&mut out, i, f(A::get(a, i), B::get(b, i), C::get(c, i)));
        }
        self.commit::<R>(d.dst[0], &out);
    }

    /// A bit a lane: `f(a, b)`.
    #[inline(always)]
    pub fn test2<A: Value, B: Value>(&self, d: &Decoded, f: impl Fn(A, B) -> bool) -> u32 {
        let (a, b) = (self.row::<A>(d.src[0]), self.row::<B>(d.src[1]));
        let mut bits = [0u32; LANES];
        for i in 0..LANES {
            bits[i] = if f(A::get(a, i), B::get(b, i)) {
                LANE_BIT[i]
            } else {
                0
            };
        }
        bits.iter().fold(0, |all, bit| all | bit)
    }
}

/// Iterates over the lanes of a mask.
pub(super) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        Some(lane)
    })
}

/// How wide an operand position is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
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
pub(super) fn width<T: Value>() -> Width {
    if T::WIDE { Width::Wide } else { Width::Narrow }
}

/// Whether the host has what the vector versions are compiled for.
pub(super) fn host_has_avx2_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Compiles an operation twice, plainly and with AVX2 and FMA, and picks one for this host.
/// Both give the same bits: `mul_add` is exact with and without the instruction.
macro_rules! dispatch {
    ($d:ident, $r:ident, $body:expr) => {{
        fn plain($d: &$crate::exec::code::Decoded, $r: &mut $crate::exec::regs::Regs<'_>) {
            $body
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn vector($d: &$crate::exec::code::Decoded, $r: &mut $crate::exec::regs::Regs<'_>) {
            $body
        }
        #[cfg(target_arch = "x86_64")]
        let chosen: $crate::exec::regs::AluFn = if $crate::exec::regs::host_has_avx2_fma() {
            vector
        } else {
            plain
        };
        #[cfg(not(target_arch = "x86_64"))]
        let chosen: $crate::exec::regs::AluFn = plain;
        chosen
    }};
}

/// `op1!(A => R, |a| …)`: a one-source operation.
macro_rules! op1 {
    ($a:ty => $r:ty, |$x:ident| $e:expr) => {{
        fn run(d: &$crate::exec::code::Decoded, r: &mut $crate::exec::regs::Regs<'_>) {
            r.map1::<$a, $r>(d, |$x| $e);
        }
        $crate::exec::code::Plan::alu(
            run,
            &[$crate::exec::regs::width::<$a>()],
            &[$crate::exec::regs::width::<$r>()],
        )
    }};
}

/// `op2!(A, B => R, |a, b| …)`: a two-source operation.
macro_rules! op2 {
    ($a:ty, $b:ty => $r:ty, |$x:ident, $y:ident| $e:expr) => {{
        fn run(d: &$crate::exec::code::Decoded, r: &mut $crate::exec::regs::Regs<'_>) {
            r.map2::<$a, $b, $r>(d, |$x, $y| $e);
        }
        $crate::exec::code::Plan::alu(
            run,
            &[
                $crate::exec::regs::width::<$a>(),
                $crate::exec::regs::width::<$b>(),
            ],
            &[$crate::exec::regs::width::<$r>()],
        )
    }};
    // Hot operations have a second version for AVX2 and FMA.
    (hot $a:ty, $b:ty => $r:ty, |$x:ident, $y:ident| $e:expr) => {{
        let run = dispatch!(d, r, r.map2::<$a, $b, $r>(d, |$x, $y| $e));
        $crate::exec::code::Plan::alu(
            run,
            &[
                $crate::exec::regs::width::<$a>(),
                $crate::exec::regs::width::<$b>(),
            ],
            &[$crate::exec::regs::width::<$r>()],
        )
    }};
}

/// `op3!(A, B, C => R, |a, b, c| …)`: a three-source operation.
macro_rules! op3 {
    ($a:ty, $b:ty, $c:ty => $r:ty, |$x:ident, $y:ident, $z:ident| $e:expr) => {{
        fn run(d: &$crate::exec::code::Decoded, r: &mut $crate::exec::regs::Regs<'_>) {
            r.map3::<$a, $b, $c, $r>(d, |$x, $y, $z| $e);
        }
        $crate::exec::code::Plan::alu(
            run,
            &[
                $crate::exec::regs::width::<$a>(),
                $crate::exec::regs::width::<$b>(),
                $crate::exec::regs::width::<$c>(),
            ],
            &[$crate::exec::regs::width::<$r>()],
        )
    }};
    (hot $a:ty, $b:ty, $c:ty => $r:ty, |$x:ident, $y:ident, $z:ident| $e:expr) => {{
        let run = dispatch!(d, r, r.map3::<$a, $b, $c, $r>(d, |$x, $y, $z| $e));
        $crate::exec::code::Plan::alu(
            run,
            &[
                $crate::exec::regs::width::<$a>(),
                $crate::exec::regs::width::<$b>(),
                $crate::exec::regs::width::<$c>(),
            ],
            &[$crate::exec::regs::width::<$r>()],
        )
    }};
}

/// Picks the arm for an integer type that arithmetic takes; with others it returns `None`.
macro_rules! by_type {
    ($ty:expr, $t:ident => $e:expr) => {
        match $ty {
            warpsim_ptx::isa::Type::U16 | warpsim_ptx::isa::Type::B16 => {
                type $t = u16;
                $e
            }
            warpsim_ptx::isa::Type::S16 => {
                type $t = i16;
                $e
            }
            warpsim_ptx::isa::Type::U32 | warpsim_ptx::isa::Type::B32 => {
                type $t = u32;
                $e
            }
            warpsim_ptx::isa::Type::S32 => {
                type $t = i32;
                $e
            }
            warpsim_ptx::isa::Type::U64 | warpsim_ptx::isa::Type::B64 => {
                type $t = u64;
                $e
            }
            warpsim_ptx::isa::Type::S64 => {
                type $t = i64;
                $e
            }
            _ => return None,
        }
    };
}

pub(super) use {by_type, dispatch, op1, op2, op3};
