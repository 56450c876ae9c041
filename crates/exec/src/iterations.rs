//! Virtual blocks: which logical block each warp of a virtual block runs for, and with which
//! thread indices. Rules only; the code that runs warps asks when they come to `vtw.next_tb`.
//!
//! Warps of a virtual block are at most one iteration apart. The first to finish an iteration has
//! a logical block asked for, and its siblings get the same one when they finish.

use warpsim_ptx::isa::{Op, Space};
use warpsim_ptx::kernel::{Instr, Kernel, RegId};

/// Which thread indices a warp takes in its next iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NextTid {
    /// Those it has.
    #[default]
    SameLane,
    /// The first finisher sorts the warps by progress; the k-th to finish takes the indices of
    /// the k-th slowest.
    SlowestLane,
    /// The k-th to finish takes the k-th lowest.
    LowToHigh,
}

/// Whether an instruction may access shared memory: through a generic address, too, where the
/// kernel has some.
pub fn may_access_shared(instr: &Instr, kernel: &Kernel) -> bool {
    let has = kernel.shared_bytes > 0 || kernel.dynamic_shared.is_some();
    let accesses = matches!(instr.op, Op::Ld | Op::St | Op::Atom | Op::Red);
    has && accesses && matches!(instr.mods.space, Some(Space::Shared) | None)
}

/// Where the answer of `vtw.next_tb` goes: the block's number, and whether there is one.
pub type Results = [Option<RegId>; 2];

/// The warps of a virtual block.
#[derive(Clone, Debug)]
pub struct Iterations {
    scheme: NextTid,
    turns: Vec<Turn>,
    /// Warps with all of their threads: only they take each other's indices.
    full: u16,
    /// The iteration of the warps that are behind, and how many are in it.
    lowest: u64,
    left: usize,
    /// The logical block of the iteration behind that; `Some(None)` if there is none.
    answer: Option<Option<u64>>,
    asked: bool,
    /// Indices to be taken in the next iteration, the next one last.
    order: Vec<u16>,
    /// Whether they are those of the iteration under way.
    ordered: bool,
}

/// A warp.
#[derive(Clone, Copy, Debug)]
struct Turn {
    iteration: u64,
    /// It takes the indices of this warp of the block.
    index: u16,
    next_index: u16,
    /// It has finished its iteration, and where the answer goes.
    waits: Option<Results>,
}

/// A warp that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// Its number in the virtual block.
    pub warp: u16,
    /// The logical block it goes on with; `None` to leave.
    pub block: Option<u64>,
    /// It takes the indices of this warp of the block.
    pub index: u16,
    /// Where the answer goes.
    pub results: Results,
    /// Siblings are still in the iteration before.
    pub ahead: bool,
}

impl Iterations {
    /// The warps of a block of so many threads, all in their first iteration.
    pub fn new(threads: u32, scheme: NextTid) -> Iterations {
        let warps = threads.div_ceil(32) as u16;
        let turn = |index| Turn {
            iteration: 0,
            index,
            next_index: index,
            waits: None,
        };
        Iterations {
            scheme,
            turns: (0..warps).map(turn).collect(),
            full: (threads / 32) as u16,
            lowest: 0,
            left: usize::from(warps),
            answer: None,
            asked: false,
            order: Vec::new(),
            ordered: false,
        }
    }

    /// The iteration of the warps that are behind.
    #[inline]
    pub fn lowest(&self) -> u64 {
        self.lowest
    }

    /// The iteration of a warp.
    #[inline]
    pub fn iteration(&self, warp: u16) -> u64 {
        self.turns[usize::from(warp)].iteration
    }

    /// Whether a warp is in this iteration and has not finished it.
    #[inline]
    pub fn runs_in(&self, warp: u16, iteration: u64) -> bool {
        let turn = &self.turns[usize::from(warp)];
        turn.waits.is_none() && turn.iteration == iteration
    }

    /// Whether siblings of a warp are still in the iteration before its own.
    #[inline]
    pub fn is_ahead(&self, warp: u16) -> bool {
        self.iteration(warp) > self.lowest
    }

