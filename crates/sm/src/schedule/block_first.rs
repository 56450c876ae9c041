//! Block priorities: the part that barrier-aware policies share. Blocks are ranked by how their
//! warps stand at their barriers, and inside a block warps go round robin or greedy then oldest.
//!
//! One table of blocks serves all schedulers of the SM (barrier-aware scheduling §4.1.1, §4.1.2):
//! what one scheduler's warp does at a barrier changes the order of all of them at once, in the
//! cycle in which it does it. A warp that waits at a barrier is what others are hurried for, and
//! nothing to be scheduled itself: it ranks behind every warp that does not wait.

use super::lrr::first_from;
use super::order::AgeOrder;
use super::{IssuePolicy, Place};
use crate::time::Cycle;
use warpsim_machine::mechanism::OneOf;

/// What a ranking may know of a resident block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    /// Warps that wait at a barrier.
    pub waiting: u32,
    /// Warps that have finished.
    pub exited: u32,
    /// When the first of those that wait came to its barrier.
    pub since: Option<u64>,
    /// Warps that have come and not finished.
    live: u32,
    /// What decides between blocks of the same rank, smaller first.
    tie: u64,
}

/// How blocks are ranked.
pub trait Ranking: Send + 'static {
    /// The block's rank: smaller comes first, ties go to the older block (or the lower slot).
    fn rank(&self, block: &Block) -> u64;
}

/// Which of two blocks of the same rank goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The one that came to the SM first.
    Age,
    /// The one in the lower block slot.
    Slot,
}

/// By age, which is what the paper's "smallest TB-id" means when blocks come and go.
pub const TIES: OneOf<Ties> = OneOf {
    name: "ties",
    words: &["age", "slot"],
    meanings: &[Ties::Age, Ties::Slot],
    description: "which of two blocks of the same rank goes first: the older, or the one in the lower slot",
};

/// How the warps of a block are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// Round robin, from behind the warp of the block that this scheduler issued last.
    Lrr,
    /// That warp while it is ready, else the oldest of the block.
    Gto,
}

/// An issue policy that ranks blocks first.
#[derive(Debug)]
pub struct BlockFirst<R> {
    ranking: R,
    inside: Inside,
    ties: Ties,
    blocks: Vec<Block>,
    /// Resident blocks, first ranked first.
    order: Vec<u8>,
    domains: Vec<Domain>,
}

/// A scheduler's warps.
#[derive(Clone, Debug)]
struct Domain {
    /// The warps of each block.
    of_block: Vec<u64>,
    /// The warp of each block that issued last.
    last: Vec<Option<u8>>,
    /// The block of each warp.
    block: [u8; 64],
    /// When each warp that waits came to its barrier.
    since: [u64; 64],
    waiting: u64,
    ages: AgeOrder,
}

impl<R: Ranking> BlockFirst<R> {
    /// A policy for this many blocks and domains.
    pub fn new(ranking: R, inside: Inside, ties: Ties, blocks: usize, domains: usize) -> Self {
        let domain = Domain {
            of_block: vec![0; blocks],
            last: vec![None; blocks],
            block: [0; 64],
            since: [0; 64],
            waiting: 0,
            ages: AgeOrder::default(),
        };
        BlockFirst {
            ranking,
            inside,
            ties,
            blocks: vec![Block::default(); blocks],
            order: Vec::with_capacity(blocks),
            domains: vec![domain; domains],
        }
    }

    /// A block's standing has changed: puts it where it belongs.
    fn place_block(&mut self, block: u8) {
        self.order.retain(|&b| b != block);
        if self.blocks[block as usize].live == 0 {
            return;
        }
        let rank = |b: u8| {
            let state = &self.blocks[b as usize];
            (self.ranking.rank(state), state.tie)
        };
        let own = rank(block);
        let at = self.order.partition_point(|&b| rank(b) < own);
        self.order.insert(at, block);
    }

    /// Where the block of a warp stands in the order of blocks, the first at 0.
    pub fn standing(&self, place: Place) -> u64 {
        let block = self.domains[place.domain as usize].block[place.index as usize];
        let at = self.order.iter().position(|&b| b == block);
        at.unwrap_or(self.order.len()) as u64
    }

    /// The first of `set`, all of one block.
    #[inline]
    fn first_inside(&self, domain: &Domain, block: u8, set: u64) -> Option<u8> {
        let last = domain.last[block as usize];
        match self.inside {
            Inside::Lrr => first_from(set, last.map_or(0, |w| (w + 1) % 64)),
            Inside::Gto => match last {
                Some(w) if set >> w & 1 != 0 => Some(w),
                _ => domain.ages.oldest(set),
            },
        }
    }

