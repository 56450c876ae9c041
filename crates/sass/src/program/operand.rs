//! Operands of machine code as they are written.

/// Number of the register that is always zero.
pub const RZ: u8 = 255;
/// Number of the uniform register that is always zero.
pub const URZ: u8 = 63;
/// Number of the predicate that is always true, uniform or not.
pub const PT: u8 = 7;

/// What is done to a value before it is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// `-`.
    pub negate: bool,
    /// `|x|`.
    pub absolute: bool,
    /// `~`, and `!` of predicates.
    pub invert: bool,
}

/// A register in an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// A register of each thread; `wide` where it is one of two that hold 64 bits.
    #[allow(missing_docs)]
    Register { number: u8, wide: bool },
    /// A register of the warp.
    Uniform(u8),
}

/// Where a value comes from or goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `R4`, with what follows it: `.B1`, `.H0_H0`, `.64`.
    Register(u8, Option<String>),
    /// `UR4`.
    Uniform(u8),
    /// `P0`.
    Predicate(u8),
    /// `UP0`.
    UniformPredicate(u8),
    /// A number: as many bits as fit, and whether it was written as one of floating point.
    #[allow(missing_docs)]
    Number { bits: u32, float: bool },
    /// `c[0x0][R4+0x210]`.
    #[allow(missing_docs)]
    Constant {
        bank: u8,
        index: Option<Index>,
        offset: i32,
    },
    /// `[R2.64+UR4+0x10]`, with or without a descriptor before it.
    #[allow(missing_docs)]
    Memory {
        index: Option<Index>,
        uniform: Option<u8>,
        offset: i32,
        descriptor: bool,
    },
    /// `B0`.
    Barrier(u8),
    /// `SB5`.
    Scoreboard(u8),
    /// `SR_TID.X`, `1D`, `PR`.
    Word(String),
}

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Where it is.
    pub place: Place,
    /// What is done to it.
    pub change: Change,
}

impl Operand {
    /// Reads one. `word` is the number that the encoding holds where it holds one: texts of floating-point numbers
    /// are not exact.
    pub fn read(text: &str, word: u32) -> Result<Operand, String> {
        let (mut change, mut rest) = (Change::default(), text.trim());
        loop {
            match rest.as_bytes().first() {
                Some(b'-') if !is_number(rest) => change.negate = true,
                Some(b'~') => change.invert = true,
                Some(b'!') => change.invert = true,
                _ => break,
            }
            rest = &rest[1..];
        }
        if let Some((inner, after)) = rest.strip_prefix('|').and_then(|r| r.split_once('|')) {
            if !matches!(after, "" | ".reuse") {
                return Err(format!("`{text}` is not an operand"));
            }
            (change.absolute, rest) = (true, inner);
        }
        let place = place(rest, word).ok_or_else(|| format!("`{text}` is not an operand"))?;
        Ok(Operand { place, change })
    }
}

fn is_number(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    text.starts_with(|c: char| c.is_ascii_digit()) && !text.ends_with('D')
        || matches!(text, "INF" | "QNAN" | "SNAN")
}

fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i64::try_from(u64::from_str_radix(hex, 16).ok()?).ok()?,
        None => return None,
    };
    Some(if negative { -value } else { value })
}

/// `R4` and the like: the number behind a prefix, `Z` and `T` as what stands for them.
fn numbered(text: &str, prefix: &str, special: (&str, u8)) -> Option<u8> {
    let rest = text.strip_prefix(prefix)?;
    if rest == special.0 {
        return Some(special.1);
    }
    let plain = !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    rest.parse().ok().filter(|_| plain)
}

fn uniform(text: &str) -> Option<u8> {
    numbered(text, "UR", ("Z", URZ))
}

fn register(text: &str) -> Option<u8> {
    numbered(text, "R", ("Z", RZ))
}

fn place(text: &str, word: u32) -> Option<Place> {
    if text.starts_with("c[") {
        return constant(text);
    }
    if text.starts_with('[') || text.starts_with("desc[") {
        return memory(text);
    }
    if is_number(text) {
        return Some(match integer(text) {
            Some(value) => Place::Number {
                bits: value as u32,
                float: false,
            },
            None => Place::Number {
                bits: float(text, word)?,
                float: true,
            },
        });
    }
    let (name, selector) = match text.split_once('.') {
        Some((name, "reuse")) => (name, None),
        Some((name, after)) => (name, Some(after.strip_suffix(".reuse").unwrap_or(after))),
        None => (text, None),
    };
    if let Some(number) = register(name) {
        return Some(Place::Register(number, selector.map(str::to_string)));
    }
    if selector.is_none() {
        if let Some(number) = uniform(name) {
            return Some(Place::Uniform(number));
        }
        if let Some(number) = numbered(name, "UP", ("T", PT)) {
            return Some(Place::UniformPredicate(number));
        }
        if let Some(number) = numbered(name, "P", ("T", PT)) {
            return Some(Place::Predicate(number));
        }
        if let Some(number) = numbered(name, "SB", ("", 0)) {
            return Some(Place::Scoreboard(number));
        }
        if let Some(number) = numbered(name, "B", ("", 0)) {
            return Some(Place::Barrier(number));
        }
    }
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    (!text.is_empty() && text.chars().all(word)).then(|| Place::Word(text.to_string()))
}

