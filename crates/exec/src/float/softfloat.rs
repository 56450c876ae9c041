//! Exact arithmetic with one rounding, in integers.
//!
//! Directed rounding must not touch the host's rounding mode, and half-precision `fma` must
//! round once. Finite values are exact as sign, mantissa and exponent; sums, products,
//! quotients and roots are formed with a sticky bit and rounded into a format.

/// Rounding to a format or to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// To nearest, ties to even.
    Nearest,
    /// To nearest, ties away from zero.
    Away,
    /// Towards zero.
    Zero,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
}

/// An IEEE-like binary format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Exponent bits.
    pub exponent: u32,
    /// Stored mantissa bits.
    pub mantissa: u32,
}

pub(crate) const F16: Format = Format {
    exponent: 5,
    mantissa: 10,
};
pub(crate) const BF16: Format = Format {
    exponent: 8,
    mantissa: 7,
};
/// 10 mantissa bits in the top of 19; held in an fp32 register.
pub(crate) const TF32: Format = Format {
    exponent: 8,
    mantissa: 10,
};
pub(crate) const F32: Format = Format {
    exponent: 8,
    mantissa: 23,
};
pub(crate) const F64: Format = Format {
    exponent: 11,
    mantissa: 52,
};

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }
    /// Bits of infinity.
    pub fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.mantissa
    }
    /// The sign bit.
    pub fn sign(self) -> u64 {
        1 << (self.exponent + self.mantissa)
    }
    fn largest(self) -> u64 {
        self.infinity() - 1
    }
    /// Is it NaN?
    pub fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }
    /// Is it infinite?
    pub fn is_infinite(self, bits: u64) -> bool {
        bits & !self.sign() == self.infinity()
    }
}

/// A finite number `(-1)^negative * (mantissa + something below 1 when sticky) * 2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    pub negative: bool,
    pub mantissa: u128,
    pub exponent: i32,
    pub sticky: bool,
}

/// Where a normalised mantissa has its top bit: leaves room for a carry.
const TOP: u32 = 125;

impl Exact {
    /// Takes a finite number apart.
    pub fn unpack(bits: u64, f: Format) -> Exact {
        let exponent = (bits >> f.mantissa & ((1 << f.exponent) - 1)) as i32;
        let fraction = bits & ((1 << f.mantissa) - 1);
        let (mantissa, exponent) = if exponent == 0 {
            (fraction, 1)
        } else {
            (fraction | 1 << f.mantissa, exponent)
        };
        Exact {
            negative: bits & f.sign() != 0,
            mantissa: u128::from(mantissa),
            exponent: exponent - f.bias() - f.mantissa as i32,
            sticky: false,
        }
    }

    /// An integer.
    pub fn integer(negative: bool, magnitude: u64) -> Exact {
        Exact {
            negative,
            mantissa: u128::from(magnitude),
            exponent: 0,
            sticky: false,
        }
    }

    /// Exactly zero.
    pub fn is_zero(&self) -> bool {
        self.mantissa == 0 && !self.sticky
    }

    fn normalized(mut self) -> Exact {
        if self.mantissa != 0 {
            let shift = TOP as i32 - (127 - self.mantissa.leading_zeros() as i32);
            if shift > 0 {
                self.mantissa <<= shift;
            } else {
                self = self.shifted_right(shift.unsigned_abs());
            }
            self.exponent -= shift.max(0);
        }
        self
    }

    /// The same value with a larger exponent.
    fn shifted_right(mut self, by: u32) -> Exact {
        self.exponent += by as i32;
        if by > 127 {
            self.sticky |= self.mantissa != 0;
            self.mantissa = 0;
        } else {
            self.sticky |= self.mantissa & ((1 << by) - 1) != 0;
            self.mantissa >>= by;
        }
        self
    }

