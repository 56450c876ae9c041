//! Progress-aware scheduling for virtual thread blocks (virtual thread blocks and warps §4.3.2).
//!
//! While blocks are left to be handed out (the fast phase), blocks with warps at a barrier come
//! first, then warps that are an iteration behind siblings, then blocks all of whose warps are in
//! one iteration, and last the warps that are an iteration ahead. When none is left (the slow
//! phase), the warp that has made least progress comes first. Without virtual blocks every block is in
//! one iteration.
//!
//! Changes of state count at once; progress is looked at from time to time.

use super::{IssuePolicy, Place, Policy};
use crate::time::Cycle;
use warpsim_machine::mechanism::{Info, Integer, OneOf};

/// The paper does not say how often.
const PERIOD: Integer = Integer {
    name: "period",
    low: 1,
    high: 1_000_000,
    default: 1000,
    unit: "cycles",
    description: "how often warps are ranked anew by their progress",
};

/// What instructions count as progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    Iteration,
    Lifetime,
}

/// The paper speaks of the current iteration for thread indices, and of blocks without saying.
const COUNTED: OneOf<Counted> = OneOf {
    name: "counted",
    words: &["iteration", "lifetime"],
    meanings: &[Counted::Iteration, Counted::Lifetime],
    description: "a warp's progress: its instructions in its iteration, or since it was launched",
};

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "progress",
        description: "blocks at a barrier, then warps behind siblings, then most progress, then warps ahead; at the end least progress",
        parameters: &[&PERIOD, &COUNTED],
    },
    needs_pool: false,
    ranks_blocks: true,
    make: |values, machine, domains| {
        let blocks = machine.sm.max_blocks as usize;
        let counted = values.get(&COUNTED);
        Box::new(Progress::new(values.get(&PERIOD), counted, blocks, domains))
    },
};

/// A warp on the SM.
#[derive(Clone, Copy, Debug)]
struct Warp {
    block: u16,
    /// Number of its launch: the smaller came first.
    age: u64,
    iteration: u64,
    /// Instructions that count.
    instructions: u64,
    /// Instructions that counted when warps were last ranked by their progress.
    progress: u64,
    rank: u32,
}

/// A block on the SM.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Warps that wait at a barrier.
    waiting: u32,
    /// Age of its first warp.
    age: u64,
    /// Sum of its warps' progress.
    progress: u64,
    /// The lowest iteration of its warps, and how many are in it and beyond it.
    lowest: u64,
    behind: u32,
    ahead: u32,
}

/// The policy.
#[derive(Debug)]
pub struct Progress {
    period: u64,
    counted: Counted,
    warps: Vec<Vec<Option<Warp>>>,
    blocks: Vec<Block>,
    /// Blocks are left to be handed out.
    fast: bool,
    /// A warp has issued since warps were ranked by progress.
    stirred: bool,
    due: Cycle,
    /// Reused: place and key of every warp.
    order: Vec<(Key, usize, usize)>,
}

/// Place in the order, the smallest first: class, block by block, then warp by warp.
type Key = (u8, i64, i64, u64, i64, u64);

impl Progress {
    fn new(period: u32, counted: Counted, blocks: usize, domains: usize) -> Progress {
        Progress {
            period: period.into(),
            counted,
            warps: vec![Vec::new(); domains],
            blocks: vec![Block::default(); blocks],
            fast: true,
            stirred: false,
            due: Cycle::ZERO,
            order: Vec::new(),
        }
    }

    fn at(&mut self, place: Place) -> Option<&mut Warp> {
        let domain = self.warps.get_mut(place.domain as usize)?;
        domain.get_mut(place.index as usize)?.as_mut()
    }

    fn rank_of(&self, domain: usize, index: u8) -> (u32, u8) {
        let warp = self.warps[domain].get(index as usize).copied().flatten();
        (warp.map_or(u32::MAX, |w| w.rank), index)
    }