    #[inline]
    fn first_by_block(&self, domain: &Domain, among: u64) -> Option<u8> {
        if among == 0 {
            return None;
        }
        self.order.iter().find_map(|&block| {
            let set = among & domain.of_block[block as usize];
            self.first_inside(domain, block, set)
        })
    }
}

impl<R: Ranking> IssuePolicy for BlockFirst<R> {
    fn launched(&mut self, place: Place, age: u64, block: u16) {
        let at = block as usize;
        if self.blocks[at].live == 0 {
            self.blocks[at] = Block {
                tie: match self.ties {
                    Ties::Age => age,
                    Ties::Slot => block as u64,
                },
                ..Block::default()
            };
            for domain in &mut self.domains {
                domain.of_block[at] = 0;
                domain.last[at] = None;
            }
        }
        self.blocks[at].live += 1;
        let domain = &mut self.domains[place.domain as usize];
        domain.of_block[at] |= 1 << place.index;
        domain.block[place.index as usize] = block as u8;
        domain.waiting &= !(1 << place.index);
        domain.ages.add(place.index, age);
        self.place_block(block as u8);
    }

    fn finished(&mut self, place: Place) {
        let domain = &mut self.domains[place.domain as usize];
        let block = domain.block[place.index as usize];
        let at = block as usize;
        domain.of_block[at] &= !(1 << place.index);
        domain.ages.remove(place.index);
        self.blocks[at].live -= 1;
        self.blocks[at].exited += 1;
        self.place_block(block);
    }

    fn issued(&mut self, place: Place) {
        let domain = &mut self.domains[place.domain as usize];
        let block = domain.block[place.index as usize];
        domain.last[block as usize] = Some(place.index);
    }

    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        a != b && self.first(domain, 1 << a | 1 << b) == Some(a)
    }

    fn first(&self, domain: usize, among: u64) -> Option<u8> {
        let d = &self.domains[domain];
        self.first_by_block(d, among & !d.waiting)
            .or_else(|| self.first_by_block(d, among & d.waiting))
    }

    fn waits(&mut self, place: Place, block: u16, now: Cycle) {
        let domain = &mut self.domains[place.domain as usize];
        domain.waiting |= 1 << place.index;
        domain.since[place.index as usize] = now.get();
        let state = &mut self.blocks[block as usize];
        state.waiting += 1;
        state.since = Some(state.since.map_or(now.get(), |t| t.min(now.get())));
        self.place_block(block as u8);
    }

    fn released(&mut self, block: u16, warps: &mut dyn Iterator<Item = Place>) {
        let at = block as usize;
        for place in warps {
            self.domains[place.domain as usize].waiting &= !(1 << place.index);
            self.blocks[at].waiting -= 1;
        }
        // Some may wait at another barrier.
        let mut since = None;
        if self.blocks[at].waiting != 0 {
            for domain in &self.domains {
                let mut rest = domain.waiting & domain.of_block[at];
                while rest != 0 {
                    let came = domain.since[rest.trailing_zeros() as usize];
                    since = Some(since.map_or(came, |t: u64| t.min(came)));
                    rest &= rest - 1;
                }
            }
        }
        self.blocks[at].since = since;
        self.place_block(block as u8);
    }
}

/// Driving such a policy by hand, for the tests of the rankings.
#[cfg(test)]
pub mod testing {
    use super::*;

    /// Blocks that an SM holds.
    pub const BLOCKS: usize = 8;

    /// Where warp `w` of a machine with this many schedulers sits.
    pub fn place(w: u8, schedulers: u8) -> Place {
        Place {
            domain: w % schedulers,
            index: w / schedulers,
        }
    }

    /// Blocks of four warps come, numbered through.
    pub fn launch_blocks(policy: &mut dyn IssuePolicy, blocks: u16, schedulers: u8) {
        for w in 0..4 * blocks {
            policy.launched(place(w as u8, schedulers), w as u64, w / 4);
        }
    }

    /// The order in which the warps of a domain are looked at.
    pub fn order(policy: &dyn IssuePolicy, domain: usize, mut among: u64) -> Vec<u8> {
        let mut order = Vec::new();
        while let Some(first) = policy.first(domain, among) {
            order.push(first);
            among &= !(1 << first);
        }
        order
    }
}
