//! What every replacement policy keeps to, and a set of a cache as tests drive it.

use super::*;
use crate::cache::tags::{Geometry, Lookup, SetIndex, TagArray};
use proptest::prelude::*;

/// One set, whose lines are letters.
pub struct Set {
    policy: Box<dyn Replacement>,
    ways: Vec<Option<char>>,
}

impl Set {
    /// An empty one.
    pub fn new(policy: Box<dyn Replacement>, ways: usize) -> Set {
        Set {
            policy,
            ways: vec![None; ways],
        }
    }

    /// A line is used, and comes if it is not there. Returns the one that made room for it.
    pub fn bring(&mut self, line: char) -> Option<char> {
        if let Some(way) = self.ways.iter().position(|&l| l == Some(line)) {
            self.policy.hit(0, way);
            return None;
        }
        let free = self.ways.iter().position(Option::is_none);
        let all = Ways::that(self.ways.len(), |_| true);
        let way = free.unwrap_or_else(|| self.policy.victim(0, &all));
        self.policy.reserved(0, way);
        self.policy.filled(0, way);
        self.ways[way].replace(line)
    }

    /// Several come one after the other, all of which find room.
    pub fn bring_all(&mut self, lines: &[char]) {
        for &line in lines {
            assert_eq!(self.bring(line), None, "{line}");
        }
    }

    /// A line is dropped.
    pub fn drop(&mut self, line: char) {
        let way = self.ways.iter().position(|&l| l == Some(line));
        let way = way.expect("it is there");
        self.ways[way] = None;
        self.policy.invalidated(0, way);
    }
}

/// What happens to a cache.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// A line is wanted: it hits, or a fetch begins if a way may be replaced.
    Want(u64),
    /// The fetch that has been under way longest ends.
    Fill,
    Drop(u64),
    DropAll,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        12 => (0u64..40).prop_map(Op::Want),
        8 => Just(Op::Fill),
        1 => (0u64..40).prop_map(Op::Drop),
        1 => prop::bool::weighted(0.1).prop_map(|all| if all { Op::DropAll } else { Op::Fill }),
    ];
    prop::collection::vec(op, 1..400)
}

fn tags(sets: u32, ways: u32, policy: Box<dyn Replacement>) -> TagArray {
    let geometry = Geometry {
        sets,
        ways,
        line: 64,
        sector: 64,
        index: SetIndex::Modulo,
    };
    TagArray::asking(geometry, policy)
}

/// A cache as a list of lines for each set, with a policy that is told by hand: what the tags are compared with.
struct Naive {
    sets: u64,
    /// Number of the line in each way, and whether its fetch is under way.
    lines: Vec<Vec<Option<(u64, bool)>>>,
    policy: Box<dyn Replacement>,
}

impl Naive {
    fn want(&mut self, line: u64) -> &'static str {
        let set = (line % self.sets) as usize;
        let ways = &mut self.lines[set];
        let is = |l: &Option<(u64, bool)>| l.is_some_and(|(number, _)| number == line);
        if let Some(way) = ways.iter().position(is) {
            self.policy.hit(set, way);
            return match ways[way] {
                Some((_, true)) => "pending",
                _ => "hit",
            };
        }
        let free = ways.iter().position(Option::is_none);
        let may = Ways::that(ways.len(), |way| !matches!(ways[way], Some((_, true))));
        let way = match free {
            Some(way) => way,
            None if may.is_empty() => return "blocked",
            None => self.policy.victim(set, &may),
        };
        assert!(may.has(way), "{way} waits for a fetch");
        self.policy.reserved(set, way);
        ways[way] = Some((line, true));
        "miss"
    }

    fn fill(&mut self, line: u64) {
        let set = (line % self.sets) as usize;
        let way = self.lines[set]
            .iter()
            .position(|&l| l == Some((line, true)));
        if let Some(way) = way {
            self.lines[set][way] = Some((line, false));
            self.policy.filled(set, way);
        }
    }

    fn drop(&mut self, line: u64) {
        let set = (line % self.sets) as usize;
        let is = |l: &Option<(u64, bool)>| l.is_some_and(|(number, _)| number == line);
        if let Some(way) = self.lines[set].iter().position(is) {
            self.lines[set][way] = None;
            self.policy.invalidated(set, way);
        }
    }
}

