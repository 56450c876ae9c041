//! `mma.m8n8k4` of half precision, which is four multiplications of a quarter of a warp each.
//!
//! Hopper has no unit for it: its compiler makes it of ordinary instructions in single precision,
//! and so every step rounds to nearest. In which order was found from what an H200 computed. A
//! product of two halves has no more bits than single precision, so that a fused multiplication
//! and addition is a multiplication and an addition.

use warpsim_ptx::isa::Type;

use crate::float::float16::f16_value;
use crate::float::float32::NAN;
use crate::float::softfloat::{Exact, F16, F32, Round};

/// The NaN of half precision.
const HALF_NAN: u32 = 0x7fff;

/// Adds the products of four elements each to `start_bits`, with the types of it and the result
/// (single or half precision).
pub(crate) fn sum(a: &[f32], b: &[f32], start_bits: u32, [from, to]: [Type; 2]) -> u32 {
    let start = match from {
        Type::F16 => f16_value(start_bits as u16),
        _ => f32::from_bits(start_bits),
    };
    if to == Type::F16 {
        // Two sums of two: all zeros being negative, so is the result.
        let pairs = a.chunks(2).zip(b.chunks(2));
        let of_two = pairs.map(|(a, b)| match (a, b) {
            ([a, c], [b, d]) => a * b + c * d,
            _ => 0.0,
        });
        let all = of_two.reduce(|first, second| first + second);
        return rounded_to_half(all.unwrap_or(0.0) + start);
    }
    let products = a.iter().zip(b).map(|(a, b)| a * b);
    let sum = products.fold(0.0, |sum, product| sum + product) + start;
    if sum.is_nan() {
        NAN.to_bits()
    } else {
        sum.to_bits()
    }
}

fn rounded_to_half(value: f32) -> u32 {
    if value.is_nan() {
        return HALF_NAN;
    }
    if value.is_infinite() {
        let sign = if value < 0.0 { F16.sign() } else { 0 };
        return (F16.infinity() | sign) as u32;
    }
    Exact::unpack(u64::from(value.to_bits()), F32).pack(F16, Round::Nearest) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: [u16; 4], b: [u16; 4], start: u32, types: [Type; 2]) -> u32 {
        let [a, b] = [a, b].map(|list| list.map(f16_value));
        sum(&a, &b, start, types)
    }

    const LARGE: u16 = 0xbfff;

    /// What an H200 computed.
    #[test]
    fn single_precision_takes_the_start_at_the_end_and_rounds_to_nearest() {
        let b = [LARGE; 4];
        let single = [Type::F32; 2];
        let result = of([1, 0, LARGE, LARGE], b, 0x3800_0001, single);
        assert_eq!(result, 0x40ff_c044);
        let mixed = [Type::F16, Type::F32];
        let result = of([1, 0, 1, 0], [LARGE, 0x3fff, 2, 0], 1, mixed);
        assert_eq!(result, 0xb37f_bffe);
        // From a positive zero on, whatever the signs of the products.
        assert_eq!(of([0; 4], b, 0x8000, mixed), 0);
    }

    /// What an H200 computed.
    #[test]
    fn half_precision_keeps_negative_zeros_and_sums_in_pairs() {
        let half = [Type::F16; 2];
        assert_eq!(of([0; 4], [LARGE; 4], 0x8000, half), 0x8000);
        let a = [LARGE, 0x3fff, LARGE, 0x3fff];
        assert_eq!(of(a, [1, 0, LARGE, LARGE], 1, half), 0x8001);
        assert_eq!(of([LARGE; 4], [LARGE, 0x3fff, 2, 0], 1, half), 0x8003);
    }

    #[test]
    fn what_is_no_number_stays() {
        let infinite = [0x7c00, 0, 0, 0];
        let ones = [0x3c00; 4];
        assert_eq!(of(infinite, ones, 0, [Type::F32; 2]), 0x7f80_0000);
        assert_eq!(of(infinite, ones, 0xfc00, [Type::F16; 2]), HALF_NAN);
        assert_eq!(of(infinite, [0; 4], 0, [Type::F32; 2]), NAN.to_bits());
        let most = [0x7bff; 4];
        assert_eq!(of(most, ones, 0, [Type::F16; 2]), 0x7c00, "too large");
    }
}
