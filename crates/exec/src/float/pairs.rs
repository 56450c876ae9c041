//! Two single-precision numbers in 64 bits: each half as the scalar instruction does it.

use warpsim_ptx::isa::{Op, Type};
use warpsim_ptx::kernel::Instr;

use super::float32::{input, output, soft_fma, soft2, versions};
use super::rounding::{directed, rounded};
use super::softfloat::{self, F32};
use crate::op::{Plan, op2, op3};

/// Both halves, the first in the low bits.
#[inline(always)]
fn halves<const N: usize>(words: [u64; N], f: impl Fn([f32; N]) -> f32) -> u64 {
    let half = |shift: u32| f(words.map(|w| f32::from_bits((w >> shift) as u32))).to_bits();
    u64::from(half(32)) << 32 | u64::from(half(0))
}

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let m = &i.mods;
    if m.types[0]? != Type::F32x2 {
        return None;
    }
    Some(match (i.op, directed(m.rounding)) {
        (Op::Add, None) => versions!(m, FTZ, SAT => op2!(u64, u64 => u64, |a, b|
            halves([a, b], |[a, b]| output::<FTZ, SAT>(input::<FTZ>(a) + input::<FTZ>(b))))),
        (Op::Sub, None) => versions!(m, FTZ, SAT => op2!(u64, u64 => u64, |a, b|
            halves([a, b], |[a, b]| output::<FTZ, SAT>(input::<FTZ>(a) - input::<FTZ>(b))))),
        (Op::Mul, None) => versions!(m, FTZ, SAT => op2!(u64, u64 => u64, |a, b|
            halves([a, b], |[a, b]| output::<FTZ, SAT>(input::<FTZ>(a) * input::<FTZ>(b))))),
        (Op::Fma, None) => versions!(m, FTZ, SAT => op3!(u64, u64, u64 => u64, |a, b, c|
            halves([a, b, c], |[a, b, c]| output::<FTZ, SAT>(
                input::<FTZ>(a).mul_add(input::<FTZ>(b), input::<FTZ>(c)))))),
        (Op::Add, Some(round)) => rounded!(round, R => versions!(m, FTZ, SAT =>
            op2!(u64, u64 => u64, |a, b| halves([a, b], |[a, b]| output::<FTZ, SAT>(soft2(
                input::<FTZ>(a), input::<FTZ>(b), |a, b| softfloat::add(a, b, F32, R))))))),
        (Op::Sub, Some(round)) => rounded!(round, R => versions!(m, FTZ, SAT =>
            op2!(u64, u64 => u64, |a, b| halves([a, b], |[a, b]| output::<FTZ, SAT>(soft2(
                input::<FTZ>(a), -input::<FTZ>(b), |a, b| softfloat::add(a, b, F32, R))))))),
        (Op::Mul, Some(round)) => rounded!(round, R => versions!(m, FTZ, SAT =>
            op2!(u64, u64 => u64, |a, b| halves([a, b], |[a, b]| output::<FTZ, SAT>(soft2(
                input::<FTZ>(a), input::<FTZ>(b), |a, b| softfloat::mul(a, b, F32, R))))))),
        (Op::Fma, Some(round)) => rounded!(round, R => versions!(m, FTZ, SAT =>
            op3!(u64, u64, u64 => u64, |a, b, c| halves([a, b, c], |[a, b, c]|
                output::<FTZ, SAT>(soft_fma(
                    input::<FTZ>(a), input::<FTZ>(b), input::<FTZ>(c), R)))))),
        _ => return None,
    })
}
