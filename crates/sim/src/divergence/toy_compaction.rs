//! A toy of thread block compaction, to prove that the seam holds: one stack for each block, all
//! warps of a block stop at a branch that may diverge, and each side runs with its threads
//! regrouped into as few warps as their home lanes allow. Barriers only where the whole block
//! is together.

use super::{BlockArrival, Branch, DivergenceModel, Group, Groups};
use crate::exec::state::{LANES, Lanes, Threads};
use std::collections::BTreeMap;
use warpsim_ptx::kernel::{NO_PC, Pc};

/// Threads of a block: a mask for each of its home warps.
type Set = Vec<u32>;

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

#[derive(Debug, Default)]
pub struct ToyCompaction {
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

impl ToyCompaction {
    fn block(&mut self, slot: u16) -> &mut Block {
        let block = self.block_of[&slot];
        self.blocks.get_mut(&block).expect("the block is resident")
    }
}

impl DivergenceModel for ToyCompaction {
    fn launched(&mut self, arrival: &BlockArrival, threads: &Threads, groups: &mut Groups) {
        assert_eq!(arrival.layout.slices(), 1, "the toy regroups whole warps");
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

#[cfg(test)]
mod tests {
    use super::ToyCompaction;
    use crate::bench::generate::Generator;
    use crate::bench::{Bench, check_laws, kernel, machine};
    use crate::gpu::Options;
    use crate::observe::WarpEvent;
    use crate::stats::{LaunchReport, WarpState};

    /// Runs a kernel with the toy in every SM.
    fn compacted(preset: &str, ptx: &str, shape: [u32; 2], skip: bool) -> (Vec<u32>, LaunchReport) {
        let options = Options {
            skip,
            max_cycles: Some(1_000_000),
            ..Options::default()
        };
        let mut bench = Bench::with(machine(preset, &["gpu.sms=2"]), ptx, options);
        for sm in bench.gpu.sms_mut() {
            sm.replace_mechanisms(Some(Box::new(ToyCompaction::default())), None);
        }
        bench.launch(shape[0], shape[1]);
        check_laws(bench.report(), &machine(preset, &["gpu.sms=2"]));
        (bench.output(), bench.report().clone())
    }

    fn with_stacks(preset: &str, ptx: &str, shape: [u32; 2]) -> (Vec<u32>, LaunchReport) {
        let mut bench = Bench::new(machine(preset, &["gpu.sms=2"]), ptx);
        bench.launch(shape[0], shape[1]);
        (bench.output(), bench.report().clone())
    }

    /// Half the lanes of each warp take the branch; those of neighbouring warps complement
    /// each other.
    const COMPLEMENTARY: &str = "shr.u32 %r2, %r1, 5; add.u32 %r3, %r2, %r1; and.b32 %r3, %r3, 1;
        setp.eq.u32 %p1, %r3, 0; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3;
        @%p1 bra ELSE;
        mul.lo.u32 %r4, %r1, 3; add.u32 %r4, %r4, 1; xor.b32 %r4, %r4, %r2; add.u32 %r4, %r4, 5;
        bra END;
        ELSE: mul.lo.u32 %r4, %r1, 7; add.u32 %r4, %r4, 2; xor.b32 %r4, %r4, %r1; add.u32 %r4, %r4, 9;
        END: bar.sync 0;
        st.global.u32 [%rd4], %r4;";

    #[test]
    fn complementary_warps_share_the_sides_of_a_branch() {
        let ptx = kernel(0, COMPLEMENTARY);
        for preset in ["gtx480", "fx5800"] {
            let (memory, report) = compacted(preset, &ptx, [3, 128], true);
            let (expected, stacks) = with_stacks(preset, &ptx, [3, 128]);
            assert_eq!(memory, expected);
            let issued = |r: &LaunchReport| r.totals.sm.counters.warp_instructions;
            // The sides have five and four instructions; two of four warps run each.
            assert_eq!(issued(&stacks) - issued(&report), 3 * 2 * 9);
            let full = |r: &LaunchReport| r.totals.sm.counters.lanes_29_32;
            assert_eq!(full(&report), issued(&report), "every lane is used");
            let (_, stepped) = compacted(preset, &ptx, [3, 128], false);
            assert_eq!(report, stepped);
        }
    }

    #[test]
    fn a_warp_held_with_a_load_in_flight_waits_for_data() {
        let body = "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; and.b32 %r3, %r1, 1;
            setp.eq.u32 %p1, %r3, 0; bra FRESH; mov.u32 %r6, 0; FRESH: ld.global.u32 %r4, [%rd4];
            @%p1 bra ELSE; // @branch
            add.u32 %r5, %r1, 1; // @side
            ELSE: add.u32 %r6, %r1, 2;";
        let machine = machine("gtx480", &["gpu.sms=1"]);
        let mut bench = Bench::new(machine, &kernel(0, body));
        for sm in bench.gpu.sms_mut() {
            sm.replace_mechanisms(Some(Box::new(ToyCompaction::default())), None);
        }
        bench.launch(1, 64).launch(1, 64);
        // Both warps are held at the branch until their loads have come back.
        for slot in 0..2 {
            let branch = bench.issues_of(slot, "branch")[0];
            let events = bench.events();
            let mut states = events.iter().filter(|e| e.2 == slot && e.0 > branch);
            let first = states.find_map(|e| match e.3 {
                WarpEvent::State(state) => Some((e.0 - branch, state)),
                _ => None,
            });
            assert_eq!(first, Some((1, WarpState::DataMemory)));
        }
        let gap = bench.issues_of(0, "side")[0] - bench.at("branch");
        let warps = &bench.report().totals.sm.warps;
        assert!(gap > 100, "held until the load is back: {gap}");
        assert!(
            warps.get(WarpState::Control) < gap,
            "and that is not control"
        );
    }

    #[test]
    fn nested_branches_loops_barriers_and_exits_compute_the_same() {
        for seed in 0..25u64 {
            let threads = [64, 128, 70, 33, 5][seed as usize % 5];
            let ptx = kernel(4 * threads, &Generator::body(seed, threads));
            for preset in ["gtx480", "fx5800"] {
                let (expected, _) = with_stacks(preset, &ptx, [3, threads]);
                let (memory, report) = compacted(preset, &ptx, [3, threads], true);
                assert!(memory == expected, "seed {seed} on {preset}\n{ptx}");
                let (_, stepped) = compacted(preset, &ptx, [3, threads], false);
                assert_eq!(report, stepped, "seed {seed} on {preset}");
            }
        }
    }
}
