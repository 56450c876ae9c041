//! What whole programs show and single launches do not: where the blocks of the next launch go,
//! what stays in caches, who fills L2, and the instructions that only meet in programs. Each law
//! was measured on the reference simulator (`docs/agreement.md`).

use crate::common;

use common::{Bench, kernel, lone_warp, machine};
use std::collections::BTreeSet;
use warpsim_sim::gpu::{Options, SimError};
use warpsim_sim::observe::WarpEvent;

/// SMs to which blocks of the last launch came.
fn sms(bench: &Bench) -> BTreeSet<u16> {
    let came = |e: &common::Event| matches!(e.3, WarpEvent::Launched { .. }).then_some(e.1);
    bench.events().iter().filter_map(came).collect()
}

#[test]
fn the_next_launch_goes_on_with_the_sm_behind_the_last() {
    let mut bench = Bench::new(machine("gtx480", &["gpu.sms=5"]), &kernel(0, ""));
    bench.launch(3, 32);
    assert_eq!(sms(&bench), [0, 1, 2].into());
    bench.launch(4, 32);
    assert_eq!(sms(&bench), [0, 1, 3, 4].into());
    bench.launch(1, 32);
    assert_eq!(sms(&bench), [2].into());
}

/// A kernel that reads `c`, a variable of a space.
fn reader(space: &str) -> String {
    let body = format!("mov.u64 %rd5, c; ld.{space}.u32 %r9, [%rd5];");
    kernel(0, &body).replace(
        ".visible",
        &format!(".{space} .u32 c[32] = {{1, 2, 3}};\n.visible"),
    )
}

#[test]
fn constants_stay_from_one_launch_to_the_next() {
    // Two parameters, of one line, and a constant. Parameters have a place of their own in every
    // launch, but on the reference.
    for (preset, misses) in [("gtx480", [3, 2]), ("gtx480-ref", [3, 0])] {
        let mut bench = Bench::new(machine(preset, &["gpu.sms=1"]), &reader("const"));
        for expected in misses {
            bench.launch(1, 32);
            let counters = &bench.report().totals.sm.counters;
            assert_eq!(counters.constant_misses, expected, "{preset}");
        }
    }
}

#[test]
fn copies_to_buffers_fill_l2_and_copies_to_variables_do_not() {
    let read = |write_variable: bool, body: &str| {
        let ptx = reader("global").replace("ld.global.u32 %r9, [%rd5];", body);
        let mut bench = Bench::new(machine("gtx480", &[]), &ptx);
        if write_variable {
            let (address, _) = bench.gpu.symbol(0, "c").expect("it is there");
            bench.gpu.write(address, &[7; 128]).expect("it has room");
        }
        bench.launch(1, 32);
        bench.report().totals.memory.l2_misses
    };
    let nothing = read(false, "");
    assert_eq!(read(false, "ld.global.cg.u32 %r9, [%rd2];"), nothing);
    for write in [false, true] {
        assert!(read(write, "ld.global.cg.u32 %r9, [%rd5];") > nothing);
    }
}

#[test]
fn a_divergent_constant_load_takes_a_cycle_for_each_line() {
    for (stride, lines) in [(0, 1), (4, 2), (8, 4), (16, 8)] {
        let body = format!(
            "mul.lo.u32 %r2, %r1, {stride}; cvt.u64.u32 %rd3, %r2; mov.u64 %rd5, c;
             add.u64 %rd5, %rd5, %rd3; ld.const.u32 %r9, [%rd5]; add.u32 %r9, %r9, 1; bar.sync 0;
             mov.u32 %r12, %r9;
             ld.const.u32 %r10, [%rd5]; // @const
             add.u32 %r11, %r10, %r1; // @used\n"
        );
        let ptx = kernel(0, &body).replace(".visible", ".const .u32 c[128];\n.visible");
        let mut bench = Bench::new(machine("gtx480", &["gpu.sms=1"]), &ptx);
        bench.launch(1, 32).launch(1, 32);
        assert_eq!(bench.gap("const", "used"), 4 + lines - 1, "stride {stride}");
    }
}

#[test]
fn an_atomic_on_shared_memory_holds_its_warp_until_it_is_done() {
    // As a load it takes 31 cycles, and one more for each further word in a bank.
    for (stride, ways) in [(0, 1), (4, 1), (8, 2), (128, 32)] {
        let body = format!(
            "mul.lo.u32 %r2, %r1, {stride}; mov.u32 %r3, 1; bar.sync 0;
             atom.shared.add.u32 %r10, [%r2], %r3; // @atom
             mov.u32 %r12, %r3; // @next\n"
        );
        let held = lone_warp("gtx480", 4096, &body).gap("atom", "next");
        assert_eq!(held, 30 + ways - 1, "stride {stride}");
    }
}

#[test]
fn a_fence_waits_for_stores_but_on_the_reference_for_registers() {
    let after = |preset: &str, before: &str| {
        let body = format!(
            "mov.u32 %r2, 7; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; bar.sync 0;
             {before}
             membar.gl; // @fence
             mov.u32 %r12, %r2; // @next\n"
        );
        lone_warp(preset, 0, &body).gap("fence", "next")
    };
    let store = "st.global.u32 [%rd4], %r1;";
    assert!(after("gtx480", store) > 150);
    assert!(after("gtx480-ref", store) <= 3);
    // An integer division takes 151 cycles to write its register.
    let division = "div.s32 %r10, %r1, %r2;";
    assert!(after("gtx480-ref", division) > 140);
    assert!(after("gtx480", division) > 140);
}

#[test]
fn a_gpu_on_which_a_launch_has_failed_takes_no_other() {
    let ptx = kernel(0, "mov.u64 %rd5, 8; st.global.u32 [%rd5], %r1;");
    let fails = |functional: bool, reference: bool| {
        let options = Options {
            functional,
            reference,
            ..Options::default()
        };
        let mut bench = Bench::unobserved(machine("gtx480", &["gpu.sms=2"]), &ptx, options);
        let mut launch = || bench.try_launch([3, 1, 1], [64, 1, 1], 0);
        let errors = [
            launch().expect_err("out of bounds"),
            launch().expect_err("again"),
        ];
        errors.map(|error| !matches!(*error, SimError::BadLaunch(_)))
    };
    assert_eq!(fails(false, false), [true, false]);
    assert_eq!(fails(false, true), [true, false]);
    // Without timing nothing is left of a launch.
    assert_eq!(fails(true, false), [true, true]);
}
