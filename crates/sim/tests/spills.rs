//! Kernels that may not have the registers they need: what they compute stays the same, and what
//! they spill goes through local memory.

use crate::common;

use common::generate::Generator;
use common::{Bench, check_laws, kernel, machine};
use proptest::prelude::*;
use std::fmt::Write;
use warpsim_sim::config::Machine;
use warpsim_sim::divergence::MODELS;
use warpsim_sim::gpu::{Gpu, Options};
use warpsim_sim::stats::LaunchReport;

fn run(machine: &Machine, ptx: &str, shape: [u32; 2]) -> (Vec<u32>, LaunchReport) {
    let options = Options {
        max_cycles: Some(5_000_000),
        ..Options::default()
    };
    let mut bench = Bench::with(machine.clone(), ptx, options);
    bench.launch(shape[0], shape[1]);
    check_laws(bench.report(), machine);
    (bench.output(), bench.report().clone())
}

/// A kernel that keeps `count` loaded words across a loop with a divergent branch, in which each
/// changes, and then adds them up.
fn many_values(count: u32, bound: &str) -> String {
    let mut body = String::from(
        "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nadd.s64 %rd5, %rd1, %rd3;\n",
    );
    // Writing to a String cannot fail.
    for i in 0..count {
        let _ = writeln!(body, "ld.global.u32 %r{}, [%rd4+{}];", 10 + i, 4 * i);
    }
    body +=
        "mov.u32 %r2, 0;\nand.b32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, 0;\nLOOP:\n@%p1 bra EVEN;\n";
    for i in 0..count {
        let next = 10 + (i + 1) % count;
        let _ = writeln!(body, "add.s32 %r{0}, %r{0}, %r{next};", 10 + i);
    }
    body += "bra JOIN;\nEVEN:\n";
    for i in 0..count {
        let next = 10 + (i + 3) % count;
        let _ = writeln!(body, "@!%p1 xor.b32 %r{0}, %r{0}, %r{next};", 10 + i);
        let _ = writeln!(body, "sub.s32 %r{0}, %r{next}, %r{0};", 10 + i);
    }
    body +=
        "JOIN:\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 5;\n@%p2 bra LOOP;\nmov.u32 %r4, 0;\n";
    for i in 0..count {
        let _ = writeln!(body, "mad.lo.s32 %r4, %r4, 31, %r{};", 10 + i);
    }
    body += "st.global.u32 [%rd5], %r4;";
    kernel(0, &body).replace(".param .u32 n)\n", &format!(".param .u32 n)\n{bound}\n"))
}

#[test]
fn spills_are_local_traffic() {
    let free = machine("gtx480", &["gpu.sms=1"]);
    let (expected, whole) = run(&free, &many_values(30, ""), [1, 64]);
    assert_eq!(whole.totals.sm.counters.local_transactions, 0);
    assert!(whole.registers > 30, "{}", whole.registers);
    for bound in [".maxnreg 20", ".maxntid 256, 1, 1\n.minnctapersm 6"] {
        let (memory, spilled) = run(&free, &many_values(30, bound), [1, 64]);
        assert!(memory == expected, "{bound}");
        assert_eq!(spilled.registers, 20, "{bound}");
        assert!(spilled.totals.sm.counters.local_transactions > 0, "{bound}");
        assert!(spilled.totals.cycles > whole.totals.cycles, "{bound}");
        assert!(spilled.blocks_per_sm >= whole.blocks_per_sm, "{bound}");
    }
    let free = machine("gtx480", &["gpu.sms=1", "sm.spills=false"]);
    let (memory, unspilled) = run(&free, &many_values(30, ".maxnreg 20"), [1, 64]);
    assert!(memory == expected);
    assert_eq!(unspilled.registers, 20);
    assert_eq!(unspilled.totals.sm.counters.local_transactions, 0);
}

#[test]
fn fewer_registers_spill_more() {
    let ptx = many_values(40, "");
    let traffic = [63, 40, 32, 24, 16].map(|most| {
        let set = format!("sm.registers_per_thread={most}");
        let (_, report) = run(&machine("gtx480", &["gpu.sms=1", &set]), &ptx, [1, 32]);
        assert!(report.registers <= most);
        report.totals.sm.counters.local_requests
    });
    assert_eq!(traffic[0], 0, "all fit");
    assert!(traffic.is_sorted(), "{traffic:?}");
    assert!(traffic[4] > traffic[1]);
}

/// Every model on a machine with hardly any registers.
fn tight_machines() -> Vec<(&'static str, Machine)> {
    let tight = ["gpu.sms=2", "sm.registers_per_thread=16", "sm.spills=true"];
    let mut all = Vec::new();
    for model in MODELS {
        for preset in ["gtx480", "fx5800"] {
            let model_set = format!("divergence.name=\"{}\"", model.info.name);
            let machine = machine(preset, &[&tight[..], &[&model_set]].concat());
            if Gpu::new(machine.clone(), Options::default()).is_ok() {
                all.push((model.info.name, machine));
            }
        }
    }
    all
}

#[test]
fn spilled_values_are_right_under_every_model() {
    let ptx = many_values(40, "");
    let (expected, _) = run(&machine("gtx480", &["gpu.sms=2"]), &ptx, [3, 96]);
    for (model, machine) in tight_machines() {
        let (memory, report) = run(&machine, &ptx, [3, 96]);
        assert!(memory == expected, "{model} on {}", machine.name);
        let traffic = report.totals.sm.counters.local_transactions;
        assert!(traffic > 0, "{model} on {}", machine.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 10, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_compute_the_same_with_spills(
        seed: u64, blocks in 1u32..4, threads in 1u32..150,
    ) {
        let ptx = kernel(4 * threads, &Generator::body_with_breaks(seed, threads));
        let (expected, _) = run(&machine("gtx480", &["gpu.sms=2"]), &ptx, [blocks, threads]);
        for (model, machine) in tight_machines() {
            let (memory, _) = run(&machine, &ptx, [blocks, threads]);
            prop_assert!(memory == expected, "seed {seed} {model} on {}\n{ptx}", machine.name);
        }
    }
}
