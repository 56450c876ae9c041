//! Warps formed from threads of several static warps: what they gain, what they cost, and which
//! programs they break.

use crate::common;

use common::{Bench, kernel};
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::divergence::MODELS;
use warpsim_sim::gpu::{Options, SimError};
use warpsim_sim::schedule::POLICIES;
use warpsim_sim::stats::LaunchReport;

/// The paper's machine with one SM; dwf goes with its policy.
fn with_model(model: &str) -> Machine {
    let scheduler = if model.starts_with("dwf") {
        "majority"
    } else {
        "lrr"
    };
    let set = [
        "gpu.sms=1".to_string(),
        format!("divergence=\"{model}\""),
        format!("scheduler=\"{scheduler}\""),
    ];
    Machine::resolve("fx5800", &set).unwrap_or_else(|e| panic!("{e}"))
}

type Outcome = Result<(Vec<u32>, LaunchReport), Box<SimError>>;

fn try_run(model: &str, ptx: &str, shape: [u32; 2], n: u32) -> Outcome {
    let options = Options {
        max_cycles: Some(500_000),
        ..Options::default()
    };
    let mut bench = Bench::with(with_model(model), ptx, options);
    bench.try_launch([shape[0], 1, 1], [shape[1], 1, 1], n)?;
    Ok((bench.output(), bench.report().clone()))
}

fn run(model: &str, ptx: &str, shape: [u32; 2], n: u32) -> (Vec<u32>, LaunchReport) {
    try_run(model, ptx, shape, n).unwrap_or_else(|e| panic!("{model}: {e}"))
}

fn efficiency(report: &LaunchReport) -> f64 {
    let c = &report.totals.sm.counters;
    c.active_lanes as f64 / (32 * c.warp_instructions) as f64
}

/// Models that keep the threads of a static warp together where it reconverges.
fn stable_models() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|m| m.info.name).filter(|m| *m != "dwf")
}

/// Each warp's first lane takes 32 items for it from a queue and passes their number on through
/// shared memory, with nothing between its write and the others' read but reconvergence. Items
/// take different times. Every item is to be counted once, in `out`; the queue is behind.
const MANAGER: &str =
    "ld.param.u32 %r40, [n]; mov.u32 %r9, %laneid; shr.u32 %r2, %r1, 5; shl.b32 %r2, %r2, 2;
    mov.u32 %r3, tile; add.u32 %r3, %r3, %r2; setp.ne.u32 %p1, %r9, 0;
    TAKE: @%p1 bra READ;
    atom.global.add.u32 %r4, [%rd1+32768], 32; st.shared.u32 [%r3], %r4;
    READ: ld.shared.u32 %r5, [%r3]; add.u32 %r5, %r5, %r9;
    setp.ge.u32 %p2, %r5, 1024; @%p2 exit;
    mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd1, %rd3; add.u32 %r6, %r5, %r40;
    mul.lo.u32 %r6, %r6, 2654435761; shr.u32 %r6, %r6, 28;
    WORK: setp.eq.u32 %p3, %r6, 0; @%p3 bra DONE; sub.u32 %r6, %r6, 1; bra WORK;
    DONE: red.global.add.u32 [%rd4], 1; bra TAKE;";

#[test]
fn implicit_synchronisation_of_a_warp_breaks_only_where_warps_are_formed_freely() {
    let ptx = kernel(64, MANAGER);
    let seeds = [1u32, 77, 900, 4242, 31337];
    // Seeds for which it does not end, and for which it ends with the wrong counts.
    let broken = |model: &str| {
        let mut broken = [0, 0];
        for seed in seeds {
            match try_run(model, &ptx, [2, 96], seed) {
                Ok((memory, _)) => {
                    broken[1] += memory[..1024].iter().any(|&count| count != 1) as u32;
                }
                Err(e) => {
                    assert!(matches!(*e, SimError::CycleLimit { .. }), "{model}: {e}");
                    broken[0] += 1;
                }
            }
        }
        eprintln!(
            "{model}: {} of {} stuck, {} wrong",
            broken[0],
            seeds.len(),
            broken[1]
        );
        broken[0] + broken[1]
    };
    assert!(broken("dwf") > 0, "the workers run ahead of their manager");
    for model in stable_models() {
        assert_eq!(broken(model), 0, "{model}");
    }
}

