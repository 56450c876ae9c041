//! Reconvergence stacks with immediate post-dominators, one for each hardware warp
//! (thread-block-compaction §2, the baseline of every paper here).
//!
//! A divergent branch turns the top entry into the continuation at the reconvergence point
//! and pushes one entry for each side, the taken side on top. An entry is popped when its PC
//! reaches its reconvergence PC. A side that starts at the reconvergence point is not pushed,
//! and a branch that reconverges where its surroundings do needs no new continuation, so that
//! loops do not grow the stack.

use super::{BlockArrival, Branch, DivergenceModel, Group, Groups, Model, Path};
use crate::exec::state::{Lanes, Threads};
use warpsim_machine::mechanism::Info;
use warpsim_ptx::kernel::{NO_PC, Pc};

/// As it is registered.
pub const MODEL: Model = Model {
    info: Info {
        name: "pdom",
        description: "a reconvergence stack for each warp; sides of a branch meet at its immediate post-dominator",
        parameters: &[],
    },
    pools: false,
    keeps_threads: true,
    make: |_, _, slots| Box::new(Pdom::new(slots)),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    pc: Pc,
    /// Where this entry ends.
    until: Pc,
    mask: u32,
}

/// The model. The top entry of each stack lives in [`Groups`]; `below` holds the rest.
#[derive(Debug)]
pub struct Pdom {
    below: Vec<Vec<Entry>>,
    /// Lanes of each slot's home warp that belong to the slot.
    owned: Vec<u32>,
    deepest: u32,
}

impl Pdom {
    /// Stacks for this many slots.
    pub fn new(slots: usize) -> Pdom {
        Pdom {
            below: vec![Vec::new(); slots],
            owned: vec![0; slots],
            deepest: 0,
        }
    }

    /// Continues with the next entry that has something to do, or finishes the slot.
    fn pop(&mut self, slot: u16, groups: &mut Groups) {
        while let Some(entry) = self.below[slot as usize].pop() {
            if entry.mask != 0 && entry.pc != entry.until {
                groups.redirect(slot, entry.pc, entry.until, entry.mask);
                return;
            }
        }
        groups.finish(slot);
    }

    /// Goes on at `pc` with the group's own mask.
    fn proceed(&mut self, slot: u16, pc: Pc, groups: &mut Groups) {
        groups.set_pc(slot, pc);
        if pc == groups.get(slot).watch {
            self.arrived(slot, groups);
        }
    }
}

impl DivergenceModel for Pdom {
    fn launched(&mut self, block: &BlockArrival, threads: &Threads, groups: &mut Groups) {
        for (slot, home, slice) in block.slots() {
            let lanes = block.layout.lanes_of(slice);
            let mask = threads.warps[home as usize].live & lanes;
            self.below[slot as usize].clear();
            self.owned[slot as usize] = lanes;
            groups.start(slot, 0, NO_PC, mask, Lanes::Static(home));
            if mask == 0 {
                groups.finish(slot);
            }
        }
        self.deepest = self.deepest.max(1);
    }

    fn branch(&mut self, slot: u16, branch: &Branch, groups: &mut Groups) {
        let group = groups.get(slot);
        let (mask, until) = (group.mask, group.watch);
        let stays = mask & !branch.taken;
        if stays == 0 {
            return self.proceed(slot, branch.target, groups);
        }
        if branch.taken == 0 {
            return self.proceed(slot, branch.pc + 1, groups);
        }
        let below = &mut self.below[slot as usize];
        let meet = branch.reconverge;
        if meet != until && meet != NO_PC {
            below.push(Entry {
                pc: meet,
                until,
                mask,
            });
        }
        let sides = [(branch.pc + 1, stays), (branch.target, branch.taken)];
        for (pc, mask) in sides {
            if pc != meet {
                below.push(Entry {
                    pc,
                    until: meet,
                    mask,
                });
            }
        }
        self.deepest = self.deepest.max(below.len() as u32);
        self.pop(slot, groups);
    }

    // One only leads the group on.
    fn hears_agreed_branches(&self) -> bool {
        false
    }

    fn arrived(&mut self, slot: u16, groups: &mut Groups) {
        self.pop(slot, groups);
    }

    fn exited(&mut self, slot: u16, lanes: u32, next: Pc, groups: &mut Groups) {
        for entry in &mut self.below[slot as usize] {
            entry.mask &= !lanes;
        }
        let group = groups.get(slot);
        let (watch, rest) = (group.watch, group.mask & !lanes);
        if rest == 0 {
            return self.pop(slot, groups);
        }
        groups.redirect(slot, next, watch, rest);
        self.proceed(slot, next, groups);
    }

    /// As on the hardware of the time, a barrier counts warps: arrival with part of a warp's
    /// lanes is arrival of the warp.
    fn barrier_threads(&self, slot: u16, group: &Group, threads: &Threads) -> u32 {
        let live = threads.warps[group.lanes.home(0) as usize].live;
        (live & self.owned[slot as usize]).count_ones()
    }

    fn begin(&mut self) {
        self.deepest = 0;
    }

    fn owns(&self, slot: u16) -> u32 {
        self.owned[slot as usize]
    }

    fn waiting_at(&self, slot: u16, pc: Pc, groups: &Groups) -> u32 {
        let mut above = groups.get(slot).mask;
        let mut found = 0;
        for entry in self.below[slot as usize].iter().rev() {
            let here = entry.pc == pc;
            found |= if here { entry.mask & !above } else { 0 };
            above |= entry.mask;
        }
        found
    }

    fn paths(&self, slot: u16, groups: &Groups, out: &mut Vec<Path>) {
        let group = groups.get(slot);
        out.extend(Path::of(group).map(|path| path.until(group.watch)));
        let below = self.below[slot as usize].iter().rev();
        out.extend(
            below.filter_map(|e| Path::stacked(e.pc, e.mask).map(|path| path.until(e.until))),
        );
    }

    fn deepest(&self) -> u32 {
        self.deepest
    }
}
