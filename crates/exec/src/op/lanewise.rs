//! Operations that do the same in every lane: the loops, and macros that make a plan of a lane's
//! expression.

use super::instruction::Decoded;
use super::regs::{Regs, Value};
use crate::state::LANES;

impl Regs<'_> {
    /// `dst = f(a)` in every lane.
    #[inline(always)]
    pub fn map1<A: Value, R: Value>(&mut self, d: &Decoded, f: impl Fn(A) -> R) {
        let mut out = R::ZERO;
        let a = &self.value::<A>(d.src[0]);
        for i in 0..LANES {
            R::put(&mut out, i, f(A::get(a, i)));
        }
        self.commit::<R>(d.dst[0], &out);
    }

    /// `dst = f(a, b)` in every lane.
    #[inline(always)]
    pub fn map2<A: Value, B: Value, R: Value>(&mut self, d: &Decoded, f: impl Fn(A, B) -> R) {
        let mut out = R::ZERO;
        let (a, b) = (&self.value::<A>(d.src[0]), &self.value::<B>(d.src[1]));
        for i in 0..LANES {
            R::put(&mut out, i, f(A::get(a, i), B::get(b, i)));
        }
        self.commit::<R>(d.dst[0], &out);
    }

    /// `dst = f(a, b, c)` in every lane.
    #[inline(always)]
    pub fn map3<A: Value, B: Value, C: Value, R: Value>(
        &mut self,
        d: &Decoded,
        f: impl Fn(A, B, C) -> R,
    ) {
        let mut out = R::ZERO;
        let a = &self.value::<A>(d.src[0]);
        let b = &self.value::<B>(d.src[1]);
        let c = &self.value::<C>(d.src[2]);
        for i in 0..LANES {
            R::put(&mut out, i, f(A::get(a, i), B::get(b, i), C::get(c, i)));
        }
        self.commit::<R>(d.dst[0], &out);
    }

    /// A bit per lane: `f(a, b)`.
    #[inline(always)]
    pub fn test2<A: Value, B: Value>(&self, d: &Decoded, f: impl Fn(A, B) -> bool) -> u32 {
        let (a, b) = (&self.value::<A>(d.src[0]), &self.value::<B>(d.src[1]));
        // In this form the compiler makes a few vectors of it, and one word of these.
        let mut bits = 0;
        for i in 0..LANES {
            bits |= u32::from(f(A::get(a, i), B::get(b, i))) << i;
        }
        bits
    }
}

/// Whether the host has what the vector versions are compiled for.
pub(crate) fn host_has_avx2_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Compiles an operation twice, plainly and with AVX2 and FMA, and picks one for this host.
/// Both give the same bits: `mul_add` is exact with and without the instruction.
macro_rules! dispatch {
    ($d:ident, $r:ident, $body:expr) => {{
        fn plain($d: &$crate::op::Decoded, $r: &mut $crate::op::Regs<'_>) {
            $body
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn vector($d: &$crate::op::Decoded, $r: &mut $crate::op::Regs<'_>) {
            $body
        }
        #[cfg(target_arch = "x86_64")]
        let chosen: $crate::op::AluFn = if $crate::op::host_has_avx2_fma() {
            vector
        } else {
            plain
        };
        #[cfg(not(target_arch = "x86_64"))]
        let chosen: $crate::op::AluFn = plain;
        chosen
    }};
}

/// `op1!(A => R, |a| …)`: a one-source operation.
macro_rules! op1 {
    ($a:ty => $r:ty, |$x:ident| $e:expr) => {{
        fn run(d: &$crate::op::Decoded, r: &mut $crate::op::Regs<'_>) {
            r.map1::<$a, $r>(d, |$x| $e);
        }
        $crate::op::Plan::alu(
            run,
            &[$crate::op::width::<$a>()],
            &[$crate::op::width::<$r>()],
        )
    }};
}

/// `op2!(A, B => R, |a, b| …)`: a two-source operation.
macro_rules! op2 {
    ($a:ty, $b:ty => $r:ty, |$x:ident, $y:ident| $e:expr) => {{
        fn run(d: &$crate::op::Decoded, r: &mut $crate::op::Regs<'_>) {
            r.map2::<$a, $b, $r>(d, |$x, $y| $e);
        }
        $crate::op::Plan::alu(
            run,
            &[$crate::op::width::<$a>(), $crate::op::width::<$b>()],
            &[$crate::op::width::<$r>()],
        )
    }};
    // Hot operations have a second version for AVX2 and FMA.
    (hot $a:ty, $b:ty => $r:ty, |$x:ident, $y:ident| $e:expr) => {{
        let run = dispatch!(d, r, r.map2::<$a, $b, $r>(d, |$x, $y| $e));
        $crate::op::Plan::alu(
            run,
            &[$crate::op::width::<$a>(), $crate::op::width::<$b>()],
            &[$crate::op::width::<$r>()],
        )
    }};
}

/// `op3!(A, B, C => R, |a, b, c| …)`: a three-source operation.
macro_rules! op3 {
    ($a:ty, $b:ty, $c:ty => $r:ty, |$x:ident, $y:ident, $z:ident| $e:expr) => {{
        fn run(d: &$crate::op::Decoded, r: &mut $crate::op::Regs<'_>) {
            r.map3::<$a, $b, $c, $r>(d, |$x, $y, $z| $e);
        }
        $crate::op::Plan::alu(
            run,
            &[
                $crate::op::width::<$a>(),
                $crate::op::width::<$b>(),
                $crate::op::width::<$c>(),
            ],
            &[$crate::op::width::<$r>()],
        )
    }};
    (hot $a:ty, $b:ty, $c:ty => $r:ty, |$x:ident, $y:ident, $z:ident| $e:expr) => {{
        let run = dispatch!(d, r, r.map3::<$a, $b, $c, $r>(d, |$x, $y, $z| $e));
        $crate::op::Plan::alu(
            run,
            &[
                $crate::op::width::<$a>(),
                $crate::op::width::<$b>(),
                $crate::op::width::<$c>(),
            ],
            &[$crate::op::width::<$r>()],
        )
    }};
}

/// Picks the arm for an integer type that arithmetic takes; with others it returns `None`.
macro_rules! by_type {
    ($ty:expr, $t:ident => $e:expr) => {
        match $ty {
            warpsim_ptx::isa::Type::U16 | warpsim_ptx::isa::Type::B16 => {
                type $t = u16;
                $e
            }
            warpsim_ptx::isa::Type::S16 => {
                type $t = i16;
                $e
            }
            warpsim_ptx::isa::Type::U32 | warpsim_ptx::isa::Type::B32 => {
                type $t = u32;
                $e
            }
            warpsim_ptx::isa::Type::S32 => {
                type $t = i32;
                $e
            }
            warpsim_ptx::isa::Type::U64 | warpsim_ptx::isa::Type::B64 => {
                type $t = u64;
                $e
            }
            warpsim_ptx::isa::Type::S64 => {
                type $t = i64;
                $e
            }
            _ => return None,
        }
    };
}

pub(crate) use {by_type, dispatch, op1, op2, op3};