    /// Whether a warp waits in `vtw.next_tb`.
    #[inline]
    pub fn waits(&self, warp: u16) -> bool {
        self.turns[usize::from(warp)].waits.is_some()
    }

    /// A warp has finished its iteration. `progress` tells the instructions that each warp has
    /// executed in its iteration. Returns whether a logical block is to be asked for.
    pub fn finish(&mut self, warp: u16, results: Results, progress: &dyn Fn(u16) -> u64) -> bool {
        self.turns[usize::from(warp)].waits = Some(results);
        if self.is_ahead(warp) {
            return false;
        }
        self.take_index(warp, progress);
        !std::mem::replace(&mut self.asked, true)
    }

    /// The answer: a logical block, or that there is none.
    #[inline]
    pub fn answered(&mut self, block: Option<u64>) {
        self.answer = Some(block);
    }

    /// The next warp that goes on, if any does.
    pub fn next_gone(&mut self) -> Option<Gone> {
        let block = self.answer?;
        let lowest = self.lowest;
        let at = (self.turns.iter()).position(|t| t.waits.is_some() && t.iteration == lowest)?;
        let turn = &mut self.turns[at];
        let results = turn.waits.take()?;
        turn.iteration += 1;
        turn.index = turn.next_index;
        let index = turn.index;
        self.left -= 1;
        Some(Gone {
            warp: at as u16,
            block,
            index,
            results,
            ahead: self.left > 0,
        })
    }

    /// Where no warp is left in the lowest iteration, the next one is the lowest. Returns whether
    /// that has happened; if so, warps that have finished it may go on, see
    /// [`ask_again`](Iterations::ask_again).
    pub fn close(&mut self) -> bool {
        if self.left > 0 {
            return false;
        }
        self.lowest += 1;
        self.left = self.turns.len();
        self.answer = None;
        self.asked = false;
        self.ordered = false;
        true
    }

    /// After the lowest iteration was closed: warps that have finished the new one already take
    /// their indices. Returns whether a logical block is to be asked for.
    pub fn ask_again(&mut self, progress: &dyn Fn(u16) -> u64) -> bool {
        let mut any = false;
        for warp in 0..self.turns.len() as u16 {
            if self.waits(warp) {
                self.take_index(warp, progress);
                any = true;
            }
        }
        any && !std::mem::replace(&mut self.asked, true)
    }

