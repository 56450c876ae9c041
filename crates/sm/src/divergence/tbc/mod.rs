//! Thread block compaction: the warps of a block share one reconvergence stack. At a branch that
//! may diverge, and where its sides meet again, they wait for each other; then the threads of
//! the new top entry are compacted into as few warps as their home lanes allow, one warp a
//! cycle. Branches that go one way for the whole block are not waited at: those of which the program says so, or all of
//! which it is proven ([`Uniform`]).

mod compactor;
mod paths;
#[cfg(test)]
mod tests;

use super::likely::{POINTS, Points};
use super::pool::{Parked, Waits};
use super::stack::Stack;
use super::{BlockArrival, Branch, DivergenceModel, Group, Groups, Model, Path};
use crate::exec::state::{LANES, Lanes, Threads};
use crate::time::Cycle;
use compactor::Formed;
use std::collections::VecDeque;
use warpsim_machine::Machine;
use warpsim_machine::mechanism::{Info, OneOf, Switch, Values};
use warpsim_ptx::kernel::{NO_PC, Pc};

/// On, as in the paper.
const COMPACTION: Switch = Switch {
    name: "compaction",
    default: true,
    description: "compact threads into new warps; without, they wait for each other and stay in their static warps",
};

/// Which of the branches that are proven to go one way for the whole block are not waited at. What the program says is not enough:
/// `bra.uni` speaks for a warp, the stack is the block's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uniform {
    /// Those that the program annotates, as in the paper: "the programmer/compiler can statically annotate non-divergent
    /// branches (such as bra.uni in the PTX-ISA) in the kernel, allowing the warps to skip synchronization at these branches"
    /// (section 3.1).
    Annotated,
    /// All.
    Proven,
}

const UNIFORM: OneOf<Uniform> = OneOf {
    name: "uniform",
    words: &["annotated", "proven"],
    meanings: &[Uniform::Annotated, Uniform::Proven],
    description: "conditional branches that warps do not wait at: those annotated `bra.uni` and proven to go one way for the block (the paper's compiler annotates), or all that are proven to",
};

/// As it is registered.
pub const MODEL: Model = Model {
    info: Info {
        name: "tbc",
        description: "thread block compaction: a stack for each block; its warps wait for each other at branches and are compacted into new warps",
        parameters: &[&COMPACTION, &UNIFORM],
    },
    pools: false,
    keeps_threads: false,
    make: |values, machine, slots| Box::new(make(None, values, machine, slots)),
};

/// With likely-convergence points.
pub const WITH_LIKELY_POINTS: Model = Model {
    info: Info {
        name: "tbc-lcp",
        description: "thread block compaction with likely-convergence points",
        parameters: &[&COMPACTION, &UNIFORM, &POINTS],
    },
    pools: false,
    keeps_threads: false,
    make: |values, machine, slots| {
        let points = Some(values.get(&POINTS));
        Box::new(make(points, values, machine, slots))
    },
};

fn make(likely: Option<Points>, values: &Values, machine: &Machine, slots: usize) -> Tbc {
    let blocks = machine.sm.max_blocks as usize;
    let (compacts, uniform) = (values.get(&COMPACTION), values.get(&UNIFORM));
    Tbc::new(slots, blocks, likely, compacts, uniform)
}

/// The model.
#[derive(Debug)]
pub struct Tbc {
    /// The likely-convergence points, if they are used.
    likely: Option<Points>,
    /// Compact; else threads stay in their static warps.
    compacts: bool,
    uniform: Uniform,
    /// By block slot.
    blocks: Vec<Option<Block>>,
    /// The block of each warp slot.
    block_of: Vec<u16>,
    /// The cycle of the next warp out of a compactor.
    due: Cycle,
    deepest: u32,
    scratch: Vec<u32>,
}

#[derive(Debug)]
struct Block {
    arrival: BlockArrival,
    stack: Stack,
    /// For each of the block's warp slots, whether a warp of the top entry is there that has
    /// not arrived and settled.
    busy: Vec<bool>,
    /// Warps that wait for their turn to leave the compactor.
    formed: VecDeque<Formed>,
    /// When the next of them does; not known before the cycle in which the last warp arrived
    /// is over.
    next: Option<Cycle>,
}

/// Calls `f` with the row of each static warp in a group and lanes that it has there.
fn each_row(lanes: &Lanes, first: u16, mask: u32, mut f: impl FnMut(usize, u32)) {
    match lanes {
        Lanes::Static(home) => f((home - first) as usize, mask),
        Lanes::Gathered(homes) => {
            for lane in (0..LANES).filter(|l| mask >> l & 1 != 0) {
                f((homes[lane] - first) as usize, 1 << lane);
            }
        }
    }
}

