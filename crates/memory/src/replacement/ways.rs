//! A set of ways.

/// Bits in a word.
const WORD: usize = u64::BITS as usize;

/// Some ways of a cache's set: those that may be replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// A bit each. One word is all that most caches need.
    first: u64,
    others: Vec<u64>,
}

impl Ways {
    /// The ways of `0..ways` for which this holds.
    pub fn that(ways: usize, may: impl Fn(usize) -> bool) -> Ways {
        let word = |at: usize| {
            let last = ways.min((at + 1) * WORD);
            let bits = (at * WORD..last).filter(|&way| may(way));
            bits.fold(0, |word, way| word | 1 << (way % WORD))
        };
        Ways {
            first: word(0),
            others: (1..ways.div_ceil(WORD)).map(word).collect(),
        }
    }

    fn words(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }

    /// The ways, in growing order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words().enumerate().flat_map(|(at, word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(at * WORD + bit)
            })
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether this way is one of them.
    pub fn has(&self, way: usize) -> bool {
        let word = self.words().nth(way / WORD);
        word.is_some_and(|word| word >> (way % WORD) & 1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_come_in_order_also_where_there_are_many() {
        for ways in [0, 1, 4, 63, 64, 65, 128, 200, 1024] {
            let third = Ways::that(ways, |way| way % 3 == 1);
            let expected: Vec<usize> = (0..ways).filter(|way| way % 3 == 1).collect();
            assert_eq!(third.iter().collect::<Vec<_>>(), expected, "{ways}");
            assert_eq!(third.len(), expected.len());
            assert_eq!(third.is_empty(), expected.is_empty());
            for way in 0..ways + 70 {
                assert_eq!(third.has(way), expected.contains(&way), "{way} of {ways}");
            }
        }
    }
}
