//! A queue of small things that are copied from place to place.
//!
//! Packets and requests pass through a dozen queues on their way, so that what a queue costs by itself is felt. This
//! one has a power of two of places, so that a position is found with a mask, and begins at its first place again
//! whenever it has run empty: a queue that is mostly short stays in few lines of the host's cache.

/// The queue.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    places: Box<[T]>,
    first: u32,
    len: u32,
}

/// Places that a queue has when it is first used.
const FIRST_PLACES: usize = 4;

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring {
            places: Box::default(),
            first: 0,
            len: 0,
        }
    }
}

impl<T: Copy> Ring<T> {
    /// An empty queue; it grows as it is used.
    pub fn new() -> Ring<T> {
        Ring::default()
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// There is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn place(&self, number: u32) -> usize {
        (self.first + number) as usize & (self.places.len() - 1)
    }

    /// The first.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        match self.len {
            0 => None,
            _ => Some(&self.places[self.first as usize]),
        }
    }

    /// The first, to change.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        match self.len {
            0 => None,
            _ => Some(&mut self.places[self.first as usize]),
        }
    }

    /// The last.
    #[inline]
    pub fn back(&self) -> Option<&T> {
        self.get(self.len().wrapping_sub(1))
    }

    /// The last, to change.
    pub fn back_mut(&mut self) -> Option<&mut T> {
        match self.len {
            0 => None,
            _ => Some(&mut self.places[self.place(self.len - 1)]),
        }
    }

    /// The one so many behind the first.
    #[inline]
    pub fn get(&self, number: usize) -> Option<&T> {
        match number < self.len() {
            true => Some(&self.places[self.place(number as u32)]),
            false => None,
        }
    }

    /// Another, behind all others.
    #[inline]
    pub fn push_back(&mut self, item: T) {
        if self.len() == self.places.len() {
            self.grow(item);
        }
        self.places[self.place(self.len)] = item;
        self.len += 1;
    }

    /// Takes the first.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let item = *self.front()?;
        self.drop_front();
        Some(item)
    }

    /// The first, of which there is one, has been seen to.
    #[inline]
    pub fn drop_front(&mut self) {
        self.len -= 1;
        self.first = match self.len {
            0 => 0,
            _ => self.place(1) as u32,
        };
    }

    /// The last, of which there is one, is taken back.
    #[inline]
    pub fn drop_back(&mut self) {
        self.len -= 1;
        if self.len == 0 {
            self.first = 0;
        }
    }

    /// Takes all of another queue, behind all others.
    #[inline]
    pub fn append(&mut self, other: &mut Ring<T>) {
        if self.is_empty() {
            return std::mem::swap(self, other);
        }
        let Some(&first) = other.front() else {
            return;
        };
        while self.len() + other.len() > self.places.len() {
            self.grow(first);
        }
        for number in 0..other.len {
            let place = self.place(self.len + number);
            self.places[place] = other.places[other.place(number)];
        }
        self.len += other.len;
        (other.first, other.len) = (0, 0);
    }

    /// Twice as many places. Those that are not used hold whatever there is at hand.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) {
        let places = (self.places.len() * 2).max(FIRST_PLACES);
        let mut all = Vec::with_capacity(places);
        let (behind, before) = self.places.split_at(self.first as usize);
        all.extend_from_slice(before);
        all.extend_from_slice(behind);
        all.resize(places, filler);
        (self.places, self.first) = (all.into(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_is_a_queue(steps in prop::collection::vec(0u8..9, 1..300)) {
            let (mut ring, mut plain) = (Ring::new(), VecDeque::new());
            let mut more = Ring::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    0..3 => prop_assert_eq!(ring.pop_front(), plain.pop_front()),
                    3 => {
                        if let (Some(a), Some(b)) = (ring.front_mut(), plain.front_mut()) {
                            (*a, *b) = (number, number);
                        }
                        prop_assert_eq!(ring.back_mut(), plain.back_mut());
                    }
                    5 if !plain.is_empty() => {
                        ring.drop_back();
                        plain.pop_back();
                    }
                    4 => {
                        for item in number..number + number % 4 {
                            more.push_back(item);
                            plain.push_back(item);
                        }
                        ring.append(&mut more);
                        prop_assert!(more.is_empty());
                    }
                    _ => {
                        ring.push_back(number);
                        plain.push_back(number);
                    }
                }
                prop_assert_eq!((ring.front(), ring.back()), (plain.front(), plain.back()));
                prop_assert_eq!((ring.len(), ring.is_empty()), (plain.len(), plain.is_empty()));
                prop_assert!((0..=plain.len()).all(|at| ring.get(at) == plain.get(at)));
            }
        }
    }
}
