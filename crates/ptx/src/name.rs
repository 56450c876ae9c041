//! Names as they are written. A file has few different ones and names them over and over: each is
//! kept once and shared.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Deref;
use std::sync::Arc;

/// A name. A copy of it costs next to nothing.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

impl Name {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        self
    }
}

impl Default for Name {
    fn default() -> Name {
        Name::from("")
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name(text.into())
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        Name(text.into())
    }
}

impl From<&Name> for String {
    fn from(name: &Name) -> String {
        name.to_string()
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl PartialEq<String> for Name {
    fn eq(&self, other: &String) -> bool {
        **self == **other
    }
}

impl PartialEq<Name> for String {
    fn eq(&self, other: &Name) -> bool {
        **self == **other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        <str as fmt::Display>::fmt(self, f)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        <str as fmt::Debug>::fmt(self, f)
    }
}

/// A table by name. Looking names up is much of what reading a file is, and the standard library's
/// way to hash them is slow for short ones.
pub(crate) type NameTable<K, V> = HashMap<K, V, Mixing>;

/// Hashes differ from table to table, so that nobody can choose names that fall together.
#[derive(Clone, Debug)]
pub(crate) struct Mixing(u64);

impl Default for Mixing {
    fn default() -> Mixing {
        Mixing(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for Mixing {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer(self.0)
    }
}

/// Eight bytes at a time, each mixed in by a product of which both halves count.
pub(crate) struct Mixer(u64);

impl Mixer {
    /// An odd number with as many ones as zeros and no pattern: digits of the golden ratio.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(Self::FACTOR);
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.mix(u64::from_le_bytes(word.try_into().expect("eight bytes")));
        }
        let rest = words.remainder();
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.mix(u64::from_le_bytes(last) ^ (rest.len() as u64) << 56);
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.mix(u64::from(byte));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_rarely_fall_together() {
        let table = Mixing::default();
        let names = (0..100_000).map(|n| format!("%r{n}"));
        let hashes: HashSet<u64> = names.map(|name| table.hash_one(name.as_str())).collect();
        assert_eq!(hashes.len(), 100_000);
        // Tables look at some bits only, at both ends.
        for shift in [0, 57] {
            let mut counts = [0u32; 128];
            hashes
                .iter()
                .for_each(|h| counts[(h >> shift) as usize % 128] += 1);
            assert!(counts.iter().all(|c| (600..1000).contains(c)), "{counts:?}");
        }
        let other = Mixing::default();
        assert_ne!(table.hash_one("%r1"), other.hash_one("%r1"));
    }
}