/// A floating-point number: the bits of the encoding, if they are what the text says or nearly.
fn float(text: &str, word: u32) -> Option<u32> {
    let value = f32::from_bits(word);
    let agrees = match text.trim_start_matches(['+', '-']) {
        "INF" => value.is_infinite(),
        "QNAN" | "SNAN" => value.is_nan(),
        // Halves are written by twos, and of doubles the encoding holds the high word: the encoding says it all.
        digits => digits.parse::<f64>().is_ok(),
    };
    agrees.then_some(word)
}

fn constant(text: &str) -> Option<Place> {
    let (bank, rest) = text.strip_prefix("c[")?.split_once("][")?;
    let (index, second, offset) = sum(rest.strip_suffix(']')?)?;
    if second.is_some() {
        return None;
    }
    Some(Place::Constant {
        bank: u8::try_from(integer(bank)?).ok()?,
        index,
        offset,
    })
}

fn memory(text: &str) -> Option<Place> {
    let (descriptor, rest) = match text.strip_prefix("desc[") {
        Some(rest) => (true, rest.split_once(']')?.1),
        None => (false, text),
    };
    let inside = rest.strip_prefix('[')?.strip_suffix(']')?;
    let (index, uniform, offset) = sum(inside)?;
    let (index, uniform) = match (index, uniform) {
        (Some(Index::Uniform(number)), None) => (None, Some(number)),
        pair => pair,
    };
    Some(Place::Memory {
        index,
        uniform,
        offset,
        descriptor,
    })
}

/// `R2.64+UR4+-0x10`: a register, a uniform register beside it, and an offset.
fn sum(text: &str) -> Option<(Option<Index>, Option<u8>, i32)> {
    let (mut index, mut second, mut offset) = (None, None, 0);
    for part in text.split('+') {
        if let Some(value) = integer(part) {
            offset = i32::try_from(value)
                .or_else(|_| u32::try_from(value).map(|v| v as i32))
                .ok()?;
            continue;
        }
        let (name, wide) = match part.split_once('.') {
            Some((name, "64")) => (name, true),
            Some((name, "reuse")) => (name, false),
            Some((name, "64.reuse")) => (name, true),
            Some(_) => return None,
            None => (part, false),
        };
        let found = match (register(name), uniform(name)) {
            (Some(number), _) => Index::Register { number, wide },
            (None, Some(number)) if !wide => Index::Uniform(number),
            _ => return None,
        };
        match (index, found) {
            (None, found) => index = Some(found),
            (Some(_), Index::Uniform(number)) if second.is_none() => second = Some(number),
            _ => return None,
        }
    }
    Some((index, second, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Operand {
        Operand::read(text, 0x3f80_0000).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn registers_predicates_and_numbers() {
        assert_eq!(read("R12").place, Place::Register(12, None));
        assert_eq!(read("RZ.reuse").place, Place::Register(RZ, None));
        assert_eq!(read("R3.B1").place, Place::Register(3, Some("B1".into())));
        assert_eq!(read("URZ").place, Place::Uniform(URZ));
        assert_eq!(read("!PT").place, Place::Predicate(PT));
        assert!(read("!PT").change.invert && read("~R4").change.invert);
        let both = read("-|R4|.reuse").change;
        assert!(both.negate && both.absolute);
        assert_eq!(read("UP1").place, Place::UniformPredicate(1));
        let number = |bits, float| Place::Number { bits, float };
        assert_eq!(read("-0x4").place, number(-4i32 as u32, false));
        assert_eq!(read("0xffffffff").place, number(u32::MAX, false));
        assert_eq!(read("1").place, number(0x3f80_0000, true));
        assert_eq!(read("B1").place, Place::Barrier(1));
        assert_eq!(read("SB5").place, Place::Scoreboard(5));
        assert_eq!(read("SR_TID.X").place, Place::Word("SR_TID.X".into()));
        assert_eq!(read("1D").place, Place::Word("1D".into()));
    }

    #[test]
    fn addresses() {
        let wide = Index::Register {
            number: 2,
            wide: true,
        };
        let memory = |index, uniform, offset, descriptor| Place::Memory {
            index,
            uniform,
            offset,
            descriptor,
        };
        assert_eq!(
            read("desc[UR4][R2.64+-0x8]").place,
            memory(Some(wide), None, -8, true)
        );
        assert_eq!(read("[UR7+0x10]").place, memory(None, Some(7), 16, false));
        let narrow = Index::Register {
            number: 5,
            wide: false,
        };
        assert_eq!(
            read("[R5+UR4]").place,
            memory(Some(narrow), Some(4), 0, false)
        );
        let constant = Place::Constant {
            bank: 3,
            index: Some(Index::Uniform(6)),
            offset: 0x264,
        };
        assert_eq!(read("c[0x3][UR6+0x264]").place, constant);
    }

    #[test]
    fn what_is_not_an_operand_is_said() {
        for text in ["$", "c[0x0]", "[R2", "|R2|x", "c[0x0][R1+R2]", "[R2.X8]"] {
            assert!(Operand::read(text, 0).is_err(), "{text}");
        }
    }
}
