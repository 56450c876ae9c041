//! Sums of products as the units for matrices form them, one function for each kind of element.
//!
//! What is publicly known of them (measurements on V100, A100 and H100): products are exact; the
//! products of a block and the number they are added to are aligned to the largest exponent, what
//! falls below a fixed number of bits is cut off, the sum is exact, and its result is cut off to
//! single precision, or rounded to nearest for results in half precision. How long a block is, which
//! products it takes and how many bits are kept differ from GPU to GPU and from form to form
//! ([`Rule`]). The rules here were found by trying blocks, orders and numbers of bits against what
//! an H200 computed until every recorded sum was the same to the bit.

use warpsim_ptx::isa::{Op, Type};
use warpsim_ptx::tensor::BitOp;

use crate::float::softfloat::{self, BF16, Exact, F16, Format, Round};

/// How a unit sums floating-point products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Products that are added at once.
    pub block: usize,
    /// Bits behind the binary point that an addend keeps, the largest exponent's being 1.
    pub fraction: i32,
    /// In which order the products are taken.
    pub order: Order,
    /// The sum of products begins with zero, and what it is added to is added at the end, by the
    /// ordinary addition that rounds to nearest.
    pub added_last: bool,
}

/// In which order the products of a sum are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// One after the other.
    InTurn,
    /// Of each four the first two; when all are done, of each four the last two: registers of four
    /// 8-bit elements are widened to two registers of two.
    PairsOfFour,
}

impl Order {
    /// Which product is the `i`th of `count`.
    fn place(self, i: usize, count: usize) -> usize {
        match self {
            Order::InTurn => i,
            Order::PairsOfFour => {
                let (i, last) = if i < count / 2 {
                    (i, 0)
                } else {
                    (i - count / 2, 2)
                };
                i / 2 * 4 + i % 2 + last
            }
        }
    }
}

/// The rule for products of elements of this type: Hopper's.
pub(crate) fn rule(op: Op, element: Type) -> Rule {
    let plain = Rule {
        block: 16,
        fraction: 25,
        order: Order::InTurn,
        added_last: false,
    };
    match (op, element) {
        // `wmma` is done by `mma` of half the depth.
        (Op::Wmma, Type::Tf32) => Rule { block: 4, ..plain },
        (_, Type::Tf32) => Rule { block: 8, ..plain },
        // There is no unit for 8-bit floats without `wgmma`: they are turned into half precision.
        (_, Type::E4m3 | Type::E5m2) => Rule {
            order: Order::PairsOfFour,
            added_last: true,
            ..plain
        },
        _ => plain,
    }
}

/// A number as `mantissa * 2^exponent`, or one that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Finite {
        negative: bool,
        mantissa: u64,
        /// Of the last bit of the mantissa.
        exponent: i32,
        /// Of the first bit of a normal number.
        scale: i32,
    },
    Infinite {
        negative: bool,
    },
    Nan,
}

const ZERO: Number = Number::Finite {
    negative: false,
    mantissa: 0,
    exponent: 0,
    scale: 0,
};

impl Number {
    /// The same number in a format whose normal numbers begin with this exponent.
    fn in_format(mut self, lowest: i32) -> Number {
        if let Number::Finite {
            mantissa: mantissa @ 1..,
            exponent,
            scale,
            ..
        } = &mut self
        {
            *scale = (mantissa.ilog2() as i32 + *exponent).max(lowest);
        }
        self
    }
}

const E5M2: Format = Format {
    exponent: 5,
    mantissa: 2,
};

/// The lowest exponent of normal numbers.
const HALF_LOWEST: i32 = -14;
const SINGLE_LOWEST: i32 = -126;

/// The number that an element of this type stands for; 8-bit floats as half precision has them.
pub(crate) fn number(bits: u32, ty: Type) -> Number {
    match ty {
        Type::F16 => unpack(u64::from(bits), F16),
        Type::Bf16 => unpack(u64::from(bits), BF16),
        // The lowest 13 bits are not looked at.
        Type::Tf32 => unpack_single(bits & !0x1fff),
        Type::E5m2 => unpack(u64::from(bits), E5M2),
        Type::E4m3 => unpack_e4m3(bits).in_format(HALF_LOWEST),
        _ => unpack_single(bits),
    }
}