impl Block {
    /// Where a warp slot of the block stands in `busy`.
    fn number(&self, slot: u16) -> usize {
        let (home, slice) = self.arrival.layout.home_of(slot);
        ((home - self.arrival.homes.start) * self.arrival.layout.slices() + slice) as usize
    }

    /// How many warps the compactor's output makes: a row for each slice that has threads.
    fn count_formed(&self) -> u16 {
        let parts = |f: &Formed| {
            let used = |s: &u16| f.mask & self.arrival.layout.lanes_of(*s) != 0;
            (0..self.arrival.layout.slices()).filter(used).count() as u16
        };
        self.formed.iter().map(parts).sum()
    }

    /// The next row leaves the compactor: a warp in each slice that has threads in it.
    fn start_next(&mut self, groups: &mut Groups) {
        let Some(row) = self.formed.pop_front() else {
            return;
        };
        let top = *self.stack.top().expect("warps are formed of an entry");
        let home = self.arrival.homes.start + row.row;
        for slice in 0..self.arrival.layout.slices() {
            let mask = row.mask & self.arrival.layout.lanes_of(slice);
            if mask != 0 {
                let slot = self.arrival.layout.slot_of(home, slice);
                let number = self.number(slot);
                self.busy[number] = true;
                let watch = top.watch_from(top.pc);
                groups.start(slot, top.pc, watch, mask, row.lanes.clone());
            }
        }
    }

    /// All warps have arrived and nothing of theirs is in flight: the stack moves.
    fn advance(&mut self, compacts: bool, scratch: &mut Vec<u32>, groups: &mut Groups) {
        self.stack.advance();
        for (slot, _, _) in self.arrival.slots() {
            if self.stack.top().is_none() {
                groups.finish(slot);
            } else {
                groups.vacate(slot);
            }
        }
        if self.stack.top().is_none() {
            return;
        }
        let (threads, homes) = (self.stack.threads(), self.arrival.homes.clone());
        if compacts {
            compactor::compact(threads, homes, scratch, &mut self.formed);
        } else {
            compactor::keep(threads, homes, &mut self.formed);
        }
        let warps = self.count_formed();
        self.stack.set_warps(warps);
        self.next = Some(Cycle::ZERO);
    }
}

impl Tbc {
    /// A model for `slots` warp slots and `blocks` block slots.
    pub fn new(
        slots: usize,
        blocks: usize,
        likely: Option<Points>,
        compacts: bool,
        uniform: Uniform,
    ) -> Tbc {
        Tbc {
            likely,
            compacts,
            uniform,
            blocks: (0..blocks).map(|_| None).collect(),
            block_of: vec![0; slots],
            due: Cycle::NEVER,
            deepest: 0,
            scratch: Vec::new(),
        }
    }

    fn block(&mut self, slot: u16) -> &mut Block {
        let block = self.block_of[slot as usize] as usize;
        self.blocks[block].as_mut().expect("the block is resident")
    }

    /// A warp goes on at `pc` by itself.
    fn proceed(&mut self, slot: u16, pc: Pc, groups: &mut Groups) {
        let stack = &self.block(slot).stack;
        let top = *stack.top().expect("a warp runs the top entry");
        groups.set_pc(slot, pc);
        if top.ends_at(pc) {
            self.arrived(slot, groups);
        } else {
            groups.set_watch(slot, top.watch_from(pc));
        }
    }
}

impl Tbc {
    /// When the next warp comes out of a compactor.
    fn first_out(&self) -> Cycle {
        let all = self.blocks.iter().flatten().filter_map(|b| b.next);
        all.min().unwrap_or(Cycle::NEVER)
    }
}

impl DivergenceModel for Tbc {
    fn launched(&mut self, arrival: &BlockArrival, threads: &Threads, groups: &mut Groups) {
        let live = arrival.homes.clone();
        let live: Vec<u32> = live.map(|h| threads.warps[h as usize].live).collect();
        let slots = arrival.slots().count();
        let mut block = Block {
            arrival: arrival.clone(),
            stack: Stack::new(&live, 0),
            busy: vec![false; slots],
            formed: VecDeque::with_capacity(live.len()),
            next: None,
        };
        for (slot, _, _) in arrival.slots() {
            self.block_of[slot as usize] = arrival.block;
            groups.vacate(slot);
            groups.stop(slot);
        }
        // The static warps are there as soon as the block is.
        compactor::keep(&live, arrival.homes.clone(), &mut block.formed);
        let warps = block.count_formed();
        block.stack.set_warps(warps);
        while !block.formed.is_empty() {
            block.start_next(groups);
        }
        self.deepest = self.deepest.max(1);
        self.blocks[arrival.block as usize] = Some(block);
    }

