//! Constant expressions, folded while they are read.

use crate::diagnostic::Diagnostic;
use crate::parse::lexer::Kind;
use crate::parse::lexer::number::{Literal, literal};
use crate::parse::{Parsed, Parser};

/// Binary operators with their binding strength, weakest first.
const OPERATORS: &[(&str, u8)] = &[
    ("|", 1),
    ("^", 2),
    ("&", 3),
    ("<<", 4),
    (">>", 4),
    ("+", 5),
    ("-", 5),
    ("*", 6),
    ("/", 6),
    ("%", 6),
];

impl Parser<'_> {
    /// A constant expression.
    pub(in crate::parse) fn constant(&mut self) -> Parsed<Literal> {
        self.binary(0)
    }

    /// A constant expression that must be an integer.
    pub(in crate::parse) fn integer(&mut self, what: &str) -> Parsed<i64> {
        let start = self.peek();
        if !self.starts_constant() {
            return Err(self.expected(what));
        }
        match self.constant()? {
            Literal::Int(value) => Ok(value),
            Literal::Float { .. } => Err(Diagnostic::error(
                start.span(),
                format!("expected {what}, found a floating-point number"),
            )
            .with_label("expected an integer")),
        }
    }

    /// An integer that must fit in 32 bits without sign.
    pub(in crate::parse) fn unsigned(&mut self, what: &str) -> Parsed<u32> {
        let start = self.peek();
        let value = self.integer(what)?;
        u32::try_from(value).map_err(|_| {
            Diagnostic::error(start.span(), format!("{value} is out of range for {what}"))
        })
    }

    /// Whether the next token can begin a constant expression.
    pub(in crate::parse) fn starts_constant(&self) -> bool {
        matches!(
            self.peek().kind,
            Kind::Number
                | Kind::Punct(b'-')
                | Kind::Punct(b'+')
                | Kind::Punct(b'(')
                | Kind::Punct(b'~')
        )
    }

    fn binary(&mut self, weakest: u8) -> Parsed<Literal> {
        let mut left = self.unary()?;
        while let Some((operator, strength)) = self.operator().filter(|(_, s)| *s > weakest) {
            let at = self.peek();
            self.skip(operator.len());
            let right = self.nested(|p| p.binary(strength))?;
            let (Literal::Int(a), Literal::Int(b)) = (left, right) else {
                let message = format!("`{operator}` of floating-point constants is not supported");
                return Err(Diagnostic::error(at.span(), message));
            };
            let value = fold(operator, a, b)
                .ok_or_else(|| Diagnostic::error(at.span(), "division by zero"))?;
            left = Literal::Int(value);
        }
        Ok(left)
    }

    /// The binary operator that is next, not taken yet.
    fn operator(&self) -> Option<(&'static str, u8)> {
        let Kind::Punct(first) = self.peek().kind else {
            return None;
        };
        let doubled = matches!(first, b'<' | b'>') && self.peek_at(1).kind == Kind::Punct(first);
        let found = OPERATORS
            .iter()
            .find(|(text, _)| text.as_bytes()[0] == first && (text.len() == 2) == doubled);
        found.copied()
    }

    fn unary(&mut self) -> Parsed<Literal> {
        let token = self.peek();
        match token.kind {
            Kind::Punct(b'-') => {
                self.skip(1);
                Ok(match self.nested(Self::unary)? {
                    Literal::Int(value) => Literal::Int(value.wrapping_neg()),
                    Literal::Float { bits, width } => Literal::Float {
                        bits: bits ^ 1 << (width - 1),
                        width,
                    },
                })
            }
            Kind::Punct(b'+') => {
                self.skip(1);
                self.nested(Self::unary)
            }
            Kind::Punct(b'~') => {
                self.skip(1);
                match self.nested(Self::unary)? {
                    Literal::Int(value) => Ok(Literal::Int(!value)),
                    Literal::Float { .. } => Err(Diagnostic::error(
                        token.span(),
                        "`~` of a floating-point number",
                    )),
                }
            }
            Kind::Punct(b'(') => {
                self.skip(1);
                // A cast to `.u64` or `.s64` changes no bits.
                if self.eat_dot(".u64") || self.eat_dot(".s64") {
                    self.expect(b')')?;
                    return self.nested(Self::unary);
                }
                let value = self.nested(Self::constant)?;
                self.expect(b')')?;
                Ok(value)
            }
            Kind::Number => self.literal(),
            _ => Err(self.expected("a number")),
        }
    }

    /// A number without anything before it.
    pub(in crate::parse) fn literal(&mut self) -> Parsed<Literal> {
        let token = self.next();
        literal(self.str(token)).map_err(|why| {
            Diagnostic::error(
                token.span(),
                format!("`{}` is not a number", self.str(token)),
            )
            .with_label(why)
        })
    }
}

fn fold(operator: &str, a: i64, b: i64) -> Option<i64> {
    Some(match operator {
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        // PTX clamps shift amounts.
        "<<" => u32::try_from(b)
            .ok()
            .and_then(|b| a.checked_shl(b))
            .unwrap_or(0),
        ">>" => a >> b.clamp(0, 63),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if b != 0 => a.wrapping_div(b),
        "%" if b != 0 => a.wrapping_rem(b),
        _ => return None,
    })
}
