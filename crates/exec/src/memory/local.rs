//! Local memory of the threads of a warp, word by word with the lanes side by side, as it lies in a
//! GPU's memory, too: lanes mostly access the same address at once, and what they access is then
//! in two or three lines of the host's cache, not in one for each lane.

/// Bytes of a word.
const WORD: usize = 4;

/// Local memory of the threads on so many lanes.
#[derive(Clone, Debug, Default)]
pub struct LocalMemory<const LANES: usize> {
    words: Vec<[[u8; WORD]; LANES]>,
    /// Bytes of each lane.
    size: usize,
}

impl<const LANES: usize> LocalMemory<LANES> {
    /// So many bytes of zeros per lane.
    pub fn reset(&mut self, size: usize) {
        self.size = size;
        self.words.clear();
        self.words.resize(size.div_ceil(WORD), [[0; WORD]; LANES]);
    }

    /// Bytes of each lane.
    #[inline]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Reads bytes of a lane, which has them.
    pub fn read(&self, lane: usize, address: usize, into: &mut [u8]) {
        let mut at = address;
        let mut rest = into;
        while !rest.is_empty() {
            let part = (WORD - at % WORD).min(rest.len());
            let (here, behind) = rest.split_at_mut(part);
            here.copy_from_slice(&self.words[at / WORD][lane][at % WORD..][..part]);
            (at, rest) = (at + part, behind);
        }
    }

    /// Writes bytes of a lane, which has them.
    pub fn write(&mut self, lane: usize, address: usize, from: &[u8]) {
        let mut at = address;
        let mut rest = from;
        while !rest.is_empty() {
            let part = (WORD - at % WORD).min(rest.len());
            let (here, behind) = rest.split_at(part);
            self.words[at / WORD][lane][at % WORD..][..part].copy_from_slice(here);
            (at, rest) = (at + part, behind);
        }
    }

    /// Bytes of a lane that are aligned to their number, a power of two up to 8.
    #[inline(always)]
    pub fn get<const N: usize>(&self, lane: usize, address: usize) -> [u8; N] {
        let mut bytes = [0; N];
        let (words, _) = bytes.as_chunks_mut::<WORD>();
        if words.is_empty() {
            let word = &self.words[address / WORD][lane];
            bytes.copy_from_slice(&word[address % WORD..][..N]);
        } else {
            for (word, row) in words.iter_mut().zip(&self.words[address / WORD..]) {
                *word = row[lane];
            }
        }
        bytes
    }

    /// Writes bytes of a lane that are aligned to their number, a power of two up to 8.
    #[inline(always)]
    pub fn put<const N: usize>(&mut self, lane: usize, address: usize, bytes: [u8; N]) {
        let (words, _) = bytes.as_chunks::<WORD>();
        if words.is_empty() {
            let word = &mut self.words[address / WORD][lane];
            word[address % WORD..][..N].copy_from_slice(&bytes);
        } else {
            for (word, row) in words.iter().zip(&mut self.words[address / WORD..]) {
                row[lane] = *word;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_whatever_the_pieces() {
        let mut local = LocalMemory::<4>::default();
        local.reset(23);
        for lane in 0..4 {
            let all: Vec<u8> = (0..23).map(|k| (k + 40 * lane) as u8).collect();
            local.write(lane, 0, &all);
        }
        for lane in 0..4 {
            let first = 40 * lane as u8;
            let mut part = [0; 9];
            local.read(lane, 3, &mut part);
            assert_eq!(part, std::array::from_fn(|k| first + 3 + k as u8));
            assert_eq!(local.get::<1>(lane, 22), [first + 22]);
            assert_eq!(local.get::<2>(lane, 6), [first + 6, first + 7]);
            let eight: [u8; 8] = std::array::from_fn(|k| first + 8 + k as u8);
            assert_eq!(local.get::<8>(lane, 8), eight);
        }
    }

    #[test]
    fn a_lane_leaves_the_others_alone() {
        let mut local = LocalMemory::<4>::default();
        local.reset(16);
        local.put(2, 8, [1, 2, 3, 4, 5, 6, 7, 8]);
        local.put(2, 2, [9, 9]);
        local.put(2, 0, [7]);
        let lane = |lane| {
            let mut bytes = [0; 16];
            local.read(lane, 0, &mut bytes);
            bytes
        };
        assert_eq!(lane(2), [7, 0, 9, 9, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!((lane(1), lane(3)), ([0; 16], [0; 16]));
        local.reset(8);
        assert_eq!(local.get::<8>(2, 0), [0; 8]);
    }
}
