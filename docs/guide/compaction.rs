//! A small thread block compaction: one stack for each block. All warps of a block stop at a branch that may
//! diverge, and each side runs with its threads in as few warps as their lanes allow. Barriers only where the whole
//! block is together.

use std::collections::BTreeMap;
use warpsim_sim::divergence::{BlockArrival, Branch, DivergenceModel, Group, Groups, Model};
use warpsim_sim::divergence::{LANES, Lanes, NO_PC, Pc, Threads};
use warpsim_sim::mechanism::Info;

/// As it is registered.
pub const MODEL: Model = Model {
    info: Info {
        name: "compaction",
        description: "one stack for each block, whose warps wait for each other at branches",
        parameters: &[],
    },
    pools: false,
    keeps_threads: false,
    make: |_, _, _| Box::new(Compaction::default()),
};

/// Threads of a block: a mask for each of its home warps.
type Set = Vec<u32>;

/// Threads that run from `pc` until they come to `until`.
#[derive(Debug)]
struct Entry {
    pc: Pc,
    until: Pc,
    threads: Set,
}

/// A branch at which warps are arriving.
#[derive(Debug)]
struct Fork {
    pc: Pc,
    target: Pc,
    meet: Pc,
    taken: Set,
    stays: Set,
}

#[derive(Debug)]
struct Block {
    arrival: BlockArrival,
    /// The top entry is the one that runs.
    stack: Vec<Entry>,
    fork: Option<Fork>,
    /// Slots that run the top entry; true once they have stopped and settled.
    running: BTreeMap<u16, bool>,
}

/// The model.
#[derive(Debug, Default)]
pub struct Compaction {
    blocks: BTreeMap<u16, Block>,
    block_of: BTreeMap<u16, u16>,
}

impl Block {
    fn home(&self, home: u16) -> usize {
        (home - self.arrival.homes.start) as usize
    }

    fn none(&self) -> Set {
        vec![0; self.arrival.homes.len()]
    }

    /// All warps have stopped: the stack moves and the new top is regrouped.
    fn advance(&mut self, groups: &mut Groups) {
        match self.fork.take() {
            None => drop(self.stack.pop()),
            Some(fork) => {
                let top = self.stack.pop().expect("warps run the top entry");
                let sides = [(fork.pc + 1, fork.stays), (fork.target, fork.taken)];
                if fork.meet != top.until && fork.meet != NO_PC {
                    self.stack.push(Entry {
                        pc: fork.meet,
                        ..top
                    });
                }
                for (pc, threads) in sides {
                    self.stack.push(Entry {
                        pc,
                        until: fork.meet,
                        threads,
                    });
                }
            }
        }
        self.stack
            .retain(|e| e.pc != e.until && e.threads.iter().any(|&m| m != 0));
        self.start_top(groups);
    }

    fn start_top(&mut self, groups: &mut Groups) {
        self.running.clear();
        let Some(top) = self.stack.last() else {
            for (slot, _, _) in self.arrival.slots() {
                groups.finish(slot);
            }
            return;
        };
        let mut left = top.threads.clone();
        for (slot, _, _) in self.arrival.slots() {
            let mut homes = [self.arrival.homes.start; LANES];
            let mut mask = 0u32;
            for (lane, home) in homes.iter_mut().enumerate() {
                let Some(h) = left.iter().position(|m| m >> lane & 1 != 0) else {
                    continue;
                };
                left[h] &= !(1 << lane);
                *home = self.arrival.homes.start + h as u16;
                mask |= 1 << lane;
            }
            if mask == 0 {
                break;
            }
            self.running.insert(slot, false);
            groups.start(
                slot,
                top.pc,
                top.until,
                mask,
                Lanes::Gathered(Box::new(homes)),
            );
        }
    }
}

impl Compaction {
    fn block(&mut self, slot: u16) -> &mut Block {
        let block = self.block_of[&slot];
        self.blocks.get_mut(&block).expect("the block is resident")
    }
}

impl DivergenceModel for Compaction {
    fn launched(&mut self, arrival: &BlockArrival, threads: &Threads, groups: &mut Groups) {
        assert_eq!(arrival.layout.slices(), 1, "it regroups warps of 32");
        let live = arrival.homes.clone();
        let live = live.map(|h| threads.warps[h as usize].live).collect();
        for (slot, _, _) in arrival.slots() {
            self.block_of.insert(slot, arrival.block);
        }
        let mut block = Block {
            arrival: arrival.clone(),
            stack: vec![Entry {
                pc: 0,
                until: NO_PC,
                threads: live,
            }],
            fork: None,
            running: BTreeMap::new(),
        };
        block.start_top(groups);
        self.blocks.insert(arrival.block, block);
    }

    fn branch(&mut self, slot: u16, branch: &Branch, groups: &mut Groups) {
        let group = groups.get(slot);
        if branch.uniform {
            let taken = branch.taken != 0;
            let next = if taken { branch.target } else { branch.pc + 1 };
            groups.set_pc(slot, next);
            if next == groups.get(slot).watch {
                self.arrived(slot, groups);
            }
            return;
        }
        let (mask, lanes) = (group.mask, group.lanes.clone());
        let block = self.block(slot);
        let none = block.none();
        let mut fork = block.fork.take().unwrap_or(Fork {
            pc: branch.pc,
            target: branch.target,
            meet: branch.reconverge,
            taken: none.clone(),
            stays: none,
        });
        assert_eq!(fork.pc, branch.pc, "a block is at one branch at a time");
        for lane in (0..LANES).filter(|l| mask >> l & 1 != 0) {
            let home = block.home(lanes.home(lane));
            let takes = branch.taken >> lane & 1 != 0;
            let side = if takes {
                &mut fork.taken
            } else {
                &mut fork.stays
            };
            side[home] |= 1 << lane;
        }
        block.fork = Some(fork);
        groups.stop(slot);
    }

    fn arrived(&mut self, slot: u16, groups: &mut Groups) {
        groups.stop(slot);
    }

    fn exited(&mut self, slot: u16, lanes: u32, next: Pc, groups: &mut Groups) {
        let group = groups.get(slot).clone();
        let block = self.block(slot);
        for lane in (0..LANES).filter(|l| lanes >> l & 1 != 0) {
            let home = block.home(group.lanes.home(lane));
            for entry in &mut block.stack {
                entry.threads[home] &= !(1 << lane);
            }
        }
        let rest = group.mask & !lanes;
        if rest == 0 {
            return groups.stop(slot);
        }
        groups.redirect(slot, next, group.watch, rest);
        if next == group.watch {
            self.arrived(slot, groups);
        }
    }

    fn settled(&mut self, slot: u16, groups: &mut Groups) {
        let block = self.block(slot);
        match block.running.get_mut(&slot) {
            Some(settled) => *settled = true,
            None => return,
        }
        if block.running.values().all(|s| *s) {
            block.advance(groups);
        }
    }

    fn barrier_threads(&self, _: u16, group: &Group, _: &Threads) -> u32 {
        group.mask.count_ones()
    }

    fn left(&mut self, arrival: &BlockArrival) {
        self.blocks.remove(&arrival.block);
    }
}
