//! Arithmetic over a launch file's parameters: `(n + 255) / 256`.

use crate::host::element::Scalar;

/// What is wrong with an expression, and where in its text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ExpressionError {
    pub at: usize,
    pub message: String,
}

/// Nesting beyond this is refused: each level recurses.
const DEEPEST: u32 = 64;

/// The functions, for messages.
pub(super) const FUNCTIONS: &str =
    "min(a, b), max(a, b), ceil_div(a, b), round_up(a, b), pow(a, b), sqrt(a), log2(a)";

/// The value of an expression; `lookup` knows names.
pub(crate) fn evaluate(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<Scalar>,
) -> Result<Scalar, ExpressionError> {
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
        lookup,
    };
    let value = parser.sum()?;
    parser.skip_spaces();
    match parser.rest().chars().next() {
        None => Ok(value),
        Some(c) => Err(parser.error(format!("`{c}` does not belong here"))),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    lookup: &'a dyn Fn(&str) -> Option<Scalar>,
}

type Evaluated = Result<Scalar, ExpressionError>;

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn error(&self, message: impl Into<String>) -> ExpressionError {
        ExpressionError {
            at: self.at,
            message: message.into(),
        }
    }

    fn skip_spaces(&mut self) {
        let spaces = self.rest().len() - self.rest().trim_start().len();
        self.at += spaces;
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.skip_spaces();
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn sum(&mut self) -> Evaluated {
        let mut value = self.term()?;
        loop {
            let operator = match () {
                () if self.eat('+') => '+',
                () if self.eat('-') => '-',
                () => return Ok(value),
            };
            let right = self.term()?;
            value = self.combine(operator, value, right)?;
        }
    }

    fn term(&mut self) -> Evaluated {
        let mut value = self.factor()?;
        loop {
            let operator = match () {
                () if self.eat('*') => '*',
                () if self.eat('/') => '/',
                () if self.eat('%') => '%',
                () => return Ok(value),
            };
            let right = self.factor()?;
            value = self.combine(operator, value, right)?;
        }
    }

    fn factor(&mut self) -> Evaluated {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("too deeply nested"));
        }
        let value = self.factor_within();
        self.depth -= 1;
        value
    }

    fn factor_within(&mut self) -> Evaluated {
        if self.eat('-') {
            let value = self.factor()?;
            return self.combine('-', Scalar::Integer(0), value);
        }
        if self.eat('(') {
            let value = self.sum()?;
            return self.close(value);
        }
        self.skip_spaces();
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = self.rest().find(|c| !word(c)).unwrap_or(self.rest().len());
        let (start, token) = (self.at, self.rest()[..end].to_string());
        match token.chars().next() {
            None => Err(self.error("a number or a parameter is missing here")),
            Some(c) if c.is_ascii_digit() || c == '.' => {
                self.at += end;
                number(&token).ok_or_else(|| ExpressionError {
                    at: start,
                    message: format!("`{token}` is no number"),
                })
            }
            Some(_) => {
                self.at += end;
                if self.eat('(') {
                    return self.call(&token, start);
                }
                (self.lookup)(&token).ok_or_else(|| ExpressionError {
                    at: start,
                    message: format!("there is no parameter `{token}`"),
                })
            }
        }
    }

    fn close(&mut self, value: Scalar) -> Evaluated {
        match self.eat(')') {
            true => Ok(value),
            false => Err(self.error("`)` is missing here")),
        }
    }

    fn call(&mut self, name: &str, start: usize) -> Evaluated {
        let first = self.sum()?;
        let second = match self.eat(',') {
            true => Some(self.sum()?),
            false => None,
        };
        self.close(first)?;
        let wrong = |message: String| ExpressionError { at: start, message };
        let less = |a: Scalar, b: Scalar| match (a, b) {
            (Scalar::Integer(a), Scalar::Integer(b)) => a < b,
            (a, b) => real(a) < real(b),
        };
        match (name, second) {
            ("min", Some(b)) => Ok(if less(b, first) { b } else { first }),
            ("max", Some(b)) => Ok(if less(first, b) { b } else { first }),
            ("ceil_div" | "round_up", Some(Scalar::Integer(b))) => match first {
                Scalar::Integer(a) if b > 0 && a >= 0 => {
                    let quotient = a.checked_add(b - 1).map(|a| a / b);
                    let value = match name {
                        "ceil_div" => quotient,
                        _ => quotient.and_then(|q| q.checked_mul(b)),
                    };
                    let value = value.ok_or_else(|| wrong("the result is too large".into()))?;
                    Ok(Scalar::Integer(value))
                }
                _ => Err(wrong(format!(
                    "`{name}` takes whole numbers, the second above 0"
                ))),
            },
            ("pow", Some(b)) => match (first, b) {
                (Scalar::Integer(a), Scalar::Integer(b)) if b >= 0 => {
                    let power = u32::try_from(b).ok().and_then(|b| a.checked_pow(b));
                    let power = power.ok_or_else(|| wrong("the result is too large".into()))?;
                    Ok(Scalar::Integer(power))
                }
                (a, b) => Ok(Scalar::Float(real(a).powf(real(b)))),
            },
            ("sqrt", None) => Ok(Scalar::Float(real(first).sqrt())),
            ("log2", None) => match first {
                Scalar::Integer(a) if a > 0 && a & (a - 1) == 0 => {
                    Ok(Scalar::Integer(a.trailing_zeros().into()))
                }
                a => Ok(Scalar::Float(real(a).log2())),
            },
            _ => Err(wrong(format!(
                "there is no function `{name}` of {} arguments; there are {FUNCTIONS}",
                1 + usize::from(second.is_some())
            ))),
        }
    }

    fn combine(&self, operator: char, a: Scalar, b: Scalar) -> Evaluated {
        if let (Scalar::Integer(a), Scalar::Integer(b)) = (a, b) {
            if matches!(operator, '/' | '%') && b == 0 {
                return Err(self.error("a division by zero"));
            }
            let value = match operator {
                '+' => a.checked_add(b),
                '-' => a.checked_sub(b),
                '*' => a.checked_mul(b),
                '/' => a.checked_div(b),
                _ => a.checked_rem(b),
            };
            return value
                .map(Scalar::Integer)
                .ok_or_else(|| self.error("the result is too large"));
        }
        let (a, b) = (real(a), real(b));
        Ok(Scalar::Float(match operator {
            '+' => a + b,
            '-' => a - b,
            '*' => a * b,
            '/' => a / b,
            _ => a % b,
        }))
    }
}

