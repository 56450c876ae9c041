//! Random numbers that are the same everywhere and forever: results are compared over years.

/// SplitMix64: tiny, fast, and good enough for inputs.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator from a seed and the name of what it is for, so that two inputs of the same
    /// run do not get the same numbers.
    pub fn new(seed: u64, purpose: &str) -> Random {
        // FNV-1a over the name, stirred into the seed.
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for byte in purpose.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mut random = Random { state: seed ^ hash };
        random.next_u64();
        random
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// Below `bound` (0 when that is 0). The bias of the multiplication is far below what any
    /// input could show.
    pub fn below(&mut self, bound: u64) -> u64 {
        scale(self.next_u64(), bound)
    }

    /// From `low` to `high`, both included. The range may span all 64-bit integers.
    pub fn between(&mut self, low: i128, high: i128) -> i128 {
        let bits = self.next_u64();
        // The full 64-bit range has one value too many for the multiplication below.
        match u64::try_from(high - low + 1) {
            Ok(span) => low + i128::from(scale(bits, span)),
            Err(_) => low + i128::from(bits),
        }
    }

    /// From 0 up to, but not including, 1, in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A float between two bounds.
    pub fn float(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
}

/// Maps 64 random bits to a number below `bound`.
fn scale(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_never_change() {
        // From the published SplitMix64 with state 0.
        let mut r = Random { state: 0 };
        assert_eq!(r.next_u64(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(r.next_u64(), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(
            Random::new(1, "a").next_u64(),
            Random::new(1, "a").next_u64()
        );
        assert_ne!(
            Random::new(1, "a").next_u64(),
            Random::new(1, "b").next_u64()
        );
        assert_ne!(
            Random::new(1, "a").next_u64(),
            Random::new(2, "a").next_u64()
        );
    }

    #[test]
    fn ranges_are_kept_and_filled() {
        let mut r = Random::new(7, "ranges");
        let mut seen = [false; 5];
        for _ in 0..1000 {
            let v = r.between(-2, 2);
            assert!((-2..=2).contains(&v));
            seen[(v + 2) as usize] = true;
            let f = r.float(1.0, 2.0);
            assert!((1.0..2.0).contains(&f));
            assert!(r.below(3) < 3);
        }
        assert_eq!(seen, [true; 5]);
        let all = r.between(i64::MIN.into(), i64::MAX.into());
        assert!(i64::try_from(all).is_ok());
        assert_eq!(r.below(0), 0);
    }
}
