//! What a number token is worth.

/// A literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::parse) enum Literal {
    /// The bits of an integer.
    Int(i64),
    /// The bits of a float and its width, 32 or 64.
    Float { bits: u64, width: u8 },
}

/// Reads the text of a number token; the error says what would have been right.
pub(in crate::parse) fn literal(text: &str) -> Result<Literal, &'static str> {
    if let Some(value) = small(text.as_bytes()) {
        return Ok(Literal::Int(value));
    }
    let prefix = text
        .as_bytes()
        .get(..2)
        .map(|p| [p[0], p[1].to_ascii_lowercase()]);
    match prefix {
        Some([b'0', b'f']) => hex_float(&text[2..], 8, 32),
        Some([b'0', b'd']) => hex_float(&text[2..], 16, 64),
        Some([b'0', b'x']) => integer(&text[2..], 16),
        Some([b'0', b'b']) => integer(&text[2..], 2),
        _ if text.contains(['.', 'e', 'E']) => decimal_float(text),
        Some([b'0', digit]) if digit.is_ascii_digit() => integer(&text[1..], 8),
        _ => integer(text, 10),
    }
}

/// A decimal number that surely fits, as nearly all are.
fn small(digits: &[u8]) -> Option<i64> {
    let decimal = matches!(digits, [b'1'..=b'9', ..] | [b'0']) && digits.len() <= 18;
    let mut value = 0;
    for digit in digits {
        if !decimal || !digit.is_ascii_digit() {
            return None;
        }
        value = 10 * value + i64::from(digit - b'0');
    }
    Some(value)
}

fn hex_float(digits: &str, expected: usize, width: u8) -> Result<Literal, &'static str> {
    let well_formed = digits.len() == expected && digits.bytes().all(|b| b.is_ascii_hexdigit());
    match u64::from_str_radix(digits, 16) {
        Ok(bits) if well_formed => Ok(Literal::Float { bits, width }),
        _ if width == 32 => Err("`0f` is followed by exactly 8 hexadecimal digits"),
        _ => Err("`0d` is followed by exactly 16 hexadecimal digits"),
    }
}

fn integer(digits: &str, radix: u32) -> Result<Literal, &'static str> {
    let digits = digits.strip_suffix(['U', 'u']).unwrap_or(digits);
    let well_formed = !digits.is_empty() && digits.bytes().all(|b| (b as char).is_digit(radix));
    if !well_formed {
        return Err(match radix {
            16 => "expected hexadecimal digits",
            10 => "expected decimal digits",
            8 => "expected octal digits after the leading `0`",
            _ => "expected binary digits",
        });
    }
    // All 64 bits may be written: the value is its bits.
    u64::from_str_radix(digits, radix)
        .map(|value| Literal::Int(value as i64))
        .map_err(|_| "the number does not fit in 64 bits")
}

fn decimal_float(text: &str) -> Result<Literal, &'static str> {
    match text.parse::<f64>() {
        Ok(value) => Ok(Literal::Float {
            bits: value.to_bits(),
            width: 64,
        }),
        Err(_) => Err("expected a number such as `1.5` or `2e-3`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form() {
        for (text, expected) in [
            ("0", Literal::Int(0)),
            ("42", Literal::Int(42)),
            ("42U", Literal::Int(42)),
            ("017", Literal::Int(15)),
            ("0b101", Literal::Int(5)),
            ("0x1F", Literal::Int(31)),
            ("0xFFFFFFFFFFFFFFFFU", Literal::Int(-1)),
            ("18446744073709551615", Literal::Int(-1)),
            (
                "0f3F800000",
                Literal::Float {
                    bits: 0x3F80_0000,
                    width: 32,
                },
            ),
            (
                "0F3f800000",
                Literal::Float {
                    bits: 0x3F80_0000,
                    width: 32,
                },
            ),
            (
                "0d3FF0000000000000",
                Literal::Float {
                    bits: 0x3FF0_0000_0000_0000,
                    width: 64,
                },
            ),
            (
                "1.5",
                Literal::Float {
                    bits: 1.5f64.to_bits(),
                    width: 64,
                },
            ),
            (
                "2.",
                Literal::Float {
                    bits: 2f64.to_bits(),
                    width: 64,
                },
            ),
            (
                "1e3",
                Literal::Float {
                    bits: 1000f64.to_bits(),
                    width: 64,
                },
            ),
        ] {
            assert_eq!(literal(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn malformed() {
        for text in [
            "0f3F8",
            "0d12",
            "0x",
            "0xG",
            "09",
            "0b2",
            "12abc",
            "1.5.2",
            "99999999999999999999",
            "0x+1",
        ] {
            assert!(literal(text).is_err(), "{text}");
        }
    }
}
