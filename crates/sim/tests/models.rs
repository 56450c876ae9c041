//! What holds for every divergence model under every issue policy that goes with it: the
//! threads that were launched execute what they execute under `pdom`, instruction by
//! instruction, and compute the same; skipped and stepped runs are the same.

use crate::common::generate::Generator;
use crate::common::{Bench, check_laws, kernel};
use crate::divergence::{Traces, traces};
use guide::Compaction;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::divergence::MODELS;
use warpsim_sim::gpu::Options;
use warpsim_sim::schedule::POLICIES;
use warpsim_sim::stats::LaunchReport;

// The model of the guide (`docs/your-own-divergence-model.md`), held here to what holds for all.
#[path = "../../../docs/guide/compaction.rs"]
pub mod guide;

struct Outcome {
    memory: Vec<u32>,
    report: LaunchReport,
    traces: Traces,
}

fn run(machine: &Machine, toy: bool, ptx: &str, shape: [u32; 2], skip: bool) -> Outcome {
    let options = Options {
        skip,
        max_cycles: Some(2_000_000),
        ..Options::default()
    };
    let mut bench = Bench::with(machine.clone(), ptx, options);
    if toy {
        bench
            .gpu
            .replace_divergence_model(|| Box::new(Compaction::default()));
    }
    bench.launch(shape[0], shape[1]);
    Outcome {
        memory: bench.output(),
        report: bench.report().clone(),
        traces: traces(&bench),
    }
}

/// Every combination of model and policy that is allowed on a preset with these settings.
fn combinations(preset: &str, set: &[&str]) -> Vec<(String, Machine)> {
    let mut all = Vec::new();
    for model in MODELS {
        for policy in POLICIES {
            let mut set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
            set.push(format!("divergence=\"{}\"", model.info.name));
            set.push(format!("scheduler=\"{}\"", policy.info.name));
            if let Ok(machine) = Machine::resolve(preset, &set) {
                all.push((format!("{preset} {set:?}"), machine));
            }
        }
    }
    all
}

/// Runs a kernel everywhere; results and traces are those of the first machine.
fn check(ptx: &str, shape: [u32; 2], machines: &[(String, Machine)], what: &str) {
    let expected = run(&machines[0].1, false, ptx, shape, true);
    let threads = shape[0] as usize * shape[1] as usize;
    assert_eq!(expected.traces.len(), threads, "every thread runs: {what}");
    for (name, machine) in machines {
        let outcome = run(machine, false, ptx, shape, true);
        assert!(outcome.memory == expected.memory, "{what} on {name}\n{ptx}");
        for (thread, trace) in &expected.traces {
            let its = &outcome.traces[thread];
            assert_eq!(its, trace, "thread {thread:?}, {what} on {name}\n{ptx}");
        }
        assert_eq!(outcome.traces.len(), threads, "{what} on {name}");
        check_laws(&outcome.report, machine);
        let stepped = run(machine, false, ptx, shape, false);
        assert_eq!(outcome.report, stepped.report, "stepped: {what} on {name}");
    }
}

#[test]
fn every_model_is_registered_once() {
    for (i, model) in MODELS.iter().enumerate() {
        let first = MODELS.iter().position(|m| m.info.name == model.info.name);
        assert_eq!(first, Some(i), "{} is there twice", model.info.name);
    }
}

/// Kernels that share the combinations of models and policies among them.
const SEEDS: usize = 6;

/// The first machine, to compare with, and every so-and-so-manieth.
fn share(machines: Vec<(String, Machine)>, turn: usize) -> Vec<(String, Machine)> {
    let mine = |i: usize| i == 0 || i % SEEDS == turn;
    let all = machines.into_iter().enumerate();
    all.filter(|(i, _)| mine(*i)).map(|(_, m)| m).collect()
}

#[test]
fn every_thread_does_what_it_does_under_pdom() {
    for (turn, threads) in [96, 70, 33, 128, 64, 5].into_iter().enumerate() {
        let seed = 100 + turn as u64;
        let ptx = kernel(4 * threads, &Generator::body(seed, threads));
        for (turn, preset) in [(turn, "gtx480"), (SEEDS - 1 - turn, "fx5800")] {
            let machines = share(combinations(preset, &["gpu.sms=1"]), turn);
            check(&ptx, [4, threads], &machines, &format!("seed {seed}"));
        }
    }
}

#[test]
fn narrow_warps_do_too() {
    for (seed, width) in [(200, 16), (201, 8), (202, 4)] {
        let ptx = kernel(4 * 70, &Generator::body(seed, 70));
        let width = format!("sm.warp_width={width}");
        let machines = combinations("gtx480", &["gpu.sms=1", "fetch.ports=4", &width]);
        let machines = share(machines, seed as usize % SEEDS);
        check(&ptx, [3, 70], &machines, &format!("seed {seed}, {width}"));
    }
}

