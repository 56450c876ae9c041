//! What machine code (`crates/sass`) has in common with PTX: arithmetic and memory that both do in the same way.

use super::access::atomic;
use super::float::softfloat::{self, Exact, F16, F32, Round};
use super::float::{float32, transcendental};
use super::state::Atomic;

pub use super::texture::linear_texel;

/// Rounding other than to the nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Towards zero.
    Zero,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
}

impl From<Rounding> for Round {
    fn from(rounding: Rounding) -> Round {
        match rounding {
            Rounding::Zero => Round::Zero,
            Rounding::Down => Round::Down,
            Rounding::Up => Round::Up,
        }
    }
}

/// `a * b + c`, rounded once as asked.
pub fn fused_multiply_add(a: f32, b: f32, c: f32, rounding: Rounding) -> f32 {
    float32::soft_fma(a, b, c, rounding.into())
}

/// `a * b + c` of halves, rounded once to the nearest.
pub fn half_multiply_add(a: u16, b: u16, c: u16) -> u16 {
    const NAN: u16 = 0x7fff;
    let [a, b, c] = [a, b, c].map(u64::from);
    if [a, b, c].into_iter().any(|x| F16.is_nan(x)) {
        return NAN;
    }
    softfloat::fma(a, b, c, F16, Round::Nearest).map_or(NAN, |bits| bits as u16)
}

/// An integer as a float, rounded as asked.
pub fn integer_to_float(value: i64, rounding: Rounding) -> f32 {
    let exact = Exact::integer(value < 0, value.unsigned_abs());
    f32::from_bits(exact.pack(F32, rounding.into()) as u32)
}

/// The sine of an angle in turns, as the special-function unit reduces it.
pub fn sine_of_turns(turns: f32) -> f32 {
    transcendental::sine_of_turns(turns)
}

/// The cosine of an angle in turns.
pub fn cosine_of_turns(turns: f32) -> f32 {
    transcendental::cosine_of_turns(turns)
}

/// The hyperbolic tangent as the hardware has it.
pub fn hyperbolic_tangent(x: f64) -> f64 {
    transcendental::tanh(x)
}

/// Performs one lane's atomic on bytes of shared memory and returns the old value.
pub fn shared_atomic(bytes: &mut [u8], atomic: &Atomic, operands: [u64; 2]) -> u64 {
    atomic::apply_shared(bytes, atomic, operands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roundings_go_where_they_say() {
        let third = |rounding| fused_multiply_add(1.0, 1.0 / 3.0, 1.0, rounding);
        assert!(third(Rounding::Down) < third(Rounding::Up));
        assert_eq!(third(Rounding::Zero), third(Rounding::Down));
        let odd = (1 << 24) + 1;
        assert_eq!(integer_to_float(odd, Rounding::Down), 16_777_216.0);
        assert_eq!(integer_to_float(-odd, Rounding::Up), -16_777_216.0);
        assert_eq!(integer_to_float(odd, Rounding::Up), 16_777_218.0);
    }

    #[test]
    fn halves_are_rounded_once() {
        assert_eq!(half_multiply_add(0x3c00, 0x4000, 0x3c00), 0x4200);
        assert_eq!(half_multiply_add(0x7c01, 0, 0), 0x7fff);
        // The assembler moves numbers by adding them to a negative zero.
        for bits in [0, 0x8000, 1, 0x7bff] {
            assert_eq!(half_multiply_add(0x8000, 0, bits), bits);
        }
    }
}
