//! Types of buffer elements.

use half::{bf16, f16};
use std::fmt;

/// The type of a buffer's elements. All are little-endian in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Element {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    BF16,
    F32,
    F64,
}

/// A value of one element, wide enough for all types.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Scalar {
    Integer(i128),
    Float(f64),
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Integer(i) => write!(f, "{i}"),
            Scalar::Float(x) => write!(f, "{x}"),
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Element {
    /// Every type.
    pub const ALL: [Element; 12] = [
        Element::U8,
        Element::I8,
        Element::U16,
        Element::I16,
        Element::U32,
        Element::I32,
        Element::U64,
        Element::I64,
        Element::F16,
        Element::BF16,
        Element::F32,
        Element::F64,
    ];

    /// Its name in launch files.
    pub fn name(self) -> &'static str {
        match self {
            Element::U8 => "u8",
            Element::I8 => "i8",
            Element::U16 => "u16",
            Element::I16 => "i16",
            Element::U32 => "u32",
            Element::I32 => "i32",
            Element::U64 => "u64",
            Element::I64 => "i64",
            Element::F16 => "f16",
            Element::BF16 => "bf16",
            Element::F32 => "f32",
            Element::F64 => "f64",
        }
    }

    /// The type of that name; `s32` and its like are accepted for `i32`.
    pub fn parse(name: &str) -> Option<Element> {
        let canonical = name.replacen('s', "i", 1);
        Element::ALL
            .into_iter()
            .find(|e| e.name() == name || e.name() == canonical)
    }

    /// Bytes of one element.
    pub fn bytes(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 | Element::F16 | Element::BF16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
        }
    }

    /// True for the floating-point types.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Element::F16 | Element::BF16 | Element::F32 | Element::F64
        )
    }

    /// Smallest and largest value of an integer type.
    pub fn range(self) -> (i128, i128) {
        match self {
            Element::U8 => (0, u8::MAX.into()),
            Element::I8 => (i8::MIN.into(), i8::MAX.into()),
            Element::U16 => (0, u16::MAX.into()),
            Element::I16 => (i16::MIN.into(), i16::MAX.into()),
            Element::U32 => (0, u32::MAX.into()),
            Element::I32 => (i32::MIN.into(), i32::MAX.into()),
            Element::U64 => (0, u64::MAX.into()),
            Element::I64 => (i64::MIN.into(), i64::MAX.into()),
            Element::F16 => (-65504, 65504),
            Element::BF16 | Element::F32 | Element::F64 => (i64::MIN.into(), i64::MAX.into()),
        }
    }

    /// Appends a value; `None` (and nothing appended) when it does not fit the type.
    pub fn encode(self, value: Scalar, out: &mut Vec<u8>) -> Option<()> {
        match (self, value) {
            (Element::F16, v) => {
                let (x, it) = (as_float(v), f16::from_f32(to_odd(as_float(v))));
                if it.is_infinite() && x.is_finite() {
                    return None;
                }
                out.extend(it.to_le_bytes());
            }
            (Element::BF16, v) => {
                let (x, it) = (as_float(v), bf16::from_f32(to_odd(as_float(v))));
                if it.is_infinite() && x.is_finite() {
                    return None;
                }
                out.extend(it.to_le_bytes());
            }
            (Element::F32, v) => out.extend((as_float(v) as f32).to_le_bytes()),
            (Element::F64, v) => out.extend(as_float(v).to_le_bytes()),
            (_, Scalar::Float(_)) => return None,
            (_, Scalar::Integer(i)) => {
                let (low, high) = self.range();
                if !(low..=high).contains(&i) {
                    return None;
                }
                out.extend(&i.to_le_bytes()[..self.bytes()]);
            }
        }
        Some(())
    }

    /// The element at the start of `bytes`, which must hold one.
    pub fn decode(self, bytes: &[u8]) -> Scalar {
        let mut raw = [0; 8];
        let n = self.bytes().min(bytes.len());
        raw[..n].copy_from_slice(&bytes[..n]);
        let bits = u64::from_le_bytes(raw);
        match self {
            Element::U8 | Element::U16 | Element::U32 | Element::U64 => {
                Scalar::Integer(bits.into())
            }
            Element::I8 => Scalar::Integer((bits as i8).into()),
            Element::I16 => Scalar::Integer((bits as i16).into()),
            Element::I32 => Scalar::Integer((bits as i32).into()),
            Element::I64 => Scalar::Integer((bits as i64).into()),
            Element::F16 => Scalar::Float(f16::from_bits(bits as u16).into()),
            Element::BF16 => Scalar::Float(bf16::from_bits(bits as u16).into()),
            Element::F32 => Scalar::Float(f32::from_bits(bits as u32).into()),
            Element::F64 => Scalar::Float(f64::from_bits(bits)),
        }
    }
}