#[test]
fn a_pool_with_more_warps_than_slots_loses_no_thread() {
    // Every thread goes its own way: 1024 threads are up to 1024 warps for 64 slots.
    let body = "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; mov.u32 %r2, %ctaid.x;
        mul.wide.u32 %rd5, %r2, 4096; add.u64 %rd4, %rd4, %rd5;
        mov.u32 %r5, 0; mov.u32 %r6, 1;
        and.b32 %r3, %r1, 63; shr.u32 %r4, %r1, 6; add.u32 %r3, %r3, %r4;
        LOOP: mad.lo.u32 %r6, %r6, 5, %r3; and.b32 %r7, %r6, 1; setp.eq.u32 %p1, %r7, 0;
        @%p1 bra EVEN; add.u32 %r5, %r5, %r6; xor.b32 %r5, %r5, %r3; bra NEXT;
        EVEN: sub.u32 %r5, %r5, %r6;
        NEXT: sub.u32 %r3, %r3, 1; setp.gt.s32 %p2, %r3, 0; @%p2 bra LOOP;
        bar.sync 0;
        shfl.sync.bfly.b32 %r8, %r5, 1, 31, 0xffffffff; add.u32 %r5, %r5, %r8;
        st.global.u32 [%rd4], %r5;";
    let ptx = kernel(0, body);
    let pools = |m: &(String, Machine)| warpsim_sim::divergence::pools(&m.1);
    let mut machines = combinations("fx5800", &["gpu.sms=1"]);
    let reference = machines[0].clone();
    machines.retain(pools);
    machines.insert(0, reference);
    check(&ptx, [3, 512], &machines, "spread");
}

/// Operations among the threads of a warp behind branches that spread them, with whole and
/// partial member masks, between memory that every lane exchanges with its neighbour.
const TOGETHER: &str = "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd3, %r4, 32; add.u64 %rd4, %rd1, %rd3; mov.u32 %r9, %laneid;
    mul.lo.u32 %r10, %r4, 7; and.b32 %r11, %r10, 3; mov.u32 %r12, %r10;
    SPIN: setp.eq.u32 %p1, %r11, 0; @%p1 bra HERE; mad.lo.u32 %r12, %r12, 3, 1;
    sub.u32 %r11, %r11, 1; bra SPIN;
    HERE: shfl.sync.idx.b32 %r20, %r12, 5, 31, 0xffffffff;
    shfl.sync.up.b32 %r21|%p2, %r12, 3, 0, 0xffffffff;
    shfl.sync.down.b32 %r22, %r12, 2, 31, 0xffffffff;
    and.b32 %r13, %r12, 1; setp.eq.u32 %p3, %r13, 0; @%p3 bra EVEN;
    add.u32 %r21, %r21, 9; mul.lo.u32 %r22, %r22, 5; xor.b32 %r20, %r20, %r21;
    EVEN: vote.sync.ballot.b32 %r23, %p3, 0xffffffff;
    vote.sync.any.pred %p4, %p2, 0xffffffff; selp.u32 %r24, 1, 2, %p4;
    match.any.sync.b32 %r25, %r13, 0xffffffff;
    setp.lt.u32 %p5, %r9, 16; @%p5 bra LOW;
    shfl.sync.bfly.b32 %r26, %r12, 1, 31, 0xffff0000; bra JOIN;
    LOW: shfl.sync.bfly.b32 %r26, %r12, 2, 31, 0x0000ffff;
    JOIN: mov.u32 %r42, tile; shl.b32 %r5, %r1, 2; add.u32 %r43, %r42, %r5; st.shared.u32 [%r43], %r26;
    bar.warp.sync 0xffffffff;
    xor.b32 %r44, %r5, 4; add.u32 %r44, %r44, %r42; ld.shared.u32 %r27, [%r44];
    redux.sync.add.u32 %r28, %r27, 0xffffffff;
    st.global.u32 [%rd4], %r20; st.global.u32 [%rd4+4], %r21; st.global.u32 [%rd4+8], %r22;
    st.global.u32 [%rd4+12], %r23; st.global.u32 [%rd4+16], %r24; st.global.u32 [%rd4+20], %r25;
    st.global.u32 [%rd4+24], %r27; st.global.u32 [%rd4+28], %r28;";

/// The kernel at a newer architecture, which `redux` and `match` ask for.
fn newer(ptx: String) -> String {
    ptx.replace(".version 6.0\n.target sm_35", ".version 7.0\n.target sm_80")
}

#[test]
fn sync_operations_meet_across_formed_warps() {
    let ptx = newer(kernel(4 * 128, TOGETHER));
    for (preset, set) in [
        ("fx5800", vec!["gpu.sms=1"]),
        ("gtx480", vec!["gpu.sms=1"]),
        (
            "gtx480",
            vec!["gpu.sms=1", "sm.warp_width=8", "fetch.ports=4"],
        ),
    ] {
        let mut machines = vec![(
            "pdom".to_string(),
            crate::common::machine(preset, &["gpu.sms=1"]),
        )];
        machines.extend(combinations(preset, &set));
        check(&ptx, [2, 128], &machines, "together");
    }
}

#[test]
fn sync_operations_meet_across_compacted_warps() {
    let ptx = newer(kernel(4 * 128, TOGETHER));
    for preset in ["fx5800", "gtx480"] {
        let machine = crate::common::machine(preset, &["gpu.sms=1"]);
        let expected = run(&machine, false, &ptx, [3, 128], true);
        let outcome = run(&machine, true, &ptx, [3, 128], true);
        assert!(outcome.memory == expected.memory, "{preset}");
        let stepped = run(&machine, true, &ptx, [3, 128], false);
        assert_eq!(outcome.report, stepped.report);
    }
}
