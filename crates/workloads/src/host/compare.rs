//! Whether a result is right, and where it first is not.

use crate::host::element::{Element, Scalar};
use std::fmt;

/// How a run ended, its result considered.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Every value that was checked is right.
    Correct {
        /// Values compared.
        checked: u64,
    },
    /// Something differs.
    Wrong(Vec<Mismatch>),
    /// Nothing was compared.
    Unchecked,
}

impl Outcome {
    /// From the comparisons of a run.
    pub fn of(results: impl IntoIterator<Item = Result<u64, Mismatch>>) -> Outcome {
        let mut checked = 0;
        let mut any = false;
        let mut wrong = Vec::new();
        for result in results {
            any = true;
            match result {
                Ok(n) => checked += n,
                Err(m) => wrong.push(m),
            }
        }
        match (any, wrong.is_empty()) {
            (_, false) => Outcome::Wrong(wrong),
            (true, true) => Outcome::Correct { checked },
            (false, true) => Outcome::Unchecked,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Correct { checked } => write!(f, "correct ({checked} values checked)"),
            Outcome::Unchecked => f.write_str("unchecked (nothing to compare with)"),
            Outcome::Wrong(mismatches) => {
                f.write_str("WRONG")?;
                for m in mismatches {
                    write!(f, "\n  {m}")?;
                }
                Ok(())
            }
        }
    }
}

/// Where and how a result differs from what was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// What was compared.
    pub what: String,
    /// Index of the first element that differs.
    pub first: u64,
    /// Its value as expected.
    pub expected: String,
    /// Its value as computed.
    pub got: String,
    /// How many differ.
    pub differing: u64,
    /// How many were compared.
    pub total: u64,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} of {} values differ, first at [{}]: expected {}, got {}",
            self.what, self.differing, self.total, self.first, self.expected, self.got
        )
    }
}

/// How far a float may be off: any of the three suffices. All zero means bit-for-bit equality,
/// but for the sign of zero and the payload of NaNs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// |expected - got| at most this.
    pub absolute: f64,
    /// |expected - got| at most this times |expected|.
    pub relative: f64,
    /// At most this many representable values apart.
    pub ulp: u64,
}

impl Tolerance {
    /// No difference allowed.
    pub const EXACT: Tolerance = Tolerance {
        absolute: 0.0,
        relative: 0.0,
        ulp: 0,
    };

    fn accepts(&self, element: Element, expected: Scalar, got: Scalar) -> bool {
        match (expected, got) {
            (Scalar::Float(e), Scalar::Float(g)) => {
                if e == g || (e.is_nan() && g.is_nan()) {
                    return true;
                }
                if !e.is_finite() || !g.is_finite() {
                    return false;
                }
                let off = (e - g).abs();
                off <= self.absolute
                    || off <= self.relative * e.abs()
                    || ulps_apart(element, e, g) <= self.ulp
            }
            (Scalar::Integer(e), Scalar::Integer(g)) => {
                let off = (e - g).unsigned_abs() as f64;
                e == g || off <= self.absolute || off <= self.relative * (e as f64).abs()
            }
            _ => false,
        }
    }
}

/// Representable values between two finite floats of that type.
fn ulps_apart(element: Element, a: f64, b: f64) -> u64 {
    // Sign-magnitude to a line of integers.
    let place64 = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 {
            i64::MIN.wrapping_sub(bits)
        } else {
            bits
        }
    };
    let place32 = |x: f64| {
        let bits = (x as f32).to_bits() as i32;
        i64::from(if bits < 0 {
            i32::MIN.wrapping_sub(bits)
        } else {
            bits
        })
    };
    let place16 = |bits: u16| match bits as i16 {
        bits if bits < 0 => i64::from(i16::MIN) - i64::from(bits),
        bits => i64::from(bits),
    };
    let half = |x: f64| place16(half::f16::from_f64(x).to_bits());
    let brain = |x: f64| place16(half::bf16::from_f64(x).to_bits());
    match element {
        Element::F16 => half(a).abs_diff(half(b)),
        Element::BF16 => brain(a).abs_diff(brain(b)),
        Element::F32 => place32(a).abs_diff(place32(b)),
        _ => place64(a).abs_diff(place64(b)),
    }
}

