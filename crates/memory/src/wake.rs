//! When each of several alike parts has something to do next: their side of the
//! [wake contract](crate::time).

use crate::time::{Cycle, Moment};

/// Neighbours, of which the first to have something to do is known: a machine has a hundred SMs and
/// slices, of which few have something to do in most cycles, and looking at all would take longer
/// than what those do.
const GROUP: usize = 8;

/// The `next` of each part, with the smallest of them at hand. They may be ticks of another clock than the core's.
#[derive(Clone, Debug)]
pub struct WakeList<T = Cycle> {
    parts: Vec<T>,
    /// The smallest of each [`GROUP`] of parts.
    groups: Vec<T>,
    /// The smallest of all.
    next: T,
}

impl<T: Moment> WakeList<T> {
    /// `parts` parts with nothing to do.
    pub fn new(parts: usize) -> WakeList<T> {
        WakeList::starting(parts, T::NEVER)
    }

    /// `parts` parts that all have something to do in `cycle`.
    pub fn starting(parts: usize, cycle: T) -> WakeList<T> {
        WakeList {
            parts: vec![cycle; parts],
            groups: vec![cycle; parts.div_ceil(GROUP)],
            next: cycle,
        }
    }

    /// The cycle in which the first of them has something to do.
    #[inline]
    pub fn next(&self) -> T {
        self.next
    }

    /// The part has something to do in `cycle`, if not before.
    #[inline]
    pub fn lower(&mut self, part: usize, cycle: T) {
        self.parts[part] = self.parts[part].min(cycle);
        let group = &mut self.groups[part / GROUP];
        *group = (*group).min(cycle);
        self.next = self.next.min(cycle);
    }

    /// Runs the parts that have something to do in `cycle`; `run` returns when its part has
    /// something to do again.
    #[inline]
    pub fn run(&mut self, cycle: T, mut run: impl FnMut(usize) -> T) {
        let mut next = T::NEVER;
        for (number, group) in self.groups.iter_mut().enumerate() {
            if *group <= cycle {
                let first = number * GROUP;
                let last = (first + GROUP).min(self.parts.len());
                let mut left = T::NEVER;
                for (part, time) in (first..).zip(&mut self.parts[first..last]) {
                    if *time <= cycle {
                        *time = run(part);
                    }
                    left = left.min(*time);
                }
                *group = left;
            }
            next = next.min(*group);
        }
        self.next = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_smallest_follows_the_parts() {
        let mut list = WakeList::new(3);
        assert_eq!(list.next(), Cycle::NEVER);
        let [ten, twelve, fifteen, twenty, thirty] = [10, 12, 15, 20, 30].map(Cycle::new);
        list.lower(1, twenty);
        list.lower(2, ten);
        list.lower(2, fifteen);
        assert_eq!(list.next(), ten);
        let mut ran = Vec::new();
        list.run(twelve, |part| {
            ran.push(part);
            thirty
        });
        assert_eq!((ran, list.next()), (vec![2], twenty));
    }

    proptest! {
        /// What is known of groups and of all is what looking at each part would tell, whatever is
        /// done; and no part is forgotten.
        #[test]
        fn groups_know_what_their_parts_do(
            parts in 1usize..40,
            steps in prop::collection::vec((any::<bool>(), 0usize..40, 0u64..60), 1..80),
        ) {
            let mut list = WakeList::new(parts);
            let mut known = vec![Cycle::NEVER; parts];
            for (lowers, number, time) in steps {
                let (part, cycle) = (number % parts, Cycle::new(time));
                if lowers {
                    list.lower(part, cycle);
                    known[part] = known[part].min(cycle);
                } else {
                    let mut ran = Vec::new();
                    list.run(cycle, |part| {
                        ran.push(part);
                        cycle + 1 + part as u64
                    });
                    let due = (0..parts).filter(|&p| known[p] <= cycle);
                    prop_assert_eq!(&ran, &due.collect::<Vec<_>>());
                    ran.iter().for_each(|&p| known[p] = cycle + 1 + p as u64);
                }
                let first = known.iter().fold(Cycle::NEVER, |a, &b| a.min(b));
                prop_assert_eq!(list.next(), first);
                prop_assert_eq!(&list.parts, &known);
            }
        }
    }
}
