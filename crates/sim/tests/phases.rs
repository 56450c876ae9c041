//! The recorder of phases: when warps come to their barriers.

use crate::common::{Bench, kernel, machine};
use std::cell::RefCell;
use std::rc::Rc;
use warpsim_ptx::kernel::Kernel;
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::phases::*;
use warpsim_sim::time::Cycle;

/// A recorder that can be looked at while the GPU has it.
struct Shared(Rc<RefCell<Recorder>>);

impl Observer for Shared {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        self.0.borrow_mut().warp(cycle, sm, slot, event);
    }
    fn launched(&mut self, cycle: Cycle, kernel: &Kernel, files: &[(u32, String)]) {
        self.0.borrow_mut().launched(cycle, kernel, files);
    }
    fn ended(&mut self, cycle: Cycle) {
        self.0.borrow_mut().ended(cycle);
    }
}

const BODY: &str = "mov.u32 %r5, 0; shr.u32 %r3, %r1, 5;
    LOOP: mov.u32 %r6, 0;
    WORK: add.u32 %r6, %r6, 1; setp.le.u32 %p1, %r6, %r3; @%p1 bra WORK;
    bar.arrive 4, 192; bar.sync 2;
    add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 3; @%p2 bra LOOP;";

fn record(wanted: Blocks, launch: u64) -> Timeline {
    let recorder = Rc::new(RefCell::new(Recorder::new(wanted, launch)));
    let options = Options {
        observer: Some(Box::new(Shared(recorder.clone()))),
        ..Options::default()
    };
    let machine = machine("gtx480", &["gpu.sms=2"]);
    let mut bench = Bench::unobserved(machine, &kernel(0, BODY), options);
    bench.launch(7, 96).launch(7, 96);
    recorder.borrow().timeline().clone()
}

#[test]
fn phases_follow_one_another_and_end_together_at_their_barrier() {
    let timeline = record(Blocks::FirstOf { sm: 1, count: 2 }, 1);
    assert_eq!((timeline.kernel.as_str(), timeline.launch), ("k", 1));
    let numbers: Vec<u64> = timeline.blocks.iter().map(|b| b.number).collect();
    assert_eq!(numbers, [0, 2], "the launch before ended with SM 0");
    for block in &timeline.blocks {
        assert_eq!(block.warps.len(), 3);
        for (i, warp) in block.warps.iter().enumerate() {
            assert_eq!((warp.number as usize, warp.phases.len()), (i, 4));
            let mut began = block.came;
            for (k, phase) in warp.phases.iter().enumerate() {
                assert_eq!(phase.began, began);
                assert!(phase.ended > began && phase.released >= phase.ended);
                assert_eq!(phase.barrier, (k < 3).then_some(2), "bar.arrive ends none");
                assert_eq!(phase.released, block.warps[0].phases[k].released);
                began = phase.released;
            }
            assert_eq!(began, block.left);
        }
        // The last warp to come waits for no other.
        for k in 0..3 {
            let waits = block.warps.iter().map(|w| w.phases[k]);
            assert!(waits.clone().any(|p| p.ended == p.released));
            assert!(waits.clone().any(|p| p.released > p.ended + 5));
        }
    }
    assert!(timeline.blocks[1].left <= timeline.cycles);
}

#[test]
fn blocks_can_be_chosen_by_number_on_any_sm() {
    let timeline = record(Blocks::Numbers(vec![6, 0, 3]), 0);
    let mut seen: Vec<(u64, u16)> = timeline.blocks.iter().map(|b| (b.number, b.sm)).collect();
    seen.sort_unstable();
    assert_eq!(seen, [(0, 0), (3, 1), (6, 0)]);
    assert!(record(Blocks::Numbers(vec![99]), 0).blocks.is_empty());
    assert!(
        record(Blocks::FirstOf { sm: 0, count: 1 }, 2)
            .blocks
            .is_empty()
    );
}

#[test]
fn a_virtual_block_has_a_phase_for_each_logical_block() {
    let recorder = Rc::new(RefCell::new(Recorder::new(Blocks::Numbers(vec![0]), 0)));
    let options = Options {
        observer: Some(Box::new(Shared(recorder.clone()))),
        ..Options::default()
    };
    let machine = machine(
        "gtx480",
        &["gpu.sms=1", "virtual.mode=hardware", "virtual.blocks=1"],
    );
    let body = "shr.u32 %r3, %r1, 5; mov.u32 %r4, %ctaid.x;
        WORK: add.u32 %r6, %r6, 1; setp.le.u32 %p1, %r6, %r3; @%p1 bra WORK;";
    let mut bench = Bench::unobserved(machine, &kernel(0, body), options);
    bench.launch(4, 96);
    let timeline = recorder.borrow().timeline().clone();
    assert_eq!(timeline.blocks.len(), 1, "there is one virtual block");
    for warp in &timeline.blocks[0].warps {
        let blocks: Vec<Option<u64>> = warp.phases.iter().map(|p| p.next_block).collect();
        assert_eq!(blocks, [Some(1), Some(2), Some(3), None]);
        assert!(warp.phases.windows(2).all(|p| p[0].released == p[1].began));
    }
    assert_eq!(
        timeline.to_json()["blocks"][0]["warps"][0]["phases"][1]["next_block"],
        2
    );
}

#[test]
fn the_data_hold_every_phase() {
    let timeline = record(Blocks::FirstOf { sm: 0, count: 3 }, 0);
    let data = timeline.to_json();
    assert_eq!(data["blocks"][2]["block"], 4);
    let last = &data["blocks"][0]["warps"][2]["phases"][3];
    assert!(last["barrier"].is_null() && last["arrived"].as_u64() > Some(100));
}
