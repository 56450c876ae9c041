//! First in, first out: the line goes that came first, however often it was used since.

use super::{Policy, Replacement, Ways};
use warpsim_machine::mechanism::Info;

/// The policy: when each line came.
#[derive(Debug)]
struct Fifo {
    ways: usize,
    came: Vec<u64>,
    clock: u64,
}

impl Replacement for Fifo {
    fn reserved(&mut self, set: usize, way: usize) {
        self.clock += 1;
        self.came[set * self.ways + way] = self.clock;
    }

    fn hit(&mut self, _: usize, _: usize) {}

    fn victim(&self, set: usize, among: &Ways) -> usize {
        let came = |way: &usize| self.came[set * self.ways + way];
        among.iter().min_by_key(came).unwrap_or(0)
    }
}

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "fifo",
        description: "first in, first out: the line that came first makes room, however often it was used since",
        parameters: &[],
    },
    make: |_, sets, ways| {
        Box::new(Fifo {
            ways,
            came: vec![0; sets * ways],
            clock: 0,
        })
    },
};

#[cfg(test)]
mod tests {
    use super::super::properties::Set;
    use super::*;
    use warpsim_machine::mechanism::Values;

    #[test]
    fn the_first_that_came_goes_although_it_was_just_used() {
        let mut set = Set::new((POLICY.make)(&Values::default(), 1, 3), 3);
        set.bring_all(&['a', 'b', 'c', 'a', 'a']);
        assert_eq!(set.bring('d'), Some('a'));
        assert_eq!(set.bring('b'), None, "it is still there");
        assert_eq!(set.bring('e'), Some('b'));
        assert_eq!(set.bring('a'), Some('c'));
    }
}
