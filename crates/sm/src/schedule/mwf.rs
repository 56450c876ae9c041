//! Most waiting first (barrier-aware scheduling §4.1): blocks are ranked by how many of their
//! warps wait at a barrier, most first.
//!
//! The paper's warp priority table is a counter per block, up when a warp reaches the barrier, reset
//! when all have. Here a warp that goes on is taken off again, which is the same where all warps of
//! a block go on together, and right where a block uses several barriers at once.

use super::Policy;
use super::block_first::{Block, BlockFirst, Inside, Ranking, TIES};
use warpsim_machine::Machine;
use warpsim_machine::mechanism::{Info, Switch, Values};

/// No, as in the paper, which counts warps at a barrier.
const COUNTS_EXITED: Switch = Switch {
    name: "counts_exited",
    default: false,
    description: "finished warps count as waiting, at their block's end",
};

/// Round robin inside a block.
pub const LRR: Policy = Policy {
    info: Info {
        name: "mwf-lrr",
        description: "most waiting first: the block with most warps at a barrier, round robin in it",
        parameters: &[&TIES, &COUNTS_EXITED],
    },
    needs_pool: false,
    ranks_blocks: true,
    make: |values, machine, domains| Box::new(make(Inside::Lrr, values, machine, domains)),
};

/// Greedy then oldest inside a block.
pub const GTO: Policy = Policy {
    info: Info {
        name: "mwf-gto",
        description: "most waiting first: the block with most warps at a barrier, greedy then oldest in it",
        parameters: &[&TIES, &COUNTS_EXITED],
    },
    needs_pool: false,
    ranks_blocks: true,
    make: |values, machine, domains| Box::new(make(Inside::Gto, values, machine, domains)),
};

fn make(inside: Inside, values: &Values, machine: &Machine, domains: usize) -> Mwf {
    let ranking = MostWaiting {
        count_exited: values.get(&COUNTS_EXITED),
    };
    let blocks = machine.sm.max_blocks as usize;
    Mwf::new(ranking, inside, values.get(&TIES), blocks, domains)
}

/// The ranking.
#[derive(Clone, Copy, Debug)]
pub struct MostWaiting {
    /// Finished warps count as waiting: their block's end is a barrier too.
    pub count_exited: bool,
}

impl Ranking for MostWaiting {
    #[inline]
    fn rank(&self, block: &Block) -> u64 {
        let exited = if self.count_exited { block.exited } else { 0 };
        u64::MAX - (block.waiting + exited) as u64
    }
}

/// The policy.
pub type Mwf = BlockFirst<MostWaiting>;

#[cfg(test)]
mod tests {
    use super::super::IssuePolicy;
    use super::super::block_first::Ties;
    use super::super::block_first::testing::{BLOCKS, launch_blocks, order, place};
    use super::*;
    use crate::time::Cycle;

    const RANKING: MostWaiting = MostWaiting {
        count_exited: false,
    };

    fn mwf(inside: Inside, schedulers: u8, ties: Ties) -> Mwf {
        Mwf::new(RANKING, inside, ties, BLOCKS, schedulers as usize)
    }

    /// The paper's figure 7: w2 of block 0, w5 and w7 of block 1, w9 to w11 of block 2 wait; w0
    /// and w7 were the last to issue in their blocks.
    fn figure_7(inside: Inside) -> Mwf {
        let mut mwf = mwf(inside, 1, Ties::Age);
        launch_blocks(&mut mwf, 3, 1);
        for (now, w) in [(10, 2), (11, 5), (12, 9), (13, 10), (14, 11), (15, 7)] {
            mwf.issued(place(w, 1));
            mwf.waits(place(w, 1), (w / 4) as u16, Cycle::new(now));
        }
        mwf.issued(place(0, 1));
        mwf
    }

    const RUNNING: u64 = 0b0001_0101_1011;

