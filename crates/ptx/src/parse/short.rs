//! A table in front of a table: what short texts stand for, by their bytes. Nearly all names and
//! mnemonics are short, and a handful of them is what a stretch of a file consists of; finding one
//! here takes a comparison of two numbers.

/// The longest text that is kept here.
const LONGEST: usize = 16;
/// Texts that are kept at once. One that falls on the place of another drives it out.
const PLACES: usize = 1024;

/// What short texts stand for, as far as it is remembered.
pub(super) struct Short<T> {
    /// Empty until something is remembered.
    list: Vec<Option<(u128, T)>>,
}

impl<T> Default for Short<T> {
    fn default() -> Self {
        Short { list: Vec::new() }
    }
}

impl<T: Clone> Short<T> {
    /// What `text[start..end]` stands for, if it is remembered.
    #[inline]
    pub(super) fn get(&self, text: &str, start: usize, end: usize) -> Option<&T> {
        let key = key(text, start, end)?;
        match self.list.get(place(key))? {
            Some((held, value)) if *held == key => Some(value),
            _ => None,
        }
    }

    /// Remembers what `text[start..end]` stands for, if it is short.
    pub(super) fn remember(&mut self, text: &str, start: usize, end: usize, value: &T) {
        let Some(key) = key(text, start, end) else {
            return;
        };
        if self.list.is_empty() {
            self.list.resize(PLACES, None);
        }
        self.list[place(key)] = Some((key, value.clone()));
    }
}

/// The bytes of a short text as a number. No text of PTX tokens has a NUL in it, so that those of
/// different lengths differ. Near the end of a file, where fewer bytes can be taken at once, no text
/// is short.
#[inline]
fn key(text: &str, start: usize, end: usize) -> Option<u128> {
    let length = end - start;
    let bytes = text.as_bytes().get(start..start + LONGEST)?;
    let all = u128::from_le_bytes(bytes.try_into().ok()?);
    (1..=LONGEST)
        .contains(&length)
        .then(|| all & u128::MAX >> (8 * (LONGEST - length)))
}

/// Names differ in their last characters, a register's in the third or fourth.
#[inline]
fn place(key: u128) -> usize {
    let folded = (key as u64) ^ ((key >> 64) as u64).rotate_left(29);
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_apart_by_all_their_bytes() {
        let text = "%r1 %r10 %r1 mad.lo.s32 mad.lo.u32 a_name_that_is_long and then the end......";
        let words: Vec<(usize, usize)> = text
            .split(' ')
            .map(|word| word.as_ptr() as usize - text.as_ptr() as usize)
            .zip(text.split(' ').map(str::len))
            .map(|(start, length)| (start, start + length))
            .collect();
        let mut short = Short::default();
        for (start, end) in &words {
            short.remember(text, *start, *end, &&text[*start..*end]);
        }
        let mut found = 0;
        for (start, end) in &words {
            if let Some(held) = short.get(text, *start, *end) {
                assert_eq!(*held, &text[*start..*end]);
                found += 1;
            }
        }
        // All but the long one and, unless two fell together, those at the end of the text.
        assert!(found >= 6, "{found}");
        assert_eq!(short.get(text, words[5].0, words[5].1), None);
    }

    #[test]
    fn more_than_there_are_places_are_never_mistaken_for_each_other() {
        let text: String = (10_000..20_000).map(|n| format!("%r{n}")).collect();
        let mut short = Short::default();
        for n in 0..9_990 {
            short.remember(&text, 7 * n, 7 * n + 7, &n);
        }
        let right = |n: usize| {
            short
                .get(&text, 7 * n, 7 * n + 7)
                .is_none_or(|held| *held == n)
        };
        assert!((0..9_990).all(right));
        assert_eq!(short.get(&text, 7 * 9_989, 7 * 9_989 + 7), Some(&9_989));
    }
}
