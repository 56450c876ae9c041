//! The paper's example 1 with its figures 7 and 9, warp by warp: the model is driven by hand,
//! without a pipeline.

use super::*;
use crate::divergence::pdom::Pdom;
use crate::divergence::{BlockArrival, GroupState};
use crate::exec::state::HomeWarp;
use crate::place::Layout;
use crate::time::Cycle;
use warpsim_ptx::kernel::Likely;

/// The blocks of example 1 as instructions: A ends in a branch to C, which falls into B; both
/// sides meet at D.
const A: Pc = 0;
const B: Pc = 1;
const C: Pc = 2;
const D: Pc = 3;

/// A block whose static warps have these lanes.
struct Rig {
    groups: Groups,
    model: Box<dyn DivergenceModel>,
    cycle: u64,
}

impl Rig {
    fn new(mut model: Box<dyn DivergenceModel>, live: &[u32]) -> Rig {
        let threads = Threads {
            warps: live
                .iter()
                .map(|&live| HomeWarp {
                    live,
                    ..HomeWarp::default()
                })
                .collect(),
            ..Threads::default()
        };
        let arrival = BlockArrival {
            block: 0,
            homes: 0..live.len() as u16,
            layout: Layout::new(1, 1),
        };
        let mut groups = Groups::new(live.len());
        model.launched(&arrival, &threads, &mut groups);
        Rig {
            groups,
            model,
            cycle: 1,
        }
    }

    fn tbc(live: &[u32]) -> Rig {
        Rig::new(
            Box::new(Tbc::new(live.len(), 1, None, true, Uniform::Annotated)),
            live,
        )
    }

    /// The threads of a running warp by lane, as home warps.
    fn warp(&self, slot: u16) -> Option<(Pc, Vec<Option<u16>>)> {
        let group = self.groups.get(slot);
        let on = |lane: usize| (group.mask >> lane & 1 != 0).then(|| group.lanes.home(lane));
        (group.state == GroupState::Running).then(|| (group.pc, (0..4).map(on).collect()))
    }

    fn running(&self) -> Vec<u16> {
        let all = 0..8u16;
        all.take_while(|s| (*s as usize) < self.groups.count())
            .filter(|s| self.groups.get(*s).state == GroupState::Running)
            .collect()
    }

    /// A warp executes the branch at A; these lanes take it.
    fn branch(&mut self, slot: u16, taken: u32) {
        let branch = Branch {
            pc: A,
            target: C,
            reconverge: D,
            likely: Likely::NOWHERE,
            uniform: false,
            annotated: false,
            taken,
        };
        self.model.branch(slot, &branch, &mut self.groups);
        self.settle(slot);
    }

    /// A warp of B or C goes on to D.
    fn meet(&mut self, slot: u16) {
        self.groups.set_pc(slot, D);
        assert_eq!(self.groups.get(slot).watch, D, "it wants to hear of D");
        self.model.arrived(slot, &mut self.groups);
        self.settle(slot);
    }

    fn exit(&mut self, slot: u16) {
        let mask = self.groups.get(slot).mask;
        self.model.exited(slot, mask, D + 1, &mut self.groups);
        self.settle(slot);
    }

    fn settle(&mut self, slot: u16) {
        if self.groups.get(slot).state == GroupState::Stopped {
            self.model.settled(slot, &mut self.groups);
        }
    }

    /// A cycle passes.
    fn tick(&mut self) {
        self.model.tick(Cycle::new(self.cycle), &mut self.groups);
        self.cycle += 1;
    }

    /// Runs example 1 to its end, one warp instruction after the other, and says which warps
    /// executed which block. `takes` are the lanes of each home warp that go to C.
    fn example(&mut self, takes: &[u32]) -> Vec<(char, Vec<Option<u16>>)> {
        let mut flow = Vec::new();
        for _ in 0..100 {
            self.tick();
            let running = self.running();
            // Blocks one after the other; within a block the warps in turn.
            let Some(first) = running.iter().map(|s| self.groups.get(*s).pc).min() else {
                continue;
            };
            for slot in running {
                let (pc, lanes) = self.warp(slot).expect("it runs");
                if pc != first {
                    continue;
                }
                flow.push((['A', 'B', 'C', 'D'][pc as usize], lanes.clone()));
                match pc {
                    A => {
                        let group = self.groups.get(slot);
                        let goes = |l: &usize| takes[group.lanes.home(*l) as usize] >> l & 1 != 0;
                        let taken = (0..4).filter(goes).fold(0, |m, l| m | 1 << l);
                        self.branch(slot, taken & group.mask);
                    }
                    B | C => self.meet(slot),
                    _ => self.exit(slot),
                }
            }
        }
        flow
    }
}

