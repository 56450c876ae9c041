//! Double-precision arithmetic.
//!
//! NaNs: one comes through, quieted (of several the second operand's, then the third's, then
//! the first's; the dividend's in `div`); an invalid operation gives
//! 0xfff8000000000000.

use warpsim_ptx::isa::{Op, Type};
use warpsim_ptx::kernel::Instr;

use super::rounding::{directed, rounded, to_24_bits};
use super::softfloat::{self, F64, Round};
use crate::op::{Plan, dispatch, op1, op2, op3};

/// What an invalid operation returns.
pub(crate) const INVALID: f64 = f64::from_bits(0xfff8_0000_0000_0000);

#[inline(always)]
fn quiet(x: f64) -> f64 {
    f64::from_bits(x.to_bits() | 1 << 51)
}

#[inline(always)]
pub(crate) fn settle2(a: f64, b: f64, result: f64) -> f64 {
    if !result.is_nan() {
        result
    } else if b.is_nan() {
        quiet(b)
    } else if a.is_nan() {
        quiet(a)
    } else {
        INVALID
    }
}

/// Division is a sequence of instructions in which the dividend's NaN comes through first.
#[inline(always)]
fn settle_quotient(a: f64, b: f64, result: f64) -> f64 {
    if a.is_nan() {
        quiet(a)
    } else {
        settle2(a, b, result)
    }
}

#[inline(always)]
fn settle3(a: f64, b: f64, c: f64, result: f64) -> f64 {
    if result.is_nan() && !b.is_nan() && c.is_nan() {
        quiet(c)
    } else {
        settle2(a, b, result)
    }
}

fn soft2(a: f64, b: f64, f: impl Fn(u64, u64) -> Option<u64>) -> f64 {
    if a.is_nan() || b.is_nan() {
        return settle2(a, b, f64::NAN);
    }
    f(a.to_bits(), b.to_bits()).map_or(INVALID, f64::from_bits)
}

fn soft_fma(a: f64, b: f64, c: f64, round: Round) -> f64 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return settle3(a, b, c, f64::NAN);
    }
    softfloat::fma(a.to_bits(), b.to_bits(), c.to_bits(), F64, round)
        .map_or(INVALID, f64::from_bits)
}

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let m = &i.mods;
    if m.types[0]? != Type::F64 {
        return None;
    }
    Some(match (i.op, directed(m.rounding)) {
        (Op::Add, None) => op2!(hot f64, f64 => f64, |a, b| settle2(a, b, a + b)),
        (Op::Sub, None) => op2!(hot f64, f64 => f64, |a, b| settle2(a, b, a - b)),
        (Op::Mul, None) => op2!(hot f64, f64 => f64, |a, b| settle2(a, b, a * b)),
        (Op::Fma | Op::Mad, None) => {
            op3!(hot f64, f64, f64 => f64, |a, b, c| settle3(a, b, c, a.mul_add(b, c)))
        }
        (Op::Div, None) => op2!(f64, f64 => f64, |a, b| settle_quotient(a, b, a / b)),
        (Op::Rcp, _) if m.approx => op1!(f64 => f64, |a| gross(a, |x| 1.0 / x)),
        (Op::Rcp, None) => op1!(f64 => f64, |a| settle2(a, a, 1.0 / a)),
        (Op::Sqrt, None) => op1!(f64 => f64, |a| settle2(a, a, a.sqrt())),
        (Op::Rsqrt, _) if m.ftz => op1!(f64 => f64, |a| gross(a, |x| 1.0 / x.sqrt())),
        (Op::Rsqrt, _) => op1!(f64 => f64, |a| settle2(a, a, 1.0 / a.sqrt())),
        (Op::Add, Some(round)) => rounded!(round, R => op2!(f64, f64 => f64, |a, b|
            soft2(a, b, |a, b| softfloat::add(a, b, F64, R)))),
        (Op::Sub, Some(round)) => rounded!(round, R => op2!(f64, f64 => f64, |a, b|
            soft2(a, if b.is_nan() { b } else { -b }, |a, b| softfloat::add(a, b, F64, R)))),
        (Op::Mul, Some(round)) => rounded!(round, R => op2!(f64, f64 => f64, |a, b|
            soft2(a, b, |a, b| softfloat::mul(a, b, F64, R)))),
        (Op::Div, Some(round)) => rounded!(round, R => op2!(f64, f64 => f64, |a, b|
            if a.is_nan() { quiet(a) } else { soft2(a, b, |a, b| softfloat::div(a, b, F64, R)) })),
        (Op::Fma | Op::Mad, Some(round)) => {
            rounded!(round, R => op3!(f64, f64, f64 => f64, |a, b, c| soft_fma(a, b, c, R)))
        }
        (Op::Rcp, Some(round)) => rounded!(round, R => op1!(f64 => f64, |a|
            soft2(1.0, a, |a, b| softfloat::div(a, b, F64, R)))),
        (Op::Sqrt, Some(round)) => rounded!(round, R => op1!(f64 => f64, |a|
            soft2(a, a, |a, _| softfloat::sqrt(a, F64, R)))),
        // A NaN keeps its sign.
        (Op::Abs, _) => op1!(f64 => f64, |a| if a.is_nan() { quiet(a) } else { a.abs() }),
        (Op::Neg, _) => op1!(f64 => f64, |a| if a.is_nan() { quiet(a) } else { -a }),
        (Op::Copysign, _) => op2!(f64, f64 => f64, |a, b| b.copysign(a)),
        (Op::Min, _) => op2!(f64, f64 => f64, |a, b| {
            if a.is_nan() || b.is_nan() {
                number(a, b)
            } else if a == b {
                f64::from_bits(a.to_bits() | b.to_bits())
            } else if a < b {
                a
            } else {
                b
            }
        }),
        (Op::Max, _) => op2!(f64, f64 => f64, |a, b| {
            if a.is_nan() || b.is_nan() {
                number(a, b)
            } else if a == b {
                f64::from_bits(a.to_bits() & b.to_bits())
            } else if a > b {
                a
            } else {
                b
            }
        }),
        _ => return None,
    })
}

