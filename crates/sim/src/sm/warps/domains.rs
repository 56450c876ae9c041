//! All domains of an SM, found by their numbers.

use super::domain::Domain;
use crate::sm::limits::MOST_DOMAINS;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// The domains: as a slice, those that are kept. There is room for the most that an SM may have, so
/// that finding one takes no check; it is what the cycle does most.
#[derive(Debug)]
pub(super) struct Domains {
    all: Box<[Domain; MOST_DOMAINS]>,
    count: usize,
    /// All of them, or one for all: see [`lockstep`](super::lockstep).
    kept: usize,
}

impl Domains {
    /// So many, without warps.
    pub fn new(count: usize) -> Domains {
        assert!(count <= MOST_DOMAINS, "the machine has been validated");
        let all: Box<[Domain]> = vec![Domain::default(); MOST_DOMAINS].into();
        Domains {
            all: all.try_into().expect("so many"),
            count,
            kept: count,
        }
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// From now on the first one stands for all.
    pub fn keep_first(&mut self) {
        self.kept = 1;
    }

    /// From now on each stands for itself, and is what the first one was.
    pub fn keep_all(&mut self) {
        let (first, others) = self.all.split_at_mut(1);
        others[..self.count - 1].fill(first[0].clone());
        self.kept = self.count;
    }
}

impl Deref for Domains {
    type Target = [Domain];
    #[inline]
    fn deref(&self) -> &[Domain] {
        &self.all[..self.kept]
    }
}

impl DerefMut for Domains {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Domain] {
        &mut self.all[..self.kept]
    }
}

impl Index<usize> for Domains {
    type Output = Domain;
    #[inline]
    fn index(&self, d: usize) -> &Domain {
        debug_assert!(d < self.kept);
        &self.all[d % MOST_DOMAINS]
    }
}

impl IndexMut<usize> for Domains {
    #[inline]
    fn index_mut(&mut self, d: usize) -> &mut Domain {
        debug_assert!(d < self.kept);
        &mut self.all[d % MOST_DOMAINS]
    }
}
