//! Division by numbers that a machine's description fixes: clocks, channels, interleaving. Every
//! request and every cycle needs several, and the host's division instruction takes as long as a
//! dozen others.

/// Something to divide by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    by: u64,
    /// `(2^64 - 1) / by`, rounded down.
    reciprocal: u64,
}

impl Divisor {
    /// Divides by `by`, which is above zero.
    pub fn new(by: u64) -> Divisor {
        Divisor {
            by,
            reciprocal: u64::MAX / by,
        }
    }

    /// The number it divides by.
    #[inline]
    pub fn get(self) -> u64 {
        self.by
    }

    /// Quotient and remainder, exact for every `n`.
    #[inline]
    pub fn divide(self, n: u64) -> (u64, u64) {
        // The reciprocal is less than one too small, so this is at most one too small.
        let quotient = ((u128::from(n) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = n - quotient * self.by;
        if rest >= self.by {
            (quotient + 1, rest - self.by)
        } else {
            (quotient, rest)
        }
    }

    /// Quotient, rounded up.
    #[inline]
    pub fn divide_up(self, n: u64) -> u64 {
        let (quotient, rest) = self.divide(n);
        quotient + (rest != 0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Divisor;

    #[test]
    fn it_divides_as_the_host_does() {
        let numbers = [1, 2, 3, 5, 6, 7, 8, 12, 25, 33, 256, 1 << 20, (1 << 33) - 1];
        let mut random = 7u64;
        for by in numbers.into_iter().chain([u64::MAX / 2, u64::MAX]) {
            let divisor = Divisor::new(by);
            assert_eq!(divisor.get(), by);
            for i in 0..3000u64 {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(i);
                let near = by.wrapping_mul(random >> 40).wrapping_sub(1);
                for n in [
                    i,
                    u64::MAX - i,
                    random,
                    random >> 30,
                    near,
                    near.wrapping_add(1),
                ] {
                    assert_eq!(divisor.divide(n), (n / by, n % by), "{n} / {by}");
                    assert_eq!(divisor.divide_up(n), n.div_ceil(by), "{n} / {by}, up");
                }
            }
        }
    }
}
