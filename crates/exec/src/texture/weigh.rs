//! What weighed texels add up to, worked out from an H200's results.
//!
//! Everything is added in fixed point. Floats of one slice are first brought to the exponent of
//! its largest texel, with four bits more than their own mantissa, and the rest is cut off; the
//! sums of the two slices of a volume are added as they are, and the result is rounded to the
//! texels' own format, halves away from zero. Fractions (integer texels read as floats) of 16 bits
//! and unsigned ones are weighed as 16-bit integers and rounded to one. Signed bytes are weighed
//! as they are, and only their mean becomes a 16-bit fraction.

use super::filter::{WHOLE, component};
use crate::float::float32;
use crate::grid::{TexelKind, Texture};

/// Bits that the weights add behind the point.
const WEIGHT_BITS: i32 = WHOLE.trailing_zeros() as i32;
/// Texels of a slice of a volume.
const SLICE: usize = 4;

/// A binary format of floats.
struct Format {
    /// Bits of the mantissa, the leading one included.
    mantissa: i32,
    /// Exponent of the smallest positive number.
    least: i32,
    /// The largest finite number.
    largest: f32,
}

const SINGLE: Format = Format {
    mantissa: 24,
    least: -149,
    largest: f32::MAX,
};
const HALF: Format = Format {
    mantissa: 11,
    least: -24,
    largest: 65504.0,
};

/// Weighs raw components of one channel: weight and component of each texel, slice by slice.
pub(crate) fn weigh(texture: &Texture, weighed: &[(u32, u32)]) -> u32 {
    match (texture.kind, texture.bits) {
        (TexelKind::Float, 16) => floats(texture, weighed, &HALF),
        (TexelKind::Signed, 8) => bytes(weighed),
        (TexelKind::Signed | TexelKind::Unsigned, 8 | 16) => fractions(texture, weighed),
        _ => floats(texture, weighed, &SINGLE),
    }
}

/// A 16-bit fraction as a float.
fn fraction(numerator: i64, most: u16) -> u32 {
    ((numerator as f64 / f64::from(most)) as f32).to_bits()
}

/// Fractions that become 16-bit ones without rounding.
fn fractions(texture: &Texture, weighed: &[(u32, u32)]) -> u32 {
    let signed = texture.kind == TexelKind::Signed;
    let sixteen_bits = |raw: u32| match (signed, texture.bits) {
        (true, _) => i64::from(raw as u16 as i16).max(-i64::from(i16::MAX)),
        (false, 8) => i64::from(raw) * 257,
        (false, _) => i64::from(raw),
    };
    let sum: i64 = (weighed.iter())
        .map(|(weight, raw)| i64::from(*weight) * sixteen_bits(*raw))
        .sum();
    let mean = (sum + i64::from(WHOLE) / 2).div_euclid(WHOLE.into());
    let most = if signed { i16::MAX as u16 } else { u16::MAX };
    fraction(mean, most)
}

/// Signed bytes: the sum, 256ths of 127ths, becomes 32767ths by adding its 128th and its 32768th,
/// the latter cut to an eighth.
fn bytes(weighed: &[(u32, u32)]) -> u32 {
    let sum: i64 = (weighed.iter())
        .map(|(weight, raw)| i64::from(*weight) * i64::from(*raw as u8 as i8))
        .sum();
    let rest = (sum + ((sum >> 12) << 4) + 64) >> 7;
    fraction((sum + rest).max(-i64::from(i16::MAX)), i16::MAX as u16)
}

/// Mantissa and exponent: `value` is the first times two to the second.
fn parts(value: f32) -> (i64, i32) {
    let bits = value.to_bits();
    let exponent = (bits >> 23 & 0xff) as i32;
    let fraction = i64::from(bits & 0x7f_ffff);
    let (mantissa, exponent) = match exponent {
        0 => (fraction, -149),
        _ => (fraction | 1 << 23, exponent - 150),
    };
    let sign = if value.is_sign_negative() { -1 } else { 1 };
    (sign * mantissa, exponent)
}

/// Exponent of the power of two just above `value`, which is not 0.
fn above(value: f32) -> i32 {
    let (mantissa, exponent) = parts(value);
    exponent + 64 - mantissa.unsigned_abs().leading_zeros() as i32
}

/// `value` times two to the power `shift`, what is behind the point cut off.
fn cut(value: i64, shift: i32) -> i64 {
    let size = match shift {
        0.. => value.unsigned_abs() << shift,
        _ => value.unsigned_abs().checked_shr(-shift as u32).unwrap_or(0),
    };
    value.signum() * size as i64
}

/// The sum of a slice, as a multiple of two to the power that comes with it.
fn slice(texels: &[(u32, f32)], format: &Format) -> Option<(i64, i32)> {
    let largest = texels.iter().filter(|(_, v)| *v != 0.0);
    let unit = largest.map(|(_, v)| above(*v)).max()? - format.mantissa - 4;
    let sum = (texels.iter())
        .map(|(weight, value)| {
            let (mantissa, exponent) = parts(*value);
            i64::from(*weight) * cut(mantissa, exponent - unit)
        })
        .sum();
    Some((sum, unit - WEIGHT_BITS))
}

