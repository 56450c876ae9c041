//! Opcode and suffixes to [`Op`] and [`Mods`], by the tables.

use crate::ast::{self, Span};
use crate::diagnostic::{Diagnostic, shorten};
use crate::isa::{Mode, Mods, Op, Type};
use crate::modtable::{Effect, TypeSet, type_named};
use crate::name::Name;
use crate::optable::{Entry, Need, Slot};
use crate::parse::lexer::{Kind, Token};
use crate::parse::{Parsed, Parser};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};
use warpsim_present::misspelt;

/// Opcodes by spelling.
static OPCODES: LazyLock<HashMap<&'static str, Op>> =
    LazyLock::new(|| Op::ALL.iter().map(|op| (op.text(), *op)).collect());

/// Modifiers that make sense only when a type is a float, whatever the opcode.
const FLOAT_ONLY: &[&str] = &[
    "rn", "rz", "rm", "rp", "ftz", "approx", "full", "NaN", "xorsign",
];
/// Those that make sense only when a type is none.
const INTEGER_ONLY: &[&str] = &["lo", "hi", "wide", "cc", "ls", "hs"];

/// Whether `word` begins an instruction.
pub(in crate::parse) fn is_opcode(word: &str) -> bool {
    OPCODES.contains_key(word)
}

/// An opcode with everything its suffixes say, its text without white space, and what follows from
/// the table for its operands.
#[derive(Clone)]
pub(in crate::parse) struct Known {
    pub(in crate::parse) what: Arc<ast::Mnemonic>,
    pub(in crate::parse) slots: &'static [Slot],
    /// Operands that cannot be left out.
    pub(in crate::parse) least: usize,
}

impl Known {
    fn new(text: Name, op: Op, mods: Mods) -> Known {
        let slots = op.entry().operands(&mods);
        Known {
            what: Arc::new(ast::Mnemonic { text, op, mods }),
            slots,
            least: slots.iter().filter(|slot| **slot != Slot::Opt).count(),
        }
    }
}

/// A mnemonic where it stands in the text.
pub(in crate::parse) struct Mnemonic {
    pub(in crate::parse) known: Known,
    pub(in crate::parse) span: Span,
}

impl Deref for Mnemonic {
    type Target = ast::Mnemonic;

    fn deref(&self) -> &ast::Mnemonic {
        &self.known.what
    }
}

impl<'a> Parser<'a> {
    /// An opcode with its suffixes.
    pub(in crate::parse) fn mnemonic(&mut self) -> Parsed<Mnemonic> {
        let first = self.peek();
        if first.kind != Kind::Word {
            return Err(self.expected("an instruction"));
        }
        let from = self.at;
        self.skip(1);
        let mut contiguous = true;
        while self.peek().kind == Kind::Dot {
            contiguous &= self.tokens[self.at - 1].end() == self.peek().start;
            self.skip(1);
        }
        let last = self.tokens[self.at - 1];
        let span = Span {
            len: last.end() - first.start,
            ..first.span()
        };
        let (start, end) = (first.start as usize, last.end() as usize);
        if contiguous && let Some(known) = self.short_mnemonics.get(self.text, start, end) {
            let known = known.clone();
            return Ok(Mnemonic { known, span });
        }
        let written: &'a str = &self.text[start..end];
        if contiguous && let Some(known) = self.mnemonics.get(written) {
            let known = known.clone();
            self.short_mnemonics.remember(self.text, start, end, &known);
            return Ok(Mnemonic { known, span });
        }
        let (op, mods) = self.resolve(from, span)?;
        let parts = self.tokens[from..self.at].iter();
        let text: String = parts.map(|t| self.str(*t)).collect();
        let known = Known::new(text.into(), op, mods);
        if contiguous {
            self.mnemonics.insert(written, known.clone());
            self.short_mnemonics.remember(self.text, start, end, &known);
        }
        Ok(Mnemonic { known, span })
    }

