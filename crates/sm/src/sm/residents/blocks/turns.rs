//! Which scheduler goes first: the turn passes in every cycle, or only in those in which the SM
//! holds a block.

use crate::time::Cycle;

/// The turns of an SM's schedulers.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    /// The turns rest while no block is here.
    rest: bool,
    /// Cycles in which they have rested.
    rested: u64,
    /// The first cycle in which no block was here.
    empty_from: Cycle,
}

impl Turns {
    /// Turns of an SM that no block has come to.
    pub fn new(rest: bool) -> Turns {
        Turns {
            rest,
            rested: 0,
            empty_from: Cycle::ZERO,
        }
    }

    /// The number of the turn in cycle `now`, in which a block is here.
    #[inline]
    pub fn number(&self, now: Cycle) -> usize {
        (now.get() - self.rested) as usize
    }

    /// A block comes in cycle `now`, the first after a time without any.
    pub fn block_comes(&mut self, now: Cycle) {
        if self.rest {
            self.rested += now.since(self.empty_from);
        }
    }

    /// In cycle `now` the last block has left.
    pub fn emptied(&mut self, now: Cycle) {
        self.empty_from = now + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks are here in cycles 1 to 10 and from 101 on.
    fn numbers(rest: bool) -> [usize; 4] {
        let mut turns = Turns::new(rest);
        turns.block_comes(Cycle::new(1));
        let first = [1, 10].map(|now| turns.number(Cycle::new(now)));
        turns.emptied(Cycle::new(10));
        turns.block_comes(Cycle::new(101));
        let second = [101, 102].map(|now| turns.number(Cycle::new(now)));
        [first[0], first[1], second[0], second[1]]
    }

    #[test]
    fn the_turn_passes_in_every_cycle_or_rests_without_blocks() {
        assert_eq!(numbers(false), [1, 10, 101, 102]);
        assert_eq!(numbers(true), [0, 9, 10, 11]);
    }
}