fn real(value: Scalar) -> f64 {
    match value {
        Scalar::Integer(i) => i as f64,
        Scalar::Float(x) => x,
    }
}

/// A number as people write it: with `_` between digits, in hexadecimal, with a point or exponent.
pub(super) fn number(text: &str) -> Option<Scalar> {
    let plain = text.trim().replace('_', "");
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, plain.as_str()),
    };
    if let Some(hex) = digits.strip_prefix("0x") {
        return i128::from_str_radix(hex, 16)
            .ok()
            .map(|i| Scalar::Integer(sign * i));
    }
    if let Ok(i) = plain.parse::<i128>() {
        return Some(Scalar::Integer(i));
    }
    let float = plain.parse::<f64>().ok().filter(|x| x.is_finite());
    float.map(Scalar::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Evaluated {
        evaluate(text, &|name| match name {
            "n" => Some(Scalar::Integer(1000)),
            "x" => Some(Scalar::Float(0.5)),
            _ => None,
        })
    }

    #[test]
    fn arithmetic_is_as_usual() {
        for (text, expected) in [
            ("n", 1000),
            ("(n + 255) / 256", 4),
            ("ceil_div(n, 256)", 4),
            ("round_up(n, 64)", 1024),
            ("2 * -n + 1", -1999),
            ("n % 7 - 1", 5),
            ("min(n, 3) * max(2, n)", 3000),
            ("pow(2, 10) + log2(8)", 1027),
            ("0x10 + 1_000", 1016),
            ("10 - 2 - 3", 5),
        ] {
            assert_eq!(value(text), Ok(Scalar::Integer(expected)), "{text}");
        }
        assert_eq!(value("n * x"), Ok(Scalar::Float(500.0)));
        assert_eq!(value("1.5e3"), Ok(Scalar::Float(1500.0)));
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, at, message) in [
            ("n +", 3, "missing"),
            ("(n", 2, "`)` is missing"),
            ("m * 2", 0, "no parameter `m`"),
            ("n 2", 2, "`2` does not belong"),
            ("1 / 0", 5, "division by zero"),
            ("sin(n)", 0, "no function `sin`"),
            ("pow(10, 400)", 0, "too large"),
        ] {
            let error = value(text).expect_err(text);
            assert_eq!(error.at, at, "{text}: {error:?}");
            assert!(error.message.contains(message), "{text}: {error:?}");
        }
        let deep = "(".repeat(100_000);
        assert!(value(&deep).is_err());
    }
}
