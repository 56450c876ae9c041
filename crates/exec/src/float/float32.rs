//! Single-precision arithmetic.
//!
//! Choices where PTX leaves room: every NaN result is 0x7fffffff; `.ftz` flushes results that
//! are denormal after rounding; `.sat` turns NaN and negative zero into positive zero;
//! `copysign` works on the bits and keeps NaN payloads; `div.full` and
//! `div.approx` multiply by the rounded reciprocal, as the manual says they do.

use warpsim_ptx::isa::{Op, Type};
use warpsim_ptx::kernel::Instr;

use super::rounding::{directed, rounded, to_24_bits};
use super::softfloat::{self, F32, Round};
use crate::op::{Plan, dispatch, op1, op2, op3};

/// The NaN that single-precision instructions return.
pub(crate) const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// A denormal becomes a zero of its sign.
#[inline(always)]
pub(crate) fn flush(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE {
        f32::from_bits(x.to_bits() & 0x8000_0000)
    } else {
        x
    }
}

#[inline(always)]
pub(super) fn input<const FTZ: bool>(x: f32) -> f32 {
    if FTZ { flush(x) } else { x }
}

#[inline(always)]
pub(super) fn output<const FTZ: bool, const SAT: bool>(x: f32) -> f32 {
    if SAT {
        let x = if FTZ { flush(x) } else { x };
        return if x > 0.0 { x.min(1.0) } else { 0.0 };
    }
    if x.is_nan() {
        NAN
    } else if FTZ {
        flush(x)
    } else {
        x
    }
}

fn from_soft(bits: Option<u64>) -> f32 {
    bits.map_or(NAN, |b| f32::from_bits(b as u32))
}

fn bits(x: f32) -> u64 {
    u64::from(x.to_bits())
}

pub(super) fn soft2(a: f32, b: f32, f: impl Fn(u64, u64) -> Option<u64>) -> f32 {
    if a.is_nan() || b.is_nan() {
        NAN
    } else {
        from_soft(f(bits(a), bits(b)))
    }
}

pub(crate) fn soft_fma(a: f32, b: f32, c: f32, round: Round) -> f32 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        NAN
    } else {
        from_soft(softfloat::fma(bits(a), bits(b), bits(c), F32, round))
    }
}

/// Generates the `.ftz`/`.sat` versions of an operation.
macro_rules! versions {
    ($mods:expr, $ftz:ident, $sat:ident => $e:expr) => {
        match ($mods.ftz, $mods.sat) {
            (false, false) => {
                const $ftz: bool = false;
                const $sat: bool = false;
                $e
            }
            (true, false) => {
                const $ftz: bool = true;
                const $sat: bool = false;
                $e
            }
            (false, true) => {
                const $ftz: bool = false;
                const $sat: bool = true;
                $e
            }
            (true, true) => {
                const $ftz: bool = true;
                const $sat: bool = true;
                $e
            }
        }
    };
}