    /// A warp of the lowest iteration, which it has finished, takes its next indices. A partial
    /// last warp keeps its own: threads would be lost or invented.
    fn take_index(&mut self, warp: u16, progress: &dyn Fn(u16) -> u64) {
        if !self.ordered {
            self.ordered = true;
            let mut warps: Vec<u16> = (0..self.turns.len() as u16).collect();
            warps.retain(|w| self.turns[usize::from(*w)].index < self.full);
            match self.scheme {
                NextTid::SameLane => {}
                NextTid::SlowestLane => {
                    warps.sort_by_key(|w| (progress(*w), self.turns[usize::from(*w)].index));
                }
                NextTid::LowToHigh => warps.sort_by_key(|w| self.turns[usize::from(*w)].index),
            }
            self.order = warps
                .iter()
                .rev()
                .map(|w| self.turns[usize::from(*w)].index)
                .collect();
        }
        let full = self.turns[usize::from(warp)].index < self.full;
        if self.scheme != NextTid::SameLane && full {
            let next = self.order.pop();
            let turn = &mut self.turns[usize::from(warp)];
            turn.next_index = next.unwrap_or(turn.index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOWHERE: Results = [None, None];

    fn go(all: &mut Iterations) -> Vec<(u16, Option<u64>, u16, bool)> {
        std::iter::from_fn(|| all.next_gone())
            .map(|g| (g.warp, g.block, g.index, g.ahead))
            .collect()
    }

    #[test]
    fn the_first_to_finish_asks_and_siblings_get_the_same_block() {
        let mut all = Iterations::new(96, NextTid::SameLane);
        assert!(all.finish(1, NOWHERE, &|_| 0), "the first asks");
        assert!(!all.finish(2, NOWHERE, &|_| 0), "one question is enough");
        assert_eq!(go(&mut all), [], "no answer yet");
        all.answered(Some(7));
        assert_eq!(go(&mut all), [(1, Some(7), 1, true), (2, Some(7), 2, true)]);
        assert!(!all.close(), "warp 0 is left");
        assert!(!all.finish(0, NOWHERE, &|_| 0), "the answer is there");
        assert_eq!(go(&mut all), [(0, Some(7), 0, false)]);
        assert!(all.close());
        assert_eq!(all.lowest(), 1);
    }

    #[test]
    fn warps_are_at_most_one_iteration_apart() {
        let mut all = Iterations::new(64, NextTid::SameLane);
        assert!(all.finish(0, NOWHERE, &|_| 0));
        all.answered(Some(4));
        assert_eq!(go(&mut all), [(0, Some(4), 0, true)]);
        assert!(!all.finish(0, NOWHERE, &|_| 0), "it has to wait");
        assert_eq!(go(&mut all), []);
        assert!(all.is_ahead(0) && all.waits(0));
        assert!(!all.finish(1, NOWHERE, &|_| 0));
        assert_eq!(go(&mut all), [(1, Some(4), 1, false)]);
        assert!(all.close());
        assert!(all.ask_again(&|_| 0), "now it may ask");
        all.answered(None);
        assert_eq!(go(&mut all), [(0, None, 0, true)], "nothing is left");
        assert!(all.runs_in(1, 1) && !all.runs_in(0, 1));
    }

    #[test]
    fn the_kth_to_finish_takes_the_kth_slowest_index() {
        // Warp 4 is partial.
        let mut all = Iterations::new(4 * 32 + 9, NextTid::SlowestLane);
        let progress = |w: u16| [50, 20, 90, 20, 5][usize::from(w)];
        for warp in [2, 4, 0, 3, 1] {
            all.finish(warp, NOWHERE, &progress);
        }
        all.answered(Some(1));
        let mut gone = go(&mut all);
        gone.sort();
        let indices: Vec<u16> = gone.iter().map(|g| g.2).collect();
        // In the order of finishing 2, 0, 3, 1 they take 1, 3, 0, 2.
        assert_eq!(indices, [3, 2, 1, 0, 4]);
        assert!(all.close());
        // The next time, indices are what the warps have now.
        for warp in [0, 1, 2, 3] {
            all.finish(warp, NOWHERE, &|w| u64::from(10 - w));
        }
        all.answered(Some(2));
        let indices: Vec<u16> = go(&mut all).iter().map(|g| g.2).collect();
        assert_eq!(
            indices,
            [0, 1, 2, 3],
            "slowest is warp 3, which has index 0"
        );
    }

    #[test]
    fn low_to_high_goes_by_the_order_of_finishing() {
        let mut all = Iterations::new(3 * 32, NextTid::LowToHigh);
        for warp in [2, 0, 1] {
            all.finish(warp, NOWHERE, &|_| 0);
        }
        all.answered(Some(1));
        let indices: Vec<u16> = go(&mut all).iter().map(|g| g.2).collect();
        assert_eq!(indices, [1, 2, 0]);
    }

    #[test]
    fn indices_are_never_lost_or_taken_twice() {
        for threads in [25, 61, 120, 169, 208, 256] {
            for scheme in [NextTid::SameLane, NextTid::SlowestLane, NextTid::LowToHigh] {
                let mut all = Iterations::new(threads, scheme);
                let warps = threads.div_ceil(32) as u16;
                for round in 0..20u64 {
                    for k in 0..warps {
                        let warp = (k * 3 + round as u16) % warps;
                        let warp = (0..warps)
                            .map(|n| (warp + n) % warps)
                            .find(|w| all.runs_in(*w, round))
                            .expect("one is left");
                        all.finish(warp, NOWHERE, &|w| u64::from(w).wrapping_mul(round + 7) % 5);
                    }
                    all.answered(Some(round));
                    let mut taken: Vec<u16> = go(&mut all).iter().map(|g| g.2).collect();
                    taken.sort();
                    assert!(taken.into_iter().eq(0..warps), "{threads} {scheme:?}");
                    let last = all.turns[usize::from(warps) - 1];
                    assert!(threads % 32 == 0 || last.index == warps - 1);
                    assert!(all.close());
                }
            }
        }
    }
}