    /// Looks up the tokens from `from` to the current one.
    fn resolve(&self, from: usize, span: Span) -> Parsed<(Op, Mods)> {
        let (op, taken) = self.opcode(from)?;
        let mut mods = Mods::default();
        if !op.is_supported() {
            return Ok((op, mods));
        }
        if op.is_asynchronous() {
            let suffixes = self.tokens[from + taken..self.at].iter();
            let list: Vec<&str> = suffixes.map(|t| &self.str(*t)[1..]).collect();
            let mods = crate::parse::instruction::asynchronous::suffixes(op, &list);
            return Ok((op, mods.unwrap_or_default()));
        }
        if op.is_matrix() {
            // What is not supported is said when a kernel that has it is lowered.
            let suffixes = self.tokens[from + taken..self.at].iter();
            let list: Vec<&str> = suffixes.map(|t| &self.str(*t)[1..]).collect();
            return Ok((
                op,
                crate::parse::instruction::matrix::suffixes(op, &list).unwrap_or_default(),
            ));
        }
        let entry = op.entry();
        let mut types = 0;
        for token in &self.tokens[from + taken..self.at] {
            let text = &self.str(*token)[1..];
            match (entry.effect(text), type_named(text)) {
                (Some(effect), _) => effect.apply(&mut mods).map_err(|_| {
                    Diagnostic::error(
                        token.span(),
                        format!("`.{text}` repeats or contradicts an earlier modifier"),
                    )
                })?,
                (None, Some(ty)) if !entry.types.is_empty() => {
                    let Some(accepted) = entry.types.get(types) else {
                        return Err(too_many_types(entry, *token, text));
                    };
                    if !accepted.contains(ty) {
                        return Err(wrong_type(entry, *token, text, *accepted));
                    }
                    mods.types[types] = Some(ty);
                    types += 1;
                }
                _ => return Err(unknown_modifier(entry, *token, text)),
            }
        }
        complete(entry, &mods, types, span)?;
        self.check_type_class(from + taken, &mods)?;
        if op == Op::Cvt && mods.sat && holds_every_value(&mods) {
            return Err(Diagnostic::error(
                span,
                "`.sat` is illegal where the destination holds every source value",
            )
            .with_label("nothing can saturate here"));
        }
        Ok((op, mods))
    }

    /// Refuses rounding of integers and halves of floating-point products.
    fn check_type_class(&self, from: usize, mods: &Mods) -> Parsed<()> {
        let types = || mods.types.iter().flatten();
        let floats = types().filter(|ty| ty.is_float()).count();
        let (misplaced, class) = match types().count() {
            0 => return Ok(()),
            _ if floats == 0 => (FLOAT_ONLY, "a floating-point"),
            all if floats == all => (INTEGER_ONLY, "an integer"),
            _ => return Ok(()),
        };
        for token in &self.tokens[from..self.at] {
            let text = self.str(*token);
            if misplaced.contains(&&text[1..]) {
                return Err(Diagnostic::error(
                    token.span(),
                    format!("`{text}` needs {class} type"),
                )
                .with_label("does not go with this type"));
            }
        }
        Ok(())
    }

    /// The opcode with the longest spelling that fits, and how many tokens it takes.
    fn opcode(&self, from: usize) -> Parsed<(Op, usize)> {
        let word = self.str(self.tokens[from]);
        if self.at - from > 1 {
            let two = format!("{word}{}", self.str(self.tokens[from + 1]));
            if let Some(op) = OPCODES.get(two.as_str()) {
                return Ok((*op, 2));
            }
        }
        if let Some(op) = OPCODES.get(word) {
            return Ok((*op, 1));
        }
        let error = Diagnostic::error(
            self.tokens[from].span(),
            format!("unknown instruction `{}`", shorten(word)),
        )
        .with_label("not a PTX instruction");
        Err(match misspelt(word, Op::ALL.iter().map(|op| op.text())) {
            Some(near) => error.with_hint(format!("did you mean `{near}`?")),
            None => error,
        })
    }
}

/// Whether both types are integers and the range of the first includes that of the second.
fn holds_every_value(mods: &Mods) -> bool {
    let [Some(to), Some(from), _] = mods.types else {
        return false;
    };
    let integer = |ty: Type| {
        use Type::*;
        matches!(ty, U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64)
    };
    integer(to)
        && integer(from)
        && match (to.is_signed(), from.is_signed()) {
            (false, true) => false,
            (true, false) => to.bytes() > from.bytes(),
            _ => to.bytes() >= from.bytes(),
        }
}