/// The flow with threads numbered from 1, as in the paper, and dots for idle lanes.
fn words(flow: &[(char, Vec<Option<u16>>)]) -> Vec<String> {
    let one = |(block, lanes): &(char, Vec<Option<u16>>)| {
        let thread = |(lane, home): (usize, &Option<u16>)| match home {
            Some(home) => (*home as usize * 4 + lane + 1).to_string(),
            None => ".".to_string(),
        };
        let threads: Vec<String> = lanes.iter().enumerate().map(thread).collect();
        format!("{block} {}", threads.join(" "))
    };
    flow.iter().map(one).collect()
}

/// Threads 1, 6 and 7 of eight, as lanes of two warps of four.
const FLAG: [u32; 2] = [0b0001, 0b0110];

#[test]
fn figure_7_with_the_warps_own_stacks() {
    let mut rig = Rig::new(Box::new(Pdom::new(2)), &[0xf, 0xf]);
    let flow = words(&rig.example(&FLAG));
    // The order of warps is the pipeline's affair; what each warp executes is the model's.
    assert_eq!(
        flow,
        [
            "A 1 2 3 4",
            "A 5 6 7 8",
            "C 1 . . .",
            "C . 6 7 .",
            "B . 2 3 4",
            "B 5 . . 8",
            "D 1 2 3 4",
            "D 5 6 7 8"
        ]
    );
}

#[test]
fn figure_7_with_compaction_saves_an_eighth() {
    let mut rig = Rig::tbc(&[0xf, 0xf]);
    let flow = words(&rig.example(&FLAG));
    assert_eq!(
        flow,
        [
            "A 1 2 3 4",
            "A 5 6 7 8",
            "C 1 6 7 .",
            "B 5 2 3 4",
            "B . . . 8",
            "D 1 2 3 4",
            "D 5 6 7 8"
        ]
    );
    let mut stacks = Rig::new(Box::new(Pdom::new(2)), &[0xf, 0xf]);
    let before = stacks.example(&FLAG).len();
    assert_eq!((before - flow.len()) as f64 / before as f64, 0.125);
}

#[test]
fn figure_7_without_compaction_keeps_static_warps() {
    let model = Tbc::new(2, 1, None, false, Uniform::Annotated);
    let mut rig = Rig::new(Box::new(model), &[0xf, 0xf]);
    let flow = words(&rig.example(&FLAG));
    assert_eq!(flow[2..4], ["C 1 . . .", "C . 6 7 ."]);
    assert_eq!(flow.len(), 8);
}