/// The operand that is a number, if one is.
fn number(a: f64, b: f64) -> f64 {
    if !a.is_nan() {
        a
    } else if !b.is_nan() {
        b
    } else {
        quiet(b)
    }
}

/// The 20-bit approximations that division sequences start from: only the upper word of the
/// operand counts, the lower word of the result is zero, denormals are flushed. They come from the
/// unit for singles: its result has 24 bits, of which the upper word has no room for three.
fn gross(a: f64, f: impl Fn(f64) -> f64) -> f64 {
    let upper = |x: f64| f64::from_bits(x.to_bits() & !0xffff_ffff);
    let a = upper(a);
    if a.is_nan() {
        return f64::from_bits(0x7fff_ffff_0000_0000);
    }
    let flush = |x: f64| {
        if x.is_subnormal() {
            0f64.copysign(x)
        } else {
            x
        }
    };
    let r = f(flush(a));
    if r.is_nan() {
        return f64::from_bits(0x7fff_ffff_0000_0000);
    }
    upper(flush(to_24_bits(r)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{eval, mods, w};
    use warpsim_ptx::isa::{Mods, Rounding};

    fn two(op: Op, m: Mods, a: u64, b: u64) -> u64 {
        eval(op, m, w(0), &[(w(1), a), (w(2), b)])
    }

    #[test]
    fn nan_payloads_come_through_quieted() {
        let signalling = 0x7ff0_0000_0000_1234u64;
        let m = mods(Type::F64);
        assert_eq!(
            two(Op::Add, m, signalling, 1f64.to_bits()),
            signalling | 1 << 51
        );
        assert_eq!(
            two(Op::Mul, m, 1f64.to_bits(), signalling),
            signalling | 1 << 51
        );
        let inf = f64::INFINITY.to_bits();
        assert_eq!(two(Op::Sub, m, inf, inf), 0xfff8_0000_0000_0000);
        assert_eq!(
            eval(Op::Sqrt, m, w(0), &[(w(1), (-1f64).to_bits())]),
            0xfff8_0000_0000_0000
        );
        assert_eq!(two(Op::Min, m, signalling, 1f64.to_bits()), 1f64.to_bits());
    }

    #[test]
    fn directed_results_are_neighbours() {
        let r = |rounding| Mods {
            rounding: Some(rounding),
            ..mods(Type::F64)
        };
        let (a, b) = (0.1f64.to_bits(), 0.2f64.to_bits());
        for op in [Op::Add, Op::Mul, Op::Div] {
            let down = two(op, r(Rounding::Rm), a, b);
            let up = two(op, r(Rounding::Rp), a, b);
            let near = two(op, r(Rounding::Rn), a, b);
            assert!(up - down <= 1 && (near == up || near == down), "{op:?}");
        }
        assert_eq!(two(Op::Sub, r(Rounding::Rm), a, a), (-0f64).to_bits());
        assert_eq!(two(Op::Sub, r(Rounding::Rp), a, a), 0);
    }

    #[test]
    fn gross_approximations_have_an_empty_lower_word() {
        let m = Mods {
            approx: true,
            ftz: true,
            ..mods(Type::F64)
        };
        let got = eval(Op::Rcp, m, w(0), &[(w(1), 3f64.to_bits())]);
        assert_eq!(got & 0xffff_ffff, 0);
        assert!((f64::from_bits(got) * 3.0 - 1.0).abs() < 2f64.powi(-19));
        assert_eq!(
            eval(Op::Rcp, m, w(0), &[(w(1), 0)]),
            f64::INFINITY.to_bits()
        );
    }
}
