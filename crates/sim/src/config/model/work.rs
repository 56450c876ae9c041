//! Kinds of work: what an instruction makes the lanes do, as far as their power is concerned. Finer
//! than [`OpClass`](crate::config::OpClass) where one class of timing is several circuits (a move, a
//! comparison and a branch), and coarser where several classes are one.

use serde::{Deserialize, Serialize};
use warpsim_ptx::isa::{Mods, Op, Pipe, Type};

macro_rules! works {
    ($($(#[doc = $doc:literal])+ $name:ident = $word:literal;)*) => {
        /// A kind of work.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Work {
            $($(#[doc = $doc])+ #[serde(rename = $word)] $name,)*
        }

        impl Work {
            /// All of them.
            pub const ALL: &'static [Work] = &[$(Work::$name),*];
            /// What they are called.
            pub const WORDS: &'static [&'static str] = &[$($word),*];
        }
    };
}

works! {
    /// Integer addition, minimum, absolute value and the like.
    IntAdd = "int_add";
    /// Integer multiplication, with or without addition.
    IntMul = "int_mul";
    /// Integer division and remainder.
    IntDiv = "int_div";
    /// Logic, shifts, bit fields, and what lanes tell each other.
    Logic = "logic";
    /// Moves and selections.
    Move = "moves";
    /// Comparison of integers.
    Compare = "compare";
    /// Conversion between integers.
    Convert = "convert";
    /// Branches, barriers, exits.
    Control = "control";
    /// Single-precision addition, minimum, absolute value and the like.
    Fp32Add = "fp32_add";
    /// Single-precision multiplication, with or without addition.
    Fp32Mul = "fp32_mul";
    /// Single-precision division.
    Fp32Div = "fp32_div";
    /// Comparison of single-precision numbers.
    Fp32Compare = "fp32_compare";
    /// Conversion from or to single precision.
    Fp32Convert = "fp32_convert";
    /// Double precision.
    Fp64 = "fp64";
    /// Special functions.
    Sfu = "sfu";
    /// Addresses of loads, stores and atomics.
    Memory = "memory";
    /// Fences and what else does not compute.
    Other = "other";
}

impl Work {
    /// That of an instruction.
    pub fn of(op: Op, mods: &Mods) -> Work {
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
            Op::Mul
            | Op::Mul24
            | Op::Mad
            | Op::Mad24
            | Op::Madc
            | Op::Dp2a
            | Op::Dp4a
            | Op::Fma => by_type(Work::IntMul, Work::Fp32Mul),
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
}