    fn branch(&mut self, slot: u16, branch: &Branch, groups: &mut Groups) {
        let skips = match self.uniform {
            Uniform::Annotated => branch.uniform && branch.annotated,
            Uniform::Proven => branch.uniform,
        };
        if skips {
            let taken = branch.taken != 0;
            let next = if taken { branch.target } else { branch.pc + 1 };
            return self.proceed(slot, next, groups);
        }
        let likely = self.likely.map_or(NO_PC, |points| points.of(branch));
        let group = groups.get(slot);
        let block = self.block(slot);
        block.stack.branch(branch, likely);
        let first = block.arrival.homes.start;
        each_row(&group.lanes, first, group.mask, |row, lanes| {
            let taken = lanes & branch.taken;
            block.stack.fill(row, taken, lanes & !taken);
        });
        let depth = block.stack.depth() as u32;
        self.deepest = self.deepest.max(depth);
        groups.stop(slot);
    }

    fn arrived(&mut self, slot: u16, groups: &mut Groups) {
        let pc = groups.get(slot).pc;
        self.block(slot).stack.arrive(pc);
        groups.stop(slot);
    }

    fn exited(&mut self, slot: u16, lanes: u32, next: Pc, groups: &mut Groups) {
        let group = groups.get(slot);
        let (watch, rest) = (group.watch, group.mask & !lanes);
        let block = self.block(slot);
        let first = block.arrival.homes.start;
        each_row(&group.lanes, first, lanes, |row, lanes| {
            block.stack.exit(row, lanes);
        });
        if rest == 0 {
            block.stack.count_down();
            return groups.stop(slot);
        }
        groups.redirect(slot, next, watch, rest);
        if next == watch {
            self.arrived(slot, groups);
        }
    }

    fn settled(&mut self, slot: u16, groups: &mut Groups) {
        let (block, compacts) = (self.block_of[slot as usize] as usize, self.compacts);
        let Some(block) = &mut self.blocks[block] else {
            return;
        };
        let number = block.number(slot);
        if !std::mem::replace(&mut block.busy[number], false) {
            return;
        }
        if block.stack.is_complete() && !block.busy.contains(&true) {
            block.advance(compacts, &mut self.scratch, groups);
            self.due = self.first_out();
        }
    }

    fn barrier_threads(&self, _: u16, group: &Group, _: &Threads) -> u32 {
        group.mask.count_ones()
    }

    /// A barrier waits for the warps of the top entry.
    fn barrier_takers(&self, block: u16) -> Option<u32> {
        self.blocks[block as usize]
            .as_ref()
            .map(|b| b.stack.count())
    }

    fn parked(&self, _: &Groups) -> Vec<Parked> {
        let blocks = self.blocks.iter().flatten();
        let parked = blocks.flat_map(|block| {
            let first = block.arrival.homes.start;
            let below = block.stack.below().into_iter();
            below.map(move |(row, lanes, pc)| Parked {
                home: first + row as u16,
                lanes,
                pc,
                waits: Waits::OtherPath,
            })
        });
        parked.collect()
    }

    fn paths(&self, slot: u16, groups: &Groups, out: &mut Vec<Path>) {
        let block = self.block_of[slot as usize] as usize;
        if let Some(block) = &self.blocks[block] {
            block.paths(slot, groups, out);
        }
    }

    fn left(&mut self, arrival: &BlockArrival) {
        self.blocks[arrival.block as usize] = None;
    }

    fn ticks(&self) -> bool {
        true
    }

    fn next(&self) -> Cycle {
        self.due
    }

    fn tick(&mut self, now: Cycle, groups: &mut Groups) {
        for block in self.blocks.iter_mut().flatten() {
            match block.next {
                // The top entry's mask is at the compactor now; its first warp is out a cycle
                // later.
                Some(Cycle::ZERO) => block.next = Some(now + 1),
                Some(at) if at <= now => {
                    block.start_next(groups);
                    block.next = (!block.formed.is_empty()).then_some(now + 1);
                }
                _ => {}
            }
        }
        self.due = self.first_out();
    }

    fn begin(&mut self) {
        self.deepest = 0;
    }

    fn deepest(&self) -> u32 {
        self.deepest
    }
}
