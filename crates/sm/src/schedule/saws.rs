//! Synchronisation-aware warp scheduling, as barrier-aware scheduling §6.6 compares itself with
//! it: blocks are ranked by the time at which their first warp came to the barrier they wait at,
//! earliest first; blocks with no warp at a barrier come after them. Inside a block warps go greedy
//! then oldest.

use super::Policy;
use super::block_first::{Block, BlockFirst, Inside, Ranking, TIES};
use warpsim_machine::mechanism::Info;

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "saws",
        description: "synchronisation aware: the block that hit its barrier first, greedy then oldest in it",
        parameters: &[&TIES],
    },
    needs_pool: false,
    ranks_blocks: true,
    make: |values, machine, domains| {
        let (ties, blocks) = (values.get(&TIES), machine.sm.max_blocks as usize);
        Box::new(Saws::new(FirstArrival, Inside::Gto, ties, blocks, domains))
    },
};

/// The ranking.
#[derive(Clone, Copy, Debug)]
pub struct FirstArrival;

impl Ranking for FirstArrival {
    #[inline]
    fn rank(&self, block: &Block) -> u64 {
        block.since.unwrap_or(u64::MAX)
    }
}

/// The policy.
pub type Saws = BlockFirst<FirstArrival>;

#[cfg(test)]
mod tests {
    use super::super::IssuePolicy;
    use super::super::block_first::Ties;
    use super::super::block_first::testing::{BLOCKS, launch_blocks, order, place};
    use super::super::mwf::{MostWaiting, Mwf};
    use super::*;
    use crate::time::Cycle;

    /// The paper's figure 13: block 0 hits its barrier first, at t0; at t1 block 1 has two warps
    /// at theirs, at t2 block 2 three. `mwf` moves on to the block with most, `saws` stays.
    #[test]
    fn stays_with_the_first_to_hit_where_mwf_goes_to_the_most_waiting() {
        let mut saws = Saws::new(FirstArrival, Inside::Gto, Ties::Age, BLOCKS, 1);
        let ranking = MostWaiting {
            count_exited: false,
        };
        let mut mwf = Mwf::new(ranking, Inside::Gto, Ties::Age, BLOCKS, 1);
        launch_blocks(&mut saws, 3, 1);
        launch_blocks(&mut mwf, 3, 1);
        let mut running = 0xfffu64;
        let mut firsts = Vec::new();
        for (time, arrivals) in [(0, &[0u8][..]), (1, &[4, 5]), (2, &[8, 9, 10])] {
            for &w in arrivals {
                saws.waits(place(w, 1), (w / 4) as u16, Cycle::new(time));
                mwf.waits(place(w, 1), (w / 4) as u16, Cycle::new(time));
                running &= !(1 << w);
            }
            let block = |first: Option<u8>| first.map(|w| w / 4);
            firsts.push((block(saws.first(0, running)), block(mwf.first(0, running))));
        }
        assert_eq!(
            firsts,
            [(Some(0), Some(0)), (Some(0), Some(1)), (Some(0), Some(2))]
        );
    }

    #[test]
    fn blocks_that_wait_come_before_those_that_do_not_and_ties_go_to_the_older() {
        let mut saws = Saws::new(FirstArrival, Inside::Gto, Ties::Age, BLOCKS, 1);
        launch_blocks(&mut saws, 4, 1);
        for (w, now) in [(12, 7), (4, 9), (8, 9)] {
            saws.waits(place(w, 1), (w / 4) as u16, Cycle::new(now));
        }
        let running = 0xffff & !(1 << 12 | 1 << 4 | 1 << 8);
        assert_eq!(
            order(&saws, 0, running),
            [13, 14, 15, 5, 6, 7, 9, 10, 11, 0, 1, 2, 3]
        );
        saws.released(3, &mut [place(12, 1)].into_iter());
        assert_eq!(saws.first(0, running), Some(5));
    }

    #[test]
    fn an_opened_barrier_leaves_the_time_of_another() {
        let mut saws = Saws::new(FirstArrival, Inside::Gto, Ties::Age, BLOCKS, 1);
        launch_blocks(&mut saws, 2, 1);
        saws.waits(place(0, 1), 0, Cycle::new(3)); // at one barrier
        saws.waits(place(1, 1), 0, Cycle::new(8)); // at another
        saws.waits(place(4, 1), 1, Cycle::new(5));
        assert_eq!(saws.first(0, 0b1110_1100), Some(2));
        saws.released(0, &mut [place(0, 1)].into_iter());
        assert_eq!(saws.first(0, 0b1110_1101), Some(5), "8 is later than 5");
    }
}
