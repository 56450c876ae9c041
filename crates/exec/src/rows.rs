//! Words of registers in rows of 32 lanes, laid out for the host: a row is two lines of its cache, a pair
//! that is fetched together, and not parts of three. Most instructions find some of their rows only
//! in the second level, so lines are what they wait for.

use std::ops::{Deref, DerefMut};

/// Words in a row.
const WORDS: usize = 32;

/// A row, aligned to what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(128))]
pub struct Row(pub [u32; WORDS]);

/// Rows as one slice of words. Who has rows rather than words lets the compiler know how these are aligned.
#[inline(always)]
pub fn words(rows: &[Row]) -> &[u32] {
    // SAFETY: a row is its words and nothing else (its size is a multiple of its alignment), and
    // rows lie one behind the other.
    unsafe { std::slice::from_raw_parts(rows.as_ptr().cast(), rows.len() * WORDS) }
}

/// The same, to be changed.
#[inline(always)]
pub fn words_mut(rows: &mut [Row]) -> &mut [u32] {
    // SAFETY: as above; every word is a valid part of a row.
    unsafe { std::slice::from_raw_parts_mut(rows.as_mut_ptr().cast(), rows.len() * WORDS) }
}

/// Rows in a row, used as one slice of words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows(Vec<Row>);

impl Rows {
    /// So many rows of zeros, whatever there was.
    pub fn reset(&mut self, rows: usize) {
        self.0.clear();
        self.resize(rows);
    }

    /// So many rows; those that are new are zeros.
    pub fn resize(&mut self, rows: usize) {
        self.0.resize(rows, Row([0; WORDS]));
    }

    /// All of them.
    #[inline(always)]
    pub fn rows(&self) -> &[Row] {
        &self.0
    }

    /// All of them, to be changed.
    #[inline(always)]
    pub fn rows_mut(&mut self) -> &mut [Row] {
        &mut self.0
    }

    /// Adds a row.
    pub fn push(&mut self, row: &[u32; WORDS]) {
        self.0.push(Row(*row));
    }
}

impl Deref for Rows {
    type Target = [u32];
    #[inline(always)]
    fn deref(&self) -> &[u32] {
        words(&self.0)
    }
}

impl DerefMut for Rows {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u32] {
        words_mut(&mut self.0)
    }
}

const _: () = assert!(size_of::<Row>() == WORDS * size_of::<u32>());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_words_one_behind_the_other_and_begin_where_a_pair_of_lines_does() {
        let mut rows = Rows::default();
        assert!(rows.is_empty());
        rows.push(&std::array::from_fn(|i| i as u32));
        rows.push(&std::array::from_fn(|i| 100 + i as u32));
        assert_eq!((rows.len(), rows[31], rows[32]), (64, 31, 100));
        assert_eq!(rows.as_ptr().align_offset(128), 0);
        rows[63] = 7;
        rows.resize(3);
        assert_eq!((rows.len(), rows[63], rows[64]), (96, 7, 0));
        rows.reset(1);
        assert_eq!(rows[..], [0; 32]);
    }
}
