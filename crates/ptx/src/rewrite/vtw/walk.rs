//! Walking over statements and operands, and making new statements.

use crate::ast::{AddressBase, Call, Ident, Instruction, Operand, Span, Statement, Texture};
use crate::name::Name;
use crate::optable::Slot;

/// Makes a walk over all instructions and one over all names of an operand: once to look, once to
/// change.
macro_rules! walks {
    ($(#[$about:meta])* $instructions:ident, $names:ident, $iter:ident, [$($reference:tt)+], [$($borrow:tt)+]) => {
        $(#[$about])*
        pub fn $instructions<'a>(
            body: $($reference)+ [Statement],
            f: &mut dyn FnMut($($reference)+ Instruction),
        ) {
            for statement in body {
                match statement {
                    Statement::Instruction(instruction) => f(instruction),
                    Statement::Block(inner) => $instructions(inner, f),
                    _ => {}
                }
            }
        }

        /// Calls `f` with every name in an operand.
        pub fn $names<'a>(
            operand: $($reference)+ Operand,
            f: &mut dyn FnMut($($reference)+ Ident),
        ) {
            match operand {
                Operand::Name(id)
                | Operand::Not(id)
                | Operand::Negate(id)
                | Operand::Offset(id, _)
                | Operand::Address {
                    base: AddressBase::Name(id),
                    ..
                } => f(id),
                Operand::Vector(list, _) => list.$iter().for_each(|o| $names(o, f)),
                Operand::Pair(a, b) => {
                    $names(a, f);
                    $names(b, f);
                }
                Operand::Texture(fetch) => {
                    let Texture {
                        texture,
                        sampler,
                        coords,
                        ..
                    } = $($borrow)+ **fetch;
                    f(texture);
                    sampler.$iter().for_each(&mut *f);
                    coords.$iter().for_each(|o| $names(o, f));
                }
                Operand::Call(call) => {
                    let Call { returns, args, .. } = $($borrow)+ **call;
                    returns.$iter().chain(args).for_each(|o| $names(o, f));
                }
                Operand::Int(..)
                | Operand::Float { .. }
                | Operand::Sink(_)
                | Operand::Address { .. } => {}
            }
        }
    };
}

walks! {
    /// Calls `f` with every instruction, those of inner blocks included.
    instructions, names, iter, [&'a], [&]
}
walks! {
    /// Calls `f` with every instruction, to change it.
    instructions_mut, names_mut, iter_mut, [&'a mut], [&mut]
}

/// Names of the registers that an instruction writes.
pub fn written(instruction: &Instruction) -> Vec<&str> {
    let mut found = Vec::new();
    let slots = instruction.op.entry().operands(&instruction.mods);
    for (at, operand) in instruction.operands.iter().enumerate() {
        match operand {
            Operand::Call(call) => call
                .returns
                .iter()
                .for_each(|o| names(o, &mut |id| found.push(base(&id.name)))),
            _ if matches!(slots.get(at), Some(Slot::D | Slot::Pair | Slot::DVec)) => {
                names(operand, &mut |id| found.push(base(&id.name)));
            }
            _ => {}
        }
    }
    found
}

/// A vector register without its component.
fn base(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((base, component)) if component.len() == 1 && base.starts_with('%') => base,
        _ => name,
    }
}

/// Operands that an instruction only reads.
pub fn sources(instruction: &Instruction) -> impl Iterator<Item = &Operand> {
    let slots = instruction.op.entry().operands(&instruction.mods);
    let operands = instruction.operands.iter().enumerate();
    operands.filter_map(move |(at, operand)| {
        let writes = matches!(slots.get(at), Some(Slot::D | Slot::Pair | Slot::DVec));
        (!writes).then_some(operand)
    })
}

/// A name that stands nowhere.
pub fn ident(name: impl Into<Name>) -> Ident {
    Ident {
        name: name.into(),
        span: Span::default(),
    }
}

/// A line for people.
pub fn comment(text: impl Into<String>) -> Statement {
    Statement::Comment(text.into())
}

/// Statements from PTX text of ours.
pub fn statements(text: &str) -> Vec<Statement> {
    let module =
        format!(".version 7.0\n.target sm_70\n.address_size 64\n.entry k()\n{{\n{text}\n}}");
    let parsed = crate::parse(&module);
    let items = parsed.map(|m| m.items).unwrap_or_default();
    let body = items.into_iter().find_map(|item| match item {
        crate::ast::Item::Function(function) => function.body,
        _ => None,
    });
    body.unwrap_or_else(|| unreachable!("statements of ours parse: {text}"))
}
