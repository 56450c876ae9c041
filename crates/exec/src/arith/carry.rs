//! Arithmetic with the carry flag: `.cc`, `addc`, `subc`, `madc`.

use warpsim_ptx::isa::{Half, Op, Type};
use warpsim_ptx::kernel::Instr;

use crate::op::{Decoded, Plan, Regs, Value, width};
use crate::state::LANES;

/// Runs an operation with carry in and carry out a lane. `WRITE` is `.cc`. The third operand
/// is there for `mad` only.
#[inline(always)]
fn with_carry<T: Value, const WRITE: bool, const SOURCES: usize>(
    d: &Decoded,
    r: &mut Regs<'_>,
    f: impl Fn(T, T, T, bool) -> (T, bool),
) {
    let mut out = T::ZERO;
    let mut flags = 0;
    for lane in 0..LANES {
        let a = r.lane::<T>(d.src[0], lane);
        let b = r.lane::<T>(d.src[1], lane);
        let c = r.lane::<T>(d.src[SOURCES - 1], lane);
        let (value, carry) = f(a, b, c, *r.carry >> lane & 1 != 0);
        T::put(&mut out, lane, value);
        flags |= u32::from(carry) << lane;
    }
    r.commit::<T>(d.dst[0], &out);
    if WRITE {
        r.set_carry(flags);
    }
}

macro_rules! carrying {
    ($t:ty, $write:expr, $n:literal, |$a:ident, $b:ident, $c:ident, $f:ident| $e:expr) => {{
        fn flags(d: &Decoded, r: &mut Regs<'_>) {
            with_carry::<$t, true, $n>(d, r, |$a, $b, $c, $f| $e);
        }
        fn silent(d: &Decoded, r: &mut Regs<'_>) {
            with_carry::<$t, false, $n>(d, r, |$a, $b, $c, $f| $e);
        }
        let w = width::<$t>();
        Plan::alu(if $write { flags } else { silent }, &[w; $n], &[w])
    }};
}

macro_rules! carry_family {
    ($t:ident, $wide:ident, $i:expr) => {{
        let (cc, hi) = ($i.mods.cc, $i.mods.half == Some(Half::Hi));
        match $i.op {
            Op::Add => carrying!($t, cc, 2, |a, b, _c, _f| a.overflowing_add(b)),
            Op::Addc => carrying!($t, cc, 2, |a, b, _c, f| a.carrying(b, f)),
            // The flag is the borrow.
            Op::Sub => carrying!($t, cc, 2, |a, b, _c, _f| a.overflowing_sub(b)),
            Op::Subc => carrying!($t, cc, 2, |a, b, _c, f| a.borrowing(b, f)),
            Op::Mad if hi => {
                carrying!($t, cc, 3, |a, b, c, _f| a
                    .product_high(b)
                    .overflowing_add(c))
            }
            Op::Mad => carrying!($t, cc, 3, |a, b, c, _f| a
                .wrapping_mul(b)
                .overflowing_add(c)),
            Op::Madc if hi => carrying!($t, cc, 3, |a, b, c, f| a.product_high(b).carrying(c, f)),
            Op::Madc => carrying!($t, cc, 3, |a, b, c, f| a.wrapping_mul(b).carrying(c, f)),
            _ => return None,
        }
    }};
}

/// The signed high product, kept as unsigned so that carries are those of the bits.
#[derive(Clone, Copy)]
struct Signed32(u32);
#[derive(Clone, Copy)]
struct Signed64(u64);

trait Carrying: Sized + Copy {
    fn carrying(self, b: Self, carry: bool) -> (Self, bool);
    fn borrowing(self, b: Self, borrow: bool) -> (Self, bool);
    fn product_high(self, b: Self) -> Self;
}

macro_rules! carrying_bits {
    ($t:ty, $wide:ty) => {
        impl Carrying for $t {
            #[inline(always)]
            fn carrying(self, b: Self, carry: bool) -> (Self, bool) {
                let (s, c1) = self.overflowing_add(b);
                let (s, c2) = s.overflowing_add(Self::from(carry));
                (s, c1 | c2)
            }
            #[inline(always)]
            fn borrowing(self, b: Self, borrow: bool) -> (Self, bool) {
                let (s, c1) = self.overflowing_sub(b);
                let (s, c2) = s.overflowing_sub(Self::from(borrow));
                (s, c1 | c2)
            }
            #[inline(always)]
            fn product_high(self, b: Self) -> Self {
                ((<$wide>::from(self) * <$wide>::from(b)) >> Self::BITS) as Self
            }
        }
    };
}
carrying_bits!(u32, u64);
carrying_bits!(u64, u128);

