//! Little-endian numbers at an offset, or an error that says where they lack.

use crate::error::Error;

/// Part of a file: its bytes and where they begin in the whole.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'a> {
    pub(crate) all: &'a [u8],
    pub(crate) before: usize,
}

impl<'a> Bytes<'a> {
    /// `count` bytes from `at`; `what` is what they are.
    pub(crate) fn part(self, at: usize, count: usize, what: &str) -> Result<&'a [u8], Error> {
        let end = at.checked_add(count);
        end.and_then(|end| self.all.get(at..end)).ok_or_else(|| {
            let there = self.all.len().saturating_sub(at);
            self.broken(
                at,
                format!("{what} should be {count} bytes, and {there} are left"),
            )
        })
    }

    pub(crate) fn u16(self, at: usize, what: &str) -> Result<u16, Error> {
        let part = self.part(at, 2, what)?;
        Ok(u16::from_le_bytes([part[0], part[1]]))
    }

    pub(crate) fn u32(self, at: usize, what: &str) -> Result<u32, Error> {
        let part = self.part(at, 4, what)?;
        Ok(u32::from_le_bytes([part[0], part[1], part[2], part[3]]))
    }

    pub(crate) fn u64(self, at: usize, what: &str) -> Result<u64, Error> {
        let low = self.u32(at, what)?;
        let high = self.u32(at + 4, what)?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    pub(crate) fn broken(self, at: usize, what: impl Into<String>) -> Error {
        Error::broken(self.before.saturating_add(at), what)
    }
}

/// A size that a file claims, as this machine counts.
pub(crate) fn size(claimed: u64) -> usize {
    usize::try_from(claimed).unwrap_or(usize::MAX)
}
