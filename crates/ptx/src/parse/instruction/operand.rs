//! Operands.

use crate::ast::{AddressBase, Ident, Operand, Span, Texture};
use crate::diagnostic::Diagnostic;
use crate::parse::lexer::Kind;
use crate::parse::lexer::number::Literal;
use crate::parse::{Parsed, Parser};

/// Components of vector and special registers.
const COMPONENTS: &[&str] = &[".x", ".y", ".z", ".w", ".r", ".g", ".b", ".a"];

/// Also the byte and half-word selectors of the video instructions, `.b0` to `.b7654`.
pub(in crate::parse) fn is_component(text: &str) -> bool {
    let selector = || {
        let digits = text.strip_prefix(".b").or(text.strip_prefix(".h"));
        digits.is_some_and(|d| {
            (1..=4).contains(&d.len()) && d.bytes().all(|c| (b'0'..=b'7').contains(&c))
        })
    };
    COMPONENTS.contains(&text) || selector()
}

impl Parser<'_> {
    /// Whether the next token can begin an operand and is not rather the next statement.
    pub(in crate::parse) fn at_operand(&self) -> bool {
        let token = self.peek();
        match token.kind {
            Kind::Word => {
                !crate::parse::instruction::mnemonic::is_opcode(self.str(token))
                    && self.peek_at(1).kind != Kind::Punct(b':')
            }
            Kind::Punct(b'[' | b'{' | b'!') => true,
            _ => self.starts_constant(),
        }
    }

    pub(in crate::parse) fn operand(&mut self) -> Parsed<Operand> {
        // Most are a name or a number and nothing else.
        if let Kind::Punct(b',' | b';') = self.peek_at(1).kind {
            let token = self.peek();
            match token.kind {
                Kind::Word if self.str(token) != "_" => return Ok(Operand::Name(self.ident("")?)),
                Kind::Number => return self.number(),
                _ => {}
            }
        }
        let first = self.single_operand()?;
        if self.eat(b'|') {
            let second = self.single_operand()?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    fn single_operand(&mut self) -> Parsed<Operand> {
        let token = self.peek();
        match token.kind {
            Kind::Word => self.named(),
            Kind::Punct(b'[') => self.bracketed(),
            Kind::Punct(b'{') => {
                self.skip(1);
                let elements = self.nested(|p| p.list(b'}', Self::operand))?;
                Ok(Operand::Vector(elements, self.since(token.span())))
            }
            Kind::Punct(b'!') => {
                self.skip(1);
                Ok(Operand::Not(self.register("a predicate register")?))
            }
            Kind::Punct(b'-') if self.peek_at(1).kind == Kind::Word => {
                self.skip(1);
                Ok(Operand::Negate(self.register("a register")?))
            }
            _ if self.starts_constant() => {
                let value = self.constant()?;
                Ok(immediate(value, self.since(token.span())))
            }
            _ => Err(self.expected("an operand")),
        }
    }

    /// A number that is all of an operand.
    fn number(&mut self) -> Parsed<Operand> {
        let span = self.peek().span();
        Ok(immediate(self.literal()?, span))
    }

    /// `start` made to reach to the last token taken.
    fn since(&self, start: Span) -> Span {
        let end = self.tokens[self.at - 1].end();
        Span {
            len: end - start.start,
            ..start
        }
    }

    /// A name with its component, if it has one.
    fn register(&mut self, what: &str) -> Parsed<Ident> {
        let mut ident = self.ident(what)?;
        let token = self.peek();
        if token.kind == Kind::Dot && is_component(self.str(token)) {
            self.skip(1);
            let name = ident.span;
            ident.span = self.since(name);
            ident.name = match name.start + name.len == token.start {
                true => self.name(name.start, token.end()),
                false => format!("{}{}", ident.name, self.str(token)).into(),
            };
        }
        Ok(ident)
    }

    fn named(&mut self) -> Parsed<Operand> {
        let ident = self.register("an operand")?;
        if ident.name == "_" {
            return Ok(Operand::Sink(ident.span));
        }
        if self.is_punct(b'+') || self.is_punct(b'-') {
            let offset = self.symbol_offset()?;
            return Ok(Operand::Offset(ident, offset));
        }
        Ok(Operand::Name(ident))
    }

    /// `[address]` or `[texture, …]`.
    fn bracketed(&mut self) -> Parsed<Operand> {
        let open = self.next().span();
        if self.peek().kind != Kind::Word {
            let offset = self.integer("an address")?;
            self.close_address()?;
            return Ok(Operand::Address {
                base: AddressBase::Absolute,
                offset,
                span: self.since(open),
            });
        }
        let base = self.register("an address")?;
        if self.eat(b',') {
            return self.texture(base, open);
        }
        if self.is_punct(b'+') && self.peek_at(1).kind == Kind::Word {
            return Err(Diagnostic::error(
                self.peek_at(1).span(),
                "an address cannot add two registers",
            )
            .with_label("expected an integer offset")
            .with_hint("compute the sum with `add` first"));
        }
        let offset = self.symbol_offset()?;
        self.close_address()?;
        Ok(Operand::Address {
            base: AddressBase::Name(base),
            offset,
            span: self.since(open),
        })
    }

    /// `]`, and the `.unified` that may follow it and means nothing here.
    fn close_address(&mut self) -> Parsed<()> {
        self.expect(b']')?;
        self.eat_dot(".unified");
        Ok(())
    }

    /// After `[texture,`.
    fn texture(&mut self, texture: Ident, open: Span) -> Parsed<Operand> {
        let mut sampler = None;
        if self.peek().kind == Kind::Word && self.peek_at(1).kind == Kind::Punct(b',') {
            sampler = Some(self.ident("a sampler")?);
            self.skip(1);
        }
        let coords = if self.eat(b'{') {
            self.nested(|p| p.list(b'}', Self::single_operand))?
        } else {
            vec![self.single_operand()?]
        };
        self.expect(b']')?;
        Ok(Operand::Texture(Box::new(Texture {
            texture,
            sampler,
            coords,
            span: self.since(open),
        })))
    }
}

pub(in crate::parse) fn immediate(value: Literal, span: Span) -> Operand {
    match value {
        Literal::Int(value) => Operand::Int(value, span),
        Literal::Float { bits, width } => Operand::Float { bits, width, span },
    }
}

/// Where an operand stands.
pub(in crate::parse) fn span_of(operand: &Operand) -> Span {
    match operand {
        Operand::Name(ident)
        | Operand::Not(ident)
        | Operand::Negate(ident)
        | Operand::Offset(ident, _) => ident.span,
        Operand::Int(_, span)
        | Operand::Float { span, .. }
        | Operand::Sink(span)
        | Operand::Address { span, .. }
        | Operand::Vector(_, span) => *span,
        Operand::Texture(fetch) => fetch.span,
        Operand::Pair(first, second) => {
            let (first, second) = (span_of(first), span_of(second));
            Span {
                len: (second.start + second.len).saturating_sub(first.start),
                ..first
            }
        }
        Operand::Call(call) => call.callee.span,
    }
}