    /// The product of two numbers with at most 64 bits each.
    pub fn times(self, b: Exact) -> Exact {
        Exact {
            negative: self.negative != b.negative,
            mantissa: self.mantissa * b.mantissa,
            exponent: self.exponent + b.exponent,
            sticky: false,
        }
    }

    /// The sum of two exact numbers. A zero sum is negative when rounding down or when both
    /// are negative zeros.
    pub fn plus(self, b: Exact, round: Round) -> Exact {
        if self.mantissa == 0 && b.mantissa == 0 {
            return Exact {
                negative: if self.negative == b.negative {
                    self.negative
                } else {
                    round == Round::Down
                },
                ..self
            };
        }
        if self.mantissa == 0 {
            return b;
        }
        if b.mantissa == 0 {
            return self;
        }
        let (mut big, mut small) = (self.normalized(), b.normalized());
        if (big.exponent, big.mantissa) < (small.exponent, small.mantissa) {
            std::mem::swap(&mut big, &mut small);
        }
        let small = small.shifted_right((big.exponent - small.exponent) as u32);
        if big.negative == small.negative {
            return Exact {
                mantissa: big.mantissa + small.mantissa,
                sticky: small.sticky,
                ..big
            };
        }
        // What was shifted out makes the subtrahend larger: borrow one and keep the sticky bit.
        let mantissa = big.mantissa - small.mantissa - u128::from(small.sticky);
        if mantissa == 0 && !small.sticky {
            return Exact {
                negative: round == Round::Down,
                mantissa: 0,
                exponent: 0,
                sticky: false,
            };
        }
        Exact {
            mantissa,
            sticky: small.sticky,
            ..big
        }
    }

    /// The quotient; `b` is not zero.
    pub fn divided_by(self, b: Exact) -> Exact {
        if self.mantissa == 0 {
            return Exact {
                negative: self.negative != b.negative,
                ..self
            };
        }
        let a = self.normalized();
        // Mantissas have at most 64 bits, so the quotient has more than 60.
        let (q, rest) = (a.mantissa / b.mantissa, a.mantissa % b.mantissa);
        Exact {
            negative: self.negative != b.negative,
            mantissa: q,
            exponent: a.exponent - b.exponent,
            sticky: rest != 0,
        }
    }

    /// The square root of a number that is not negative.
    pub fn square_root(self) -> Exact {
        if self.mantissa == 0 {
            return self;
        }
        let mut a = self.normalized();
        if a.exponent & 1 != 0 {
            a.mantissa <<= 1;
            a.exponent -= 1;
        }
        let root = a.mantissa.isqrt();
        Exact {
            negative: false,
            mantissa: root,
            exponent: a.exponent / 2,
            sticky: root * root != a.mantissa,
        }
    }

    /// Whether rounding goes away from zero, given what is cut off.
    fn round_up(negative: bool, odd: bool, half: bool, below: bool, round: Round) -> bool {
        match round {
            Round::Nearest => half && (below || odd),
            Round::Away => half,
            Round::Zero => false,
            Round::Down => negative && (half || below),
            Round::Up => !negative && (half || below),
        }
    }

    /// Rounds into a format; overflow gives infinity or the largest number as the rounding says.
    pub fn pack(self, f: Format, round: Round) -> u64 {
        let sign = if self.negative { f.sign() } else { 0 };
        if self.is_zero() {
            return sign;
        }
        let top = 127 - self.mantissa.leading_zeros() as i32; // -1 when only sticky is left
        // Exponent of the last kept bit: that of a normal number, but not below the smallest.
        let least = 1 - f.bias() - f.mantissa as i32;
        let last = (self.exponent + top - f.mantissa as i32).max(least);
        let cut = last - self.exponent;
        let (kept, half, below) = if cut <= 0 {
            // Only exact values come here: a sticky one has more bits than any format.
            (self.mantissa << (-cut).min(127), false, self.sticky)
        } else {
            let s = self.shifted_right(cut as u32 - 1);
            (s.mantissa >> 1, s.mantissa & 1 != 0, s.sticky)
        };
        let mut kept = kept as u64;
        if Self::round_up(self.negative, kept & 1 != 0, half, below, round) {
            kept += 1;
        }
        // A carry out of the mantissa moves into the exponent by itself.
        let biased = (last - least) as u64;
        let bits = if kept < 1 << f.mantissa {
            kept
        } else {
            (biased << f.mantissa) + kept
        };
        if bits >= f.infinity() {
            let to_infinity = match round {
                Round::Nearest | Round::Away => true,
                Round::Zero => false,
                Round::Down => self.negative,
                Round::Up => !self.negative,
            };
            return sign
                | if to_infinity {
                    f.infinity()
                } else {
                    f.largest()
                };
        }
        sign | bits
    }

