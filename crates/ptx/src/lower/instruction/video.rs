//! Video instructions: parts of operands, merged results.

use crate::ast::{self, Ident, Instruction};
use crate::isa::{Op, Part, Type};
use crate::kernel::{Operand, RegId};
use crate::lower::builder::Builder;
use crate::lower::operand::shape::Kind;
use crate::lower::operand::span_of;

/// A name and the part of it that is meant: `%r1.b2`.
fn split(name: &Ident, packed: u8) -> (Ident, Part) {
    let found = name.name.rsplit_once('.').and_then(|(base, part)| {
        let kind = part.as_bytes().first()?;
        let digits: Vec<u8> = part.bytes().skip(1).map(|c| c.wrapping_sub(b'0')).collect();
        let valid = matches!(kind, b'b' | b'h') && digits.iter().all(|d| *d < 8);
        if digits.is_empty() || !valid {
            return None;
        }
        let part = match (packed, kind, &digits[..]) {
            (0, b'b', [n]) => Part::Byte(*n),
            (0, b'h', [n]) => Part::Half(*n),
            (0, ..) => return None,
            _ => {
                // Written with the highest first.
                let mut parts = [u8::MAX; 4];
                for (place, digit) in parts.iter_mut().zip(digits.iter().rev()) {
                    *place = *digit;
                }
                Part::Parts(parts)
            }
        };
        Some((base.to_string(), part))
    });
    match found {
        Some((base, part)) => (
            Ident {
                name: base.into(),
                span: name.span,
            },
            part,
        ),
        None => (name.clone(), Part::Whole),
    }
}

/// Parts of a packed form, 0 for the others.
fn packed(op: Op) -> u8 {
    match op.text().as_bytes().last() {
        Some(b'2') => 2,
        Some(b'4') => 4,
        _ => 0,
    }
}

impl Builder<'_> {
    /// Any of them: `d, a, b`, or `d, a, b, c` where the result is combined with the third.
    pub(in crate::lower) fn video(
        &mut self,
        instr: &Instruction,
        guard: Option<(RegId, bool)>,
    ) -> Option<()> {
        let mut mods = instr.mods;
        let parts = packed(instr.op);
        let [dst, rest @ ..] = &instr.operands[..] else {
            self.wrong_count(instr, 3, 4);
            return None;
        };
        let ast::Operand::Name(name) = dst else {
            self.error(
                span_of(dst),
                format!("`{}` writes a register here", instr.text),
            );
            return None;
        };
        let (name, part) = split(name, parts);
        mods.video.result = part;
        let word = Kind::Value(Type::B32);
        let dst = self.destination(&ast::Operand::Name(name), word, &instr.text)?;
        let mut src: Vec<Operand> = Vec::new();
        for (at, operand) in rest.iter().enumerate() {
            let (operand, negated) = match operand {
                ast::Operand::Negate(name) => (ast::Operand::Name(name.clone()), true),
                other => (other.clone(), false),
            };
            if negated && instr.op != Op::Vmad {
                self.error(
                    span_of(&operand),
                    format!("`{}` negates nothing", instr.text),
                );
                return None;
            }
            // A negation of both factors is none of the product.
            mods.video.negate[usize::from(at == 2)] ^= negated;
            let operand = match operand {
                ast::Operand::Name(name) if at < 2 => {
                    let (name, part) = split(&name, parts);
                    mods.video.parts[at] = part;
                    ast::Operand::Name(name)
                }
                other => other,
            };
            src.push(self.source(&operand, word, &instr.text)?);
        }
        let combined = mods.video.result != Part::Whole || mods.atom.is_some();
        if combined && src.len() < 3 {
            self.error(
                instr.span,
                format!("`{}` needs a third source here", instr.text),
            );
            return None;
        }
        self.emit(instr.op, mods, vec![dst], src).guard = guard;
        Some(())
    }
}