    #[test]
    fn the_papers_example() {
        let mwf = figure_7(Inside::Lrr);
        assert_eq!(order(&mwf, 0, RUNNING), [8, 4, 6, 1, 3, 0]);
        assert_eq!(
            order(&mwf, 0, 0xfff)[..6],
            [8, 4, 6, 1, 3, 0],
            "waiting warps come last"
        );
    }

    #[test]
    fn the_papers_example_with_gto_inside() {
        let mwf = figure_7(Inside::Gto);
        assert_eq!(order(&mwf, 0, RUNNING), [8, 4, 6, 0, 1, 3]);
    }

    #[test]
    fn a_fourth_block_with_as_many_waiting_comes_after_the_older_one() {
        let mut mwf = mwf(Inside::Lrr, 1, Ties::Age);
        launch_blocks(&mut mwf, 4, 1);
        for w in [13, 15, 5, 7] {
            mwf.waits(place(w, 1), (w / 4) as u16, Cycle::new(0));
        }
        assert_eq!(order(&mwf, 0, 0xffff & !0xa0a0)[..4], [4, 6, 12, 14]);
    }

    #[test]
    fn one_table_serves_all_schedulers() {
        let mut mwf = mwf(Inside::Gto, 2, Ties::Age);
        launch_blocks(&mut mwf, 2, 2);
        // Warp 4, of the even scheduler, waits: the odd one hurries its block too.
        assert_eq!(order(&mwf, 1, 0b1111), [0, 1, 2, 3]);
        mwf.waits(place(4, 2), 1, Cycle::new(5));
        assert_eq!(order(&mwf, 1, 0b1111), [2, 3, 0, 1]);
        assert_eq!(order(&mwf, 0, 0b1111), [3, 0, 1, 2]);
        mwf.released(1, &mut [place(4, 2)].into_iter());
        assert_eq!(order(&mwf, 1, 0b1111), [0, 1, 2, 3]);
    }

    #[test]
    fn warps_at_another_barrier_stay_counted_when_one_opens() {
        let mut mwf = mwf(Inside::Lrr, 1, Ties::Age);
        launch_blocks(&mut mwf, 2, 1);
        for w in [4, 5, 6] {
            mwf.waits(place(w, 1), 1, Cycle::new(w as u64));
        }
        mwf.waits(place(0, 1), 0, Cycle::new(9));
        mwf.waits(place(1, 1), 0, Cycle::new(9));
        assert_eq!(mwf.first(0, 0b1000_1100), Some(7), "three wait in block 1");
        mwf.released(1, &mut [place(4, 1), place(5, 1)].into_iter());
        assert_eq!(mwf.first(0, 0b1000_1100), Some(2), "one is left there");
    }

    #[test]
    fn a_block_in_a_reused_slot_is_young_and_no_warp_waits_in_it() {
        for (ties, first) in [(Ties::Age, 4), (Ties::Slot, 0)] {
            let mut mwf = mwf(Inside::Lrr, 1, ties);
            launch_blocks(&mut mwf, 2, 1);
            for w in 0..4 {
                mwf.issued(place(w, 1));
                mwf.finished(place(w, 1));
            }
            for w in 0..4 {
                mwf.launched(place(w, 1), 8 + w as u64, 0);
            }
            assert_eq!(mwf.first(0, 0xff), Some(first), "ties by {ties:?}");
            mwf.waits(place(2, 1), 0, Cycle::new(50));
            assert_eq!(order(&mwf, 0, 0xff)[..3], [0, 1, 3]);
        }
    }

    #[test]
    fn finished_warps_count_if_they_are_to() {
        for (count_exited, first) in [(false, 4), (true, 1)] {
            let ranking = MostWaiting { count_exited };
            let mut mwf = Mwf::new(ranking, Inside::Lrr, Ties::Age, BLOCKS, 1);
            launch_blocks(&mut mwf, 2, 1);
            mwf.finished(place(0, 1));
            mwf.finished(place(3, 1));
            mwf.waits(place(7, 1), 1, Cycle::new(5));
            assert_eq!(mwf.first(0, 0b0111_0110), Some(first));
        }
    }
}