    /// Rounds to an integer; magnitudes beyond `u64::MAX` give `None`.
    pub fn to_integer(self, round: Round) -> Option<(bool, u64)> {
        if self.mantissa == 0 {
            return Some((self.negative, 0));
        }
        let magnitude = if self.exponent >= 0 {
            if self.exponent as u32 > self.mantissa.leading_zeros() {
                return None;
            }
            self.mantissa << self.exponent
        } else {
            let s = self.shifted_right(self.exponent.unsigned_abs() - 1);
            let (kept, half) = (s.mantissa >> 1, s.mantissa & 1 != 0);
            kept + u128::from(Self::round_up(
                self.negative,
                kept & 1 != 0,
                half,
                s.sticky,
                round,
            ))
        };
        Some((self.negative, u64::try_from(magnitude).ok()?))
    }
}

/// `a + b` of two numbers of a format that are not NaN. `None` for an invalid operation.
pub(crate) fn add(a: u64, b: u64, f: Format, round: Round) -> Option<u64> {
    match (f.is_infinite(a), f.is_infinite(b)) {
        (true, true) if a != b => None,
        (true, _) => Some(a),
        (_, true) => Some(b),
        _ => Some(
            Exact::unpack(a, f)
                .plus(Exact::unpack(b, f), round)
                .pack(f, round),
        ),
    }
}

/// `a * b + c` with one rounding; operands are not NaN.
pub(crate) fn fma(a: u64, b: u64, c: u64, f: Format, round: Round) -> Option<u64> {
    let zero = |x: u64| x & !f.sign() == 0;
    let sign = (a ^ b) & f.sign();
    if f.is_infinite(a) || f.is_infinite(b) {
        if zero(a) || zero(b) || f.is_infinite(c) && (c & f.sign()) != sign {
            return None;
        }
        return Some(f.infinity() | sign);
    }
    if f.is_infinite(c) {
        return Some(c);
    }
    let product = Exact::unpack(a, f).times(Exact::unpack(b, f));
    Some(product.plus(Exact::unpack(c, f), round).pack(f, round))
}

/// `a * b`; operands are not NaN.
pub(crate) fn mul(a: u64, b: u64, f: Format, round: Round) -> Option<u64> {
    let zero = |x: u64| x & !f.sign() == 0;
    if f.is_infinite(a) || f.is_infinite(b) {
        if zero(a) || zero(b) {
            return None;
        }
        return Some(f.infinity() | (a ^ b) & f.sign());
    }
    Some(
        Exact::unpack(a, f)
            .times(Exact::unpack(b, f))
            .pack(f, round),
    )
}

/// `a / b`; operands are not NaN.
pub(crate) fn div(a: u64, b: u64, f: Format, round: Round) -> Option<u64> {
    let zero = |x: u64| x & !f.sign() == 0;
    let sign = (a ^ b) & f.sign();
    match (f.is_infinite(a), f.is_infinite(b)) {
        (true, true) => None,
        (true, false) => Some(f.infinity() | sign),
        (false, true) => Some(sign),
        (false, false) if zero(b) => (!zero(a)).then_some(f.infinity() | sign),
        (false, false) => Some(
            Exact::unpack(a, f)
                .divided_by(Exact::unpack(b, f))
                .pack(f, round),
        ),
    }
}

