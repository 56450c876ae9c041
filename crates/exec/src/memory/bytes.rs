//! The bytes of an allocation: its own, or lent from outside.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, slice_from_raw_parts_mut};
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Memory that another process sees, too: pages that both have mapped.
///
/// # Safety
/// What [`Lend::bytes`] says can be read and written for as long as the value lives, always at the same place, and nothing else in this
/// process does so.
pub unsafe trait Lend: Send + Sync {
    /// Where the bytes are.
    fn bytes(&self) -> NonNull<[u8]>;
}

/// Bytes at a place that does not change.
pub struct Bytes {
    start: NonNull<u8>,
    length: usize,
    /// The owner of lent bytes; none where they are on the heap.
    lent: Option<Box<dyn Lend>>,
}

// SAFETY: what is on the heap is this value's alone, and lenders promise it of theirs.
unsafe impl Send for Bytes {}
// SAFETY: as above; bytes are changed through `&mut` alone.
unsafe impl Sync for Bytes {}

impl Bytes {
    /// So many zeros.
    pub fn zeroed(length: usize) -> Bytes {
        Bytes::from(vec![0; length])
    }

    /// Bytes that are lent.
    pub fn lent(lender: Box<dyn Lend>) -> Bytes {
        let bytes = lender.bytes();
        Bytes {
            start: bytes.cast(),
            length: bytes.len(),
            lent: Some(lender),
        }
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        let bytes = Box::leak(bytes.into_boxed_slice());
        Bytes {
            length: bytes.len(),
            start: NonNull::from(bytes).cast(),
            lent: None,
        }
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if self.lent.is_none() {
            // SAFETY: this is the slice that `from` took apart.
            unsafe {
                drop(Box::from_raw(slice_from_raw_parts_mut(
                    self.start.as_ptr(),
                    self.length,
                )))
            };
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes are there as long as `self` is.
        unsafe { from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl DerefMut for Bytes {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and no other reference to them exists.
        unsafe { from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl Clone for Bytes {
    /// A copy of its own.
    fn clone(&self) -> Bytes {
        Bytes::from(self.to_vec())
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lent = if self.lent.is_some() { ", lent" } else { "" };
        write!(f, "{} bytes{lent}", self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Lends what it has leaked, and counts how often it was given back.
    struct Lender(NonNull<[u8]>, Arc<AtomicU32>);

    // SAFETY: the bytes were leaked for it.
    unsafe impl Send for Lender {}
    // SAFETY: as above.
    unsafe impl Sync for Lender {}
    // SAFETY: as above.
    unsafe impl Lend for Lender {
        fn bytes(&self) -> NonNull<[u8]> {
            self.0
        }
    }

    impl Drop for Lender {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
            // SAFETY: it was leaked for this.
            unsafe { drop(Box::from_raw(self.0.as_ptr())) };
        }
    }

    #[test]
    fn lent_bytes_are_written_where_they_are_and_given_back() {
        let back = Arc::new(AtomicU32::new(0));
        let place = NonNull::from(Box::leak(vec![1u8, 2, 3].into_boxed_slice()));
        let mut bytes = Bytes::lent(Box::new(Lender(place, back.clone())));
        bytes[1] = 20;
        // SAFETY: it lives as long as `bytes`.
        assert_eq!(unsafe { place.as_ref() }, [1, 20, 3]);
        let copy = bytes.clone();
        drop(bytes);
        assert_eq!(back.load(Ordering::Relaxed), 1);
        assert_eq!(&copy[..], [1, 20, 3]);
    }

    #[test]
    fn own_bytes_are_zeros_at_first() {
        let mut bytes = Bytes::zeroed(5);
        assert_eq!(&bytes[..], [0; 5]);
        bytes[4] = 9;
        assert_eq!(bytes.clone()[4], 9);
        assert!(Bytes::zeroed(0).is_empty());
    }
}