    /// Ranks the warps anew.
    fn rank(&mut self) {
        for block in &mut self.blocks {
            *block = Block {
                waiting: block.waiting,
                age: u64::MAX,
                lowest: u64::MAX,
                ..Block::default()
            };
        }
        for warp in self.warps.iter().flatten().flatten() {
            let block = &mut self.blocks[warp.block as usize];
            block.age = block.age.min(warp.age);
            block.progress += warp.progress;
            block.lowest = block.lowest.min(warp.iteration);
        }
        for warp in self.warps.iter().flatten().flatten() {
            let block = &mut self.blocks[warp.block as usize];
            match warp.iteration == block.lowest {
                true => block.behind += 1,
                false => block.ahead += 1,
            }
        }
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        for (d, domain) in self.warps.iter().enumerate() {
            for (i, warp) in domain.iter().enumerate() {
                if let Some(warp) = warp {
                    let block = &self.blocks[warp.block as usize];
                    order.push((key(self.fast, block, warp), d, i));
                }
            }
        }
        order.sort_unstable();
        for (rank, (_, d, i)) in order.iter().enumerate() {
            if let Some(warp) = &mut self.warps[*d][*i] {
                warp.rank = rank as u32;
            }
        }
        self.order = order;
    }
}

/// The place of a warp of a block.
fn key(fast: bool, block: &Block, warp: &Warp) -> Key {
    let (of_block, own) = (block.progress as i64, warp.progress as i64);
    let most = |n: i64| -n;
    let (class, first, second, inside) = if !fast {
        (0, of_block, 0, own)
    } else if block.waiting > 0 {
        (0, most(block.waiting.into()), most(of_block), own)
    } else if block.ahead == 0 {
        (2, most(of_block), 0, most(own))
    } else if warp.iteration == block.lowest {
        (1, block.behind.into(), 0, own)
    } else {
        // Which of these comes first inside a block is not given: as where all are together.
        (3, most(block.ahead.into()), 0, most(own))
    };
    (class, first, second, block.age, inside, warp.age)
}

impl IssuePolicy for Progress {
    fn launched(&mut self, place: Place, age: u64, block: u16) {
        let domain = &mut self.warps[place.domain as usize];
        let index = place.index as usize;
        if domain.len() <= index {
            domain.resize(index + 1, None);
        }
        domain[index] = Some(Warp {
            block,
            age,
            iteration: 0,
            instructions: 0,
            progress: 0,
            rank: 0,
        });
        let blocks = &mut self.blocks;
        if blocks.len() <= block as usize {
            blocks.resize(block as usize + 1, Block::default());
        }
        self.rank();
    }

    fn finished(&mut self, place: Place) {
        let domain = &mut self.warps[place.domain as usize];
        let Some(gone) = domain.get_mut(place.index as usize).and_then(Option::take) else {
            return;
        };
        let mut warps = self.warps.iter().flatten().flatten();
        if warps.all(|w| w.block != gone.block) {
            self.blocks[gone.block as usize].waiting = 0;
        }
        self.rank();
    }