pub(super) use versions;

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let m = &i.mods;
    if m.types[0]? != Type::F32 {
        return None;
    }
    if i.src.len() == 3 && matches!(i.op, Op::Min | Op::Max) {
        return Some(of_three(i.op == Op::Min, m.ftz, m.nan));
    }
    let directed = directed(m.rounding);
    Some(match (i.op, directed) {
        (Op::Add, None) => versions!(m, FTZ, SAT => op2!(hot f32, f32 => f32, |a, b|
            output::<FTZ, SAT>(input::<FTZ>(a) + input::<FTZ>(b)))),
        (Op::Sub, None) => versions!(m, FTZ, SAT => op2!(hot f32, f32 => f32, |a, b|
            output::<FTZ, SAT>(input::<FTZ>(a) - input::<FTZ>(b)))),
        (Op::Mul, None) => versions!(m, FTZ, SAT => op2!(hot f32, f32 => f32, |a, b|
            output::<FTZ, SAT>(input::<FTZ>(a) * input::<FTZ>(b)))),
        (Op::Fma | Op::Mad, None) => {
            versions!(m, FTZ, SAT => op3!(hot f32, f32, f32 => f32, |a, b, c|
            output::<FTZ, SAT>(input::<FTZ>(a).mul_add(input::<FTZ>(b), input::<FTZ>(c)))))
        }
        (Op::Add, Some(round)) => rounded!(round, R => versions!(m, FTZ, SAT =>
            op2!(f32, f32 => f32, |a, b| output::<FTZ, SAT>(soft2(
                input::<FTZ>(a), input::<FTZ>(b), |a, b| softfloat::add(a, b, F32, R)))))),
        (Op::Sub, Some(round)) => rounded!(round, R => versions!(m, FTZ, SAT =>
            op2!(f32, f32 => f32, |a, b| output::<FTZ, SAT>(soft2(
                input::<FTZ>(a), -input::<FTZ>(b), |a, b| softfloat::add(a, b, F32, R)))))),
        (Op::Mul, Some(round)) => rounded!(round, R => versions!(m, FTZ, SAT =>
            op2!(f32, f32 => f32, |a, b| output::<FTZ, SAT>(soft2(
                input::<FTZ>(a), input::<FTZ>(b), |a, b| softfloat::mul(a, b, F32, R)))))),
        (Op::Fma | Op::Mad, Some(round)) => rounded!(round, R => versions!(m, FTZ, SAT =>
            op3!(f32, f32, f32 => f32, |a, b, c| output::<FTZ, SAT>(soft_fma(
                input::<FTZ>(a), input::<FTZ>(b), input::<FTZ>(c), R))))),
        (Op::Div, _) if m.approx => match m.ftz {
            false => {
                op2!(f32, f32 => f32, |a, b| output::<false, false>(approximate_quotient(a, b)))
            }
            true => op2!(f32, f32 => f32, |a, b|
                output::<true, false>(approximate_quotient(flush(a), flush(b)))),
        },
        (Op::Div, _) if m.full => match m.ftz {
            false => op2!(f32, f32 => f32, |a, b| output::<false, false>(scaled_quotient(a, b))),
            true => op2!(f32, f32 => f32, |a, b|
                output::<true, false>(scaled_quotient(flush(a), flush(b)))),
        },
        (Op::Div, None) => match m.ftz {
            false => op2!(hot f32, f32 => f32, |a, b| output::<false, false>(a / b)),
            true => op2!(hot f32, f32 => f32, |a, b| output::<true, false>(flush(a) / flush(b))),
        },
        (Op::Div, Some(round)) => rounded!(round, R => versions!(m, FTZ, SAT =>
            op2!(f32, f32 => f32, |a, b| output::<FTZ, SAT>(soft2(
                input::<FTZ>(a), input::<FTZ>(b), |a, b| softfloat::div(a, b, F32, R)))))),
        (Op::Rcp, None) => match m.ftz {
            false => op1!(f32 => f32, |a| output::<false, false>(1.0 / a)),
            true => op1!(f32 => f32, |a| output::<true, false>(1.0 / flush(a))),
        },
        (Op::Rcp, Some(round)) => rounded!(round, R => versions!(m, FTZ, SAT =>
            op1!(f32 => f32, |a| output::<FTZ, SAT>(soft2(
                1.0, input::<FTZ>(a), |a, b| softfloat::div(a, b, F32, R)))))),
        (Op::Sqrt, None) => match m.ftz {
            false => op1!(f32 => f32, |a| root(a)),
            true => op1!(f32 => f32, |a| root(flush(a))),
        },
        (Op::Sqrt, Some(round)) => rounded!(round, R => versions!(m, FTZ, SAT =>
            op1!(f32 => f32, |a| output::<FTZ, SAT>(soft2(
                input::<FTZ>(a), 0.0, |a, _| softfloat::sqrt(a, F32, R)))))),
        (Op::Abs, _) => match m.ftz {
            false => op1!(u32 => u32, |a| canonical(a & 0x7fff_ffff)),
            true => op1!(u32 => u32, |a| {
                canonical(flush(f32::from_bits(a)).to_bits() & 0x7fff_ffff)
            }),
        },
        (Op::Neg, _) => match m.ftz {
            false => op1!(u32 => u32, |a| canonical(a ^ 0x8000_0000)),
            true => op1!(u32 => u32, |a| {
                canonical(flush(f32::from_bits(a)).to_bits() ^ 0x8000_0000)
            }),
        },
        // The sign of the first, the magnitude of the second operand.
        (Op::Copysign, _) => op2!(f32, f32 => f32, |a, b| b.copysign(a)),
        (Op::Min, _) => match (m.ftz, m.nan, m.xorsign_abs) {
            (false, false, false) => op2!(hot f32, f32 => f32, |a, b| minimum(a, b)),
            (true, false, false) => op2!(hot f32, f32 => f32, |a, b| minimum(flush(a), flush(b))),
            (false, true, false) => op2!(f32, f32 => f32, |a, b| nan_wins(a, b, minimum(a, b))),
            (true, true, false) => {
                op2!(f32, f32 => f32, |a, b| nan_wins(a, b, minimum(flush(a), flush(b))))
            }
            (ftz, nan, true) => xorsign(ftz, nan, true),
        },
        (Op::Max, _) => match (m.ftz, m.nan, m.xorsign_abs) {
            (false, false, false) => op2!(hot f32, f32 => f32, |a, b| maximum(a, b)),
            (true, false, false) => op2!(hot f32, f32 => f32, |a, b| maximum(flush(a), flush(b))),
            (false, true, false) => op2!(f32, f32 => f32, |a, b| nan_wins(a, b, maximum(a, b))),
            (true, true, false) => {
                op2!(f32, f32 => f32, |a, b| nan_wins(a, b, maximum(flush(a), flush(b))))
            }
            (ftz, nan, true) => xorsign(ftz, nan, false),
        },
        _ => return None,
    })
}

