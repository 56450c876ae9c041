//! Where a texture coordinate lies, and what linear filtering makes of the texels around it.
//!
//! The CUDA programming guide ("Texture Fetching") gives the formulas and says that weights are
//! stored with 8 bits of fraction. The rest reproduces an H200, bit for bit:
//!
//! - A coordinate from 0 to 1 (wrapped first) is cut to 21 bits of fraction, then scaled.
//! - The place between texels is rounded to 1/256; clamping moves the place itself, so that
//!   beyond the edge texels there is nothing to weigh.
//! - A texel's weight has 8 bits of fraction too. The whole, 256, is shared out along z, the
//!   parts along x, those along y, each time rounding the second share of a part; the weights
//!   always add up to 256.
//!
//! What the weighed texels add up to is in [`super::weigh`].

use crate::float::float16;
use crate::grid::{TexelKind, Texture};

/// Weights of all texels together.
pub(crate) const WHOLE: u32 = 256;
/// Steps between 0 and 1 of a normalized coordinate.
const STEPS: f64 = (1u32 << 21) as f64;

/// A coordinate in texels from the texture's edge.
pub(crate) fn scaled(texture: &Texture, axis: usize, coordinate: f32) -> f64 {
    let mut at = f64::from(coordinate);
    if !texture.normalized {
        return at;
    }
    if texture.wrap {
        at -= at.floor();
    }
    (at * STEPS).floor() / STEPS * f64::from(texture.size[axis])
}

/// A place between the centres of texels, in 256ths.
fn rounded(scaled: f64) -> f64 {
    ((scaled - 0.5) * f64::from(WHOLE) + 0.5).floor()
}

/// The first of the texels around a place: `tld4` clamps the texels' indices, not the place.
pub(crate) fn first(scaled: f64) -> i64 {
    // No texture is that large, and the index after it is still a number.
    let most = f64::from(u32::MAX);
    (rounded(scaled) / f64::from(WHOLE))
        .clamp(-most, most)
        .floor() as i64
}

/// The first of the texels to weigh along an axis and the weight of the second in 256ths.
pub(crate) fn between(texture: &Texture, axis: usize, scaled: f64) -> (i64, u32) {
    let whole = f64::from(WHOLE);
    let mut at = rounded(scaled);
    if !(texture.normalized && texture.wrap) {
        let last = f64::from(texture.size[axis].max(1) - 1);
        at = at.clamp(0.0, last * whole);
    }
    let at = at as i64;
    (
        at.div_euclid(WHOLE.into()),
        at.rem_euclid(WHOLE.into()) as u32,
    )
}

/// The second share of `part`, rounded to the nearest, halves up.
fn share(part: u32, second: u32) -> u32 {
    (part * second + WHOLE / 2) / WHOLE
}

/// The weights of the texels around a place: bits 0, 1, 2 of a texel's number say whether it is
/// the second in x, y, z; `second` has the second ones' weight along each axis.
pub(crate) fn weights(second: [u32; 3]) -> [u32; 8] {
    let [x, y, z] = second;
    let mut weights = [0; 8];
    for (slice, part) in [WHOLE - z, z].into_iter().enumerate() {
        let right = share(part, x);
        let left = part - right;
        // On the left the first share is the one whose halves are rounded up.
        let above = share(left, WHOLE - y);
        let below = share(right, y);
        weights[4 * slice..][..4].copy_from_slice(&[above, right - below, left - above, below]);
    }
    weights
}

/// What an instruction returns for a raw component.
pub(crate) fn component(texture: &Texture, raw: u32) -> u32 {
    let shift = 32 - u32::from(texture.bits);
    let signed = (raw << shift) as i32 >> shift;
    match (texture.kind, texture.read_normalized) {
        (TexelKind::Float, _) if texture.bits == 16 => float16::f16_value(raw as u16).to_bits(),
        (TexelKind::Float, _) => raw,
        (TexelKind::Unsigned, false) => raw,
        (TexelKind::Signed, false) => signed as u32,
        (TexelKind::Unsigned, true) => {
            let most = (u64::from(u32::MAX) >> shift) as f64;
            ((f64::from(raw) / most) as f32).to_bits()
        }
        (TexelKind::Signed, true) => {
            let most = f64::from(i32::MAX >> shift);
            ((f64::from(signed) / most).max(-1.0) as f32).to_bits()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_up_and_are_what_the_gpu_was_seen_to_use() {
        assert_eq!(weights([0, 0, 0]), [256, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(weights([128, 43, 0])[..4], [107, 106, 21, 22]);
        assert_eq!(weights([167, 237, 0])[..4], [7, 12, 82, 155]);
        assert_eq!(
            weights([213, 128, 43]),
            [18, 88, 18, 89, 4, 18, 3, 18].map(|w: u32| w)
        );
        assert_eq!(weights([125, 0, 128]), [65, 63, 0, 0, 65, 63, 0, 0]);
        for x in (0..256).step_by(5) {
            for y in (0..256).step_by(3) {
                for z in (0..256).step_by(7) {
                    assert_eq!(weights([x, y, z]).iter().sum::<u32>(), 256);
                }
            }
        }
    }
}