    fn issued(&mut self, place: Place) {
        self.stirred = true;
        if let Some(warp) = self.at(place) {
            warp.instructions += 1;
        }
    }

    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        self.rank_of(domain, a) < self.rank_of(domain, b)
    }

    fn waits(&mut self, _: Place, block: u16, _: Cycle) {
        self.blocks[block as usize].waiting += 1;
        self.rank();
    }

    fn released(&mut self, block: u16, warps: &mut dyn Iterator<Item = Place>) {
        let gone = warps.count() as u32;
        let waiting = &mut self.blocks[block as usize].waiting;
        *waiting = waiting.saturating_sub(gone);
        self.rank();
    }

    fn iterated(&mut self, place: Place, _: u16) {
        let counted = self.counted;
        if let Some(warp) = self.at(place) {
            warp.iteration += 1;
            if counted == Counted::Iteration {
                (warp.instructions, warp.progress) = (0, 0);
            }
        }
        self.rank();
    }

    fn blocks_left(&mut self, any: bool) {
        self.fast = any;
        self.rank();
    }

    fn hears_blocks(&self) -> bool {
        true
    }

    fn next(&self) -> Cycle {
        match self.stirred {
            true => self.due,
            false => Cycle::NEVER,
        }
    }

    fn ticks(&self) -> bool {
        true
    }

    fn tick(&mut self, now: Cycle) {
        self.stirred = false;
        self.due = (now + 1).round_up(self.period);
        for warp in self.warps.iter_mut().flatten().flatten() {
            warp.progress = warp.instructions;
        }
        self.rank();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(index: u8) -> Place {
        Place { domain: 0, index }
    }

    /// Blocks of three warps each, one after the other.
    fn policy(blocks: u8, counted: Counted) -> Progress {
        let mut policy = Progress::new(1000, counted, 8, 1);
        for index in 0..3 * blocks {
            policy.launched(place(index), index.into(), u16::from(index / 3));
        }
        policy
    }

    fn issue(policy: &mut Progress, counts: &[u64]) {
        for (index, count) in counts.iter().enumerate() {
            (0..*count).for_each(|_| policy.issued(place(index as u8)));
        }
        policy.tick(Cycle::new(1000));
    }

    fn order(policy: &Progress, warps: u8) -> Vec<u8> {
        let mut left = (1u64 << warps) - 1;
        let mut order = Vec::new();
        while let Some(first) = policy.first(0, left) {
            order.push(first);
            left &= !(1 << first);
        }
        order
    }

    #[test]
    fn together_most_progress_comes_first() {
        let mut p = policy(2, Counted::Iteration);
        issue(&mut p, &[5, 9, 9, 10, 1, 20]);
        assert_eq!(order(&p, 6), [5, 3, 4, 1, 2, 0]);
        // Progress counts when warps are ranked next, not before.
        (0..90).for_each(|_| p.issued(place(0)));
        assert_eq!(order(&p, 6), [5, 3, 4, 1, 2, 0]);
        assert_eq!(p.next(), Cycle::new(2000));
        p.tick(Cycle::new(2000));
        assert_eq!(order(&p, 6), [0, 1, 2, 5, 3, 4]);
        assert_eq!(p.next(), Cycle::NEVER, "no warp has issued");
    }

    #[test]
    fn blocks_at_a_barrier_come_first_and_there_the_slowest_warps() {
        let mut p = policy(3, Counted::Iteration);
        issue(&mut p, &[50, 50, 50, 7, 3, 5, 9, 2, 1]);
        p.waits(place(3), 1, Cycle::ZERO);
        p.waits(place(6), 2, Cycle::ZERO);
        // Blocks 1 and 2 have one waiting each; block 1 has more progress.
        assert_eq!(order(&p, 9), [4, 5, 3, 8, 7, 6, 0, 1, 2]);
        p.waits(place(7), 2, Cycle::ZERO);
        assert_eq!(order(&p, 9)[..4], [8, 7, 6, 4], "most waiting first");
        p.released(2, &mut [place(6), place(7)].into_iter());
        p.released(1, &mut [place(3)].into_iter());
        assert_eq!(order(&p, 9)[..3], [0, 1, 2]);
    }

    #[test]
    fn warps_behind_come_before_blocks_that_are_together_and_warps_ahead_last() {
        let mut p = policy(3, Counted::Iteration);
        issue(&mut p, &[10, 20, 30, 90, 90, 90, 5, 6, 7]);
        p.iterated(place(2), 0);
        p.iterated(place(7), 2);
        p.iterated(place(8), 2);
        // Block 2 has one behind, block 0 two; block 1 is together; block 2 has two ahead.
        assert_eq!(order(&p, 9), [6, 0, 1, 3, 4, 5, 7, 8, 2]);
        // A barrier wins over being apart.
        p.waits(place(0), 0, Cycle::ZERO);
        assert_eq!(order(&p, 9)[..3], [2, 0, 1], "least progress first");
    }

    #[test]
    fn when_no_block_is_left_least_progress_comes_first() {
        let mut p = policy(2, Counted::Iteration);
        issue(&mut p, &[5, 9, 9, 10, 1, 20]);
        p.iterated(place(2), 0);
        p.blocks_left(false);
        assert_eq!(order(&p, 6), [2, 0, 1, 4, 3, 5]);
        p.blocks_left(true);
        assert_eq!(order(&p, 6)[..3], [0, 1, 5]);
    }

    #[test]
    fn progress_of_a_lifetime_goes_on_with_the_next_block() {
        for (counted, first) in [(Counted::Iteration, 3), (Counted::Lifetime, 0)] {
            let mut p = policy(2, counted);
            issue(&mut p, &[50, 50, 50, 20, 20, 20]);
            for index in 0..3 {
                p.iterated(place(index), 0);
            }
            assert_eq!(p.first(0, 0b111111), Some(first), "{counted:?}");
        }
    }
}