/// The square root; the operand is not NaN.
pub(crate) fn sqrt(a: u64, f: Format, round: Round) -> Option<u64> {
    if a & !f.sign() == 0 {
        return Some(a);
    }
    if a & f.sign() != 0 {
        return None;
    }
    if f.is_infinite(a) {
        return Some(a);
    }
    Some(Exact::unpack(a, f).square_root().pack(f, round))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROUNDS: [Round; 4] = [Round::Nearest, Round::Zero, Round::Down, Round::Up];

    /// The fp32 number next below or above, by bits.
    fn next(x: f32, up: bool) -> f32 {
        if up { x.next_up() } else { x.next_down() }
    }

    /// Checks a directed result against an exact comparison `cmp(candidate)`: the sign of
    /// (candidate - true value).
    fn check(bits: u32, round: Round, cmp: impl Fn(f32) -> std::cmp::Ordering) {
        use std::cmp::Ordering::*;
        let x = f32::from_bits(bits);
        if x.is_infinite() {
            return;
        }
        match round {
            Round::Down => {
                assert_ne!(cmp(x), Greater);
                let n = next(x, true);
                assert!(n.is_infinite() || cmp(n) == Greater);
            }
            Round::Up => {
                assert_ne!(cmp(x), Less);
                let n = next(x, false);
                assert!(n.is_infinite() || cmp(n) == Less);
            }
            _ => {}
        }
    }

    /// An exact fp32 value as an integer multiple of 2^-149 does not fit 128 bits for all
    /// exponents, so the operands' exponents are kept near one another.
    fn near(bits: u32) -> u32 {
        let exponent = 110 + (bits >> 23 & 0x1f);
        bits & 0x807f_ffff | exponent << 23
    }

    fn scaled(x: f32) -> i128 {
        // x * 2^60 for exponents of `near`, exactly.
        let e = Exact::unpack(u64::from(x.to_bits()), F32);
        let m = (e.mantissa as i128) << (e.exponent + 60);
        if e.negative { -m } else { m }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn nearest_agrees_with_the_host_in_f32(a: u32, b: u32, c: u32) {
            let (x, y, z) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
            prop_assume!(!x.is_nan() && !y.is_nan() && !z.is_nan());
            let (a, b, c) = (u64::from(a), u64::from(b), u64::from(c));
            let same = |got: Option<u64>, host: f32| match got {
                None => host.is_nan(),
                Some(bits) => bits == u64::from(host.to_bits()),
            };
            prop_assert!(same(add(a, b, F32, Round::Nearest), x + y));
            prop_assert!(same(mul(a, b, F32, Round::Nearest), x * y));
            prop_assert!(same(div(a, b, F32, Round::Nearest), x / y));
            prop_assert!(same(sqrt(a, F32, Round::Nearest), x.sqrt()));
            prop_assert!(same(fma(a, b, c, F32, Round::Nearest), x.mul_add(y, z)));
        }

        #[test]
        fn nearest_agrees_with_the_host_in_f64(a: u64, b: u64, c: u64, close: bool) {
            // Random exponents hardly ever meet: pull them together half of the time.
            let fix = |v: u64| if close { v & 0x801f_ffff_ffff_ffff | 0x3f00_0000_0000_0000 | v & 0x00f0_0000_0000_0000 } else { v };
            let (a, b, c) = (fix(a), fix(b), fix(c));
            let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
            prop_assume!(!x.is_nan() && !y.is_nan() && !z.is_nan());
            let same = |got: Option<u64>, host: f64| match got {
                None => host.is_nan(),
                Some(bits) => bits == host.to_bits(),
            };
            prop_assert!(same(add(a, b, F64, Round::Nearest), x + y));
            prop_assert!(same(mul(a, b, F64, Round::Nearest), x * y));
            prop_assert!(same(div(a, b, F64, Round::Nearest), x / y));
            prop_assert!(same(sqrt(a, F64, Round::Nearest), x.sqrt()));
            prop_assert!(same(fma(a, b, c, F64, Round::Nearest), x.mul_add(y, z)));
        }

        #[test]
        fn directed_sums_bracket_the_exact_integer_sum(a: u32, b: u32) {
            let (a, b) = (near(a), near(b));
            let exact = scaled(f32::from_bits(a)) + scaled(f32::from_bits(b));
            for round in ROUNDS {
                let got = add(u64::from(a), u64::from(b), F32, round).unwrap() as u32;
                let value = f32::from_bits(got);
                check(got, round, |x| {
                    scaled_any(x).cmp(&exact)
                });
                if round == Round::Zero {
                    prop_assert!(scaled_any(value).unsigned_abs() <= exact.unsigned_abs());
                }
            }
        }

        #[test]
        fn directed_products_bracket_the_exact_integer_product(a: u32, b: u32) {
            let (a, b) = (near(a), near(b));
            let (x, y) = (Exact::unpack(u64::from(a), F32), Exact::unpack(u64::from(b), F32));
            let exact = (x.mantissa * y.mantissa) as i128 * if x.negative != y.negative { -1 } else { 1 };
            let exponent = x.exponent + y.exponent;
            for round in ROUNDS {
                let got = mul(u64::from(a), u64::from(b), F32, round).unwrap() as u32;
                check(got, round, |v| {
                    let e = Exact::unpack(u64::from(v.to_bits()), F32);
                    let m = (e.mantissa as i128) << (e.exponent - exponent).clamp(0, 100);
                    (if e.negative { -m } else { m }).cmp(&exact)
                });
            }
        }

        #[test]
        fn the_zero_rounding_is_the_smaller_of_down_and_up(a: u64, b: u64, c: u64) {
            let f = F64;
            prop_assume!(!f.is_nan(a) && !f.is_nan(b) && !f.is_nan(c));
            let r = |round| fma(a, b, c, f, round).map(f64::from_bits);
            let (Some(down), Some(up), Some(zero), Some(nearest)) =
                (r(Round::Down), r(Round::Up), r(Round::Zero), r(Round::Nearest)) else { return Ok(()); };
            prop_assert!(down <= up);
            let inner = if down.abs() < up.abs() { down } else { up };
            prop_assert_eq!(zero, inner);
            prop_assert!(nearest == down || nearest == up);
            prop_assert!(down == up || down.next_up() == up);
        }
    }

    fn scaled_any(x: f32) -> i128 {
        if x == 0.0 { 0 } else { scaled(x) }
    }

    #[test]
    fn overflow_and_denormals_follow_the_direction() {
        let max = u64::from(f32::MAX.to_bits());
        assert_eq!(add(max, max, F32, Round::Zero), Some(max));
        assert_eq!(
            add(max, max, F32, Round::Up),
            Some(u64::from(f32::INFINITY.to_bits()))
        );
        let tiny = u64::from(1u32);
        assert_eq!(mul(tiny, tiny, F32, Round::Up), Some(1));
        assert_eq!(mul(tiny, tiny, F32, Round::Down), Some(0));
        assert_eq!(
            mul(tiny | 1 << 31, tiny, F32, Round::Down),
            Some(1 | 1 << 31)
        );
        // x - x is +0 except when rounding down.
        let one = u64::from(1f32.to_bits());
        let minus = u64::from((-1f32).to_bits());
        assert_eq!(add(one, minus, F32, Round::Nearest), Some(0));
        assert_eq!(add(one, minus, F32, Round::Down), Some(1 << 31));
        // Rounding into the next binade and into the normal range.
        assert_eq!(
            Exact::integer(false, 0x01ff_ffff).pack(F32, Round::Up) as u32,
            33554432f32.to_bits()
        );
        assert_eq!(add(0x7f_ffff, 1, F32, Round::Nearest), Some(0x80_0000));
    }
}