macro_rules! signed_bits {
    ($s:ident, $u:ty, $i:ty, $wide:ty) => {
        impl Value for $s {
            type Row = <$u as Value>::Row;
            const WIDE: bool = <$u as Value>::WIDE;
            const ZERO: Self::Row = <$u as Value>::ZERO;
            fn row(words: &[u32]) -> &Self::Row {
                <$u as Value>::row(words)
            }
            fn row_mut(words: &mut [u32]) -> &mut Self::Row {
                <$u as Value>::row_mut(words)
            }
            fn get(row: &Self::Row, lane: usize) -> Self {
                $s(<$u as Value>::get(row, lane))
            }
            fn put(row: &mut Self::Row, lane: usize, value: Self) {
                <$u as Value>::put(row, lane, value.0);
            }
            fn blend(row: &mut Self::Row, from: &Self::Row, mask: u32) {
                <$u as Value>::blend(row, from, mask);
            }
        }
        impl $s {
            fn overflowing_add(self, b: Self) -> (Self, bool) {
                let (v, c) = self.0.overflowing_add(b.0);
                ($s(v), c)
            }
            fn overflowing_sub(self, b: Self) -> (Self, bool) {
                let (v, c) = self.0.overflowing_sub(b.0);
                ($s(v), c)
            }
            fn wrapping_mul(self, b: Self) -> Self {
                $s(self.0.wrapping_mul(b.0))
            }
        }
        impl Carrying for $s {
            fn carrying(self, b: Self, carry: bool) -> (Self, bool) {
                let (v, c) = self.0.carrying(b.0, carry);
                ($s(v), c)
            }
            fn borrowing(self, b: Self, borrow: bool) -> (Self, bool) {
                let (v, c) = self.0.borrowing(b.0, borrow);
                ($s(v), c)
            }
            fn product_high(self, b: Self) -> Self {
                let high = <$wide>::from(self.0 as $i) * <$wide>::from(b.0 as $i) >> <$u>::BITS;
                $s(high as $u)
            }
        }
    };
}
signed_bits!(Signed32, u32, i32, i64);
signed_bits!(Signed64, u64, i64, i128);

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    if !matches!(i.op, Op::Addc | Op::Subc | Op::Madc) && !i.mods.cc {
        return None;
    }
    Some(match i.mods.types[0]? {
        Type::U32 | Type::B32 => carry_family!(u32, u64, i),
        Type::S32 => carry_family!(Signed32, i64, i),
        Type::U64 | Type::B64 => carry_family!(u64, u128, i),
        Type::S64 => carry_family!(Signed64, i128, i),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, instr, mods, n};
    use warpsim_ptx::isa::Mods;

    #[test]
    fn carries_chain_through_a_128_bit_sum_and_difference() {
        let (a, b): (u128, u128) = (u128::MAX - 5, 77 << 70 | 9);
        for (first, rest, want) in [
            (Op::Add, Op::Addc, a.wrapping_add(b)),
            (Op::Sub, Op::Subc, b.wrapping_sub(a)),
        ] {
            let (x, y) = if first == Op::Add { (a, b) } else { (b, a) };
            let mut got = 0u128;
            let mut bench = Bench::new();
            for part in 0..4 {
                for lane in 0..32 {
                    bench.set(n(1), lane, (x >> (32 * part)) as u64 & 0xffff_ffff);
                    bench.set(n(2), lane, (y >> (32 * part)) as u64 & 0xffff_ffff);
                }
                let op = if part == 0 { first } else { rest };
                let m = Mods {
                    cc: true,
                    ..mods(Type::U32)
                };
                bench
                    .step(instr(op, m, &[n(0)], &[n(1), n(2)]), u32::MAX)
                    .unwrap();
                got |= u128::from(bench.get(n(0), 13)) << (32 * part);
            }
            assert_eq!(got, want);
        }
    }

    #[test]
    fn madc_builds_a_64_bit_product_sum() {
        // d = a * b + c with 64-bit c, from 32-bit pieces.
        let (a, b, c) = (0xffff_fff0u64, 0xffff_ff01u64, 0x1_2345_6789u64);
        let mut bench = Bench::new();
        for lane in 0..32 {
            bench.set(n(1), lane, a);
            bench.set(n(2), lane, b);
            bench.set(n(3), lane, c & 0xffff_ffff);
            bench.set(n(4), lane, c >> 32);
        }
        let lo = Mods {
            cc: true,
            half: Some(Half::Lo),
            ..mods(Type::U32)
        };
        let hi = Mods {
            half: Some(Half::Hi),
            ..mods(Type::U32)
        };
        bench
            .step(instr(Op::Mad, lo, &[n(5)], &[n(1), n(2), n(3)]), u32::MAX)
            .unwrap();
        bench
            .step(instr(Op::Madc, hi, &[n(6)], &[n(1), n(2), n(4)]), u32::MAX)
            .unwrap();
        let want = (a * b).wrapping_add(c);
        assert_eq!(bench.get(n(5), 0) | bench.get(n(6), 0) << 32, want);
    }
}
