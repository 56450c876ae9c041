//! Single-precision arithmetic.
//!
//! Choices where PTX leaves room: every NaN result is 0x7fffffff; `.ftz` flushes results that
//! are denormal after rounding; `.sat` turns NaN and negative zero into positive zero; `abs`,
//! `neg` and `copysign` work on the bits and keep NaN payloads; `div.full` and
//! `div.approx` round correctly within their documented range.

use warpsim_ptx::isa::{Op, Rounding, Type};
use warpsim_ptx::kernel::Instr;

use super::code::Plan;
use super::regs::{dispatch, op1, op2, op3};
use super::softfloat::{self, F32, Round};

/// The NaN that single-precision instructions return.
pub(super) const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// A denormal becomes a zero of its sign.
#[inline(always)]
pub(super) fn flush(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE {
        f32::from_bits(x.to_bits() & 0x8000_0000)
    } else {
        x
    }
}

#[inline(always)]
fn input<const FTZ: bool>(x: f32) -> f32 {
    if FTZ { flush(x) } else { x }
}

#[inline(always)]
fn output<const FTZ: bool, const SAT: bool>(x: f32) -> f32 {
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

/// The software rounding of a modifier; `None` for the host's.
pub(super) fn directed(rounding: Option<Rounding>) -> Option<Round> {
    match rounding {
        Some(Rounding::Rz) => Some(Round::Zero),
        Some(Rounding::Rm) => Some(Round::Down),
        Some(Rounding::Rp) => Some(Round::Up),
        _ => None,
    }
}

fn from_soft(bits: Option<u64>) -> f32 {
    bits.map_or(NAN, |b| f32::from_bits(b as u32))
}

fn bits(x: f32) -> u64 {
    u64::from(x.to_bits())
}

fn soft2(a: f32, b: f32, f: impl Fn(u64, u64) -> Option<u64>) -> f32 {
    if a.is_nan() || b.is_nan() {
        NAN
    } else {
        from_soft(f(bits(a), bits(b)))
    }
}

fn soft_fma(a: f32, b: f32, c: f32, round: Round) -> f32 {
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

/// The same for each directed rounding.
macro_rules! rounded {
    ($round:expr, $r:ident => $e:expr) => {
        match $round {
            Round::Zero => {
                const $r: Round = Round::Zero;
                $e
            }
            Round::Down => {
                const $r: Round = Round::Down;
                $e
            }
            _ => {
                const $r: Round = Round::Up;
                $e
            }
        }
    };
}
pub(super) use rounded;

pub(super) fn decode(i: &Instr) -> Option<Plan> {
    let m = &i.mods;
    if m.types[0]? != Type::F32 {
        return None;
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
            false => op1!(f32 => f32, |a| output::<false, false>(a.sqrt())),
            true => op1!(f32 => f32, |a| output::<true, false>(flush(a).sqrt())),
        },
        (Op::Sqrt, Some(round)) => rounded!(round, R => versions!(m, FTZ, SAT =>
            op1!(f32 => f32, |a| output::<FTZ, SAT>(soft2(
                input::<FTZ>(a), 0.0, |a, _| softfloat::sqrt(a, F32, R)))))),
        (Op::Abs, _) => match m.ftz {
            false => op1!(f32 => f32, |a| a.abs()),
            true => op1!(f32 => f32, |a| flush(a).abs()),
        },
        (Op::Neg, _) => match m.ftz {
            false => op1!(f32 => f32, |a| -a),
            true => op1!(f32 => f32, |a| -flush(a)),
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

/// The smaller one; a number wins over NaN, negative zero is the smaller zero.
#[inline(always)]
pub(super) fn minimum(a: f32, b: f32) -> f32 {
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
pub(super) fn maximum(a: f32, b: f32) -> f32 {
    if a > b || b.is_nan() {
        if a.is_nan() { NAN } else { a }
    } else if a == b {
        f32::from_bits(a.to_bits() & b.to_bits())
    } else {
        b
    }
}

#[inline(always)]
fn nan_wins(a: f32, b: f32, result: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        NAN
    } else {
        result
    }
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
        a / b
    }
}
