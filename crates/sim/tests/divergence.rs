//! What holds for every divergence model: threads execute what they execute under `pdom`, none
//! is lost or comes twice; and what single models are for.

use crate::common;

use common::generate::Generator;
use common::{Bench, check_laws, kernel, machine};
use proptest::prelude::*;
use std::collections::BTreeMap;
use warpsim_ptx::kernel::Pc;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::divergence::MODELS;
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::WarpEvent;
use warpsim_sim::stats::{LaunchReport, WarpState};

/// Instructions of each thread in order, by block and thread.
pub type Traces = BTreeMap<(u64, u32), Vec<Pc>>;

/// A machine with a model, unless they do not go together.
fn with(preset: &str, model: &str, set: &[&str]) -> Option<Machine> {
    let model = format!("divergence=\"{model}\"");
    let set = [&["gpu.sms=2", &model][..], set].concat();
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    Machine::resolve(preset, &set).ok()
}

fn run(machine: &Machine, ptx: &str, shape: [u32; 2]) -> (Vec<u32>, Traces, LaunchReport) {
    let options = Options {
        max_cycles: Some(3_000_000),
        ..Options::default()
    };
    let mut bench = Bench::with(machine.clone(), ptx, options);
    bench.launch(shape[0], shape[1]);
    check_laws(bench.report(), machine);
    let traces = traces(&bench);
    (bench.output(), traces, bench.report().clone())
}

/// What each thread of a bench has issued.
pub fn traces(bench: &Bench) -> Traces {
    let mut holds: BTreeMap<(u16, u16), HeldLanes> = BTreeMap::new();
    let mut traces = Traces::new();
    for (_, sm, slot, event) in bench.events() {
        match event {
            WarpEvent::Launched { .. } => drop(holds.remove(&(sm, slot))),
            WarpEvent::Holds { block, warp, lanes } => {
                let held = holds.entry((sm, slot)).or_insert([None; 32]);
                for lane in (0..32).filter(|l| lanes >> l & 1 != 0) {
                    held[lane] = Some((block, u32::from(warp) * 32 + lane as u32));
                }
            }
            WarpEvent::Issued { pc, lanes } => {
                let held = &holds[&(sm, slot)];
                for lane in (0..32).filter(|l| lanes >> l & 1 != 0) {
                    let thread = held[lane].expect("the thread that issues is known");
                    traces.entry(thread).or_default().push(pc);
                }
            }
            _ => {}
        }
    }
    traces
}

/// Of each lane of a warp, the thread it holds: its block and its number there.
type HeldLanes = [Option<(u64, u32)>; 32];

/// Models with their switches, on machines that differ in what matters to them.
fn machines() -> Vec<(String, Machine)> {
    let mut all = Vec::new();
    for model in MODELS {
        for (preset, set) in [
            ("gtx480", &[][..]),
            ("fx5800", &[][..]),
            ("fx5800", &["divergence.tbc.compaction=false"][..]),
            ("vws", &["sm.warp_width=8", "fetch.ports=4"][..]),
        ] {
            let fits = with(preset, model.info.name, set);
            all.extend(fits.map(|m| (format!("{} on {preset} {set:?}", model.info.name), m)));
        }
    }
    all
}

