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

    /// How many parts there are.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// The cycle in which the first of them has something to do.
    #[inline]
    pub fn next(&self) -> T {
        self.next
    }

    /// The cycle in which this one has.
    #[inline]
    pub fn of(&self, part: usize) -> T {
        self.parts[part]
    }

    /// The part has something to do in `cycle`, if not before.
    #[inline]
    pub fn lower(&mut self, part: usize, cycle: T) {
        self.parts[part] = self.parts[part].min(cycle);
        let group = &mut self.groups[part / GROUP];
        *group = (*group).min(cycle);
        self.next = self.next.min(cycle);
    }

    /// The part has something to do in `cycle`, whatever was known before.
    #[inline]
    pub fn set(&mut self, part: usize, cycle: T) {
        if cycle > self.parts[part] {
            self.parts[part] = cycle;
            self.look_at_all();
        } else {
            self.lower(part, cycle);
        }
    }

    /// Finds out what is known of groups of parts.
    fn look_at_all(&mut self) {
        let groups = self.parts.chunks(GROUP);
        for (group, parts) in self.groups.iter_mut().zip(groups) {
            *group = smallest(parts);
        }
        self.next = smallest(&self.groups);
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

    /// For parts with two lists: calls `due` for each that by one of them has something to do
    /// before cycle `end`, in order. They have nothing to do any more by either list then, until they
    /// are given something again.
    #[inline]
    pub fn take(lists: [&mut WakeList<T>; 2], end: T, mut due: impl FnMut(usize)) {
        let [a, b] = lists;
        (a.next, b.next) = (T::NEVER, T::NEVER);
        for number in 0..a.groups.len().min(b.groups.len()) {
            let (first_a, first_b) = (&mut a.groups[number], &mut b.groups[number]);
            if (*first_a).min(*first_b) < end {
                let first = number * GROUP;
                let last = (first + GROUP).min(a.parts.len()).min(b.parts.len());
                let parts = [&mut a.parts[first..last], &mut b.parts[first..last]];
                [*first_a, *first_b] = take_from(parts, end, |part| due(first + part));
            }
            a.next = a.next.min(*first_a);
            b.next = b.next.min(*first_b);
        }
    }
}

/// Takes those of a group that are due; returns what is the smallest of those that are left.
#[inline]
fn take_from<T: Moment>(lists: [&mut [T]; 2], end: T, mut due: impl FnMut(usize)) -> [T; 2] {
    let [a, b] = lists;
    let mut left = [T::NEVER; 2];
    for (part, (a, b)) in a.iter_mut().zip(b).enumerate() {
        if (*a).min(*b) < end {
            (*a, *b) = (T::NEVER, T::NEVER);
            due(part);
        } else {
            left = [left[0].min(*a), left[1].min(*b)];
        }
    }
    left
}

#[inline]
fn smallest<T: Moment>(times: &[T]) -> T {
    times.iter().fold(T::NEVER, |a, &b| a.min(b))
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
            steps in prop::collection::vec((0u8..4, 0usize..40, 0u64..60), 1..80),
        ) {
            let mut lists = [WakeList::new(parts), WakeList::new(parts)];
            let mut plain = [vec![Cycle::NEVER; parts], vec![Cycle::NEVER; parts]];
            for (what, number, time) in steps {
                let (which, part, cycle) = (number % 2, number % parts, Cycle::new(time));
                let (list, known) = (&mut lists[which], &mut plain[which]);
                match what {
                    0 => {
                        list.lower(part, cycle);
                        known[part] = known[part].min(cycle);
                    }
                    1 => {
                        list.set(part, cycle);
                        known[part] = cycle;
                    }
                    2 => {
                        let mut ran = Vec::new();
                        list.run(cycle, |part| {
                            ran.push(part);
                            cycle + 1 + part as u64
                        });
                        let due = (0..parts).filter(|&p| known[p] <= cycle);
                        prop_assert_eq!(&ran, &due.collect::<Vec<_>>());
                        ran.iter().for_each(|&p| known[p] = cycle + 1 + p as u64);
                    }
                    _ => {
                        let [a, b] = &mut lists;
                        let mut taken = Vec::new();
                        WakeList::take([a, b], cycle, |part| taken.push(part));
                        let due = (0..parts).filter(|&p| plain[0][p].min(plain[1][p]) < cycle);
                        prop_assert_eq!(&taken, &due.collect::<Vec<_>>());
                        for known in &mut plain {
                            taken.iter().for_each(|&p| known[p] = Cycle::NEVER);
                        }
                    }
                }
                for (list, known) in lists.iter().zip(&plain) {
                    prop_assert_eq!(list.next(), smallest(known));
                    prop_assert!((0..parts).all(|p| list.of(p) == known[p]));
                }
            }
        }
    }
}
