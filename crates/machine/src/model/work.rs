//! Kinds of work: what an instruction makes the lanes do, as far as their power is concerned. Finer
//! than [`OpClass`](crate::OpClass) where one class of timing is several circuits (a move, a
//! comparison and a branch), and coarser where several classes are one.

use serde::{Deserialize, Serialize};

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
