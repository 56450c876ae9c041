//! Integer arithmetic on 64 bits, word by word.

use super::{Pair, Reader, tag};
use crate::analysis::registers::expand::Cost;
use crate::analysis::registers::word::{Effect, Form, Sum, Value, Values};
use crate::isa::{Half, Op};
use crate::kernel::Instr;
use smallvec::smallvec;

impl Reader<'_> {
    /// Integer operations on 64 bits, word by word; `None` for what takes both at once.
    pub(super) fn in_halves(&mut self, instr: &Instr) -> Option<Pair> {
        let mods = &instr.mods;
        let ty = mods.types[0]?;
        if ty.is_float() || mods.cc {
            return None;
        }
        let wide_sources = mods.half != Some(Half::Wide);
        let src: Vec<Pair> = (instr.src.iter())
            .map(|s| self.operand(s, wide_sources))
            .collect();
        let zero = self.number(0);
        let high = |at: usize| src[at].1.unwrap_or(zero);
        let is = |this: &Self, value: Value, n: u32| this.code.form(value) == Form::Number(n);
        match instr.op {
            Op::Add | Op::Sub => {
                let (mut a, mut b) = ((src[0].0, high(0)), (src[1].0, high(1)));
                let is_number = |v: Value| matches!(self.code.form(v), Form::Number(_));
                if instr.op == Op::Add && is_number(a.0) && is_number(a.1) {
                    (a, b) = (b, a);
                }
                if is(self, b.0, 0) && is(self, b.1, 0) {
                    return Some((a.0, Some(a.1)));
                }
                let sum = self.with_carry(instr, smallvec![a.0, b.0], smallvec![a.1, b.1]);
                let offset = match (self.code.form(b.0), self.code.form(b.1)) {
                    (Form::Number(l), Form::Number(h)) => {
                        Some((u64::from(h) << 32 | u64::from(l)) as i64)
                    }
                    _ => None,
                };
                if let Some(offset) = offset {
                    let offset = if instr.op == Op::Sub { -offset } else { offset };
                    let base = (a.0, Some(a.1));
                    let high = sum.1;
                    self.code.sums.insert(sum.0, Sum { high, base, offset });
                }
                Some(sum)
            }
            Op::Mul if mods.half == Some(Half::Wide) => {
                let (a, b) = (src[0].0, src[1].0);
                let low = self.word(instr, 0, smallvec![a, b]);
                Some((low, Some(self.word(instr, 1, smallvec![a, b]))))
            }
            Op::Mad if mods.half == Some(Half::Wide) => {
                let (a, b) = (src[0].0, src[1].0);
                let c = (src[2].0, high(2));
                Some(self.with_carry(instr, smallvec![a, b, c.0], smallvec![a, b, c.1]))
            }
            Op::And | Op::Or | Op::Xor | Op::Not | Op::Selp => {
                let mut halves = [zero; 2];
                for (part, half) in halves.iter_mut().enumerate() {
                    let mut uses: Values = (src.iter())
                        .map(|s| if part == 0 { s.0 } else { s.1.unwrap_or(zero) })
                        .collect();
                    if instr.op == Op::Selp {
                        uses[2] = src[2].0;
                    }
                    *half = match instr.op {
                        Op::And if uses.iter().any(|v| is(self, *v, 0)) => zero,
                        Op::And if is(self, uses[1], u32::MAX) => uses[0],
                        Op::Or | Op::Xor if is(self, uses[1], 0) => uses[0],
                        Op::Or | Op::Xor if is(self, uses[0], 0) => uses[1],
                        Op::Selp if uses[0] == uses[1] => uses[0],
                        _ => self.word(instr, part as u32, uses),
                    };
                }
                Some((halves[0], Some(halves[1])))
            }
            Op::Shl | Op::Shr => self.shifted(instr, &src),
            _ => None,
        }
    }

    /// Two operations that pass a carry.
    fn with_carry(&mut self, instr: &Instr, low: Values, high: Values) -> Pair {
        let tags = (0..2).map(|part| tag(&(instr.op as u32, &instr.mods, "carry", part)));
        let tags: Vec<u64> = tags.collect();
        let carry = self.code.value(Form::Flag);
        let first = self.code.value(Form::Word);
        self.push(
            Effect::Pure,
            low,
            smallvec![first, carry],
            Cost::ALU,
            tags[0],
        );
        let mut high = high;
        high.push(carry);
        let second = self.emit(Effect::Pure, high, 1, Cost::ALU, tags[1])[0];
        (first, Some(second))
    }

    fn shifted(&mut self, instr: &Instr, src: &[Pair]) -> Option<Pair> {
        let zero = self.number(0);
        let (low, high) = (src[0].0, src[0].1.unwrap_or(zero));
        let Form::Number(by) = self.code.form(src[1].0) else {
            return None;
        };
        let (by, left) = (by.min(63), instr.op == Op::Shl);
        let amount = self.number(by % 32);
        let signed = !left && instr.mods.ty().is_signed();
        if by == 0 {
            return Some((low, Some(high)));
        }
        if by >= 32 {
            let from = if left { low } else { high };
            let moved = match by {
                32 => from,
                _ if self.code.form(from) == Form::Number(0) => zero,
                _ => self.word(instr, 2, smallvec![from, amount]),
            };
            return Some(match (left, signed) {
                (true, _) => (zero, Some(moved)),
                (false, false) => (moved, Some(zero)),
                (false, true) => (moved, Some(self.word(instr, 3, smallvec![high]))),
            });
        }
        let high_is_zero = self.code.form(high) == Form::Number(0);
        let (outer, inner) = if left { (low, high) } else { (high, low) };
        // The word that is shifted alone, and the one into which bits move.
        let alone = match !left && high_is_zero {
            true => zero,
            false => self.word(instr, 0, smallvec![outer, amount]),
        };
        let uses = match high_is_zero {
            true => smallvec![low, amount],
            false => smallvec![inner, outer, amount],
        };
        let filled = self.word(instr, 1, uses);
        Some(match left {
            true => (alone, Some(filled)),
            false => (filled, Some(alone)),
        })
    }
}