/// `x` as an `f32` that has its last bit set where it is not exact, so that rounding it to a half
/// gives what rounding `x` gives. (`half` drops the lower bits of an `f64`, also where they decide.)
fn to_odd(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) == x || x.is_nan() {
        return near;
    }
    let below = if f64::from(near).abs() > x.abs() {
        f32::from_bits(near.to_bits() - 1)
    } else {
        near
    };
    f32::from_bits(below.to_bits() | 1)
}

fn as_float(value: Scalar) -> f64 {
    match value {
        Scalar::Integer(i) => i as f64,
        Scalar::Float(x) => x,
    }
}

/// The little-endian bytes of `u32`s.
pub fn u32_bytes(values: &[u32]) -> Vec<u8> {
    let each: Vec<[u8; 4]> = values.iter().map(|v| v.to_le_bytes()).collect();
    each.into_flattened()
}

/// The little-endian bytes of `f32`s.
pub fn f32_bytes(values: &[f32]) -> Vec<u8> {
    let each: Vec<[u8; 4]> = values.iter().map(|v| v.to_le_bytes()).collect();
    each.into_flattened()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_encoding() {
        for element in Element::ALL {
            let (low, high) = element.range();
            for v in [0, 1, low, high] {
                let mut bytes = Vec::new();
                element.encode(Scalar::Integer(v), &mut bytes).unwrap();
                assert_eq!(bytes.len(), element.bytes());
                let expected = match element {
                    Element::F16 => Scalar::Float(f16::from_f64(v as f64).into()),
                    Element::BF16 => Scalar::Float(bf16::from_f64(v as f64).into()),
                    Element::F32 => Scalar::Float(f64::from(v as f32)),
                    Element::F64 => Scalar::Float(v as f64),
                    _ => Scalar::Integer(v),
                };
                assert_eq!(element.decode(&bytes), expected, "{element} {v}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut out = Vec::new();
        assert!(Element::U8.encode(Scalar::Integer(256), &mut out).is_none());
        assert!(Element::U8.encode(Scalar::Integer(-1), &mut out).is_none());
        assert!(Element::I32.encode(Scalar::Float(1.0), &mut out).is_none());
        assert!(out.is_empty());
        assert_eq!(Element::parse("s32"), Some(Element::I32));
        assert_eq!(Element::parse("f8"), None);
    }

    #[test]
    fn halves_are_rounded_once_and_have_an_end() {
        let bits = |element: Element, x: f64| {
            let mut out = Vec::new();
            element.encode(Scalar::Float(x), &mut out)?;
            Some(u16::from_le_bytes([out[0], out[1]]))
        };
        assert_eq!(bits(Element::F16, 1.5), Some(0x3e00));
        assert_eq!(bits(Element::BF16, 1.5), Some(0x3fc0));
        // Just above the middle between two halves, and on it once it is an f32.
        let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(bits(Element::F16, above), Some(0x3c01));
        assert_eq!(bits(Element::BF16, 1.0 + 2f64.powi(-8)), Some(0x3f80));
        assert_eq!(
            bits(Element::BF16, 1.0 + 2f64.powi(-8) + 2f64.powi(-40)),
            Some(0x3f81)
        );
        assert_eq!(bits(Element::F16, -above), Some(0xbc01));
        assert_eq!(bits(Element::F16, 65519.99999999), Some(0x7bff));
        assert_eq!(bits(Element::F16, 1e6), None);
        assert_eq!(bits(Element::BF16, 1e39), None);
        assert_eq!(bits(Element::F16, f64::INFINITY), Some(0x7c00));
    }
}
