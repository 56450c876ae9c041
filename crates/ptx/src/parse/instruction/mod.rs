//! Instructions: guard, mnemonic, operands, and whether they fit together.

pub(crate) mod asynchronous;
pub(in crate::parse) mod call;
pub(crate) mod matrix;
pub(in crate::parse) mod mnemonic;
pub(in crate::parse) mod operand;
pub(in crate::parse) mod plain;

use crate::ast::{Guard, Instruction, Operand, Operands, Statement};
use crate::diagnostic::Diagnostic;
use crate::isa::Op;
use crate::optable::Slot;
use crate::parse::{Parsed, Parser};
use mnemonic::{Known, Mnemonic, is_opcode};
use operand::span_of;

impl Parser<'_> {
    /// One instruction with its `;`, put behind the others. After an error something may be there
    /// already; what has one is not used.
    pub(in crate::parse) fn instruction(&mut self, into: &mut Vec<Statement>) -> Parsed<()> {
        let start = self.peek();
        let guard = self.guard()?;
        let mnemonic = self.mnemonic()?;
        into.push(Statement::Instruction(Instruction {
            guard,
            mnemonic: mnemonic.known.what.clone(),
            operands: Operands::new(),
            span: start.span(),
        }));
        // It is made where it will stay: a copy of it costs as much as reading it.
        let Some(Statement::Instruction(made)) = into.last_mut() else {
            return Ok(());
        };
        if mnemonic.op == Op::Call {
            made.operands.push(self.call()?);
        } else {
            self.operands(&mut made.operands)?;
            self.check(&mnemonic, &made.operands)?;
        }
        if !self.is_punct(b';') {
            let error = self.expected("`;`");
            return Err(self.explain_missing_semicolon(error));
        }
        made.span.len = self.peek().end() - start.start;
        self.skip(1);
        Ok(())
    }

    fn guard(&mut self) -> Parsed<Option<Guard>> {
        if !self.eat(b'@') {
            return Ok(None);
        }
        let negated = self.eat(b'!');
        // `@ bra L`: an opcode that no opcode follows is not the predicate.
        let (token, after) = (self.peek(), self.peek_at(1));
        if is_opcode(self.str(token)) && !is_opcode(self.str(after)) {
            return Err(self.unexpected("a predicate register"));
        }
        let pred = self.ident("a predicate register")?;
        Ok(Some(Guard { negated, pred }))
    }

    /// Operands up to the `;`, which is not taken.
    fn operands(&mut self, operands: &mut Operands) -> Parsed<()> {
        if self.is_punct(b';') {
            return Ok(());
        }
        // An instruction without operands whose `;` is missing: do not read on.
        if self.at_line_start() && !self.at_operand() {
            return Ok(());
        }
        loop {
            operands.push(self.operand()?);
            if !self.eat(b',') {
                return Ok(());
            }
        }
    }

    fn explain_missing_semicolon(&self, error: Diagnostic) -> Diagnostic {
        if self.at_line_start() {
            error.with_hint("every instruction ends with `;`")
        } else {
            error
        }
    }

    /// Whether the operands are those that the table asks for.
    fn check(&self, mnemonic: &Mnemonic, operands: &[Operand]) -> Parsed<()> {
        let Known { slots, least, .. } = mnemonic.known;
        if let [Slot::Any, ..] = slots {
            return Ok(());
        }
        if operands.len() < least || operands.len() > slots.len() {
            return Err(wrong_count(mnemonic, operands, slots, least));
        }
        for (n, (operand, slot)) in operands.iter().zip(slots).enumerate() {
            if !fits(*slot, operand) {
                let message = format!(
                    "operand {} of `{}` cannot be {}",
                    n + 1,
                    mnemonic.text,
                    kind_of(operand)
                );
                return Err(Diagnostic::error(span_of(operand), message)
                    .with_label(format!("expected {}", wanted(*slot)))
                    .with_hint(format!("the form is `{}`", usage(mnemonic, slots))));
            }
            if matches!(slot, Slot::DVec | Slot::SVec) && mnemonic.op != Op::Mov {
                vector_width(mnemonic, operand)?;
            }
        }
        Ok(())
    }
}

/// Whether these operands, of which none is a vector, are those that the table asks for.
#[inline]
pub(in crate::parse) fn suits(slots: &[Slot], least: usize, operands: &[Operand]) -> bool {
    if let [Slot::Any, ..] = slots {
        return true;
    }
    let fit = |(n, operand): (usize, &Operand)| fits(slots[n], operand);
    (least..=slots.len()).contains(&operands.len()) && operands.iter().enumerate().all(fit)
}

