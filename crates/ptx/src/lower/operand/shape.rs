//! What operands an opcode takes, by position: how wide, predicate or value.
//!
//! This is the one table that operand checks read. Opcodes with operands of their own kind
//! (memory, textures, control) have their own code.

use crate::isa::{Half, Mode, Mods, Op, Type};

/// What may stand in one operand position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum Kind {
    /// A register exactly as wide as the type, or an immediate of it.
    Value(Type),
    /// A register at least as wide as the type: the relaxed rule of `ld`, `st` and `cvt`.
    AtLeast(Type),
    /// A predicate.
    Pred,
    /// An address in a register of 32 or 64 bits, or a variable's name.
    Pointer,
}

/// A few kinds, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) struct Kinds {
    list: [Kind; Kinds::MOST],
    count: usize,
}

impl Kinds {
    /// No instruction of the table has more operands on one side.
    const MOST: usize = 5;

    fn new(kinds: &[Kind]) -> Kinds {
        let mut list = [Kind::Pred; Kinds::MOST];
        list[..kinds.len()].copy_from_slice(kinds);
        Kinds {
            list,
            count: kinds.len(),
        }
    }
}

impl std::ops::Deref for Kinds {
    type Target = [Kind];

    #[inline]
    fn deref(&self) -> &[Kind] {
        &self.list[..self.count]
    }
}

/// The operands of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lower) struct Shape {
    /// Destinations.
    pub dst: Kinds,
    /// How many of the last destinations may be left out (`d|p`).
    pub dst_optional: usize,
    /// Sources.
    pub src: Kinds,
    /// How many of the last sources may be left out.
    pub src_optional: usize,
}

fn shape(dst: &[Kind], src: &[Kind]) -> Shape {
    Shape {
        dst: Kinds::new(dst),
        dst_optional: 0,
        src: Kinds::new(src),
        src_optional: 0,
    }
}

impl Shape {
    fn optional(mut self, dst: usize, src: usize) -> Self {
        self.dst_optional = dst;
        self.src_optional = src;
        self
    }
}

fn doubled(ty: Type) -> Type {
    match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::S32 => Type::S64,
        _ => Type::U64,
    }
}