/// Every NaN is the one NaN.
#[inline(always)]
fn canonical(bits: u32) -> u32 {
    if bits & 0x7fff_ffff > 0x7f80_0000 {
        0x7fff_ffff
    } else {
        bits
    }
}

/// The square root. Only a number that has one reaches the host's: a compiler may take
/// `x < 0 ? NaN : sqrt(x)` for `sqrt(x)`, and the host's NaN is another.
fn root(a: f32) -> f32 {
    if a.is_nan() || a < 0.0 {
        return NAN;
    }
    std::hint::black_box(a).sqrt()
}

/// The smaller one; a number wins over NaN, negative zero is the smaller zero.
#[inline(always)]
pub(crate) fn minimum(a: f32, b: f32) -> f32 {
    if a < b || b.is_nan() {
        if a.is_nan() { NAN } else { a }
    } else if a == b {
        f32::from_bits(a.to_bits() | b.to_bits())
    } else {
        b
    }
}

/// The larger one; a number wins over NaN, positive zero is the larger zero.
#[inline(always)]
pub(crate) fn maximum(a: f32, b: f32) -> f32 {
    if a > b || b.is_nan() {
        if a.is_nan() { NAN } else { a }
    } else if a == b {
        f32::from_bits(a.to_bits() & b.to_bits())
    } else {
        b
    }
}

#[inline(always)]
pub(super) fn nan_wins(a: f32, b: f32, result: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        NAN
    } else {
        result
    }
}

