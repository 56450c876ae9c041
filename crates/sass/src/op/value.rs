//! Sources of instructions, ready to be read.

use super::state::{Reach, Row};
use crate::program::operand::{Change, RZ, URZ};

/// Where a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// A register of each thread.
    Register(u8),
    /// A register of the warp.
    Uniform(u8),
    /// A number.
    Number(u32),
    /// A word of a constant bank.
    #[allow(missing_docs)]
    Constant { bank: u8, offset: u32 },
}

/// A source of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Where it is.
    pub from: From,
    /// What is done to it.
    pub change: Change,
}

impl Value {
    /// The value as it lies there.
    #[inline(always)]
    pub fn raw(&self, r: &Reach<'_, '_>) -> Row {
        match self.from {
            From::Register(RZ) => Row::all(0),
            From::Register(number) => r.registers.rows[usize::from(number)],
            From::Uniform(number) => Row::all(r.registers.uniform.registers[usize::from(number)]),
            From::Number(bits) => Row::all(bits),
            From::Constant { bank, offset } => Row::all(constant(r, bank, offset)),
        }
    }

    /// As an integer.
    #[inline(always)]
    pub fn integer(&self, r: &Reach<'_, '_>) -> Row {
        let mut row = self.raw(r);
        if self.change.invert {
            row.0.iter_mut().for_each(|v| *v = !*v);
        }
        if self.change.negate {
            row.0.iter_mut().for_each(|v| *v = v.wrapping_neg());
        }
        row
    }

    /// As the bits of a floating-point number.
    #[inline(always)]
    pub fn float(&self, r: &Reach<'_, '_>) -> Row {
        let mut row = self.raw(r);
        let clear = if self.change.absolute { 1 << 31 } else { 0 };
        let flip = if self.change.negate { 1 << 31 } else { 0 };
        if clear | flip != 0 {
            row.0.iter_mut().for_each(|v| *v = *v & !clear ^ flip);
        }
        row
    }

    /// The second word of a source of 64 bits.
    pub fn next(&self) -> Value {
        let from = match self.from {
            From::Register(RZ) => self.from,
            From::Register(number) => From::Register(number + 1),
            From::Uniform(URZ) => self.from,
            From::Uniform(number) => From::Uniform((number + 1).min(URZ)),
            From::Number(bits) => From::Number((bits as i32 >> 31) as u32),
            From::Constant { bank, offset } => From::Constant {
                bank,
                offset: offset + 4,
            },
        };
        Value {
            from,
            change: self.change,
        }
    }

    /// Both words of a source of 64 bits, as they lie there.
    #[inline(always)]
    pub fn pair(&self, r: &Reach<'_, '_>) -> impl Fn(usize) -> u64 + use<> {
        let (low, high) = (self.raw(r), self.next().raw(r));
        move |lane| u64::from(high.0[lane]) << 32 | u64::from(low.0[lane])
    }

    /// A source of 64 bits as an integer.
    #[inline(always)]
    pub fn wide(&self, r: &Reach<'_, '_>) -> impl Fn(usize) -> u64 + use<> {
        let pair = self.pair(r);
        let change = self.change;
        move |lane| {
            let value = pair(lane);
            let value = if change.invert { !value } else { value };
            if change.negate {
                value.wrapping_neg()
            } else {
                value
            }
        }
    }
}

/// A word of a constant bank; zero beyond its end, as on the hardware.
#[inline(always)]
pub fn constant(r: &Reach<'_, '_>, bank: u8, offset: u32) -> u32 {
    let bytes = r.around.banks.get(usize::from(bank));
    let word = bytes.and_then(|b| b.get(offset as usize..)?.first_chunk());
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

/// A predicate that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// Its number.
    pub number: u8,
    /// It is one of the warp.
    pub uniform: bool,
    /// It is taken for its opposite.
    pub invert: bool,
}

impl Predicate {
    /// A bit a lane.
    #[inline(always)]
    pub fn bits(&self, r: &Reach<'_, '_>) -> u32 {
        let all = match self.uniform {
            true => &r.registers.uniform.predicates,
            false => &r.registers.predicates,
        };
        let bits = all[usize::from(self.number & 7)];
        if self.invert { !bits } else { bits }
    }
}