/// Floats, added in fixed point.
fn floats(texture: &Texture, weighed: &[(u32, u32)], format: &Format) -> u32 {
    // A texel without weight does not count, not even if it is infinite.
    let mut texels = [(0, 0.0); 2 * SLICE];
    for (texel, (weight, raw)) in texels.iter_mut().zip(weighed) {
        if *weight > 0 {
            *texel = (*weight, f32::from_bits(component(texture, *raw)));
        }
    }
    let counting = texels.iter().filter(|(weight, _)| *weight > 0);
    let values = counting.map(|(_, value)| *value);
    let special: f32 = values.clone().filter(|v| !v.is_finite()).sum();
    if special.is_nan() {
        return float32::NAN.to_bits();
    }
    if special.is_infinite() {
        return special.to_bits();
    }
    let (first, second) = texels.split_at(SLICE);
    let sums = [slice(first, format), slice(second, format)];
    let (total, unit) = match sums {
        [None, None] => (0, 0),
        [Some((sum, unit)), None] | [None, Some((sum, unit))] => (i128::from(sum), unit),
        [Some(a), Some(b)] => together(a, b),
    };
    if total == 0 {
        let negative = values.clone().all(|v| v == 0.0 && v.is_sign_negative());
        return if negative { -0.0f32 } else { 0.0 }.to_bits();
    }
    round(total, unit, format).to_bits()
}

/// The sum of two numbers with their units. Of one that is far smaller than the other only
/// its sign is kept: it decides about halves.
fn together(a: (i64, i32), b: (i64, i32)) -> (i128, i32) {
    const FAR: i32 = 80;
    let (high, low) = if a.1 >= b.1 { (a, b) } else { (b, a) };
    let apart = high.1 - low.1;
    if high.0 == 0 {
        return (low.0.into(), low.1);
    }
    if apart > FAR {
        let sum = (i128::from(high.0) << FAR) + i128::from(low.0.signum());
        return (sum, high.1 - FAR);
    }
    ((i128::from(high.0) << apart) + i128::from(low.0), low.1)
}

/// A number that is not 0, rounded to a format, halves away from zero.
fn round(number: i128, unit: i32, format: &Format) -> f32 {
    let size = number.unsigned_abs();
    let bits = 128 - size.leading_zeros() as i32;
    let last = (bits + unit - format.mantissa).max(format.least);
    let dropped = (last - unit).max(0);
    let rounded = match dropped {
        0 => size,
        1..128 => (size >> (dropped - 1)).div_ceil(2),
        _ => 0,
    };
    let value = (rounded as f64 * 2f64.powi(unit + dropped)) as f32;
    let value = if value > format.largest {
        f32::INFINITY
    } else {
        value
    };
    if number < 0 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(texels: &[(u32, f32)]) -> f32 {
        let texture = Texture {
            address: 0,
            size: [2, 2, 2],
            dimensions: 3,
            channels: 1,
            bits: 32,
            kind: TexelKind::Float,
            linear_memory: false,
            filter_linear: true,
            wrap: false,
            normalized: false,
            read_normalized: false,
        };
        let raw: Vec<(u32, u32)> = texels.iter().map(|(w, v)| (*w, v.to_bits())).collect();
        f32::from_bits(weigh(&texture, &raw))
    }

    #[test]
    fn floats_are_cut_four_bits_behind_the_largest() {
        // As an H200 weighs them; rounded once this would be 0x3e8b684e.
        let [small, large] = [0x3ca5_8be4, 0x4281_19e8].map(f32::from_bits);
        let seen = single(&[(255, small), (1, large)]);
        assert_eq!(seen.to_bits(), 0x3e8b_683f);
        let tiny = 2f32.powi(-28);
        assert_eq!(single(&[(128, 1.0), (128, tiny)]), 0.5);
        assert_eq!(
            single(&[(1, 0.5), (255, tiny)]),
            2f32.powi(-9) + 255.0 / 256.0 * tiny
        );
    }

    #[test]
    fn slices_are_cut_apart() {
        let tiny = 2f32.powi(-40);
        let (zero, one) = ((0, 0.0), (128, 1.0));
        let apart = [one, zero, zero, zero, (128, tiny), zero, zero, zero];
        assert_eq!(single(&apart), 0.5);
        let cancelled = [
            (64, 1.0),
            (64, -1.0),
            zero,
            zero,
            (128, tiny),
            zero,
            zero,
            zero,
        ];
        assert_eq!(single(&cancelled), tiny / 2.0);
        let together = [(64, 1.0), (64, -1.0), (128, tiny), zero];
        assert_eq!(single(&together), 0.0);
    }

    #[test]
    fn halves_go_away_from_zero_and_sums_may_overflow() {
        let ulp = f32::EPSILON;
        let half = |sign: f32| single(&[(128, sign), (128, sign * (1.0 + ulp))]);
        assert_eq!((half(1.0), half(-1.0)), (1.0 + ulp, -1.0 - ulp));
        assert_eq!(single(&[(128, f32::MAX), (128, f32::MAX)]), f32::MAX);
        assert_eq!(
            single(&[(256, f32::INFINITY), (0, f32::NAN)]),
            f32::INFINITY
        );
        assert!(single(&[(1, f32::INFINITY), (255, f32::NEG_INFINITY)]).is_nan());
        assert_eq!(single(&[(256, -0.0)]).to_bits(), (-0.0f32).to_bits());
        let least = f32::from_bits(1);
        assert_eq!(single(&[(128, least), (128, 0.0)]), least);
        assert_eq!(single(&[(127, least), (129, 0.0)]), 0.0);
    }

    #[test]
    fn far_apart_sums_still_decide_about_halves() {
        assert_eq!(round(3, -1, &SINGLE), 1.5);
        let (number, unit) = together(((1 << 25) + 2, 0), (-1, -200));
        assert_eq!(round(number, unit, &SINGLE), (1 << 25) as f32);
        let (number, unit) = together((1, -200), ((1 << 25) + 2, 0));
        assert_eq!(round(number, unit, &SINGLE), ((1 << 25) + 4) as f32);
        assert_eq!(round(65520, 0, &HALF), f32::INFINITY);
        assert_eq!(round(65519, 0, &HALF), 65504.0);
    }
}