/// Figure 9: three static warps of four lanes; W2 comes to the branch first, then W3, then W1.
/// The paper gives the outcome of threads 5 (to C) and 6 (to B); the others are ours.
#[test]
fn figure_9_masks_fill_in_as_warps_arrive() {
    let mut model = Tbc::new(3, 1, None, true, Uniform::Annotated);
    let mut groups = Groups::new(3);
    let live = HomeWarp {
        live: 0xf,
        ..HomeWarp::default()
    };
    let threads = Threads {
        warps: vec![live; 3],
        ..Threads::default()
    };
    let arrival = BlockArrival {
        block: 0,
        homes: 0..3,
        layout: Layout::new(1, 1),
    };
    model.launched(&arrival, &threads, &mut groups);
    let stack = |model: &Tbc| model.blocks[0].as_ref().expect("resident").stack.clone();
    let branch = |taken| Branch {
        pc: A,
        target: C,
        reconverge: D,
        likely: Likely::NOWHERE,
        uniform: false,
        annotated: false,
        taken,
    };
    let before = stack(&model);
    assert_eq!((before.depth(), before.at(0).0.warps), (1, 3));

    // W2 creates the two target entries; WCnt of the original one goes down.
    model.branch(1, &branch(0b1001), &mut groups);
    let s = stack(&model);
    assert_eq!(s.depth(), 3);
    assert_eq!(s.at(0).0.warps, 2);
    assert_eq!((s.at(1).0.pc, s.at(1).1), (B, &[0, 0b0110, 0][..]));
    assert_eq!((s.at(2).0.pc, s.at(2).1), (C, &[0, 0b1001, 0][..]));
    assert_eq!([s.at(1).0.until, s.at(2).0.until], [D, D]);
    assert_eq!(s.top().map(|e| e.pc), Some(A), "the top has not moved");
    model.settled(1, &mut groups);

    // W3 and W1 add theirs.
    model.branch(2, &branch(0b0011), &mut groups);
    let s = stack(&model);
    assert_eq!(s.at(0).0.warps, 1);
    assert_eq!(s.at(1).1, [0, 0b0110, 0b1100]);
    assert_eq!(s.at(2).1, [0, 0b1001, 0b0011]);
    model.settled(2, &mut groups);
    model.branch(0, &branch(0b0000), &mut groups);
    let s = stack(&model);
    assert_eq!(s.at(0).0.warps, 0);
    assert_eq!(s.at(1).1, [0b1111, 0b0110, 0b1100]);

    // With the last, the top moves to C and its mask goes to the compactor: lane 0 has two
    // threads, so there are two warps.
    model.settled(0, &mut groups);
    let s = stack(&model);
    assert_eq!(s.top().map(|e| (e.pc, e.warps)), Some((C, 2)));
    assert_eq!(
        (s.at(0).0.pc, s.at(0).1),
        (D, &[0xf; 3][..]),
        "the continuation"
    );
    // The mask is at the compactor in cycle 10; the warps come out in 11 and 12.
    let running = |groups: &Groups| {
        let runs = |s: &u16| groups.get(*s).state == GroupState::Running;
        (0..3).filter(runs).count()
    };
    for (cycle, warps) in [(10, 0), (11, 1), (12, 2), (13, 2)] {
        assert_eq!(model.next() != Cycle::NEVER, cycle < 13);
        model.tick(Cycle::new(cycle), &mut groups);
        assert_eq!(running(&groups), warps, "{cycle}");
    }
    let homes = |slot| {
        let g = groups.get(slot);
        let on = (0..4).filter(|l| g.mask >> l & 1 != 0);
        on.map(|l| (l, g.lanes.home(l))).collect::<Vec<_>>()
    };
    assert_eq!(homes(0), [(0, 1), (1, 2), (3, 1)]);
    assert_eq!(homes(1), [(0, 2)]);
}

#[test]
fn a_side_that_no_thread_takes_is_popped_at_once() {
    let mut rig = Rig::tbc(&[0xf, 0xf]);
    let flow = words(&rig.example(&[0, 0]));
    assert_eq!(flow[2..4], ["B 1 2 3 4", "B 5 6 7 8"]);
    assert_eq!(flow.len(), 6);
    assert_eq!(rig.model.deepest(), 3);
}

#[test]
fn threads_that_exit_leave_every_entry() {
    let mut rig = Rig::tbc(&[0xf, 0x3]);
    rig.branch(0, 0b0011);
    rig.branch(1, 0b0001);
    rig.tick();
    rig.tick();
    rig.tick();
    assert_eq!(rig.model.barrier_takers(0), Some(3), "the top entry's");
    // One of the two warps of C exits as a whole: the other is all that is waited for.
    rig.exit(1);
    assert_eq!(rig.model.barrier_takers(0), Some(2));
    rig.meet(0);
    rig.tick();
    rig.tick();
    rig.tick();
    // B has threads 3, 4 and 6.
    assert_eq!(words(&[('B', rig.warp(0).expect("B").1)]), ["B . 6 3 4"]);
    rig.meet(0);
    (0..4).for_each(|_| rig.tick());
    // Thread 5 is gone.
    assert_eq!(words(&[('D', rig.warp(0).expect("D").1)]), ["D 1 2 3 4"]);
    assert_eq!(words(&[('D', rig.warp(1).expect("D").1)]), ["D . 6 . ."]);
    rig.exit(0);
    rig.exit(1);
    assert_eq!(rig.groups.get(0).state, GroupState::Finished);
    assert_eq!(rig.groups.get(1).state, GroupState::Finished);
}
