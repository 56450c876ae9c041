//! Sets of network ports.

use std::fmt::Debug;

/// A set of ports.
pub trait Ports: Copy + Debug + Default {
    /// Adds a port.
    fn insert(&mut self, port: usize);
    /// Takes a port out.
    fn remove(&mut self, port: usize);
    /// Takes the first port out.
    fn pop(&mut self) -> Option<usize>;
    /// The first port from `turn` on, else the first of all.
    fn first_from(&self, turn: usize) -> Option<usize>;
    /// How many.
    fn count(&self) -> u32;
    /// None.
    fn is_empty(&self) -> bool;
}

/// Up to 64 ports, one bit each.
pub type Few = u64;

impl Ports for Few {
    #[inline]
    fn insert(&mut self, port: usize) {
        *self |= 1 << port;
    }

    #[inline]
    fn remove(&mut self, port: usize) {
        *self &= !(1 << port);
    }

    #[inline]
    fn pop(&mut self) -> Option<usize> {
        if *self == 0 {
            return None;
        }
        let first = self.trailing_zeros() as usize;
        *self &= *self - 1;
        Some(first)
    }

    #[inline]
    fn first_from(&self, turn: usize) -> Option<usize> {
        // Behind the last comes the first: 64 is as good as 0.
        let from = *self & u64::MAX.wrapping_shl(turn as u32);
        let bits = if from != 0 { from } else { *self };
        (bits != 0).then(|| bits.trailing_zeros() as usize)
    }

    #[inline]
    fn count(&self) -> u32 {
        self.count_ones()
    }

    #[inline]
    fn is_empty(&self) -> bool {
        *self == 0
    }
}

/// Up to `WORDS` times 64 ports.
#[derive(Clone, Copy, Debug)]
pub struct Words<const WORDS: usize>([u64; WORDS]);

/// Up to 256 ports: more than any GPU has SMs.
pub type Many = Words<4>;

/// Up to 1024 ports, as many as a valid machine file can ask for.
pub type Most = Words<16>;

impl<const WORDS: usize> Default for Words<WORDS> {
    fn default() -> Words<WORDS> {
        Words([0; WORDS])
    }
}

impl<const WORDS: usize> Ports for Words<WORDS> {
    #[inline]
    fn insert(&mut self, port: usize) {
        self.0[port / 64].insert(port % 64);
    }

    #[inline]
    fn remove(&mut self, port: usize) {
        self.0[port / 64].remove(port % 64);
    }

    #[inline]
    fn pop(&mut self) -> Option<usize> {
        let mut words = self.0.iter_mut().enumerate();
        let (number, word) = words.find(|(_, word)| **word != 0)?;
        Some(number * 64 + word.pop()?)
    }

    #[inline]
    fn first_from(&self, turn: usize) -> Option<usize> {
        let word = self.0.get(turn / 64).map_or(0, |word| word >> (turn % 64));
        if word != 0 {
            return Some(turn + word.trailing_zeros() as usize);
        }
        // The words behind that one, and then from the first on.
        let behind = (turn / 64 + 1).min(WORDS);
        let mut words = (behind..WORDS).chain(0..WORDS);
        let number = words.find(|&number| self.0[number] != 0)?;
        Some(number * 64 + self.0[number].trailing_zeros() as usize)
    }

    #[inline]
    fn count(&self) -> u32 {
        self.0.iter().map(Ports::count).sum()
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }
}

#[cfg(test)]
mod tests {
    use super::{Few, Many, Most, Ports};

    fn filled<P: Ports>(ports: &[usize]) -> P {
        let mut set = P::default();
        ports.iter().for_each(|&port| set.insert(port));
        set
    }

    fn behaves<P: Ports>(ports: &[usize], turns: usize) {
        let set: P = filled(ports);
        assert_eq!(set.count() as usize, ports.len());
        for turn in 0..=turns {
            let expected = ports.iter().find(|&&port| port >= turn).or(ports.first());
            assert_eq!(set.first_from(turn), expected.copied(), "turn {turn}");
        }
        let (mut rest, mut seen) = (set, Vec::new());
        while let Some(port) = rest.pop() {
            seen.push(port);
        }
        assert_eq!(seen, ports);
        let mut rest = set;
        ports.iter().for_each(|&port| rest.remove(port));
        assert!(rest.is_empty() && set.is_empty() == ports.is_empty());
    }

    #[test]
    fn few_and_many_behave_alike() {
        for ports in [&[][..], &[0], &[63], &[3, 17, 62], &[0, 1, 2, 63]] {
            behaves::<Few>(ports, 64);
            behaves::<Many>(ports, 256);
            behaves::<Most>(ports, 1024);
        }
    }

    #[test]
    fn many_go_beyond_a_word() {
        behaves::<Many>(&[5, 63, 64, 130, 190, 255], 256);
        behaves::<Many>(&[64, 127], 256);
        behaves::<Most>(&[5, 63, 64, 130, 190, 1023], 1024);
        behaves::<Most>(&[64, 127], 1024);
    }
}
