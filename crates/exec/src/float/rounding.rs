//! Rounding that several formats share.

use warpsim_ptx::isa::Rounding;

use super::softfloat::Round;

/// The software rounding of a modifier; `None` for the host's.
pub(crate) fn directed(rounding: Option<Rounding>) -> Option<Round> {
    match rounding {
        Some(Rounding::Rz) => Some(Round::Zero),
        Some(Rounding::Rm) => Some(Round::Down),
        Some(Rounding::Rp) => Some(Round::Up),
        _ => None,
    }
}

/// A number rounded to the 24 bits that the unit's results have, whatever its exponent.
pub(crate) fn to_24_bits(x: f64) -> f64 {
    const DROPPED: u32 = f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS;
    if !x.is_finite() {
        return x;
    }
    let bits = x.to_bits();
    let below_half = (1u64 << (DROPPED - 1)) - 1;
    // Carries into the exponent are wanted.
    let rounded = bits + below_half + (bits >> DROPPED & 1);
    f64::from_bits(rounded >> DROPPED << DROPPED)
}

/// Generates the versions of an operation for each directed rounding.
macro_rules! rounded {
    ($round:expr, $r:ident => $e:expr) => {
        match $round {
            $crate::float::softfloat::Round::Zero => {
                const $r: $crate::float::softfloat::Round = $crate::float::softfloat::Round::Zero;
                $e
            }
            $crate::float::softfloat::Round::Down => {
                const $r: $crate::float::softfloat::Round = $crate::float::softfloat::Round::Down;
                $e
            }
            _ => {
                const $r: $crate::float::softfloat::Round = $crate::float::softfloat::Round::Up;
                $e
            }
        }
    };
}
pub(crate) use rounded;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_four_bits_are_those_of_a_single() {
        for x in [1.0 / 3.0, -2.0 / 3.0, 1.0 + 2f64.powi(-24), 1e10 / 7.0, 0.0] {
            assert_eq!(to_24_bits(x), f64::from(x as f32), "{x}");
        }
        assert_eq!(
            to_24_bits(2f64.powi(-1000) / 3.0).to_bits() & 0x1fff_ffff,
            0
        );
        assert_eq!(to_24_bits(f64::INFINITY), f64::INFINITY);
    }
}