fn same_instructions(seed: u64, shape: [u32; 2]) {
    for body in [
        Generator::body(seed, shape[1]),
        Generator::body_with_breaks(seed, shape[1]),
    ] {
        let ptx = kernel(4 * shape[1], &body);
        let (expected, executed, _) = run(&machine("gtx480", &["gpu.sms=2"]), &ptx, shape);
        let threads = shape[0] as usize * shape[1] as usize;
        assert_eq!(executed.len(), threads, "every thread runs");
        for (name, machine) in machines() {
            let (memory, traces, _) = run(&machine, &ptx, shape);
            assert!(memory == expected, "seed {seed} {shape:?} {name}\n{ptx}");
            assert!(
                traces == executed,
                "instructions: seed {seed} {shape:?} {name}\n{ptx}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, max_shrink_iters: 10, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn threads_execute_the_same_instructions_under_every_model(
        seed: u64, blocks in 1u32..4, threads in 1u32..150,
    ) {
        same_instructions(seed, [blocks, threads]);
    }
}

/// The paper's example 2 in a loop: threads rarely break, and part in between.
const LIKELY: &str = "shl.b32 %r9, %r1, 2; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r6, 40;
    A: add.u32 %r4, %r1, %r2; mul.lo.u32 %r5, %r4, 40503; shr.u32 %r5, %r5, 7; and.b32 %r5, %r5, 63;
    and.b32 %r7, %r5, 1; setp.eq.u32 %p1, %r7, 0; @%p1 bra B;
    setp.eq.u32 %p2, %r5, 63; @%p2 bra D;
    bra E;
    B: mad.lo.u32 %r3, %r3, 5, %r5; xor.b32 %r3, %r3, 77; bra E;
    D: add.u32 %r3, %r3, 1000; bra F;
    E: mad.lo.u32 %r3, %r3, 3, 1; add.u32 %r2, %r2, 1; xor.b32 %r3, %r3, %r2; add.u32 %r3, %r3, 9;
    setp.lt.u32 %p3, %r2, %r6; @%p3 bra A;
    F: mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r3;";

#[test]
fn likely_convergence_points_bring_threads_together_before_they_must() {
    let ptx = kernel(0, LIKELY);
    let of = |model| {
        let machine = with("fx5800", model, &[]).expect("it fits");
        let (memory, traces, report) = run(&machine, &ptx, [2, 128]);
        (memory, traces, report.totals)
    };
    let (memory, executed, pdom) = of("pdom");
    for (model, base) in [("pdom-lcp", "pdom"), ("tbc-lcp", "tbc")] {
        let (expected, _, base) = of(base);
        let (found, traces, likely) = of(model);
        assert_eq!((&found, &expected), (&memory, &memory));
        assert_eq!(traces, executed);
        let issued = |t: &warpsim_sim::stats::Totals| t.sm.counters.warp_instructions;
        assert!(
            issued(&likely) * 10 < issued(&base) * 9,
            "{model}: {} of {}",
            issued(&likely),
            issued(&base)
        );
    }
    assert!(pdom.deepest_stack >= 3);
}

/// Half the lanes of each warp take the branch; those of neighbouring warps complement each
/// other.
const COMPLEMENTARY: &str = "shr.u32 %r2, %r1, 5; add.u32 %r3, %r2, %r1; and.b32 %r3, %r3, 1;
    setp.eq.u32 %p1, %r3, 0; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3;
    @%p1 bra ELSE;
    mul.lo.u32 %r4, %r1, 3; add.u32 %r4, %r4, 1; xor.b32 %r4, %r4, %r2; add.u32 %r4, %r4, 5;
    bra END;
    ELSE: mul.lo.u32 %r4, %r1, 7; add.u32 %r4, %r4, 2; xor.b32 %r4, %r4, %r1; add.u32 %r4, %r4, 9;
    END: bar.sync 0;
    st.global.u32 [%rd4], %r4;";

#[test]
fn compaction_fills_warps_and_can_be_switched_off() {
    let ptx = kernel(0, COMPLEMENTARY);
    let issued = |model, set: &[&str]| {
        let machine = with("fx5800", model, set).expect("it fits");
        let (_, _, report) = run(&machine, &ptx, [3, 128]);
        let c = report.totals.sm.counters;
        assert_eq!(report.totals.deepest_stack, 3);
        (c.warp_instructions, c.lanes_29_32)
    };
    let (stacks, _) = issued("pdom", &[]);
    let (compacted, full) = issued("tbc", &[]);
    // The sides have five and four instructions; two of four warps run each.
    assert_eq!(stacks - compacted, 3 * 2 * 9);
    assert_eq!(full, compacted, "every lane is used");
    let (kept, _) = issued("tbc", &["divergence.compaction=false"]);
    assert_eq!(kept, stacks);
}

/// A barrier on one side of a branch that part of the block takes: under thread block compaction
/// it waits for the threads that are there.
#[test]
fn a_barrier_in_a_side_waits_for_the_warps_of_that_side() {
    let body = "mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; mov.u32 %r7, 1;
        and.b32 %r5, %r1, 3; setp.ne.u32 %p1, %r5, 1; @%p1 bra END;
        st.shared.u32 [%r4], %r1; bar.sync 0;
        xor.b32 %r6, %r3, 256; add.u32 %r6, %r2, %r6; ld.shared.u32 %r7, [%r6];
        END: mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r7;";
    let ptx = kernel(512, body);
    for model in ["tbc", "tbc-lcp"] {
        for preset in ["gtx480", "fx5800"] {
            let machine = with(preset, model, &[]).expect("it fits");
            let (memory, _, report) = run(&machine, &ptx, [1, 128]);
            for (thread, value) in memory.iter().take(128).enumerate() {
                let expected = if thread % 4 == 1 { thread ^ 64 } else { 1 };
                assert_eq!(*value as usize, expected, "thread {thread} on {preset}");
            }
            // 32 threads in eight lanes of four warps: four compacted warps arrive.
            assert_eq!(report.totals.sm.counters.barriers, 4);
        }
    }
}

#[test]
fn a_kernel_without_divergence_needs_one_entry_and_waits_for_no_warp() {
    let body = "mov.u32 %r2, 0;
        LOOP: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 20; @%p1 bra.uni LOOP;
        mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r2;";
    let ptx = kernel(0, body);
    let cycles: Vec<u64> = ["pdom", "tbc"]
        .map(|model| {
            let machine = with("fx5800", model, &[]).expect("it fits");
            let (_, _, report) = run(&machine, &ptx, [2, 256]);
            assert_eq!(report.totals.deepest_stack, 1, "{model}");
            report.totals.cycles
        })
        .to_vec();
    assert_eq!(cycles[0], cycles[1]);
}

/// A loop whose end depends on a parameter alone, with loads that take some warps longer than others, so that they come there at
/// different times. That its branch goes one way for the block can be proven.
fn proven_loop(annotation: &str) -> String {
    kernel(
        0,
        &format!(
            "ld.param.u32 %r5, [n]; add.u32 %r5, %r5, 20; mov.u32 %r4, 0; shr.u32 %r7, %r1, 5; mul.wide.u32 %rd4, %r1, 128;\n\
             add.u64 %rd5, %rd2, %rd4;\n\
             MORE: ld.global.u32 %r6, [%rd5]; add.u32 %r4, %r4, 1; add.u32 %r8, %r8, %r6; setp.lt.u32 %p1, %r4, %r5;\n\
             @%p1 bra{annotation} MORE; // @loop\n\
             mul.wide.u32 %rd6, %r1, 4; add.u64 %rd6, %rd6, %rd1; st.global.u32 [%rd6], %r8;"
        ),
    )
}

/// Thread block compaction, section 3.1: warps skip the synchronisation at branches that are annotated, `bra.uni`. That
/// one could be proven uniform makes no difference to the paper's machine.
#[test]
fn under_tbc_warps_wait_at_a_proven_branch_unless_it_is_annotated_or_proofs_count() {
    let run = |annotation: &str, uniform: &str| {
        let uniform = format!("divergence.tbc.uniform={uniform}");
        let machine =
            with("gtx480", "tbc", &["scheduler=lrr", &uniform]).expect("they go together");
        let (output, _, report) = run(&machine, &proven_loop(annotation), [2, 256]);
        let totals = &report.totals;
        (
            output,
            totals.cycles,
            totals.sm.warps.get(WarpState::Control),
        )
    };
    let (expected, waits, control) = run("", "annotated");
    for (annotation, uniform) in [(".uni", "annotated"), ("", "proven"), (".uni", "proven")] {
        let (output, skips, less) = run(annotation, uniform);
        assert!(output == expected);
        assert!(
            less * 2 < control,
            "{annotation} {uniform}: {less} {control}"
        );
        assert!(skips < waits, "{annotation} {uniform}: {skips} {waits}");
    }
}

/// `bra.uni` speaks for a warp. Where warps of a block go different ways it is no proof for the block, and they wait for each
/// other as at any branch.
#[test]
fn an_annotation_that_holds_for_warps_only_is_not_believed_for_the_block() {
    let body = "shr.u32 %r7, %r1, 5; and.b32 %r7, %r7, 1; setp.eq.u32 %p1, %r7, 0; mov.u32 %r4, 0; and.b32 %r9, %r1, 1;\n\
        @%p1 bra.uni EVEN;\n\
        setp.eq.u32 %p2, %r9, 0; @%p2 bra ON; add.u32 %r4, %r4, 5; ON: add.u32 %r4, %r4, 1;\n\
        EVEN: add.u32 %r4, %r4, 100; bar.sync 0; mul.wide.u32 %rd6, %r1, 4; add.u64 %rd6, %rd6, %rd1; st.global.u32 [%rd6], %r4;";
    let outputs = ["pdom", "tbc", "tbc-lcp"].map(|model| {
        let machine = with("gtx480", model, &["scheduler=lrr"]).expect("they go together");
        run(&machine, &kernel(0, body), [2, 128]).0
    });
    assert_eq!(outputs[0][..4], [100, 100, 100, 100]);
    assert_eq!(outputs[0][32..36], [101, 106, 101, 106]);
    assert!(outputs.iter().all(|output| *output == outputs[0]));
}
