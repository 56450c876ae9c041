//! Logs as text, and what the kernels read from them.

use crate::input::random::Random;

/// Lines one after the other, and where each begins: at a multiple of eight bytes, which the
/// kernels compare at a time.
pub(super) struct Text {
    pub(super) bytes: Vec<u8>,
    pub(super) lines: Vec<u32>,
}

impl Text {
    /// From its lines.
    pub(super) fn new(lines: impl Iterator<Item = String>) -> Text {
        let mut text = Text {
            bytes: Vec::new(),
            lines: Vec::new(),
        };
        for line in lines {
            text.lines.push(text.bytes.len() as u32);
            text.bytes.extend(line.bytes());
            let end = text.bytes.len() + 1;
            text.bytes.resize(end.next_multiple_of(8), b'\n');
        }
        text
    }

    /// A stretch of it.
    pub(super) fn part(&self, at: u32, length: u32) -> &[u8] {
        &self.bytes[at as usize..(at + length) as usize]
    }

    /// The words of the line that begins at `at`, with their places.
    pub(super) fn words(&self, at: u32) -> Vec<(u32, u32)> {
        let rest = &self.bytes[at as usize..];
        let line = rest.split(|b| *b == b'\n').next().unwrap_or_default();
        let mut next = at;
        line.split(|b| *b == b' ')
            .map(|word| {
                let found = (next, word.len() as u32);
                next += found.1 + 1;
                found
            })
            .collect()
    }

    /// A word as a number.
    pub(super) fn number(&self, (at, length): (u32, u32)) -> u32 {
        let digit = |n: u32, b: &u8| n * 10 + u32::from(b - b'0');
        self.part(at, length).iter().fold(0, digit)
    }
}

/// The kernels' hash of 16 bits.
pub(super) fn hash(bytes: &[u8]) -> u32 {
    let step = |hash: u32, b: &u8| (hash ^ u32::from(*b)).wrapping_mul(0x0100_0193);
    let hash = bytes.iter().fold(0x811c_9dc5, step);
    (hash ^ hash >> 16) & 0xffff
}

/// A number below `count`, small ones more often: the n-th about as often as one over the root of n.
pub(super) fn popular(count: u32, random: &mut Random) -> u32 {
    let n = f64::from(count) * random.unit().powi(2);
    (n as u32).min(count - 1)
}

/// The path of a page: sections of different depth and length.
pub(super) fn page(number: u32) -> String {
    let section = ["news", "a", "sport", "archive", "shop", "help"][number as usize % 6];
    match number % 4 {
        0 => format!("/{section}/{number}.html"),
        1 => format!("/{section}/{}/p{number}.html", number % 10),
        _ => format!("/{section}{number}.html"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_places_and_numbers_are_read() {
        let lines = ["/a.html 10.0.0.1 200", "/b 7"];
        let text = Text::new(lines.into_iter().map(String::from));
        assert_eq!(text.lines, [0, 24]);
        assert_eq!(text.words(24), [(24, 2), (27, 1)]);
        assert_eq!(text.number(text.words(0)[2]), 200);
        assert_eq!(text.part(0, 7), b"/a.html");
    }

    #[test]
    fn hashes_have_sixteen_bits() {
        // FNV-1a of "a" is e40c292c.
        assert_eq!(hash(b"a"), 0xe40c ^ 0x292c);
    }

    #[test]
    fn small_numbers_are_popular() {
        let mut random = Random::new(1, "popular");
        let drawn: Vec<u32> = (0..1000).map(|_| popular(1000, &mut random)).collect();
        let below = |n: u32| drawn.iter().filter(|d| **d < n).count();
        assert!(drawn.iter().all(|d| *d < 1000));
        assert!(below(250) > 400 && below(250) < 600, "{}", below(250));
    }
}
