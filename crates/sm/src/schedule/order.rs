//! Warps of a domain by age, kept as they come and go.

use crate::place::each;

/// Indices of the warps of one domain, by age.
#[derive(Clone, Debug, Default)]
pub struct AgeOrder {
    /// The warps that are among them, a bit each.
    members: u64,
    /// By index: those that are older, a bit each.
    older: Vec<u64>,
    age: Vec<u64>,
    /// The age of the youngest that has come.
    youngest: u64,
}

impl AgeOrder {
    /// Adds a warp, which is not among them; most often it is the youngest.
    pub fn add(&mut self, index: u8, age: u64) {
        debug_assert!(self.members >> index & 1 == 0);
        if self.age.len() <= index as usize {
            self.age.resize(index as usize + 1, 0);
            self.older.resize(index as usize + 1, 0);
        }
        self.age[index as usize] = age;
        self.older[index as usize] = self.members;
        self.members |= 1 << index;
        if age <= self.youngest {
            self.put_before(index, age);
        }
        self.youngest = self.youngest.max(age);
    }

    /// A warp that came last is not the youngest.
    #[cold]
    fn put_before(&mut self, index: u8, age: u64) {
        for other in each(self.older[index as usize]) {
            if age <= self.age[other] {
                self.older[index as usize] &= !(1 << other);
                self.older[other] |= 1 << index;
            }
        }
    }

    /// Removes a warp.
    pub fn remove(&mut self, index: u8) {
        self.members &= !(1 << index);
        for older in &mut self.older {
            *older &= !(1 << index);
        }
    }

    /// The oldest of a set.
    #[inline]
    pub fn oldest(&self, among: u64) -> Option<u8> {
        let mut left = among & self.members;
        if left == 0 {
            return None;
        }
        // Each step leaves those that are older than one of them: most often there are few, since
        // warps that come together sit by age.
        loop {
            let first = left.trailing_zeros() as u8;
            left &= self.older[first as usize];
            if left == 0 {
                return Some(first);
            }
        }
    }

    /// Whether `a` is older than `b`.
    #[inline]
    pub fn older(&self, a: u8, b: u8) -> bool {
        self.age[a as usize] < self.age[b as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_a_set_is_the_one_that_came_first_wherever_it_sits() {
        let mut order = AgeOrder::default();
        for (index, age) in [(5, 1), (63, 2), (0, 3), (9, 4)] {
            order.add(index, age);
        }
        assert_eq!(order.oldest(!0), Some(5));
        assert_eq!(order.oldest(!(1 << 5)), Some(63));
        assert_eq!(order.oldest(1 << 0 | 1 << 9), Some(0));
        assert_eq!(order.oldest(1 << 7), None, "no warp is there");
        order.remove(5);
        assert_eq!(order.oldest(!0), Some(63));
        order.add(5, 5);
        assert_eq!(
            order.oldest(1 << 5 | 1 << 9),
            Some(9),
            "it came again, last"
        );
        assert!(order.older(63, 0) && !order.older(5, 63));
        order.add(30, 0);
        assert_eq!(
            order.oldest(!0),
            Some(30),
            "it is older than all that came before"
        );
    }
}
