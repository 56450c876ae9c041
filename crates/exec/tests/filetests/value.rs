//! Values as the files write them.
//!
//! A type and words: `u32 1 -2 0xff`, `f32 1.5 -0 inf nan 0x7fc00000`. An integer may be
//! negative and takes as many low bits as the type has; `0x…` gives the bits of a float.
//! `3*32` repeats, `0..32` counts up (end excluded), `0..64/2` in steps.
//! In expectations `nan` is any NaN and `?` is anything.

use half::{bf16, f16};

/// A scalar type of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub bytes: usize,
    float: bool,
    brain: bool,
}

impl Kind {
    /// From a PTX type name without dot.
    pub fn parse(text: &str) -> Result<Kind, String> {
        let kind = |bytes, float| Kind {
            bytes,
            float,
            brain: text == "bf16",
        };
        Ok(match text {
            "u8" | "s8" | "b8" | "pred" => kind(1, false),
            "u16" | "s16" | "b16" => kind(2, false),
            "u32" | "s32" | "b32" => kind(4, false),
            "u64" | "s64" | "b64" => kind(8, false),
            "f16" | "bf16" => kind(2, true),
            "f32" => kind(4, true),
            "f64" => kind(8, true),
            _ => return Err(format!("`{text}` is not a type")),
        })
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes)
    }

    fn is_nan(self, bits: u64) -> bool {
        match (self.bytes, self.brain) {
            (2, true) => bf16::from_bits(bits as u16).is_nan(),
            (2, false) => f16::from_bits(bits as u16).is_nan(),
            (4, _) => f32::from_bits(bits as u32).is_nan(),
            _ => f64::from_bits(bits).is_nan(),
        }
    }

    /// How many representable numbers lie between two; zeros of both signs are one number.
    fn distance(self, a: u64, b: u64) -> u64 {
        let sign = 1u64 << (8 * self.bytes - 1);
        let order = |x: u64| {
            let magnitude = i128::from(x & !sign);
            if x & sign != 0 { -magnitude } else { magnitude }
        };
        u64::try_from((order(a) - order(b)).unsigned_abs()).unwrap_or(u64::MAX)
    }

    /// Bits as a reader wants to see them.
    pub fn show(self, bits: u64) -> String {
        let hex = format!("{bits:#0width$x}", width = 2 + 2 * self.bytes);
        match (self.float, self.bytes, self.brain) {
            (true, 2, true) => format!("{} ({hex})", bf16::from_bits(bits as u16)),
            (true, 2, false) => format!("{} ({hex})", f16::from_bits(bits as u16)),
            (true, 4, _) => format!("{:?} ({hex})", f32::from_bits(bits as u32)),
            (true, ..) => format!("{:?} ({hex})", f64::from_bits(bits)),
            _ => format!("{bits} ({hex})"),
        }
    }
}

/// What a word asks of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Bits(u64),
    Nan,
    Anything,
}

impl Wanted {
    /// Whether `bits` will do; floats may be `ulp` representable numbers off.
    pub fn accepts(self, kind: Kind, bits: u64, ulp: u64) -> bool {
        match self {
            Wanted::Anything => true,
            Wanted::Nan => kind.is_nan(bits),
            Wanted::Bits(wanted) if ulp > 0 && kind.float => {
                !kind.is_nan(bits) && kind.distance(wanted, bits) <= ulp
            }
            Wanted::Bits(wanted) => wanted == bits,
        }
    }

    pub fn show(self, kind: Kind) -> String {
        match self {
            Wanted::Bits(bits) => kind.show(bits),
            Wanted::Nan => "NaN".into(),
            Wanted::Anything => "anything".into(),
        }
    }
}

fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

/// The bits of one value.
pub fn bits(kind: Kind, text: &str) -> Result<u64, String> {
    let bad = || format!("`{text}` is not a value of this type");
    if kind.float && !text.contains("0x") {
        return Ok(match (kind.bytes, kind.brain) {
            (2, true) => bf16::from_f64(text.parse().map_err(|_| bad())?)
                .to_bits()
                .into(),
            (2, false) => f16::from_f64(text.parse().map_err(|_| bad())?)
                .to_bits()
                .into(),
            (4, _) => text.parse::<f32>().map_err(|_| bad())?.to_bits().into(),
            _ => text.parse::<f64>().map_err(|_| bad())?.to_bits(),
        });
    }
    let value = integer(text).ok_or_else(bad)?;
    let width = 8 * kind.bytes as u32;
    if value >= 1 << width || value < -(1 << (width - 1)) {
        return Err(format!("`{text}` does not fit {width} bits"));
    }
    Ok(value as u64 & kind.mask())
}

/// One expected value.
pub fn wanted(kind: Kind, text: &str) -> Result<Wanted, String> {
    Ok(match text {
        "?" => Wanted::Anything,
        "nan" if kind.float => Wanted::Nan,
        _ => Wanted::Bits(bits(kind, text)?),
    })
}

/// Expands repetitions and ranges of a list of words.
pub fn expand(words: &str) -> Result<Vec<String>, String> {
    let mut list = Vec::new();
    for word in words.split_whitespace() {
        if let Some((first, rest)) = word.split_once("..") {
            let (end, step) = rest.split_once('/').unwrap_or((rest, "1"));
            let number = |t: &str| integer(t).ok_or_else(|| format!("`{word}` is not a range"));
            let (mut at, end, step) = (number(first)?, number(end)?, number(step)?);
            if step <= 0 {
                return Err(format!("`{word}` goes nowhere"));
            }
            while at < end {
                list.push(at.to_string());
                at += step;
            }
        } else if let Some((value, times)) = word.split_once('*') {
            let times: usize = times
                .parse()
                .map_err(|_| format!("`{word}` does not say how often"))?;
            list.extend(std::iter::repeat_n(value.to_string(), times));
        } else {
            list.push(word.to_string());
        }
    }
    Ok(list)
}

/// `TYPE values…` as bytes. `zeros N` is N bytes, `text …` a string that ends with a zero.
pub fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let (first, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    match first {
        "zeros" => {
            let n = rest
                .trim()
                .parse()
                .map_err(|_| "zeros of how many bytes?")?;
            return Ok(vec![0; n]);
        }
        "text" => return Ok([rest.as_bytes(), &[0]].concat()),
        _ => {}
    }
    let kind = Kind::parse(first)?;
    let mut all = Vec::new();
    for word in expand(rest)? {
        all.extend_from_slice(&bits(kind, &word)?.to_le_bytes()[..kind.bytes]);
    }
    Ok(all)
}

/// Little-endian value of up to 8 bytes.
pub fn load(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}
