//! Priority by block: warps of the block that goes first come before all others, and inside a
//! block it is loose round robin. Which block goes first is what the three policies differ in.
//! They are meant for thread block compaction, whose blocks wait at branches as a whole: others
//! should have something to do then.

use super::{IssuePolicy, Place, Policy};
use warpsim_machine::mechanism::Info;

/// The block that came first.
pub const AGE: Policy = Policy {
    info: Info {
        name: "age",
        description: "the block that came first, round robin in it; goes with divergence tbc",
        parameters: &[],
    },
    needs_pool: false,
    ranks_blocks: true,
    make: |_, _, domains| Box::new(Blocks::new(domains, Priority::Age)),
};

/// Each block in turn.
pub const ROUND_ROBIN: Policy = Policy {
    info: Info {
        name: "rrb",
        description: "each block in turn, one instruction each, round robin in it; goes with divergence tbc",
        parameters: &[],
    },
    needs_pool: false,
    ranks_blocks: true,
    make: |_, _, domains| Box::new(Blocks::new(domains, Priority::RoundRobin)),
};

/// The block that issues, while it can.
pub const STICKY: Policy = Policy {
    info: Info {
        name: "srr",
        description: "the block that issued last while any of its warps is ready, round robin in it; goes with divergence tbc",
        parameters: &[],
    },
    needs_pool: false,
    ranks_blocks: true,
    make: |_, _, domains| Box::new(Blocks::new(domains, Priority::Sticky)),
};

/// Which block goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// The one that came first.
    Age,
    /// Each in turn, for one instruction.
    RoundRobin,
    /// The one that issues, until none of its warps is ready; then the one that came after it.
    Sticky,
}

/// Blocks of a domain.
#[derive(Debug)]
pub struct Blocks {
    priority: Priority,
    domains: Vec<Domain>,
}

#[derive(Clone, Debug, Default)]
struct Domain {
    /// Oldest first.
    blocks: Vec<Block>,
    /// For `RoundRobin`, instructions issued; for `Sticky`, the block that issues.
    turn: u64,
}

#[derive(Clone, Debug)]
struct Block {
    id: u16,
    /// Its warps by index.
    warps: u64,
    /// The index to look at first.
    start: u8,
}

impl Blocks {
    /// A policy for this many domains.
    pub fn new(domains: usize, priority: Priority) -> Blocks {
        Blocks {
            priority,
            domains: vec![Domain::default(); domains],
        }
    }

    /// Where in `blocks` the one that goes first is.
    fn leader(&self, d: &Domain) -> usize {
        match (self.priority, d.blocks.len() as u64) {
            (Priority::Age, _) | (_, 0) => 0,
            (Priority::RoundRobin, n) => (d.turn % n) as usize,
            (Priority::Sticky, _) => d.turn as usize,
        }
    }

    /// Place of a warp in the order: its block's, and its own inside the block.
    fn rank(&self, domain: usize, index: u8) -> (usize, u8) {
        let d = &self.domains[domain];
        let n = d.blocks.len();
        let at = d.blocks.iter().position(|b| b.warps >> index & 1 != 0);
        match at {
            Some(at) => (
                (at + n - self.leader(d)) % n,
                index.wrapping_sub(d.blocks[at].start) % 64,
            ),
            None => (n, index),
        }
    }
}

impl IssuePolicy for Blocks {
    fn launched(&mut self, place: Place, _: u64, block: u16) {
        let blocks = &mut self.domains[place.domain as usize].blocks;
        match blocks.last_mut() {
            // The warps of a block come together.
            Some(last) if last.id == block => last.warps |= 1 << place.index,
            _ => blocks.push(Block {
                id: block,
                warps: 1 << place.index,
                start: place.index,
            }),
        }
    }