fn wrong_count(
    mnemonic: &Mnemonic,
    operands: &[Operand],
    slots: &[Slot],
    least: usize,
) -> Diagnostic {
    let wanted = match (least, slots.len()) {
        (0, 0) => "no operands".to_string(),
        (1, 1) => "1 operand".to_string(),
        (least, most) if least == most => format!("{most} operands"),
        (least, most) => format!("{least} to {most} operands"),
    };
    let message = format!(
        "`{}` takes {wanted}, found {}",
        mnemonic.text,
        operands.len()
    );
    // Too many: the first that is one too many. Too few: the instruction.
    let span = operands.get(slots.len()).map_or(mnemonic.span, span_of);
    Diagnostic::error(span, message).with_label(format!("expected `{}`", usage(mnemonic, slots)))
}

/// A vector operand must have as many elements as `.v2`, `.v4` say.
fn vector_width(mnemonic: &Mnemonic, operand: &Operand) -> Parsed<()> {
    let vector = match operand {
        Operand::Pair(first, _) => first,
        other => other,
    };
    let Operand::Vector(elements, span) = vector else {
        return Ok(());
    };
    let width = usize::from(mnemonic.mods.vector.max(1));
    if elements.len() == width {
        return Ok(());
    }
    let (found, text) = (elements.len(), &mnemonic.text);
    let message = match width {
        1 => format!("`{text}` moves one value, found a vector of {found}"),
        _ => format!("`{text}` moves {width} values, found a vector of {found}"),
    };
    let error = Diagnostic::error(*span, message);
    Err(match (width, found) {
        (1, 2 | 4 | 8) => error.with_hint(format!("add `.v{found}` before the type")),
        _ => error,
    })
}

#[inline]
fn fits(slot: Slot, operand: &Operand) -> bool {
    use Operand as O;
    let destination = matches!(operand, O::Name(_) | O::Sink(_));
    let source = matches!(
        operand,
        O::Name(_) | O::Not(_) | O::Negate(_) | O::Int(..) | O::Float { .. } | O::Offset(..)
    );
    match slot {
        Slot::D => destination,
        Slot::Pair => destination || matches!(operand, O::Pair(..)),
        Slot::DVec => destination || matches!(operand, O::Vector(..) | O::Pair(..)),
        Slot::S | Slot::Opt => source,
        Slot::SVec | Slot::Loose => source || matches!(operand, O::Vector(..)),
        Slot::Addr => matches!(operand, O::Address { .. }),
        Slot::Tex => matches!(operand, O::Texture(_)),
        Slot::Label => matches!(operand, O::Name(_)),
        Slot::Callee => matches!(operand, O::Call(_)),
        Slot::Any => true,
    }
}

fn wanted(slot: Slot) -> &'static str {
    match slot {
        Slot::D => "a register",
        Slot::Pair => "a register or a pair `d|p`",
        Slot::DVec => "a register or a vector `{a, b}`",
        Slot::S | Slot::Opt => "a register or an immediate",
        Slot::SVec | Slot::Loose => "a register, an immediate or a vector `{a, b}`",
        Slot::Addr => "an address `[a]`",
        Slot::Tex => "a texture with coordinates `[t, {x, y}]`",
        Slot::Label => "a label",
        Slot::Callee => "a function",
        Slot::Any => "an operand",
    }
}

fn kind_of(operand: &Operand) -> &'static str {
    match operand {
        Operand::Name(_) => "a name",
        Operand::Not(_) => "a negated predicate",
        Operand::Negate(_) => "a negated register",
        Operand::Int(..) | Operand::Float { .. } => "an immediate",
        Operand::Sink(_) => "`_`",
        Operand::Address { .. } => "an address",
        Operand::Vector(..) => "a vector",
        Operand::Pair(..) => "a pair",
        Operand::Offset(..) => "a symbol with an offset",
        Operand::Texture(_) => "a texture",
        Operand::Call(_) => "a call",
    }
}

/// The instruction as the manual would show it: `add.s32 d, a, b`.
fn usage(mnemonic: &Mnemonic, slots: &[Slot]) -> String {
    let mut out = mnemonic.text.to_string();
    let mut letters = b'a'..=b'z';
    for (n, slot) in slots.iter().enumerate() {
        let letter =
            |letters: &mut std::ops::RangeInclusive<u8>| letters.next().unwrap_or(b'z') as char;
        let name = match slot {
            Slot::D | Slot::DVec => "d".to_string(),
            Slot::Pair => "d|p".to_string(),
            Slot::Addr => format!("[{}]", letter(&mut letters)),
            Slot::Tex => "[t, {x, y}]".to_string(),
            Slot::Label => "label".to_string(),
            Slot::Callee => "(returns), function, (arguments)".to_string(),
            Slot::S | Slot::SVec | Slot::Loose | Slot::Opt | Slot::Any => {
                letter(&mut letters).to_string()
            }
        };
        let separator = if n == 0 { " " } else { ", " };
        match slot {
            Slot::Opt => out.push_str(&format!("{{{separator}{name}}}")),
            _ => out.push_str(&format!("{separator}{name}")),
        }
    }
    out
}
