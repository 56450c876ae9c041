//! The approximations of the special-function unit.
//!
//! Computed in double precision and rounded once, which is within every documented bound
//! (2^-20.9 and worse) but more accurate than silicon. `sin` and `cos` reduce their argument
//! the way the hardware does, which decides the result of large ones. `tanh` is its argument
//! below 2^-8 and 1 from 8 on. Half precision (`float16`) has these results cut to its size.

use warpsim_ptx::isa::{Op, Type};
use warpsim_ptx::kernel::Instr;

use super::float32::{NAN, flush};
use super::softfloat::{self, F32, Round};
use crate::op::{Plan, op1};

fn finish(x: f64) -> f32 {
    if x.is_nan() { NAN } else { x as f32 }
}

/// The argument in turns, as the hardware makes it: a product with 1/2π rounded towards zero,
/// denormals flushed, of whose fraction 25 bits count. So large arguments are reduced by what
/// the product, not the argument, has left of it, and sines are multiples of that of 2^-25 turns
/// while they are small.
fn turns(a: f32) -> f32 {
    if !a.is_finite() {
        return NAN;
    }
    let turns = softfloat::mul(
        u64::from(a.to_bits()),
        u64::from(INVERSE_TWO_PI.to_bits()),
        F32,
        Round::Zero,
    );
    turns.map_or(NAN, |bits| f32::from_bits(bits as u32))
}

/// Steps of a turn.
const TURN: f64 = (1u32 << 25) as f64;

/// 1/2π, rounded to nearest.
const INVERSE_TWO_PI: f32 = f32::from_bits(0x3e22_f983);

fn sine(a: f32) -> f32 {
    sine_of_turns(turns(a))
}

fn cosine(a: f32) -> f32 {
    cosine_of_turns(turns(a))
}

/// The part of an angle in turns that the hardware looks at.
fn looked_at(turns: f32) -> f64 {
    (f64::from(flush(turns)) % 1.0 * TURN).trunc() / TURN
}

/// The sine of an angle in turns.
pub(crate) fn sine_of_turns(turns: f32) -> f32 {
    if !turns.is_finite() {
        return NAN;
    }
    (looked_at(turns) * std::f64::consts::TAU).sin() as f32
}

/// The cosine of an angle in turns.
pub(crate) fn cosine_of_turns(turns: f32) -> f32 {
    if !turns.is_finite() {
        return NAN;
    }
    (looked_at(turns) * std::f64::consts::TAU).cos() as f32
}

/// The hyperbolic tangent, which the hardware interpolates from 2^-8 up to 8.
pub(crate) fn tanh(x: f64) -> f64 {
    match x.abs() {
        below if below < 1.0 / 256.0 => x,
        above if above >= 8.0 => 1f64.copysign(x),
        _ => x.tanh(),
    }
}

macro_rules! approximation {
    ($ftz:expr, |$x:ident| $e:expr) => {
        if $ftz {
            op1!(f32 => f32, |a| {
                let $x = f64::from(flush(a));
                flush(finish($e))
            })
        } else {
            op1!(f32 => f32, |a| {
                let $x = f64::from(a);
                finish($e)
            })
        }
    };
}

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let m = &i.mods;
    if m.types[0]? != Type::F32 {
        return None;
    }
    Some(match i.op {
        Op::Rsqrt => approximation!(m.ftz, |x| 1.0 / x.sqrt()),
        Op::Sin => op1!(f32 => f32, |a| sine(a)),
        Op::Cos => op1!(f32 => f32, |a| cosine(a)),
        Op::Lg2 => approximation!(m.ftz, |x| x.log2()),
        Op::Ex2 => approximation!(m.ftz, |x| x.exp2()),
        Op::Tanh => approximation!(m.ftz, |x| tanh(x)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{eval, mods, n};
    use warpsim_ptx::isa::Mods;

    fn go(op: Op, ftz: bool, x: f32) -> f32 {
        let m = Mods {
            approx: true,
            ftz,
            ..mods(Type::F32)
        };
        f32::from_bits(eval(op, m, n(0), &[(n(1), u64::from(x.to_bits()))]) as u32)
    }

    #[test]
    fn special_values() {
        assert_eq!(go(Op::Ex2, false, f32::NEG_INFINITY), 0.0);
        assert_eq!(go(Op::Ex2, false, 10.0), 1024.0);
        assert_eq!(go(Op::Ex2, true, -130.0), 0.0);
        assert!(go(Op::Ex2, false, -130.0) > 0.0);
        assert_eq!(go(Op::Lg2, false, 0.0), f32::NEG_INFINITY);
        assert_eq!(go(Op::Lg2, false, -1.0).to_bits(), 0x7fff_ffff);
        assert_eq!(go(Op::Rsqrt, false, 4.0), 0.5);
        assert_eq!(go(Op::Rsqrt, false, -0.0), f32::NEG_INFINITY);
        assert_eq!(go(Op::Sin, false, f32::INFINITY).to_bits(), 0x7fff_ffff);
        assert_eq!(go(Op::Sin, false, -0.0).to_bits(), 0x8000_0000);
        assert_eq!(go(Op::Cos, false, 0.0), 1.0);
        assert_eq!(go(Op::Tanh, false, 100.0), 1.0);
    }

    #[test]
    fn the_ends_of_tanh_are_straight() {
        let small = 0.003_896_252_5;
        assert_eq!(go(Op::Tanh, false, small), small);
        assert!(go(Op::Tanh, false, 0.004) < 0.004);
        assert_eq!(go(Op::Tanh, false, -8.1), -1.0);
        assert!(go(Op::Tanh, false, 7.9) < 1.0);
    }
}