/// As [`Naive::want`], of the tags.
fn want(tags: &mut TagArray, line: u64) -> &'static str {
    let addr = line * 64;
    // Asked twice, as a miss that has to be tried again would.
    let found = tags.lookup(addr);
    assert_eq!(tags.lookup(addr), found);
    match found {
        Lookup::Hit(slot) => {
            tags.touch(slot);
            "hit"
        }
        Lookup::Pending(slot) => {
            tags.touch(slot);
            "pending"
        }
        Lookup::Blocked => "blocked",
        Lookup::Miss(slot) => {
            tags.replace(slot, addr);
            tags.reserve(slot, addr);
            "miss"
        }
        other => panic!("{other:?}"),
    }
}

/// The fetch of a line ends, unless it was dropped meanwhile.
fn fill(tags: &mut TagArray, line: u64) {
    if let Lookup::Pending(slot) = tags.lookup(line * 64) {
        tags.fill_place(tags.place(slot, line * 64));
    }
}

/// What comes of each operation with these tags; lines on their way come back in order.
fn outcomes(tags: &mut TagArray, ops: &[Op]) -> Vec<&'static str> {
    let mut fetches = std::collections::VecDeque::new();
    let mut seen = Vec::new();
    for &op in ops {
        match op {
            Op::Want(line) => {
                let outcome = want(tags, line);
                if outcome == "miss" {
                    fetches.push_back(line);
                }
                seen.push(outcome);
            }
            Op::Fill => {
                if let Some(line) = fetches.pop_front() {
                    fill(tags, line);
                }
            }
            Op::Drop(line) => {
                tags.invalidate(line * 64);
            }
            Op::DropAll => tags.invalidate_all(),
        }
    }
    seen
}

proptest! {
    /// The tags with each policy against lists with another instance of it.
    #[test]
    fn tags_do_as_a_policy_says(ops in ops(), sets in 1u32..5, ways in 1u32..7) {
        for policy in POLICIES {
            let make = || (policy.make)(&Values::default(), sets as usize, ways as usize);
            let mut tags = tags(sets, ways, make());
            let mut naive = Naive {
                sets: sets.into(),
                lines: vec![vec![None; ways as usize]; sets as usize],
                policy: make(),
            };
            let mut fetches = std::collections::VecDeque::new();
            for &op in &ops {
                match op {
                    Op::Want(line) => {
                        let outcome = naive.want(line);
                        prop_assert_eq!(want(&mut tags, line), outcome, "{}", policy.info.name);
                        if outcome == "miss" {
                            fetches.push_back(line);
                        }
                    }
                    Op::Fill => if let Some(line) = fetches.pop_front() {
                        naive.fill(line);
                        fill(&mut tags, line);
                    },
                    Op::Drop(line) => {
                        naive.drop(line);
                        tags.invalidate(line * 64);
                    }
                    Op::DropAll => {
                        (0..40).for_each(|line| naive.drop(line));
                        tags.invalidate_all();
                    }
                }
            }
        }
    }

    /// Where lines go by age and no policy is asked, they go as the policy `lru` says.
    #[test]
    fn the_least_recently_used_goes_by_age_as_by_policy(ops in ops(), sets in 1u32..5, ways in 1u32..7) {
        let lru = || Box::new(Lru::new(sets as usize, ways as usize));
        let mut asked = tags(sets, ways, lru());
        let mut by_age = tags(sets, ways, lru());
        by_age.decide_by(lru());
        prop_assert!(asked.is_told() && !by_age.is_told());
        prop_assert_eq!(outcomes(&mut asked, &ops), outcomes(&mut by_age, &ops));
    }
}
