//! Initialisers of module variables.

use crate::ast::Init;
use crate::diagnostic::Diagnostic;
use crate::isa::Type;
use crate::parse::lexer::Kind;
use crate::parse::lexer::number::Literal;
use crate::parse::{Parsed, Parser};

impl Parser<'_> {
    /// After `=`. `None` for the settings of a texture or sampler, which are dropped.
    pub(in crate::parse) fn initialiser(&mut self, ty: Type) -> Parsed<Option<Init>> {
        if matches!(ty, Type::Texref | Type::Samplerref | Type::Surfref) {
            self.settings()?;
            return Ok(None);
        }
        self.init().map(Some)
    }

    /// `{ addr_mode_0 = wrap, filter_mode = linear }`
    fn settings(&mut self) -> Parsed<()> {
        self.expect(b'{')?;
        self.list(b'}', |p| {
            p.ident("a setting such as `filter_mode`")?;
            p.expect(b'=')?;
            if matches!(p.peek().kind, Kind::Word | Kind::Number) {
                p.at += 1;
                return Ok(());
            }
            Err(p.expected("the value of the setting"))
        })?;
        Ok(())
    }

    fn init(&mut self) -> Parsed<Init> {
        let token = self.peek();
        if self.eat(b'{') {
            return self.nested(|p| p.list(b'}', Self::init)).map(Init::List);
        }
        if token.kind == Kind::Word {
            return self.symbol(0);
        }
        if !self.starts_constant() {
            return Err(self.expected("a number, a symbol or `{`"));
        }
        if token.kind == Kind::Number && self.peek_at(1).kind == Kind::Punct(b'(') {
            let value = self.mask()?;
            self.expect(b'(')?;
            let symbol = self.symbol(value)?;
            self.expect(b')')?;
            return Ok(symbol);
        }
        Ok(match self.constant()? {
            Literal::Int(value) => Init::Int(value),
            Literal::Float { bits, width } => Init::Float { bits, width },
        })
    }

    /// The `0xff00` of `0xff00(symbol)`.
    fn mask(&mut self) -> Parsed<u64> {
        let token = self.next();
        match crate::parse::lexer::number::literal(self.str(token)) {
            Ok(Literal::Int(mask)) if mask != 0 => Ok(mask as u64),
            _ => Err(Diagnostic::error(
                token.span(),
                "the mask of an address is an integer such as `0xFF00`",
            )),
        }
    }

    /// `symbol`, `generic(symbol)`, either with an offset.
    fn symbol(&mut self, mask: u64) -> Parsed<Init> {
        let mut name = self.ident("a symbol")?;
        let generic = name.name == "generic" && self.eat(b'(');
        let mut offset = 0;
        if generic {
            name = self.ident("a symbol")?;
            offset = self.symbol_offset()?;
            self.expect(b')')?;
        }
        offset = self.symbol_offset()?.wrapping_add(offset);
        Ok(Init::Symbol {
            name,
            generic,
            offset,
            mask,
        })
    }

    /// `+8`, `-8`, `+-8`, or nothing.
    pub(in crate::parse) fn symbol_offset(&mut self) -> Parsed<i64> {
        if self.is_punct(b'+') || self.is_punct(b'-') {
            self.integer("an offset")
        } else {
            Ok(0)
        }
    }
}
