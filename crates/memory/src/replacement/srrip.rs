//! Static re-reference interval prediction (Jaleel and others, ISCA 2010). Each line has a prediction of how far in the future
//! it is used again, in a few bits. A line that comes is taken for one that is used late, one
//! that is used again for one that is used soon. The line goes that is predicted latest; if that is not yet the
//! latest there is, all lines of the set have come closer to it by as much. So lines that are read
//! once do not push out those that are read again and again.

use super::{Policy, Replacement, Ways};
use warpsim_machine::mechanism::{Info, Integer};

const BITS: Integer = Integer {
    name: "bits",
    low: 1,
    high: 7,
    default: 2,
    unit: "bits",
    description: "size of each line's prediction",
};

/// The policy: each line's prediction, 0 for the very next use.
#[derive(Debug)]
struct Srrip {
    ways: usize,
    predicted: Vec<u8>,
    latest: u8,
}

impl Replacement for Srrip {
    fn reserved(&mut self, set: usize, way: usize) {
        let lines = &mut self.predicted[set * self.ways..(set + 1) * self.ways];
        // A way that was free has the latest prediction, and nothing comes closer.
        let closer = self.latest - lines[way];
        for line in lines.iter_mut() {
            *line = (*line + closer).min(self.latest);
        }
        lines[way] = self.latest - 1;
    }

    fn hit(&mut self, set: usize, way: usize) {
        self.predicted[set * self.ways + way] = 0;
    }

    fn invalidated(&mut self, set: usize, way: usize) {
        self.predicted[set * self.ways + way] = self.latest;
    }

    fn victim(&self, set: usize, among: &Ways) -> usize {
        let predicted = |way: usize| self.predicted[set * self.ways + way];
        let latest = among.iter().map(predicted).max();
        let first = among.iter().find(|&way| Some(predicted(way)) == latest);
        first.unwrap_or(0)
    }
}

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "srrip",
        description: "static re-reference interval prediction: lines that were used again stay, those that were read \
            once make room",
        parameters: &[&BITS],
    },
    make: |values, sets, ways| {
        let latest = (1u8 << values.get(&BITS)) - 1;
        Box::new(Srrip {
            ways,
            predicted: vec![latest; sets * ways],
            latest,
        })
    },
};

#[cfg(test)]
mod tests {
    use super::super::properties::Set;
    use super::*;
    use warpsim_machine::mechanism::Values;

    fn set(bits: u32, ways: usize) -> Set {
        let mut values = Values::default();
        values.set("bits", i64::from(bits).into());
        Set::new((POLICY.make)(&values, 1, ways), ways)
    }

    /// Four ways, two bits. After a, b, c, d all are predicted at 2; a and b are used again: 0 0 2 2. e finds no 3, so
    /// all come closer by one (1 1 3 3), and c goes, the first at 3; e comes at 2. f finds d at 3. g finds no 3 again:
    /// 1 1 2 2 becomes 2 2 3 3, and e goes.
    #[test]
    fn lines_that_were_used_again_outlast_those_that_were_read_once() {
        let mut set = set(2, 4);
        set.bring_all(&['a', 'b', 'c', 'd', 'a', 'b']);
        assert_eq!(set.bring('e'), Some('c'));
        assert_eq!(set.bring('f'), Some('d'));
        assert_eq!(set.bring('g'), Some('e'));
        assert_eq!(set.bring('h'), Some('f'));
        // 2 2 2 2 now: lines that are not used again go in the order of the ways.
        assert_eq!(set.bring('i'), Some('a'));
    }

    /// With one bit it is not-recently-used: 0 for a line that was used again, 0 also for one that has just come.
    #[test]
    fn with_one_bit_all_begin_anew_when_all_were_used() {
        let mut set = set(1, 2);
        set.bring_all(&['a', 'b', 'b']);
        assert_eq!(set.bring('c'), Some('a'), "all were used: the first goes");
        assert_eq!(set.bring('d'), Some('b'), "c has just come");
    }

    #[test]
    fn a_way_that_became_free_brings_no_line_closer() {
        let mut set = set(2, 3);
        set.bring_all(&['a', 'b', 'c', 'a']);
        set.drop('b');
        assert_eq!(set.bring('d'), None, "there is room");
        assert_eq!(
            set.bring('e'),
            Some('d'),
            "d and c at 2: d is in the way before"
        );
    }
}