    fn finished(&mut self, place: Place) {
        let d = &mut self.domains[place.domain as usize];
        let at = d
            .blocks
            .iter()
            .position(|b| b.warps >> place.index & 1 != 0);
        let Some(at) = at else { return };
        d.blocks[at].warps &= !(1 << place.index);
        if d.blocks[at].warps == 0 {
            d.blocks.remove(at);
            if self.priority == Priority::Sticky {
                // The next block goes first, or the first after the last.
                d.turn -= u64::from(d.turn > at as u64);
                d.turn %= d.blocks.len().max(1) as u64;
            }
        }
    }

    fn issued(&mut self, place: Place) {
        let priority = self.priority;
        let d = &mut self.domains[place.domain as usize];
        let at = d
            .blocks
            .iter()
            .position(|b| b.warps >> place.index & 1 != 0);
        if let Some(at) = at {
            d.blocks[at].start = (place.index + 1) % 64;
            if priority == Priority::Sticky {
                d.turn = at as u64;
            }
        }
        if priority == Priority::RoundRobin {
            d.turn += 1;
        }
    }

    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        self.rank(domain, a) < self.rank(domain, b)
    }

    fn first(&self, domain: usize, among: u64) -> Option<u8> {
        let d = &self.domains[domain];
        let (n, leader) = (d.blocks.len(), self.leader(d));
        (0..n)
            .map(|k| &d.blocks[(leader + k) % n])
            .find(|b| b.warps & among != 0)
            .and_then(|b| super::lrr::first_from(b.warps & among, b.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Cycle;

    /// Blocks 3, 1 and 2 came in that order with two warps each.
    fn policy(priority: Priority) -> Blocks {
        let mut policy = Blocks::new(1, priority);
        for (index, block) in [(0, 3), (1, 3), (4, 1), (5, 1), (2, 2), (3, 2)] {
            policy.launched(Place { domain: 0, index }, 0, block);
        }
        policy
    }

    fn issue(policy: &mut Blocks, ready: u64) -> u8 {
        let index = policy.first(0, ready).expect("some are ready");
        policy.issued(Place { domain: 0, index });
        index
    }

    #[test]
    fn age_takes_the_block_that_came_first_and_goes_round_inside() {
        let mut p = policy(Priority::Age);
        let all = 0b11_1111;
        let order: Vec<u8> = (0..4).map(|_| issue(&mut p, all)).collect();
        assert_eq!(order, [0, 1, 0, 1]);
        assert_eq!(issue(&mut p, 0b11_1100), 4);
        p.finished(Place {
            domain: 0,
            index: 0,
        });
        p.finished(Place {
            domain: 0,
            index: 1,
        });
        // A new block in the old one's place is the youngest.
        p.launched(
            Place {
                domain: 0,
                index: 0,
            },
            9,
            3,
        );
        assert_eq!(issue(&mut p, all & !2), 5);
    }

    #[test]
    fn round_robin_passes_on_with_every_instruction() {
        let mut p = policy(Priority::RoundRobin);
        let all = 0b11_1111;
        let order: Vec<u8> = (0..6).map(|_| issue(&mut p, all)).collect();
        assert_eq!(order, [0, 4, 2, 1, 5, 3]);
        // Cycles in which nothing can issue, because the last instruction still goes through the
        // lanes, say, are no block's turn: counting them, the turn of every fourth cycle would always
        // be the same block's where there are 1, 2 or 4.
        p.advance(0, Cycle::new(6), Cycle::new(9));
        assert_eq!(p.first(0, all), Some(0));
    }

    #[test]
    fn sticky_stays_until_the_block_has_nothing_ready() {
        let mut p = policy(Priority::Sticky);
        let all = 0b11_1111;
        assert_eq!([issue(&mut p, all), issue(&mut p, all)], [0, 1]);
        // Block 3 has nothing ready: the next one takes over and keeps it.
        assert_eq!(issue(&mut p, 0b11_1100), 4);
        assert_eq!([issue(&mut p, all), issue(&mut p, all)], [5, 4]);
        assert!(p.before(0, 5, 2) && p.before(0, 2, 0), "then around");
        // It leaves: the one behind it is next.
        for index in [4, 5] {
            p.finished(Place { domain: 0, index });
        }
        assert_eq!(issue(&mut p, 0b00_1111), 2);
    }
}