/// The smallest or largest of three: of two, and of that and the third.
fn of_three(least: bool, ftz: bool, nan: bool) -> Plan {
    fn pick<const LEAST: bool, const FTZ: bool, const NAN_WINS: bool>(a: f32, b: f32) -> f32 {
        let (x, y) = (input::<FTZ>(a), input::<FTZ>(b));
        let picked = if LEAST { minimum(x, y) } else { maximum(x, y) };
        if NAN_WINS {
            nan_wins(a, b, picked)
        } else {
            picked
        }
    }
    macro_rules! three {
        ($($least:literal $ftz:literal $nan:literal),*) => {
            match (least, ftz, nan) {
                $(($least, $ftz, $nan) => op3!(f32, f32, f32 => f32, |a, b, c|
                    pick::<$least, $ftz, $nan>(pick::<$least, $ftz, $nan>(a, b), c)),)*
            }
        };
    }
    three!(
        true false false, true true false, true false true, true true true,
        false false false, false true false, false false true, false true true
    )
}

/// `.xorsign.abs`: by magnitude, with the product's sign.
fn xorsign(ftz: bool, nan: bool, least: bool) -> Plan {
    fn signed(a: f32, b: f32, ftz: bool, nan: bool, least: bool) -> f32 {
        let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
        let (x, y) = if ftz { (flush(a), flush(b)) } else { (a, b) };
        let pick = if least { minimum } else { maximum };
        let r = pick(x.abs(), y.abs());
        if r.is_nan() || nan && (a.is_nan() || b.is_nan()) {
            NAN
        } else {
            f32::from_bits(r.to_bits() | sign)
        }
    }
    match (ftz, nan, least) {
        (false, false, true) => op2!(f32, f32 => f32, |a, b| signed(a, b, false, false, true)),
        (false, true, true) => op2!(f32, f32 => f32, |a, b| signed(a, b, false, true, true)),
        (true, false, true) => op2!(f32, f32 => f32, |a, b| signed(a, b, true, false, true)),
        (true, true, true) => op2!(f32, f32 => f32, |a, b| signed(a, b, true, true, true)),
        (false, false, false) => op2!(f32, f32 => f32, |a, b| signed(a, b, false, false, false)),
        (false, true, false) => op2!(f32, f32 => f32, |a, b| signed(a, b, false, true, false)),
        (true, false, false) => op2!(f32, f32 => f32, |a, b| signed(a, b, true, false, false)),
        (true, true, false) => op2!(f32, f32 => f32, |a, b| signed(a, b, true, true, false)),
    }
}

/// `div.approx`: the reciprocal of a divisor beyond 2^126 is a flushed denormal.
fn approximate_quotient(a: f32, b: f32) -> f32 {
    const LIMIT: f32 = f32::from_bits(0x7e80_0000);
    if b.abs() > LIMIT && b.is_finite() {
        a * 0f32.copysign(b)
    } else {
        scaled_quotient(a, b)
    }
}

