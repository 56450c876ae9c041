//! Names as they are written. A file has few different ones and names them over and over: each is
//! kept once and shared.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A name. A copy of it costs next to nothing, and it is one word: trees are full of them.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<Box<str>>);

impl Name {
    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the other one is a copy of this one. Names that are not may still read the same.
    #[inline]
    pub(crate) fn is(&self, other: &Name) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Where it is kept, while it or a copy is.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
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
        Name(Arc::new(text.into()))
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        Name(Arc::new(text.into()))
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
/// way to hash them is slow for short ones. Hashes differ from run to run, so that no input can choose
/// names that fall together: nothing may depend on a table's order.
pub(crate) type NameTable<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