/// In every round a few threads of each warp load from memory, and then all compute. Those that
/// did not wait run ahead, and behind the branch nothing brings the others back to them.
const EDDY: &str = "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; mov.u32 %r10, %r4; mov.u32 %r11, 0;
    ROUND: mad.lo.u32 %r10, %r10, 1664525, 1013904223; shr.u32 %r12, %r10, 13;
    and.b32 %r12, %r12, 7; setp.ne.u32 %p1, %r12, 0; @%p1 bra ON;
    shr.u32 %r13, %r10, 16; and.b32 %r13, %r13, 4095; mul.wide.u32 %rd5, %r13, 4;
    add.u64 %rd5, %rd2, %rd5; ld.global.u32 %r14, [%rd5]; add.u32 %r10, %r10, %r14;
    ON: mad.lo.u32 %r15, %r10, 3, 1; xor.b32 %r15, %r15, %r10; add.u32 %r15, %r15, 7;
    mad.lo.u32 %r16, %r15, 5, 1; xor.b32 %r16, %r16, %r15; add.u32 %r16, %r16, 9;
    mad.lo.u32 %r17, %r16, 7, 1; xor.b32 %r17, %r17, %r16; add.u32 %r17, %r17, 11;
    mad.lo.u32 %r18, %r17, 9, 1; xor.b32 %r18, %r18, %r17; add.u32 %r18, %r18, 13;
    mad.lo.u32 %r19, %r18, 11, 1; xor.b32 %r19, %r19, %r18; add.u32 %r19, %r19, 15;
    mad.lo.u32 %r20, %r19, 13, 1; xor.b32 %r20, %r20, %r19; add.u32 %r10, %r20, 17;
    add.u32 %r11, %r11, 1; setp.lt.u32 %p2, %r11, 24; @%p2 bra ROUND;
    st.global.u32 [%rd4], %r10;";

#[test]
fn starvation_eddies_spread_threads_under_dwf_and_warp_barriers_stop_them() {
    let ptx = kernel(0, EDDY);
    let (expected, pdom) = run("pdom", &ptx, [8, 256], 0);
    let (memory, dwf) = run("dwf", &ptx, [8, 256], 0);
    assert_eq!(memory, expected);
    let line = |name: &str, r: &LaunchReport| {
        eprintln!(
            "{name:8} {:5.1}% of the lanes, {} cycles",
            100.0 * efficiency(r),
            r.totals.cycles
        );
    };
    line("pdom", &pdom);
    line("dwf", &dwf);
    assert!(
        efficiency(&dwf) < efficiency(&pdom) - 0.10,
        "{} {}",
        efficiency(&dwf),
        efficiency(&pdom)
    );
    assert!(dwf.totals.cycles as f64 > 1.1 * pdom.totals.cycles as f64);
    for model in stable_models() {
        let (memory, report) = run(model, &ptx, [8, 256], 0);
        line(model, &report);
        assert_eq!(memory, expected, "{model}");
        assert!(efficiency(&report) > efficiency(&pdom) - 0.01, "{model}");
        let cycles = report.totals.cycles as f64 / pdom.totals.cycles as f64;
        assert!(cycles < 1.08, "{model}: {cycles}");
    }
}

/// Half of each of two warps goes either way, complementing each other, and then all load.
const MIXED: &str = "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd1, %rd3;
    shr.u32 %r2, %r1, 5; add.u32 %r3, %r2, %r1; and.b32 %r3, %r3, 1; setp.eq.u32 %p1, %r3, 0;
    @%p1 bra ELSE; mul.lo.u32 %r4, %r1, 3; add.u32 %r4, %r4, 1; bra END;
    ELSE: mul.lo.u32 %r4, %r1, 7; add.u32 %r4, %r4, 2;
    END: ld.global.u32 %r5, [%rd4]; add.u32 %r4, %r4, %r5;
    shl.b32 %r6, %r2, 7; mov.u32 %r7, tile; add.u32 %r6, %r6, %r7; ld.shared.u32 %r8, [%r6];
    add.u32 %r4, %r4, %r8; st.global.u32 [%rd5], %r4;";

#[test]
fn memory_sees_the_warp_as_formed() {
    let ptx = kernel(256, MIXED);
    let (expected, pdom) = run("pdom", &ptx, [1, 64], 0);
    let (memory, dwf) = run("dwf", &ptx, [1, 64], 0);
    assert_eq!(memory, expected);
    let (p, d) = (&pdom.totals.sm.counters, &dwf.totals.sm.counters);
    // Lines are 64 bytes: a static warp's 32 words are two, a mixed one's lie in four.
    assert_eq!((p.global_loads, p.global_load_transactions), (2, 4));
    assert_eq!(d.global_load_transactions, 8);
    // Each static warp reads one word; a mixed one reads two of the same bank.
    assert_eq!((p.shared_requests, p.shared_bank_cycles), (2, 2));
    assert_eq!(d.shared_bank_cycles, 4);
}

