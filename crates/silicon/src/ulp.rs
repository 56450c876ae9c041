//! How far an approximation is from another.

use crate::form::Form;
use crate::kind::Kind;

/// The largest difference between two sets of results in units in the last place.
///
/// `sin`, `cos`, `lg2` have an absolute error bound: below 1 their differences count in units
/// of the last place of 1. A NaN on one side alone is an error, and so is an infinity that
/// is not within reach.
pub fn largest(form: &Form, ours: &[Vec<u64>], gpu: &[Vec<u64>]) -> Result<u64, String> {
    let absolute = ["sin.", "cos.", "lg2."]
        .iter()
        .any(|op| form.name.starts_with(op));
    let mut most = 0;
    for (kind, (a, b)) in form.results.iter().zip(ours.iter().zip(gpu)) {
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            let found = match kind {
                Kind::F16x2 | Kind::Bf16x2 => {
                    let part = if *kind == Kind::F16x2 {
                        Kind::F16
                    } else {
                        Kind::Bf16
                    };
                    distance(part, a & 0xffff, b & 0xffff, absolute)
                        .and_then(|x| Ok(x.max(distance(part, a >> 16, b >> 16, absolute)?)))
                }
                _ => distance(*kind, *a, *b, absolute),
            };
            most = most.max(found.map_err(|e| format!("vector {i}: {e}"))?);
        }
    }
    Ok(most)
}

fn distance(kind: Kind, a: u64, b: u64, absolute: bool) -> Result<u64, String> {
    let (exponent, mantissa) = kind.float().ok_or("not a floating-point result")?;
    let sign = 1u64 << (exponent + mantissa);
    let infinity = ((1u64 << exponent) - 1) << mantissa;
    let nan = |x: u64| x & (sign - 1) > infinity;
    if a == b {
        return Ok(0);
    }
    if nan(a) || nan(b) {
        return Err(format!("NaN against a number: {a:x} and {b:x}"));
    }
    if absolute && kind == Kind::F32 {
        let value = |x: u64| f64::from(f32::from_bits(x as u32));
        let (x, y) = (value(a), value(b));
        let size = x.abs().max(y.abs()).max(1.0).log2().floor().exp2() * 2f64.powi(-23);
        return Ok(((x - y).abs() / size).ceil() as u64);
    }
    // Neighbouring floats have neighbouring numbers.
    let order = |x: u64| {
        let magnitude = (x & (sign - 1)) as i128;
        if x & sign != 0 { -magnitude } else { magnitude }
    };
    Ok(u64::try_from((order(a) - order(b)).unsigned_abs()).unwrap_or(u64::MAX))
}