/// Compares two arrays of elements. `Ok` says how many values were compared.
pub fn compare(
    what: &str,
    element: Element,
    expected: &[u8],
    got: &[u8],
    tolerance: &Tolerance,
) -> Result<u64, Mismatch> {
    let size = element.bytes();
    let total = (expected.len() / size).max(got.len() / size) as u64;
    let mut first = None;
    let mut differing = 0;
    let mut pairs = expected.chunks_exact(size).zip(got.chunks_exact(size));
    let mut index = 0;
    for (e, g) in &mut pairs {
        let (e, g) = (element.decode(e), element.decode(g));
        if !tolerance.accepts(element, e, g) {
            first.get_or_insert((index, e.to_string(), g.to_string()));
            differing += 1;
        }
        index += 1;
    }
    if index < total {
        // One of them is longer: everything beyond the shorter differs.
        let show = |bytes: &[u8]| {
            let at = index as usize * size;
            match bytes.get(at..at + size) {
                Some(b) => element.decode(b).to_string(),
                None => "nothing".to_string(),
            }
        };
        first.get_or_insert((index, show(expected), show(got)));
        differing += total - index;
    }
    match first {
        None => Ok(total),
        Some((first, expected, got)) => Err(Mismatch {
            what: what.to_string(),
            first,
            expected,
            got,
            differing,
            total,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::element::{f32_bytes, u32_bytes};

    #[test]
    fn the_first_difference_is_named() {
        let m = compare(
            "c",
            Element::U32,
            &u32_bytes(&[1, 2, 3, 4]),
            &u32_bytes(&[1, 9, 3, 5]),
            &Tolerance::EXACT,
        )
        .unwrap_err();
        assert_eq!(
            m.to_string(),
            "c: 2 of 4 values differ, first at [1]: expected 2, got 9"
        );
    }

    #[test]
    fn tolerances_accept_what_they_say_and_no_more() {
        let check = |e: f32, g: f32, tolerance: Tolerance| {
            compare(
                "x",
                Element::F32,
                &f32_bytes(&[e]),
                &f32_bytes(&[g]),
                &tolerance,
            )
            .is_ok()
        };
        let ulp = |ulp| Tolerance {
            ulp,
            ..Tolerance::EXACT
        };
        let next = f32::from_bits(1.0f32.to_bits() + 2);
        assert!(check(1.0, next, ulp(2)) && !check(1.0, next, ulp(1)));
        let tiny = f32::from_bits(1);
        assert!(check(-tiny, tiny, ulp(2)) && !check(-tiny, tiny, ulp(1)));
        let absolute = Tolerance {
            absolute: 0.5,
            ..Tolerance::EXACT
        };
        assert!(check(1.0, 1.5, absolute) && !check(1.0, 1.75, absolute));
        let relative = Tolerance {
            relative: 0.01,
            ..Tolerance::EXACT
        };
        assert!(check(100.0, 101.0, relative) && !check(100.0, 102.0, relative));
        assert!(check(f32::NAN, f32::NAN, Tolerance::EXACT));
        assert!(!check(f32::NAN, 1.0, absolute) && !check(f32::INFINITY, 1.0, relative));
        assert!(check(0.0, -0.0, Tolerance::EXACT));
    }

    #[test]
    fn a_missing_value_is_a_difference() {
        let m = compare(
            "c",
            Element::U32,
            &u32_bytes(&[1, 2]),
            &u32_bytes(&[1]),
            &Tolerance::EXACT,
        )
        .unwrap_err();
        assert_eq!((m.first, m.got.as_str(), m.differing), (1, "nothing", 1));
    }

    #[test]
    fn outcomes_combine() {
        assert_eq!(Outcome::of([]), Outcome::Unchecked);
        assert_eq!(Outcome::of([Ok(2), Ok(3)]), Outcome::Correct { checked: 5 });
    }
}
