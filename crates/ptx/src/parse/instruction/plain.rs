//! Plain instructions, straight from their bytes: those on one line, with a mnemonic that has been
//! read before, whose operands are names, numbers and addresses. That is nearly all there is in a
//! large file, and tokens would cost more than everything else about them.
//!
//! This reads less than the rest of the parser and nothing differently: whatever is not plain, or
//! has a mistake, is left to it from its first byte.

use crate::ast::{AddressBase, Guard, Ident, Instruction, Operand, Operands, Span, Statement};
use crate::parse::Parser;
use crate::parse::instruction::operand::{immediate, is_component};
use crate::parse::instruction::suits;
use crate::parse::lexer::number::{Literal, literal};
use crate::parse::lexer::{Kind, Lexer};

impl<'a> Parser<'a> {
    /// As many plain instructions as stand here.
    pub(in crate::parse) fn plain_instructions(&mut self, into: &mut Vec<Statement>) {
        let first = self.peek();
        if !self.hasty || !matches!(first.kind, Kind::Word | Kind::Punct(b'@')) {
            return;
        }
        let mut scan = self.lexer.back_to(first);
        let before = into.len();
        let mut behind = scan;
        while self.plain_instruction(&mut scan, into).is_some() {
            scan.skip_blank();
            behind = scan;
        }
        if into.len() > before {
            self.resume(behind);
        }
    }

    /// One of them with its `;`. Where there is none, how far `scan` got means nothing.
    fn plain_instruction(&mut self, scan: &mut Lexer<'a>, into: &mut Vec<Statement>) -> Option<()> {
        let start = scan.here();
        let guard = match scan.eat(b'@') {
            true => Some(self.plain_guard(scan)?),
            false => None,
        };
        let from = scan.at();
        scan.mnemonic();
        let known = match self.short_mnemonics.get(self.text, from, scan.at()) {
            Some(known) => known,
            None => self.mnemonics.get(&self.text[from..scan.at()])?,
        };
        let (slots, least) = (known.slots, known.least);
        into.push(Statement::Instruction(Instruction {
            guard,
            mnemonic: known.what.clone(),
            operands: Operands::new(),
            span: start.span(),
        }));
        let Some(Statement::Instruction(made)) = into.last_mut() else {
            return None;
        };
        let read = self.plain_operands(scan, &mut made.operands);
        if read.is_none() || !suits(slots, least, &made.operands) {
            into.pop();
            return None;
        }
        made.span.len = scan.at() as u32 - start.start;
        Some(())
    }

    /// `%p` or `!%p` and the blank behind it.
    fn plain_guard(&mut self, scan: &mut Lexer<'a>) -> Option<Guard> {
        let negated = scan.eat(b'!');
        if scan.next_byte() != b'%' {
            return None;
        }
        let start = scan.here();
        scan.word();
        let pred = self.plain_ident(start.span(), scan);
        let end = scan.at();
        scan.skip_spaces();
        (scan.at() > end).then_some(Guard { negated, pred })
    }

    /// Operands and the `;` behind them.
    fn plain_operands(&mut self, scan: &mut Lexer<'a>, operands: &mut Operands) -> Option<()> {
        scan.skip_spaces();
        if scan.eat(b';') {
            return Some(());
        }
        loop {
            operands.push(self.plain_operand(scan)?);
            scan.skip_spaces();
            if scan.eat(b';') {
                return Some(());
            }
            if !scan.eat(b',') {
                return None;
            }
            scan.skip_spaces();
        }
    }

    #[inline]
    fn plain_operand(&mut self, scan: &mut Lexer<'a>) -> Option<Operand> {
        let start = scan.here();
        let span = |scan: &Lexer<'_>| Span {
            len: scan.at() as u32 - start.start,
            ..start.span()
        };
        match scan.next_byte() {
            b'0'..=b'9' => {
                let value = self.plain_number(scan)?;
                Some(immediate(value, span(scan)))
            }
            b'-' => {
                let value = self.plain_offset(scan)?;
                Some(Operand::Int(value, span(scan)))
            }
            b'[' => {
                scan.eat(b'[');
                scan.skip_spaces();
                let base = self.plain_name(scan)?;
                scan.skip_spaces();
                let mut offset = 0;
                if !scan.eat(b']') {
                    if scan.eat(b'+') {
                        scan.skip_spaces();
                    } else if scan.next_byte() != b'-' {
                        return None;
                    }
                    offset = self.plain_offset(scan)?;
                    scan.skip_spaces();
                    if !scan.eat(b']') {
                        return None;
                    }
                }
                Some(Operand::Address {
                    base: AddressBase::Name(base),
                    offset,
                    span: span(scan),
                })
            }
            _ => {
                let sink = scan.next_byte() == b'_';
                let ident = self.plain_name(scan)?;
                // Names that begin with it are rare, and may be `_` alone.
                (!sink).then_some(Operand::Name(ident))
            }
        }
    }

    /// An integer, or one with a minus.
    fn plain_offset(&mut self, scan: &mut Lexer<'a>) -> Option<i64> {
        let negative = scan.eat(b'-');
        match self.plain_number(scan)? {
            Literal::Int(value) if negative => Some(value.wrapping_neg()),
            Literal::Int(value) => Some(value),
            Literal::Float { .. } => None,
        }
    }

    /// A number that ends with its digits and letters.
    #[inline]
    fn plain_number(&self, scan: &mut Lexer<'a>) -> Option<Literal> {
        let from = scan.at();
        if !scan.next_byte().is_ascii_digit() {
            return None;
        }
        scan.word();
        match scan.next_byte() {
            b',' | b';' | b']' | b' ' => literal(&self.text[from..scan.at()]).ok(),
            _ => None,
        }
    }

    /// A name with its component, if it has one.
    #[inline]
    fn plain_name(&mut self, scan: &mut Lexer<'a>) -> Option<Ident> {
        let start = scan.here();
        if scan.next_byte().is_ascii_digit() {
            return None;
        }
        scan.word();
        let dot = scan.at();
        if scan.next_byte() == b'.' {
            scan.eat(b'.');
            scan.word();
            if !is_component(&self.text[dot..scan.at()]) {
                return None;
            }
        }
        (dot > start.start as usize).then(|| self.plain_ident(start.span(), scan))
    }

    /// What stands between a place and the next byte.
    fn plain_ident(&mut self, start: Span, scan: &Lexer<'a>) -> Ident {
        let end = scan.at() as u32;
        Ident {
            name: self.name(start.start, end),
            span: Span {
                len: end - start.start,
                ..start
            },
        }
    }
}
