//! Blocks: they come with all their threads and leave with the last of them.

use super::Sm;
use super::barrier::BarrierState;
use super::barriers::BARRIERS;
use super::warp::Warp;
use crate::divergence::{BlockArrival, GroupState};
use crate::exec::iterations::Iterations;
use crate::sm::launch::Launched;
use crate::sm::residents::{Coming, Ended};
use crate::stats::SchedulerState;
use crate::time::Cycle;

/// A block on the SM.
#[derive(Debug)]
pub(super) struct Block {
    /// Its home warps, and where its warps sit.
    pub arrival: BlockArrival,
    /// Its warps, or threads where warps belong to no block, that have not left.
    pub left: u32,
    /// By set, then by number.
    pub barriers: Vec<BarrierState>,
    /// Which logical block each of its warps runs for, if it is a virtual one.
    pub iterations: Option<Box<Iterations>>,
    /// Warps that have exited since its last barrier.
    exits: Vec<u16>,
    life: Life,
}

/// How evenly its warps have run so far.
#[derive(Clone, Copy, Debug, Default)]
struct Life {
    began: Cycle,
    /// Scheduler-cycles without an issue on the SM before that.
    stalls: u64,
    /// When the first of its warps finished, and how many of those cycles there had been.
    first: Option<(Cycle, u64)>,
    /// Fewest and most instructions of its warps that have finished.
    instructions: Option<(u64, u64)>,
}

impl Sm {
    /// Blocks, and answers to virtual ones, whose time has come.
    pub(super) fn take_arrivals(&mut self, now: Cycle, launched: &Launched) {
        while let Some(&(_, what)) = self.arrivals.front().filter(|(at, _)| *at <= now) {
            self.arrivals.pop_front();
            match what {
                Coming::Block(number) => self.start_block(number, now, launched),
                Coming::Answer { block, number } => self.answer_block(block, number, now, launched),
                Coming::LastBlock => self.policy.blocks_left(false),
            }
        }
    }

    /// Whether no block is here.
    pub(super) fn has_no_block(&self) -> bool {
        self.blocks.iter().all(Option::is_none)
    }

    fn start_block(&mut self, number: u64, now: Cycle, launched: &Launched) {
        if self.has_no_block() && self.machine.sm.turns_rest {
            self.rested += now.since(self.empty_from);
        }
        let free = self.blocks.iter().position(Option::is_none);
        let block = free.expect("the dispatcher sends a block only where there is room") as u16;
        let warps = launched.warps_per_block() as u16;
        let homes = block * warps..(block + 1) * warps;
        self.threads
            .start_block(block, homes.start, number, &launched.grid, &launched.code);
        let arrival = BlockArrival {
            block,
            homes,
            layout: self.layout,
        };
        self.model
            .launched(&arrival, &self.threads, &mut self.groups);
        let mut left = 0;
        if self.pools {
            let live = |home: u16| self.threads.warps[usize::from(home)].live.count_ones();
            left = arrival.homes.clone().map(live).sum();
        } else {
            for (slot, _, _) in arrival.slots() {
                left += 1;
                self.come(slot, block, now);
            }
        }
        let virtual_blocks = launched.grid.virtual_blocks;
        let turns =
            virtual_blocks.map(|v| Iterations::new(launched.grid.threads() as u32, v.next_tid));
        self.blocks[usize::from(block)] = Some(Block {
            arrival,
            left,
            barriers: vec![BarrierState::default(); 2 * BARRIERS],
            iterations: turns.map(Box::new),
            exits: Vec::new(),
            life: Life {
                began: now,
                stalls: self.stalls(),
                ..Life::default()
            },
        });
        self.follow(now, launched);
    }

    /// Threads of a warp, on these lanes, have exited.
    pub(super) fn threads_exited(
        &mut self,
        slot: u16,
        lanes: u32,
        now: Cycle,
        launched: &Launched,
    ) {
        if !self.pools {
            if self.groups.get(slot).state == GroupState::Finished {
                self.warp_exited(slot, now);
            }
            return self.recheck_barriers(self.warps[usize::from(slot)].block, now, launched);
        }
        let homes = self.groups.get(slot).lanes.clone();
        for (block, _) in self.blocks_of(&homes, lanes) {
            self.recheck_barriers(block, now, launched);
        }
    }

    /// All threads of a warp have exited, now.
    pub(super) fn warp_exited(&mut self, slot: u16, now: Cycle) {
        let warp = &mut self.warps[usize::from(slot)];
        // Slices of a warp that is cut short by its block's end have no threads: they never run.
        let never_ran = now == warp.phase_began && warp.in_flight == 0;
        if warp.exited || never_ran {
            return;
        }
        (warp.exited, warp.phase_ended) = (true, now);
        if let Some(block) = &mut self.blocks[usize::from(warp.block)]
            && !block.exits.contains(&slot)
        {
            block.exits.push(slot);
        }
    }

