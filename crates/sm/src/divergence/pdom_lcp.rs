//! The per-warp reconvergence stack with likely-convergence points: where a branch in a loop
//! usually meets before its post-dominator, an extra entry collects the threads that come there,
//! and they go on together.

use super::likely::{POINTS, Points};
use super::stack::Stack;
use super::{BlockArrival, Branch, DivergenceModel, Group, Groups, Model, Path};
use crate::exec::state::{Lanes, Threads};
use warpsim_machine::mechanism::Info;
use warpsim_ptx::kernel::Pc;

/// As it is registered.
pub const MODEL: Model = Model {
    info: Info {
        name: "pdom-lcp",
        description: "pdom with likely-convergence points: where a break keeps the end of a loop body from being the post-dominator, threads meet there all the same",
        parameters: &[&POINTS],
    },
    pools: false,
    keeps_threads: true,
    make: |values, _, slots| Box::new(PdomLcp::new(slots, values.get(&POINTS))),
};

/// The model: a stack of one row for each slot, which one warp runs.
#[derive(Debug)]
pub struct PdomLcp {
    points: Points,
    stacks: Vec<Stack>,
    /// Lanes of each slot's home warp that belong to the slot.
    owned: Vec<u32>,
    deepest: u32,
}

impl PdomLcp {
    /// Stacks for this many slots.
    pub fn new(slots: usize, points: Points) -> PdomLcp {
        PdomLcp {
            points,
            stacks: vec![Stack::new(&[0], 1); slots],
            owned: vec![0; slots],
            deepest: 0,
        }
    }

    /// The warp has come to a branch or to an end of its entry: it goes on with the next entry
    /// that has something to do.
    fn advance(&mut self, slot: u16, groups: &mut Groups) {
        let stack = &mut self.stacks[slot as usize];
        stack.advance();
        self.deepest = self.deepest.max(stack.depth() as u32);
        let Some(&top) = stack.top() else {
            return groups.finish(slot);
        };
        stack.set_warps(1);
        let mask = stack.threads()[0];
        groups.redirect(slot, top.pc, top.watch_from(top.pc), mask);
    }

    /// Goes on at `pc` with the group's own mask.
    fn proceed(&mut self, slot: u16, pc: Pc, groups: &mut Groups) {
        groups.set_pc(slot, pc);
        let Some(top) = self.stacks[slot as usize].top() else {
            return;
        };
        if top.ends_at(pc) {
            self.arrived(slot, groups);
        } else {
            groups.set_watch(slot, top.watch_from(pc));
        }
    }
}

impl DivergenceModel for PdomLcp {
    fn launched(&mut self, block: &BlockArrival, threads: &Threads, groups: &mut Groups) {
        for (slot, home, slice) in block.slots() {
            let lanes = block.layout.lanes_of(slice);
            let mask = threads.warps[home as usize].live & lanes;
            self.owned[slot as usize] = lanes;
            let stack = &mut self.stacks[slot as usize];
            stack.restart(&[mask], 1);
            let watch = stack.top().map_or(0, |e| e.watch_from(0));
            groups.start(slot, 0, watch, mask, Lanes::Static(home));
            if mask == 0 {
                groups.finish(slot);
            }
        }
        self.deepest = self.deepest.max(1);
    }

    fn branch(&mut self, slot: u16, branch: &Branch, groups: &mut Groups) {
        let stays = groups.get(slot).mask & !branch.taken;
        if stays == 0 {
            return self.proceed(slot, branch.target, groups);
        }
        if branch.taken == 0 {
            return self.proceed(slot, branch.pc + 1, groups);
        }
        let stack = &mut self.stacks[slot as usize];
        stack.branch(branch, self.points.of(branch));
        stack.fill(0, branch.taken, stays);
        self.advance(slot, groups);
    }

    fn arrived(&mut self, slot: u16, groups: &mut Groups) {
        self.stacks[slot as usize].arrive(groups.get(slot).pc);
        self.advance(slot, groups);
    }

    fn exited(&mut self, slot: u16, lanes: u32, next: Pc, groups: &mut Groups) {
        let stack = &mut self.stacks[slot as usize];
        stack.exit(0, lanes);
        let group = groups.get(slot);
        let (watch, rest) = (group.watch, group.mask & !lanes);
        if rest == 0 {
            stack.count_down();
            return self.advance(slot, groups);
        }
        groups.redirect(slot, next, watch, rest);
        self.proceed(slot, next, groups);
    }

    /// As under `pdom`: arrival with part of a warp's lanes is arrival of the warp.
    fn barrier_threads(&self, slot: u16, group: &Group, threads: &Threads) -> u32 {
        let live = threads.warps[group.lanes.home(0) as usize].live;
        (live & self.owned[slot as usize]).count_ones()
    }

    fn owns(&self, slot: u16) -> u32 {
        self.owned[slot as usize]
    }

    fn waiting_at(&self, slot: u16, pc: Pc, _: &Groups) -> u32 {
        let below = self.stacks[slot as usize].below().into_iter();
        let here = below.filter(|&(_, _, at)| at == pc);
        here.fold(0, |found, (_, lanes, _)| found | lanes)
    }

    fn paths(&self, slot: u16, groups: &Groups, out: &mut Vec<Path>) {
        let stack = &self.stacks[slot as usize];
        let running = Path::of(groups.get(slot));
        out.extend(running.map(|path| path.ends_as(stack.top())));
        out.extend(
            (0..stack.running())
                .rev()
                .filter_map(|at| stack.path(at, 0)),
        );
    }

    fn begin(&mut self) {
        self.deepest = 0;
    }

    fn deepest(&self) -> u32 {
        self.deepest
    }
}
