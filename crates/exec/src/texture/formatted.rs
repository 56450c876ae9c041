//! Formatted accesses of surfaces: 32-bit values become components as the surface has them. All of it is as an
//! H200 does it (`docs/silicon.md`): no rounding to nearest, and nothing finite becomes infinite.

use warpsim_ptx::isa::Type;

use crate::grid::{TexelKind, Texture};

/// The bits of a component that a value is stored as: a float where the surface has floats or fractions, else
/// a whole number, which is brought into the component's range.
pub(super) fn component(texture: &Texture, value: u32) -> u32 {
    let bits = u32::from(texture.bits);
    let fraction = texture.read_normalized;
    match texture.kind {
        TexelKind::Float if bits == 16 => half(value),
        TexelKind::Float => value,
        TexelKind::Unsigned if fraction => part(f32::from_bits(value), bits),
        TexelKind::Signed if fraction => {
            let value = f32::from_bits(value);
            let magnitude = part(value.abs(), bits - 1);
            match value < 0.0 {
                true => magnitude.wrapping_neg(),
                false => magnitude,
            }
        }
        TexelKind::Unsigned => value.min(u32::MAX >> (32 - bits)),
        TexelKind::Signed => {
            let most = i32::MAX >> (32 - bits);
            (value as i32).clamp(-most - 1, most) as u32
        }
    }
}

/// A float as one of half precision: what does not fit is cut off, and what is too large becomes the largest
/// number. What is no number stays none.
fn half(value: u32) -> u32 {
    let (sign, exponent, mantissa) = (value >> 16 & 0x8000, value >> 23 & 0xff, value & 0x7f_ffff);
    let magnitude = match exponent {
        255 if mantissa == 0 => 0x7c00,
        255 => 0x7c00 | (mantissa >> 13).max(1),
        143.. => 0x7bff,
        113.. => (exponent - 112) << 10 | mantissa >> 13,
        _ => (mantissa | 0x80_0000)
            .checked_shr(126 - exponent)
            .unwrap_or(0),
    };
    sign | magnitude
}

/// How many parts of `2^bits - 1` a number from 0 to 1 is. It is counted in sixteenths of `2^bits` parts first,
/// the rest cut off, less those that are one too many; a half is then rounded down. What is no number is 0.
fn part(value: f32, bits: u32) -> u32 {
    let sixteenths = (f64::from(value.clamp(0.0, 1.0)) * f64::from(16 << bits)) as u32;
    (sixteenths - (sixteenths >> bits) + 7) >> 4
}

/// What `sured.p` takes bits for.
pub(super) fn reduced(texture: &Texture, bits: Type) -> Type {
    match (texture.kind, bits.bytes()) {
        (TexelKind::Signed, 8) => Type::S64,
        (TexelKind::Signed, _) => Type::S32,
        (_, 8) => Type::U64,
        _ => Type::U32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_cut_off_and_stay_finite() {
        for (value, expected) in [
            (1.5, 0x3e00),
            (-1.5, 0xbe00),
            (0.999_999_94, 0x3bff),
            (65_504.0, 0x7bff),
            (65_535.0, 0x7bff),
            (1e30, 0x7bff),
            (f32::NEG_INFINITY, 0xfc00),
            (6.0e-8, 1),
            (5.9e-8, 0),
            (1.0e-40, 0),
        ] {
            assert_eq!(half(f32::to_bits(value)), expected, "{value}");
        }
        assert_eq!(half(0x7f80_0001), 0x7c01);
        assert_eq!(half(0xff9e_5033), 0xfcf2);
    }

    #[test]
    fn fractions_count_in_sixteenths_and_a_half_goes_down() {
        for (value, bits, expected) in [
            (1.0, 8, 255),
            (7.0, 16, 65_535),
            (0.5, 8, 127),
            (0.5, 16, 32_767),
            // 0.539 and 0.561 of a part: eight and nine sixteenths.
            (f32::from_bits(0x3b0a_9779), 8, 0),
            (f32::from_bits(0x3b10_1bb0), 8, 1),
            // 61.538, and 62 less four sixteenths is more.
            (f32::from_bits(0x3e77_1dc5), 8, 62),
            (-3.0, 8, 0),
            (f32::NAN, 8, 0),
        ] {
            assert_eq!(part(value, bits), expected, "{value}");
        }
    }
}
