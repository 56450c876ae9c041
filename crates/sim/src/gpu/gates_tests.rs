//! Skipped and stepped runs end with the same gates, lane by lane and to the cycle.

use crate::bench::{BUFFER, kernel, machine, program};
use crate::gpu::api::Launch;
use crate::gpu::{Gpu, Options};
use crate::power::lanes::Gate;
use crate::stats::LaunchReport;
use crate::time::Cycle;

/// Threads part ways, load, compute with both pipelines, and wait for each other.
fn program_of(rounds: u32, pause: u32) -> String {
    let body = format!(
        "mov.u32 %r5, 0; mov.u32 %r20, 7; mov.f32 %f1, 0f3fc00000; mov.f32 %f2, 0f3f000000;
        ROUND:
        mul.wide.u32 %rd3, %r1, 132; and.b64 %rd3, %rd3, 32764; add.u64 %rd4, %rd2, %rd3;
        ld.global.u32 %r6, [%rd4]; add.u32 %r20, %r20, %r6;
        and.b32 %r7, %r1, 3; setp.lt.u32 %p1, %r7, {pause}; @%p1 bra FLOAT;
        mad.lo.u32 %r20, %r20, 5, %r1; xor.b32 %r20, %r20, %r6; add.u32 %r21, %r1, 9;
        max.u32 %r20, %r20, %r21; bra MEET;
        FLOAT: fma.rn.f32 %f1, %f1, %f2, %f2; mul.f32 %f3, %f1, %f2; add.f32 %f1, %f1, %f3;
        MEET: bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, {rounds}; @%p2 bra ROUND;
        mul.wide.u32 %rd5, %r1, 4; add.u64 %rd6, %rd1, %rd5; st.global.u32 [%rd6], %r20;"
    );
    kernel(0, &body)
}

type Gates = Vec<Vec<Vec<Gate>>>;

fn run(ptx: &str, set: &[&str], skip: bool) -> (Vec<LaunchReport>, Gates) {
    let set = [&["gpu.sms=2"], set].concat();
    let options = Options {
        skip,
        ..Options::default()
    };
    let mut gpu = Gpu::new(machine("gtx480-v3", &set), options).expect("a machine");
    let module = gpu.load(program(ptx)).expect("it loads");
    let out = gpu.alloc(BUFFER, "out").expect("room");
    let input = gpu.alloc(BUFFER, "in").expect("room");
    let launch = Launch {
        kernel: 0,
        grid: [3, 1, 1],
        block: [96, 1, 1],
        dynamic_shared: 0,
        params: [&out.to_le_bytes()[..], &input.to_le_bytes(), &[0; 4]].concat(),
        registers: None,
    };
    gpu.launch(module, &launch).expect("it ends");
    let end = Cycle::new(gpu.totals().cycles);
    let states = |sm: &mut crate::sm::Sm| sm.gates(end).expect("looked at");
    let gates = gpu.sms_mut().map(states).collect();
    (gpu.reports().to_vec(), gates)
}

#[test]
fn gates_are_the_same_skipped_and_stepped() {
    let mut seen_off = false;
    for named in crate::config::power::NAMES {
        let power = format!("power={}", named.name);
        for (rounds, pause) in [(1, 2), (3, 1), (4, 4), (9, 3)] {
            let ptx = program_of(rounds, pause);
            let skipped = run(&ptx, &[&power], true);
            let stepped = run(&ptx, &[&power], false);
            assert_eq!(skipped.1, stepped.1, "{power} {rounds} {pause}");
            assert_eq!(skipped.0, stepped.0, "{power} {rounds} {pause}");
            let all = skipped.1.iter().flatten().flatten();
            seen_off |= all.into_iter().any(|g| matches!(g, Gate::Off(_)));
        }
    }
    assert!(seen_off);
}

/// In a chain of dependent instructions each waits for its lanes once, for as long as they take to wake up.
#[test]
fn gating_by_lane_adds_a_wake_up_to_each_dependent_instruction_at_most() {
    for (rounds, pause) in [(3, 1), (9, 3)] {
        let ptx = program_of(rounds, pause);
        let cycles =
            |set: &[&str]| run(&ptx, &[&["scheduler=tls"], set].concat(), true).0[0].clone();
        let on = cycles(&["gating.watch=true"]);
        // Of three warps in a block, each issues a third of the block's instructions.
        let each = on.totals.sm.counters.warp_instructions / (3 * 3);
        for wake_up in [0, 3, 9] {
            let wake = format!("gating.wake_up={wake_up}");
            let gated = cycles(&["gating=conventional", "gating.by=lane", &wake]);
            let more = gated.totals.cycles.saturating_sub(on.totals.cycles);
            assert!(
                more <= wake_up * each,
                "{more} cycles more for {each} instructions of a warp and a wake-up of {wake_up}"
            );
            assert_eq!(gated.totals.sm.int_pipe.waking == 0, wake_up == 0);
        }
    }
}
