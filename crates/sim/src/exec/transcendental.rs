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