#[test]
fn threads_of_different_blocks_share_warps_but_not_shared_memory() {
    // Odd lanes of odd blocks and even lanes of even ones go one way, the rest the other.
    let body = "mov.u32 %r2, %ctaid.x; mov.u32 %r20, tile;
        add.u32 %r21, %r2, 100; st.shared.u32 [%r20], %r21; add.u32 %r3, %r2, %r1; and.b32 %r3, %r3, 1; setp.eq.u32 %p1, %r3, 0;
        @%p1 bra ELSE; ld.shared.u32 %r4, [%r20]; add.u32 %r4, %r4, 1000; bra END;
        ELSE: ld.shared.u32 %r4, [%r20];
        END: mad.lo.u32 %r5, %r2, 32, %r1; mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd1, %rd3;
        st.global.u32 [%rd4], %r4;";
    let ptx = kernel(64, body);
    let (expected, pdom) = run("pdom", &ptx, [8, 32], 0);
    let (memory, dwf) = run("dwf", &ptx, [8, 32], 0);
    assert_eq!(memory, expected);
    let (p, d) = (&pdom.totals.sm.counters, &dwf.totals.sm.counters);
    assert!(
        d.warp_instructions < p.warp_instructions,
        "blocks were mixed"
    );
    let cycles =
        |c: &warpsim_sim::stats::SmCounters| c.shared_bank_cycles as f64 / c.shared_requests as f64;
    assert_eq!(cycles(p), 1.0, "within a block the word is the same");
    assert!(cycles(d) > 1.0, "each block has its own word");
}

#[test]
fn a_sync_operation_whose_members_never_come_is_a_deadlock_that_names_them() {
    let body = "mov.u32 %r9, %laneid; setp.ge.u32 %p1, %r9, 16; @%p1 bra HIGH;
        shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffffffff; // @low
        HIGH: bar.sync 0; mov.u32 %r3, 1;";
    let ptx = kernel(0, body);
    for skip in [true, false] {
        let options = Options {
            max_cycles: Some(20_000),
            skip,
            ..Options::default()
        };
        let mut bench = Bench::with(with_model("dwf"), &ptx, options);
        let error = *bench.try_launch([1, 1, 1], [32, 1, 1], 0).unwrap_err();
        let SimError::Deadlock(stuck) = error else {
            panic!("{error}");
        };
        let waits: Vec<&str> = stuck.warps.iter().map(|w| w.waits_for.as_str()).collect();
        let named = |text: &str| waits.iter().any(|w| w.contains(text));
        assert!(
            named("threads 0xffff0000 of its warp, which its shfl.sync at PTX line"),
            "{waits:?}"
        );
        assert!(
            named("barrier 0: 16 of 32 threads have arrived"),
            "{waits:?}"
        );
    }
    // With a stack the others are below the waiting ones: no thread can wait for them.
    let mut bench = Bench::new(with_model("pdom"), &ptx);
    let error = bench.try_launch([1, 1, 1], [32, 1, 1], 0).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("0xffff0000 of them are elsewhere"), "{text}");
}

#[test]
fn exited_threads_are_not_waited_for() {
    let body = "mov.u32 %r9, %laneid; setp.lt.u32 %p1, %r9, 30; @%p1 bra STAY;
        mov.u32 %r3, 40; SPIN: sub.u32 %r3, %r3, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra SPIN; exit;
        STAY: shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffffffff; bar.warp.sync 0xffffffff;
        mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r2;";
    let (memory, _) = run("dwf", &kernel(0, body), [1, 64], 0);
    let partner = |t: u32| if t % 32 < 30 { t ^ 1 } else { 0 };
    let expected: Vec<u32> = (0..64).map(partner).collect();
    assert_eq!(memory[..64], expected);
}

#[test]
fn what_does_not_go_together_is_refused_with_the_reason() {
    let majority = ["scheduler=\"majority\"".to_string()];
    let error = Machine::resolve("gtx480", &majority).expect_err("there is no pool");
    let text = error.to_string();
    assert!(
        text.contains("majority") && text.contains("dwf or dwf-wb") && text.contains("--set:1:11"),
        "{text}"
    );
    // A policy that ranks blocks has nothing to rank where warps mix them.
    for model in MODELS {
        for policy in POLICIES.iter().filter(|p| p.info.name != "majority") {
            let set = [
                format!("divergence=\"{}\"", model.info.name),
                format!("scheduler=\"{}\"", policy.info.name),
            ];
            if let Err(error) = Machine::resolve("gtx480", &set) {
                let reason = error.message;
                if policy.info.name == "gangs" {
                    assert!(model.pools, "{set:?}: {reason}");
                    assert!(reason.contains("forms warps of any threads"), "{reason}");
                    continue;
                }
                assert!(model.pools, "{set:?}: {reason}");
                assert!(reason.contains("mix threads of several blocks"), "{reason}");
            }
        }
    }
    for policy in ["lrr", "gto", "oldest", "tls", "majority"] {
        let set = ["divergence=dwf".into(), format!("scheduler={policy}")];
        Machine::resolve("gtx480", &set).unwrap_or_else(|e| panic!("{policy}: {e}"));
    }
}