fn unpack_single(bits: u32) -> Number {
    fields(
        bits >> 31 != 0,
        bits >> 23 & 0xff,
        u64::from(bits & 0x7f_ffff),
        0xff,
        127,
        23,
    )
}

fn unpack(bits: u64, f: Format) -> Number {
    let most = (1u32 << f.exponent) - 1;
    fields(
        bits >> (f.exponent + f.mantissa) & 1 != 0,
        (bits >> f.mantissa) as u32 & most,
        bits & ((1 << f.mantissa) - 1),
        most,
        (most >> 1) as i32,
        f.mantissa,
    )
}

/// No infinities, and one NaN of each sign.
fn unpack_e4m3(bits: u32) -> Number {
    if bits & 0x7f == 0x7f {
        return Number::Nan;
    }
    fields(
        bits >> 7 & 1 != 0,
        bits >> 3 & 15,
        u64::from(bits & 7),
        u32::MAX,
        7,
        3,
    )
}

fn fields(
    negative: bool,
    exponent: u32,
    mantissa: u64,
    special: u32,
    bias: i32,
    width: u32,
) -> Number {
    match (exponent == special, mantissa == 0) {
        (true, true) => return Number::Infinite { negative },
        (true, false) => return Number::Nan,
        _ => {}
    }
    let hidden = u64::from(exponent != 0) << width;
    let scale = exponent.max(1) as i32 - bias;
    Number::Finite {
        negative,
        mantissa: mantissa | hidden,
        exponent: scale - width as i32,
        scale,
    }
}

/// The exact product; its scale is the sum of the factors', whatever its first bit.
fn product(a: Number, b: Number) -> Number {
    use Number::*;
    match (a, b) {
        (Nan, _) | (_, Nan) => Nan,
        (
            Finite {
                negative,
                mantissa,
                exponent,
                scale,
            },
            Finite {
                negative: other,
                mantissa: factor,
                exponent: more,
                scale: further,
            },
        ) => Finite {
            negative: negative != other,
            mantissa: mantissa * factor,
            exponent: exponent + more,
            scale: scale + further,
        },
        (Infinite { negative }, Infinite { negative: other }) => Infinite {
            negative: negative != other,
        },
        (
            Infinite { negative },
            Finite {
                negative: other,
                mantissa,
                ..
            },
        )
        | (
            Finite {
                negative: other,
                mantissa,
                ..
            },
            Infinite { negative },
        ) => match mantissa {
            0 => Nan,
            _ => Infinite {
                negative: negative != other,
            },
        },
    }
}

/// A sum of single precision, or of half, before it is packed.
#[derive(Clone, Copy, Debug)]
enum Sum {
    Number { sum: i128, exponent: i32 },
    Infinite { negative: bool },
    Nan,
}

/// The sum of a block and what it is added to.
fn block(products: impl Iterator<Item = Number> + Clone, start: Number, rule: Rule) -> Sum {
    let all = products.chain(std::iter::once(start));
    let mut largest = None;
    let (mut up, mut down) = (false, false);
    for number in all.clone() {
        match number {
            Number::Nan => return Sum::Nan,
            Number::Infinite { negative: true } => down = true,
            Number::Infinite { negative: false } => up = true,
            Number::Finite {
                mantissa, scale, ..
            } if mantissa != 0 => largest = largest.max(Some(scale)),
            Number::Finite { .. } => {}
        }
    }
    match (up, down) {
        (true, true) => return Sum::Nan,
        (false, false) => {}
        _ => return Sum::Infinite { negative: down },
    }
    let Some(largest) = largest else {
        return Sum::Number {
            sum: 0,
            exponent: 0,
        };
    };
    // The weight of the last bit that is kept.
    let last = largest - rule.fraction;
    let mut sum = 0i128;
    for number in all {
        let Number::Finite {
            negative,
            mantissa,
            exponent,
            ..
        } = number
        else {
            continue;
        };
        let shift = exponent - last;
        let aligned = match shift {
            0.. => i128::from(mantissa) << shift.min(64),
            -63..0 => i128::from(mantissa >> -shift),
            _ => 0,
        };
        sum += if negative { -aligned } else { aligned };
    }
    Sum::Number {
        sum,
        exponent: last,
    }
}

/// The NaNs that these units return.
const SINGLE_NAN: u32 = 0x7fff_ffff;
const HALF_NAN: u32 = 0x7fff;

