//! Classes of operations: what units take and latencies are given for.

use super::Latency;
use serde::{Deserialize, Serialize};

macro_rules! classes {
    ($($(#[doc = $doc:literal])+ $name:ident = $word:literal => $timing:expr;)*) => {
        /// A class of operations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum OpClass {
            $($(#[doc = $doc])+ #[serde(rename = $word)] $name,)*
        }

        impl OpClass {
            /// All of them.
            pub const ALL: &'static [OpClass] = &[$(OpClass::$name),*];
            /// What they are called.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// What it is called.
            pub fn word(self) -> &'static str {
                OpClass::WORDS[self as usize]
            }

            /// Its latency and initiation interval.
            pub fn timing(self, latency: &Latency) -> [u32; 2] {
                let timing: fn(&Latency) -> [u32; 2] = match self {
                    $(OpClass::$name => $timing,)*
                };
                timing(latency)
            }
        }
    };
}

classes! {
    /// Integer addition and subtraction.
    IntAdd = "int_add" => |l| l.int_add;
    /// Integer minimum and maximum.
    IntMinmax = "int_minmax" => |l| l.int_minmax;
    /// Integer multiplication.
    IntMul = "int_mul" => |l| l.int_mul;
    /// Integer multiplication with addition.
    IntMad = "int_mad" => |l| l.int_mad;
    /// Integer division.
    IntDiv = "int_div" => |l| l.int_div;
    /// Integer remainder.
    IntRem = "int_rem" => |l| l.int_rem;
    /// Single-precision addition and subtraction.
    Fp32Add = "fp32_add" => |l| l.fp32_add;
    /// Single-precision minimum and maximum.
    Fp32Minmax = "fp32_minmax" => |l| l.fp32_minmax;
    /// Single-precision multiplication.
    Fp32Mul = "fp32_mul" => |l| l.fp32_mul;
    /// Single-precision multiplication with addition.
    Fp32Mad = "fp32_mad" => |l| l.fp32_mad;
    /// Single-precision fused multiplication with addition.
    Fp32Fma = "fp32_fma" => |l| l.fp32_fma;
    /// Single-precision division.
    Fp32Div = "fp32_div" => |l| l.fp32_div;
    /// Double-precision addition and subtraction.
    Fp64Add = "fp64_add" => |l| l.fp64_add;
    /// Double-precision minimum and maximum.
    Fp64Minmax = "fp64_minmax" => |l| l.fp64_minmax;
    /// Double-precision multiplication.
    Fp64Mul = "fp64_mul" => |l| l.fp64_mul;
    /// Double-precision multiplication with addition.
    Fp64Mad = "fp64_mad" => |l| l.fp64_mad;
    /// Double-precision fused multiplication with addition.
    Fp64Fma = "fp64_fma" => |l| l.fp64_fma;
    /// Double-precision division.
    Fp64Div = "fp64_div" => |l| l.fp64_div;
    /// Special functions.
    Sfu = "sfu" => |l| l.sfu;
    /// Everything else that computes, and control.
    Other = "other" => |l| l.other;
    /// Loads, stores and atomics: through this unit they go to the load/store unit.
    Memory = "memory" => |_| [1, 1];
    /// Products of matrices. Where no unit takes them, those for single precision do.
    Tensor = "tensor" => |l| l.tensor;
}