/// Checks that nothing the opcode needs is missing.
fn complete(entry: &Entry, mods: &Mods, types: usize, span: Span) -> Parsed<()> {
    let opcode = entry.op.text();
    for need in entry.needs {
        if let Some(what) = missing(*need, mods) {
            let all = entry.groups.iter().flat_map(|group| group.iter());
            let satisfying = all
                .filter(|(_, effect)| satisfies(*effect, *need))
                .map(|(text, _)| *text);
            let error = Diagnostic::error(span, format!("`{opcode}` needs {what}"));
            return Err(match listing(satisfying) {
                list if list.is_empty() => error,
                list => error.with_hint(format!("it can be {list}")),
            });
        }
    }
    // The barrier instructions have a type only when they return something.
    let optional = entry.needs.contains(&Need::BarrierKind) && mods.mode != Some(Mode::Red);
    if types < entry.types.len() && !optional {
        let which = ["a type", "a second type", "a third type"][types.min(2)];
        return Err(
            Diagnostic::error(span, format!("`{opcode}` needs {which}")).with_hint(format!(
                "it can be {}",
                listing(entry.types[types].spellings())
            )),
        );
    }
    Ok(())
}

fn missing(need: Need, mods: &Mods) -> Option<&'static str> {
    let float = mods.types[0].is_some_and(|ty| ty.is_float());
    let (absent, what) = match need {
        Need::Cmp => (mods.cmp.is_none(), "a comparison such as `.lt`"),
        Need::Mode => (mods.mode.is_none(), "a mode"),
        Need::Atom => (mods.atom.is_none(), "an operation such as `.add`"),
        Need::Space => (mods.space.is_none(), "a state space such as `.global`"),
        Need::Scope => (mods.scope.is_none(), "a scope such as `.cta`"),
        Need::Half => (mods.half.is_none(), "`.lo` or `.hi`"),
        Need::HalfOfInt => (
            mods.half.is_none() && !float,
            "`.lo`, `.hi` or `.wide` with an integer type",
        ),
        Need::BarrierKind => (
            !mods.sync && mods.mode.is_none(),
            "`.sync`, `.arrive` or `.red`",
        ),
        Need::Geometry => (mods.geometry.is_none(), "a geometry such as `.2d`"),
    };
    absent.then_some(what)
}

fn satisfies(effect: Effect, need: Need) -> bool {
    match need {
        Need::Cmp => matches!(effect, Effect::Cmp(_)),
        Need::Mode => matches!(effect, Effect::Mode(_)),
        Need::Atom => matches!(effect, Effect::Atom(_)),
        Need::Space => matches!(effect, Effect::Space(_)),
        Need::Scope => matches!(effect, Effect::Scope(_)),
        // The message lists them already.
        Need::Half | Need::HalfOfInt | Need::BarrierKind => false,
        Need::Geometry => matches!(effect, Effect::Geometry(_)),
    }
}

fn unknown_modifier(entry: &Entry, token: Token, text: &str) -> Diagnostic {
    let opcode = entry.op.text();
    let error = Diagnostic::error(
        token.span(),
        format!("`{opcode}` has no modifier `.{}`", shorten(text)),
    );
    let mut spellings = entry.spellings().peekable();
    if spellings.peek().is_none() {
        return error.with_label(format!("`{opcode}` takes no modifiers"));
    }
    let all = listing(entry.spellings());
    match misspelt(text, spellings) {
        Some(near) => error
            .with_label(format!("did you mean `.{near}`?"))
            .with_hint(format!("`{opcode}` accepts {all}")),
        None => error
            .with_label("not known here")
            .with_hint(format!("`{opcode}` accepts {all}")),
    }
}

fn wrong_type(entry: &Entry, token: Token, text: &str, accepted: TypeSet) -> Diagnostic {
    let message = format!(
        "`.{text}` is not a type that `{}` takes here",
        entry.op.text()
    );
    Diagnostic::error(token.span(), message)
        .with_label("wrong type")
        .with_hint(format!("it can be {}", listing(accepted.spellings())))
}

fn too_many_types(entry: &Entry, token: Token, text: &str) -> Diagnostic {
    let wanted = match entry.types.len() {
        1 => "one type".to_string(),
        n => format!("{n} types"),
    };
    Diagnostic::error(
        token.span(),
        format!("`{}` has {wanted}, `.{text}` is one more", entry.op.text()),
    )
    .with_label("one type too many")
}

/// `.a .b .c`, each once, without the many cache hints.
fn listing(spellings: impl Iterator<Item = &'static str>) -> String {
    let mut seen = Vec::new();
    for text in spellings {
        if !seen.contains(&text) && !text.contains("::") {
            seen.push(text);
        }
    }
    seen.iter()
        .map(|text| format!("`.{text}`"))
        .collect::<Vec<_>>()
        .join(" ")
}