fn pack(sum: Sum, f: Format, round: Round, nan: u32) -> u32 {
    match sum {
        Sum::Nan => nan,
        Sum::Infinite { negative } => (f.infinity() | if negative { f.sign() } else { 0 }) as u32,
        Sum::Number { sum: 0, .. } => 0,
        Sum::Number { sum, exponent } => {
            let exact = Exact {
                negative: sum < 0,
                mantissa: sum.unsigned_abs(),
                exponent,
                sticky: false,
            };
            let bits = exact.pack(f, round);
            // What is too small to be told from zero is a positive one.
            if bits & !f.sign() == 0 {
                return 0;
            }
            // What is too large to be cut off is infinite.
            let largest = f.infinity() - 1;
            if round == Round::Zero && bits & !f.sign() == largest && exceeds(sum, exponent, f) {
                return (f.infinity() | bits & f.sign()) as u32;
            }
            bits as u32
        }
    }
}

/// Whether a sum has more than a format's largest exponent.
fn exceeds(sum: i128, exponent: i32, f: Format) -> bool {
    let first = 127 - sum.unsigned_abs().leading_zeros() as i32 + exponent;
    first > (1 << (f.exponent - 1)) - 1
}

/// Adds products of floating-point elements to `start_bits`, an element of type `from`, with the
/// result in type `to` (single or half precision).
pub(crate) fn floats(
    a: &[Number],
    b: &[Number],
    start_bits: u32,
    [from, to]: [Type; 2],
    r: Rule,
) -> u32 {
    let start = match (from, to) {
        (Type::F16, Type::F16) => number(start_bits, from),
        // What is small in half precision is not in single.
        _ => number(start_bits, from).in_format(SINGLE_LOWEST),
    };
    let packed = |sum| match to {
        Type::F16 => pack(sum, F16, Round::Nearest, HALF_NAN),
        _ => pack(sum, F32_FORMAT, Round::Zero, SINGLE_NAN),
    };
    let count = a.len();
    let mut running = if r.added_last { ZERO } else { start };
    let mut done = 0;
    loop {
        let end = (done + r.block).min(count);
        let products = (done..end).map(|i| {
            let k = r.order.place(i, count);
            product(a[k], b[k])
        });
        let sum = packed(block(products, running, r));
        if end == count {
            return if r.added_last {
                added(sum, start_bits, to)
            } else {
                sum
            };
        }
        running = number(sum, to);
        done = end;
    }
}

/// The ordinary addition of a sum of products and what it is added to, of the same type.
fn added(sum: u32, start: u32, ty: Type) -> u32 {
    let (f, nan) = match ty {
        Type::F16 => (F16, HALF_NAN),
        _ => (F32_FORMAT, SINGLE_NAN),
    };
    let [a, b] = [sum, start].map(u64::from);
    if f.is_nan(a) || f.is_nan(b) {
        return nan;
    }
    softfloat::add(a, b, f, Round::Nearest).map_or(nan, |bits| bits as u32)
}

const F32_FORMAT: Format = crate::float::softfloat::F32;

/// Double precision: fused multiplications and additions, one after the other.
pub(crate) fn doubles(a: &[f64], b: &[f64], start: f64) -> f64 {
    let sum = (a.iter().zip(b)).fold(start, |sum, (a, b)| a.mul_add(*b, sum));
    if sum.is_nan() {
        f64::from_bits(0xfff8_0000_0000_0000)
    } else {
        sum
    }
}

/// Integers: exact, then cut off to 32 bits, or the nearest that there is.
pub(crate) fn integers(a: &[i32], b: &[i32], start: i32, saturated: bool) -> i32 {
    let products = a.iter().zip(b).map(|(a, b)| i64::from(*a) * i64::from(*b));
    let sum = i64::from(start) + products.sum::<i64>();
    if saturated {
        sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    } else {
        sum as i32
    }
}

