//! The approximations of the special-function unit.
//!
//! Computed in double precision and rounded once, which is within every documented bound
//! (2^-20.9 and worse) but more accurate than silicon.

use warpsim_ptx::isa::{Op, Type};
use warpsim_ptx::kernel::Instr;

use super::code::Plan;
use super::float32::{NAN, flush};
use super::regs::op1;

fn finish(x: f64) -> f32 {
    if x.is_nan() { NAN } else { x as f32 }
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

pub(super) fn decode(i: &Instr) -> Option<Plan> {
    let m = &i.mods;
    if m.types[0]? != Type::F32 {
        return None;
    }
    Some(match i.op {
        Op::Rsqrt => approximation!(m.ftz, |x| 1.0 / x.sqrt()),
        Op::Sin => approximation!(m.ftz, |x| x.sin()),
        Op::Cos => approximation!(m.ftz, |x| x.cos()),
        Op::Lg2 => approximation!(m.ftz, |x| x.log2()),
        Op::Ex2 => approximation!(m.ftz, |x| x.exp2()),
        Op::Tanh => approximation!(m.ftz, |x| x.tanh()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::testing::{eval, mods, n};
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
}
