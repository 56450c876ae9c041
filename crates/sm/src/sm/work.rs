//! What an instruction makes the lanes do, as far as their power is concerned.

use crate::config::Work;
use warpsim_ptx::isa::{Mods, Op, Pipe, Type};

/// The work of an instruction.
pub fn work_of(op: Op, mods: &Mods) -> Work {
    let types = || mods.types.iter().flatten().copied();
    let single = types().any(|t| t.is_float() && t != Type::F64);
    let double = types().any(|t| t == Type::F64);
    let by_type = |int: Work, fp32: Work| match (single, double) {
        (true, _) => fp32,
        (_, true) => Work::Fp64,
        _ => int,
    };
    match op {
        Op::Membar | Op::Fence => Work::Other,
        Op::Div | Op::Rem => by_type(Work::IntDiv, Work::Fp32Div),
        Op::Mul | Op::Mul24 | Op::Mad | Op::Mad24 | Op::Madc | Op::Dp2a | Op::Dp4a | Op::Fma => {
            by_type(Work::IntMul, Work::Fp32Mul)
        }
        Op::Add
        | Op::Sub
        | Op::Addc
        | Op::Subc
        | Op::Min
        | Op::Max
        | Op::Abs
        | Op::Neg
        | Op::Sad
        | Op::Copysign => by_type(Work::IntAdd, Work::Fp32Add),
        Op::Setp | Op::Set | Op::Testp => by_type(Work::Compare, Work::Fp32Compare),
        Op::Cvt => by_type(Work::Convert, Work::Fp32Convert),
        // Whatever is moved, nothing is computed with it.
        Op::Mov | Op::Selp | Op::Slct | Op::Cvta => Work::Move,
        _ => match op.pipe(mods) {
            Pipe::Sfu => by_type(Work::Sfu, Work::Sfu),
            Pipe::Memory => Work::Memory,
            Pipe::Control => Work::Control,
            Pipe::Int | Pipe::Fp => Work::Logic,
        },
    }
}
