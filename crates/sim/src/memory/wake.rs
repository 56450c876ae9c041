//! When each of several alike parts has something to do next: their side of the
//! [wake contract](crate::time).

use crate::time::Cycle;

/// The `next` of each part, with the smallest of them at hand.
#[derive(Clone, Debug)]
pub struct WakeList {
    parts: Vec<Cycle>,
    next: Cycle,
}

impl WakeList {
    /// `parts` parts with nothing to do.
    pub fn new(parts: usize) -> WakeList {
        WakeList {
            parts: vec![Cycle::NEVER; parts],
            next: Cycle::NEVER,
        }
    }

    /// The cycle in which the first of them has something to do.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.next
    }

    /// The part has something to do in `cycle`, if not before.
    #[inline]
    pub fn lower(&mut self, part: usize, cycle: Cycle) {
        self.parts[part] = self.parts[part].min(cycle);
        self.next = self.next.min(cycle);
    }

    /// Runs the parts that have something to do in `cycle`; `run` returns when its part has
    /// something to do again.
    #[inline]
    pub fn run(&mut self, cycle: Cycle, mut run: impl FnMut(usize) -> Cycle) {
        let mut smallest = Cycle::NEVER;
        for (part, next) in self.parts.iter_mut().enumerate() {
            if *next <= cycle {
                *next = run(part);
            }
            smallest = smallest.min(*next);
        }
        self.next = smallest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