    /// A finished warp with nothing in flight leaves; with the last one its block does.
    pub(super) fn retire(&mut self, slot: u16, now: Cycle) {
        let stalls = self.stalls();
        let warp = &mut self.warps[usize::from(slot)];
        warp.retired = true;
        self.last_retired = now;
        self.policy.finished(warp.place);
        let Some(block) = &mut self.blocks[usize::from(warp.block)] else {
            return;
        };
        // Slices without threads never ran; warps of virtual blocks run for many.
        if warp.instructions > 0 && block.iterations.is_none() {
            let life = &mut block.life;
            life.first.get_or_insert((now, stalls));
            let (least, most) = life.instructions.unwrap_or((u64::MAX, 0));
            life.instructions = Some((least.min(warp.instructions), most.max(warp.instructions)));
        }
        block.left -= 1;
        if block.left > 0 {
            return;
        }
        let number = warp.block;
        self.end_phase(number, &[], now);
        let Some(block) = self.blocks[usize::from(number)].take() else {
            return;
        };
        self.end_life(block.life, now);
        for (slot, _, _) in block.arrival.slots() {
            self.go(slot);
            self.groups.free(slot);
        }
        self.block_left(&block, now);
    }

    /// Threads of a block that does not own its warps have exited; with the last one the block leaves.
    pub(super) fn threads_gone(&mut self, number: u16, threads: u32, now: Cycle) {
        let Some(block) = &mut self.blocks[usize::from(number)] else {
            return;
        };
        block.left = block.left.saturating_sub(threads);
        if block.left == 0 {
            self.last_retired = now;
            if let Some(block) = self.blocks[usize::from(number)].take() {
                self.block_left(&block, now);
            }
        }
    }

    fn block_left(&mut self, block: &Block, now: Cycle) {
        self.model.left(&block.arrival);
        self.stats.counters.blocks += 1;
        self.completed += 1;
        if self.has_no_block() {
            self.emptied = true;
            self.empty_from = now + 1;
        }
    }

    /// A phase of a block ends, which is its warps' way from one barrier to the next: that of the warps `at_barrier`,
    /// which opens now, or (with none) the last one. With them ends that of warps that have exited since the barrier
    /// before. How unevenly they end it is the share of their time that goes unused (RTRU), in millionths.
    pub(super) fn end_phase(&mut self, number: u16, at_barrier: &[u16], now: Cycle) {
        let Some(block) = &mut self.blocks[usize::from(number)] else {
            return;
        };
        if at_barrier.is_empty() && block.left > 0 {
            return; // `bar.arrive` only: no warp waited
        }
        let time = |warp: &Warp| warp.phase_ended - warp.phase_began;
        // A model may have given a warp that had exited other threads.
        let exits = block
            .exits
            .drain(..)
            .map(|slot| &self.warps[usize::from(slot)]);
        let mut times: Vec<u64> = exits.filter(|warp| warp.exited).map(time).collect();
        for slot in at_barrier {
            let warp = &mut self.warps[usize::from(*slot)];
            times.push(time(warp));
            warp.phase_began = now;
        }
        let Some(longest) = times.iter().max() else {
            return;
        };
        let whole = times.len() as u64 * longest;
        let unused = whole - times.iter().sum::<u64>();
        let counters = &mut self.stats.counters;
        counters.phases += 1;
        counters.phase_imbalance += (unused * 1_000_000 + whole / 2)
            .checked_div(whole)
            .unwrap_or(0);
    }

    /// Scheduler-cycles without an issue so far.
    fn stalls(&self) -> u64 {
        let schedulers = &self.stats.schedulers;
        schedulers.sum() - schedulers.get(SchedulerState::Issued)
    }

    /// The last warp of a block has finished: how unevenly its warps have run, in instructions and in cycles.
    fn end_life(&mut self, life: Life, now: Cycle) {
        let (Some((first, then)), Some((least, most))) = (life.first, life.instructions) else {
            return;
        };
        let stalls = self.stalls();
        let (whole, shortest) = (now - life.began + 1, first - life.began + 1);
        let exceeds =
            |percent: u64, least: u64, most: u64| u64::from((most - least) * 100 > percent * least);
        let c = &mut self.stats.counters;
        c.uneven_instructions_50 += exceeds(50, least, most);
        c.uneven_instructions_25 += exceeds(25, least, most);
        c.uneven_instructions_10 += exceeds(10, least, most);
        c.uneven_instructions_5 += exceeds(5, least, most);
        c.uneven_cycles_50 += exceeds(50, shortest, whole);
        c.uneven_cycles_25 += exceeds(25, shortest, whole);
        c.uneven_cycles_10 += exceeds(10, shortest, whole);
        c.uneven_cycles_5 += exceeds(5, shortest, whole);
        let millionths = |part: u64, whole: u64| (part * 1_000_000).checked_div(whole).unwrap_or(0);
        self.ended.push(Ended {
            at: now,
            dwr: millionths(whole - shortest, whole),
            dws: millionths(stalls - then, stalls - life.stalls),
        });
    }
}
