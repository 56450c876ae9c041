//! Random changes of an input: of bytes, of words that the formats know, of whole lines.

/// A source of random numbers that is the same everywhere.
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `n`, which is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % n.max(1) as u64) as usize
    }
}

/// Words and numbers at the edges of things.
const WORDS: &[&str] = &[
    "0",
    "1",
    "-1",
    "31",
    "32",
    "33",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "0x",
    "0xffffffff",
    "0f7F800000",
    "0d7FF0000000000000",
    "1e308",
    "1e999",
    "nan",
    "\"",
    "\\",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    ";",
    ",",
    ".",
    "=",
    "/*",
    "*/",
    "//",
    "#",
    "\n",
    "%r1",
    "%p1",
    "%rd1",
    "@%p1",
    "@!",
    ".u32",
    ".f64",
    ".pred",
    ".shared",
    ".param",
    ".align 8",
    "ret;",
    "bra L;",
    "L:",
    ".entry",
    ".func",
    ".reg",
    "true",
    "false",
    "schema = 1",
    "[[steps]]",
    "extends = \"gtx480\"",
    "é",
    "\u{0}",
];

/// Longest input that is made.
const LONGEST: usize = 1 << 16;

/// Changes an input in one to six ways; `other` is another one, to take parts from.
pub fn mutate(random: &mut Random, input: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..1 + random.below(6) {
        change(random, &mut bytes, other);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8]) {
    let at = random.below(bytes.len() + 1);
    match random.below(10) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = random.below(256) as u8,
        2 => bytes.insert(at, random.below(256) as u8),
        3 => {
            let end = (at + 1 + random.below(16)).min(bytes.len());
            bytes.drain(at..end);
        }
        4 | 5 => {
            let word = WORDS[random.below(WORDS.len())].as_bytes();
            bytes.splice(at..at, word.iter().copied());
        }
        6 => {
            // A number becomes another.
            if let Some(from) = (at..bytes.len()).find(|i| bytes[*i].is_ascii_digit()) {
                let digits = bytes[from..].iter().take_while(|b| b.is_ascii_digit());
                let end = from + digits.count();
                let word = WORDS[random.below(13)].as_bytes();
                bytes.splice(from..end, word.iter().copied());
            }
        }
        7 => {
            // Lines change places, or one is there twice.
            let [a, b] = [0; 2].map(|_| line(bytes, random.below(bytes.len() + 1)));
            let copied = bytes[a].to_vec();
            bytes.splice(b.start..b.start, copied);
        }
        8 => {
            let gone = line(bytes, at);
            bytes.drain(gone);
        }
        _ => {
            let from = random.below(other.len() + 1);
            let end = (from + random.below(200)).min(other.len());
            bytes.splice(at..at, other[from..end].iter().copied());
        }
    }
}

/// The line that a place is in, its end included.
fn line(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let before = bytes[..at].iter().rposition(|b| *b == b'\n');
    let behind = bytes[at..].iter().position(|b| *b == b'\n');
    before.map_or(0, |b| b + 1)..behind.map_or(bytes.len(), |b| at + b + 1)
}
