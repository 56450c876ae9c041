//! Constants and kernel parameters as operands.

use crate::common::{Bench, check_laws, kernel, machine};
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::WarpEvent;
use warpsim_sim::stats::SmCounters;

const OPERANDS: &str = "sm.constant_operands=true";

/// A parameter, whose line the first instructions have brought, and what reads it behind.
const PARAMETER: &str =
    "cvt.u32.u64 %r2, %rd1; add.u32 %r3, %r1, 1; ld.param.u32 %r4, [n]; add.u32 %r5, %r4, 7;";

/// Cycles from the issue of each instruction of a warp to that of the next, in a kernel's second launch.
fn apart(set: &[&str], body: &str) -> Vec<u64> {
    let set = [&["gpu.sms=1"], set].concat();
    let mut bench = Bench::new(machine("gtx480", &set), &kernel(0, body));
    bench.launch(1, 32).launch(1, 32);
    let cycles: Vec<u64> = bench
        .events()
        .iter()
        .filter(|(_, _, slot, event)| *slot == 0 && matches!(event, WarpEvent::Issued { .. }))
        .map(|(cycle, ..)| *cycle)
        .collect();
    cycles.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn what_reads_a_parameter_issues_as_soon_as_it_is_fetched() {
    // Two parameters, `mov`, what waits for the first, an addition, the parameter, its reader.
    let at = 5;
    let operand = apart(&[OPERANDS], PARAMETER);
    let loaded = apart(&[], PARAMETER);
    assert_eq!(
        operand[at], 2,
        "fetched at t, decoded at t+1, issued at t+2"
    );
    assert!(
        loaded[at] > operand[at],
        "it passes the load/store unit: {loaded:?}"
    );
    // Where nothing is read the two are alike.
    assert_eq!(operand[3], loaded[3]);
}

#[test]
fn a_line_that_is_not_there_is_waited_for() {
    let body = "add.u64 %rd3, %rd1, 8; add.u32 %r2, %r1, 1;";
    let operand = apart(&[OPERANDS], body);
    let loaded = apart(&[], body);
    // The first instruction asks for the line, and the fourth reads what it loads.
    let first = |apart: &[u64]| apart[..3].iter().sum::<u64>();
    assert!(first(&operand) > 50, "{operand:?}");
    assert!(first(&operand) <= first(&loaded), "{operand:?} {loaded:?}");
}

/// Constants by name, by register, under a guard and in parts of a warp.
fn program() -> String {
    let body = "ld.const.u32 %r2, [table+8]; and.b32 %r3, %r1, 3; shl.b32 %r3, %r3, 2; cvt.u64.u32 %rd3, %r3;
        mov.u64 %rd4, table; add.u64 %rd4, %rd4, %rd3; ld.const.u32 %r4, [%rd4];
        setp.lt.u32 %p1, %r1, 13; mov.u32 %r5, 1; @%p1 ld.const.u32 %r5, [table+4]; @!%p1 bra OTHER;
        ld.const.v2.u32 {%r6, %r7}, [table+512]; add.u32 %r5, %r5, %r6; bra BOTH;
        OTHER: ld.param.u32 %r7, [n]; add.u32 %r5, %r5, %r7;
        BOTH: add.u32 %r5, %r5, %r2; add.u32 %r5, %r5, %r4; add.u32 %r5, %r5, %r7;
        mul.wide.u32 %rd5, %r1, 4; add.u64 %rd5, %rd1, %rd5; st.global.u32 [%rd5], %r5;";
    let values: Vec<String> = (0..256).map(|i| (i * i + 3).to_string()).collect();
    let table = format!(
        ".const .align 16 .b32 table[256] = {{{}}};",
        values.join(", ")
    );
    kernel(0, body).replace(".visible", &format!("{table}\n.visible"))
}

fn run(preset: &str, set: &[&str], skip: bool) -> (Vec<u32>, Bench) {
    let options = Options {
        skip,
        ..Options::default()
    };
    let mut bench = Bench::unobserved(machine(preset, set), &program(), options);
    bench.launch(3, 70);
    check_laws(bench.report(), &machine(preset, set));
    (bench.output(), bench)
}

fn counters(bench: &Bench) -> SmCounters {
    bench.report().totals.sm.counters.clone()
}

#[test]
fn every_machine_computes_the_same_and_looks_up_the_same() {
    for (preset, set) in [
        ("gtx480", &[][..]),
        ("gtx480", &["fetch.ideal=true"]),
        ("gtx480-ref", &[]),
        ("gtx480-v3", &[]),
        ("vws", &[]),
        ("vws", &["warps=ws4"]),
        ("vws", &["warps=i-vws"]),
        ("vws", &["warps=e-vws-impatient"]),
        ("vws", &["warps=i-vws-8"]),
        ("fx5800", &["divergence=tbc"]),
        ("fx5800", &["divergence=dwf", "scheduler=majority"]),
        ("fx5800", &["warps=i-vws"]),
        ("gtx480", &["sm.scoreboard=one-in-flight"]),
    ] {
        let (expected, loads) = run(preset, set, true);
        let with = [set, &[OPERANDS]].concat();
        let (output, operands) = run(preset, &with, true);
        assert!(output == expected, "{preset} {with:?}");
        let (again, stepped) = run(preset, &with, false);
        assert!(again == expected, "{preset} {with:?}");
        assert_eq!(operands.report(), stepped.report(), "{preset} {with:?}");
        let (loads, operands) = (counters(&loads), counters(&operands));
        assert!(operands.mix_memory < loads.mix_memory, "{preset} {with:?}");
        assert_eq!(operands.thread_instructions, loads.thread_instructions);
        assert!(operands.constant_misses > 0, "{preset} {with:?}");
    }
}