/// The shape of a plain instruction; `None` for opcodes that are handled on their own, or
/// when a type that decides the shape is missing.
pub(in crate::lower) fn shape_of(op: Op, mods: &Mods) -> Option<Shape> {
    use Kind::{Pointer, Pred, Value};
    let u32v = Value(Type::U32);
    let b32v = Value(Type::B32);
    let value = |ty: Type| if ty == Type::Pred { Pred } else { Value(ty) };
    let first = mods.types[0];
    let second = mods.types[1];
    // Opcodes that need no type to know their operands.
    let plain = match op {
        Op::Activemask => Some(shape(&[b32v], &[])),
        Op::Fns => Some(shape(&[b32v], &[b32v, b32v, Value(Type::S32)])),
        Op::Membar | Op::Fence | Op::Trap | Op::Brkpt | Op::Exit | Op::Ret => Some(shape(&[], &[])),
        Op::Nanosleep | Op::Pmevent => Some(shape(&[], &[u32v])),
        Op::VtwNextTb => Some(shape(&[u32v, Pred], &[])),
        Op::VtwNextTid => Some(shape(&[u32v], &[])),
        Op::Isspacep => Some(shape(&[Pred], &[Pointer])),
        Op::Bar | Op::Barrier if mods.warp => Some(shape(&[], &[b32v])),
        Op::Bar | Op::Barrier if mods.mode != Some(Mode::Red) => {
            Some(shape(&[], &[u32v, u32v]).optional(0, 2))
        }
        _ => None,
    };
    if plain.is_some() {
        return plain;
    }
    let ty = first?;
    let t = value(ty);
    Some(match op {
        Op::Abs
        | Op::Neg
        | Op::Not
        | Op::Cnot
        | Op::Brev
        | Op::Sqrt
        | Op::Rcp
        | Op::Rsqrt
        | Op::Sin
        | Op::Cos
        | Op::Lg2
        | Op::Ex2
        | Op::Tanh => shape(&[t], &[t]),
        Op::Mul if mods.half == Some(Half::Wide) => shape(&[value(doubled(ty))], &[t, t]),
        // `.abs` alone is of three operands, and is not supported.
        Op::Min | Op::Max if mods.magnitude && !mods.xorsign_abs => return None,
        Op::Min | Op::Max if ty == Type::F32 && !mods.xorsign_abs => {
            shape(&[t], &[t, t, t]).optional(0, 1)
        }
        Op::Min | Op::Max => shape(&[t], &[t, t]),
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Div
        | Op::Rem
        | Op::And
        | Op::Or
        | Op::Xor
        | Op::Addc
        | Op::Subc
        | Op::Copysign
        | Op::Mul24 => shape(&[t], &[t, t]),
        Op::Mad | Op::Madc if mods.half == Some(Half::Wide) => {
            let wide = value(doubled(ty));
            shape(&[wide], &[t, t, wide])
        }
        Op::Mad | Op::Madc | Op::Fma | Op::Mad24 | Op::Sad => shape(&[t], &[t, t, t]),
        Op::Bfe => shape(&[t], &[t, u32v, u32v]),
        Op::Bfi => shape(&[t], &[t, t, u32v, u32v]),
        Op::Bfind | Op::Clz | Op::Popc => shape(&[u32v], &[t]),
        Op::Bmsk => shape(&[t], &[b32v, b32v]),
        Op::Szext => shape(&[t], &[t, u32v]),
        Op::Shl | Op::Shr => shape(&[t], &[t, u32v]),
        Op::Shf => shape(&[t], &[t, t, u32v]),
        Op::Prmt => shape(&[b32v], &[b32v, b32v, b32v]),
        Op::Lop3 if mods.boolop.is_some() => shape(&[b32v, Pred], &[b32v, b32v, b32v, b32v, Pred]),
        Op::Lop3 => shape(&[b32v], &[b32v, b32v, b32v, b32v]),
        Op::Dp4a | Op::Dp2a => shape(&[b32v], &[b32v, b32v, b32v]),
        Op::Selp => shape(&[t], &[t, t, Pred]),
        Op::Slct => shape(&[t], &[t, t, value(second.unwrap_or(Type::S32))]),
        Op::Set => {
            let compared = value(second.unwrap_or(ty));
            shape(&[t], &[compared, compared, Pred]).optional(0, usize::from(mods.boolop.is_none()))
        }
        Op::Setp => {
            shape(&[Pred, Pred], &[t, t, Pred]).optional(1, usize::from(mods.boolop.is_none()))
        }
        Op::Testp => shape(&[Pred], &[t]),
        Op::Cvt => {
            let from = second.unwrap_or(ty);
            let packs = matches!(ty, Type::F16x2 | Type::Bf16x2 | Type::E4m3x2 | Type::E5m2x2)
                && from == Type::F32;
            let from = Kind::AtLeast(from);
            let sources: &[Kind] = if packs { &[from, from] } else { &[from] };
            shape(&[Kind::AtLeast(ty)], sources)
        }
        Op::Cvta => shape(&[t], &[Pointer]),
        Op::Vote => shape(&[t], &[Pred, b32v]).optional(0, usize::from(!mods.sync)),
        Op::Match => shape(&[b32v, Pred], &[t, b32v]).optional(1, 0),
        Op::Redux => shape(&[t], &[t, b32v]),
        Op::Shfl => shape(&[t, Pred], &[t, b32v, b32v, b32v]).optional(1, usize::from(!mods.sync)),
        Op::Bar | Op::Barrier => shape(&[t], &[u32v, u32v, Pred]),
        _ => return None,
    })
}