/// A product with the reciprocal, which has the 24 bits of a single but any exponent: `div.full`
/// scales its operands so that it does not leave the range.
fn scaled_quotient(a: f32, b: f32) -> f32 {
    let exact = a / b;
    if !exact.is_finite() || exact == 0.0 {
        return exact;
    }
    let reciprocal = to_24_bits(1.0 / f64::from(b));
    (f64::from(a) * reciprocal) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{eval, mods, n};
    use proptest::prelude::*;
    use warpsim_ptx::isa::{Mods, Rounding};

    fn f(x: f32) -> u64 {
        u64::from(x.to_bits())
    }

    fn m(change: impl Fn(&mut Mods)) -> Mods {
        let mut m = mods(Type::F32);
        change(&mut m);
        m
    }

    fn two(op: Op, m: Mods, a: u64, b: u64) -> u64 {
        eval(op, m, n(0), &[(n(1), a), (n(2), b)])
    }

    #[test]
    fn nan_is_canonical_and_denormals_follow_ftz() {
        let plain = m(|_| {});
        let ftz = m(|m| m.ftz = true);
        assert_eq!(two(Op::Add, plain, 0xffc0_1234, f(1.0)), 0x7fff_ffff);
        assert_eq!(
            two(Op::Sub, plain, f(f32::INFINITY), f(f32::INFINITY)),
            0x7fff_ffff
        );
        assert_eq!(two(Op::Mul, plain, 0x0080_0000, f(0.5)), 0x0040_0000);
        assert_eq!(two(Op::Mul, ftz, 0x8080_0000, f(0.5)), 0x8000_0000);
        assert_eq!(two(Op::Add, ftz, 1, 0), 0);
        assert_eq!(eval(Op::Neg, ftz, n(0), &[(n(1), 1)]), 0x8000_0000);
    }

    #[test]
    fn saturation() {
        let sat = m(|m| m.sat = true);
        assert_eq!(two(Op::Add, sat, f(0.75), f(0.75)), f(1.0));
        assert_eq!(two(Op::Add, sat, f(-1.0), f(0.5)), 0);
        assert_eq!(two(Op::Add, sat, f(f32::NAN), f(0.5)), 0);
        assert_eq!(two(Op::Mul, sat, 0x8000_0000, f(0.5)), 0);
    }

    #[test]
    fn extremes() {
        let plain = m(|_| {});
        let nan = m(|m| m.nan = true);
        let quiet = f(f32::NAN);
        assert_eq!(two(Op::Min, plain, quiet, f(2.0)), f(2.0));
        assert_eq!(two(Op::Max, plain, f(2.0), quiet), f(2.0));
        assert_eq!(two(Op::Max, plain, quiet, quiet), 0x7fff_ffff);
        assert_eq!(two(Op::Min, nan, f(2.0), quiet), 0x7fff_ffff);
        assert_eq!(two(Op::Min, plain, 0, 0x8000_0000), 0x8000_0000);
        assert_eq!(two(Op::Max, plain, 0x8000_0000, 0), 0);
        let xor = m(|m| m.xorsign_abs = true);
        assert_eq!(two(Op::Min, xor, f(-3.0), f(2.0)), f(-2.0));
        assert_eq!(two(Op::Max, xor, f(-3.0), f(-2.0)), f(3.0));
        assert_eq!(two(Op::Copysign, plain, f(-1.0), f(5.0)), f(-5.0));
    }

    #[test]
    fn quotients() {
        let approx = m(|m| m.approx = true);
        assert_eq!(two(Op::Div, approx, f(3.0), f(2.0)), f(1.5));
        assert_eq!(two(Op::Div, approx, f(3.0), f(-2f32.powi(127))), f(-0.0));
        assert_eq!(
            two(Op::Div, approx, f(f32::INFINITY), f(2f32.powi(127))),
            0x7fff_ffff
        );
        let down = m(|m| m.rounding = Some(Rounding::Rm));
        let up = m(|m| m.rounding = Some(Rounding::Rp));
        let low = two(Op::Div, down, f(1.0), f(3.0));
        assert_eq!(two(Op::Div, up, f(1.0), f(3.0)), low + 1);
        assert_eq!(two(Op::Div, up, f(1.0), 0), f(f32::INFINITY));
        assert_eq!(eval(Op::Rcp, down, n(0), &[(n(1), f(3.0))]), low);
        let root = |r: Mods| eval(Op::Sqrt, r, n(0), &[(n(1), f(2.0))]);
        assert_eq!(root(up), root(down) + 1);
        assert_eq!(eval(Op::Sqrt, up, n(0), &[(n(1), f(-2.0))]), 0x7fff_ffff);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn fma_rounds_once_on_this_host(a: u32, b: u32, c: u32) {
            let [x, y, z] = [a, b, c].map(f32::from_bits);
            prop_assume!(!x.is_nan() && !y.is_nan() && !z.is_nan());
            let want = softfloat::fma(u64::from(a), u64::from(b), u64::from(c), F32, Round::Nearest)
                .unwrap_or(0x7fff_ffff);
            let got = eval(Op::Fma, mods(Type::F32), n(0), &[(n(1), u64::from(a)), (n(2), u64::from(b)), (n(3), u64::from(c))]);
            prop_assert_eq!(got, want);
        }
    }
}