/// Single bits: how many are set of what is left of each pair.
pub(crate) fn bits(a: &[u32], b: &[u32], start: i32, op: BitOp) -> i32 {
    let ones = a.iter().zip(b).map(|(a, b)| match op {
        BitOp::Xor => a ^ b,
        BitOp::And => a & b,
    });
    start.wrapping_add(ones.map(|w| w.count_ones() as i32).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halves(list: &[f32]) -> Vec<Number> {
        // Powers of two and small sums of them are the same in single precision.
        list.iter()
            .map(|x| number(x.to_bits(), Type::F32))
            .collect()
    }

    fn sum(a: &[f32], b: &[f32], c: f32) -> f32 {
        let types = [Type::F32, Type::F32];
        f32::from_bits(floats(
            &halves(a),
            &halves(b),
            c.to_bits(),
            types,
            rule(Op::Mma, Type::F16),
        ))
    }

    #[test]
    fn exact_sums_are_exact() {
        assert_eq!(sum(&[1.5, -2.0, 0.0], &[2.0, 0.25, 7.0], 10.0), 12.5);
        assert_eq!(sum(&[0.0; 4], &[1.0; 4], 0.0).to_bits(), 0);
    }

    #[test]
    fn what_is_too_small_is_cut_off_before_it_is_added() {
        // Two bits more than single precision are kept.
        let tiny = 2f32.powi(-25);
        assert_eq!(sum(&[tiny; 4], &[1.0; 4], 1.0), 1.0 + 2f32.powi(-23));
        let less = 2f32.powi(-26);
        assert_eq!(sum(&[less; 16], &[1.0; 16], 1.0), 1.0, "each is lost");
        assert_eq!(
            sum(&[-tiny], &[1.0], 1.0),
            1.0 - 2f32.powi(-24),
            "cut off towards zero"
        );
    }

    #[test]
    fn what_is_no_number_stays() {
        assert!(sum(&[f32::INFINITY, 1.0], &[1.0, f32::NEG_INFINITY], 0.0).is_nan());
        assert_eq!(sum(&[f32::INFINITY], &[-1.0], 3.0), f32::NEG_INFINITY);
        assert_eq!(sum(&[f32::INFINITY], &[0.0], 3.0).to_bits(), SINGLE_NAN);
    }

    #[test]
    fn small_formats() {
        let value = |bits, ty| match number(bits, ty) {
            Number::Finite {
                negative,
                mantissa,
                exponent,
                ..
            } => {
                let x = mantissa as f64 * 2f64.powi(exponent);
                if negative { -x } else { x }
            }
            Number::Infinite { .. } => f64::INFINITY,
            Number::Nan => f64::NAN,
        };
        assert_eq!(value(0x3c00, Type::F16), 1.0);
        assert_eq!(value(0x8001, Type::F16), -(2f64.powi(-24)));
        assert_eq!(value(0x3f80, Type::Bf16), 1.0);
        assert_eq!(value(0x7e, Type::E4m3), 448.0);
        assert_eq!(value(0x01, Type::E4m3), 2f64.powi(-9));
        assert_eq!(value(0x7b, Type::E5m2), 57344.0);
        assert_eq!(value(0x7c, Type::E5m2), f64::INFINITY);
        assert_eq!(value(0x3f80_1fff, Type::Tf32), 1.0);
    }

    #[test]
    fn pairs_of_four_are_taken_first() {
        let places: Vec<usize> = (0..8).map(|i| Order::PairsOfFour.place(i, 8)).collect();
        assert_eq!(places, [0, 1, 4, 5, 2, 3, 6, 7]);
    }

    #[test]
    fn eight_bit_floats_round_to_nearest_when_the_start_is_added() {
        let one = number(0x38, Type::E4m3);
        // The largest below 2, and 4: a quarter of a unit in the last place is missing to 6.
        let start = 0x3fff_ffff;
        let rule = rule(Op::Mma, Type::E4m3);
        let sum = floats(&[one; 4], &[one; 4], start, [Type::F32; 2], rule);
        assert_eq!(sum, 6f32.to_bits());
    }

    #[test]
    fn small_numbers_of_eight_bits_are_normal_in_half_precision() {
        let Number::Finite { scale, .. } = number(1, Type::E4m3) else {
            panic!("2^-9 is a number");
        };
        assert_eq!(scale, -9);
    }

    #[test]
    fn integers_wrap_or_saturate() {
        assert_eq!(integers(&[127], &[127], i32::MAX, true), i32::MAX);
        assert_eq!(integers(&[1], &[1], i32::MAX, false), i32::MIN);
        assert_eq!(bits(&[0b1100], &[0b1010], 5, BitOp::Xor), 7);
        assert_eq!(bits(&[0b1100], &[0b1010], 5, BitOp::And), 6);
    }
}
