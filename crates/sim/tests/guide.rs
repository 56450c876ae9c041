//! The guide's compaction: complementary warps share the sides of a branch, what a held warp waits for, and
//! generated programs.

use crate::common::generate::Generator;
use crate::common::{Bench, check_laws, kernel, machine};
use crate::models::guide::MODEL;
use warpsim_sim::config::Machine;
use warpsim_sim::divergence::DivergenceModel;
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::WarpEvent;
use warpsim_sim::stats::{LaunchReport, WarpState};

/// The model, made as the registry does it.
fn model(machine: &Machine) -> Box<dyn DivergenceModel> {
    (MODEL.make)(&machine.divergence.values, machine, 0)
}

/// Runs a kernel with it in every SM.
fn compacted(preset: &str, ptx: &str, shape: [u32; 2], skip: bool) -> (Vec<u32>, LaunchReport) {
    let options = Options {
        skip,
        max_cycles: Some(1_000_000),
        ..Options::default()
    };
    let machine = machine(preset, &["gpu.sms=2"]);
    let mut bench = Bench::with(machine.clone(), ptx, options);
    bench.gpu.replace_divergence_model(|| model(&machine));
    bench.launch(shape[0], shape[1]);
    check_laws(bench.report(), &machine);
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
    let mut bench = Bench::new(machine.clone(), &kernel(0, body));
    bench.gpu.replace_divergence_model(|| model(&machine));
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
