//! All domains of an SM, found by their numbers.

use super::Domain;
use crate::sm::limits::MOST_DOMAINS;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// The domains, as a slice. There is room for the most that an SM may have, so that finding one takes no
/// check; it is what the cycle does most.
#[derive(Debug)]
pub struct Domains {
    all: Box<[Domain; MOST_DOMAINS]>,
    count: usize,
}

impl Domains {
    /// So many, without warps.
    pub fn new(count: usize) -> Domains {
        assert!(count <= MOST_DOMAINS, "the machine has been validated");
        let all: Box<[Domain]> = vec![Domain::default(); MOST_DOMAINS].into();
        Domains {
            all: all.try_into().expect("so many"),
            count,
        }
    }

    /// How many.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }
}

impl Deref for Domains {
    type Target = [Domain];
    #[inline]
    fn deref(&self) -> &[Domain] {
        &self.all[..self.count]
    }
}

impl DerefMut for Domains {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Domain] {
        &mut self.all[..self.count]
    }
}

impl Index<usize> for Domains {
    type Output = Domain;
    #[inline]
    fn index(&self, d: usize) -> &Domain {
        debug_assert!(d < self.count);
        &self.all[d % MOST_DOMAINS]
    }
}

impl IndexMut<usize> for Domains {
    #[inline]
    fn index_mut(&mut self, d: usize) -> &mut Domain {
        debug_assert!(d < self.count);
        &mut self.all[d % MOST_DOMAINS]
    }
}
