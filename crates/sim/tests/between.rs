//! Launches executed between those with timing, launches counted as others, and a GPU that recovers from a fault.

use crate::common::{Bench, machine};
use warpsim_sim::gpu::api::Launch;

/// Each thread adds the input to its word of the output; with `n` other than 0 to what lies nowhere.
const ADD: &str = r"
.version 7.0
.target sm_52
.address_size 64
.visible .entry add(.param .u64 out, .param .u64 in, .param .u32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u32 %r1, [n];
    setp.eq.u32 %p1, %r1, 0;
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    @!%p1 mov.u64 %rd4, 64;
    ld.global.u32 %r6, [%rd4]; ld.global.u32 %r7, [%rd5];
    add.u32 %r6, %r6, %r7;
    st.global.u32 [%rd4], %r6;
    ret;
}
";

fn bench() -> Bench {
    Bench::new(machine("gtx480", &["gpu.sms=2"]), ADD)
}

fn launch(bench: &Bench) -> Launch {
    let mut params = bench.out.to_le_bytes().to_vec();
    params.extend(bench.input.to_le_bytes());
    params.extend(0u32.to_le_bytes());
    Launch {
        kernel: 0,
        grid: [4, 1, 1],
        block: [64, 1, 1],
        dynamic_shared: 0,
        params,
        registers: None,
    }
}

/// The hundredth word of the output, to which each launch adds 100.
fn word(bench: &Bench) -> u32 {
    let bytes = bench.gpu.read(bench.out + 400, 4).expect("it is there");
    u32::from_le_bytes(bytes.try_into().expect("four"))
}

#[test]
fn what_is_executed_between_changes_memory_and_no_count() {
    let (mut all, mut some) = (bench(), bench());
    all.launch(4, 64);
    some.launch(4, 64);
    let (time, launch) = (some.gpu.time(), launch(&some));
    let done = some.gpu.execute(0, &launch).expect("it runs");
    let counted = &all.report().totals.sm.counters;
    assert_eq!(
        done.sm.counters.warp_instructions,
        counted.warp_instructions
    );
    assert_eq!(word(&some), 200);
    assert_eq!(some.gpu.totals(), all.gpu.totals());
    assert_eq!((some.gpu.reports().len(), some.gpu.time()), (1, time));
    // What comes after it is timed as ever.
    some.launch(4, 64);
    assert_eq!(word(&some), 300);
    assert_eq!(some.gpu.reports().len(), 2);
}

#[test]
fn memory_is_put_back_and_launches_are_counted_again() {
    let mut bench = bench();
    bench.launch(4, 64);
    let (report, time, before) = (
        bench.report().clone(),
        bench.gpu.time(),
        bench.gpu.totals().cycles,
    );
    let kept = bench.gpu.keep_memory();
    let launch = launch(&bench);
    bench.gpu.execute(0, &launch).expect("it runs");
    bench.gpu.put_back(&kept);
    assert_eq!(word(&bench), 100);
    bench.gpu.count(&report);
    assert_eq!(bench.gpu.totals().cycles, 2 * before);
    assert_eq!(bench.gpu.time() - time, before);
    assert_eq!(bench.gpu.reports().len(), 2);
    bench.launch(4, 64);
    assert_eq!(word(&bench), 200);
}

#[test]
fn a_gpu_that_recovers_runs_as_a_new_one() {
    let mut bench = bench();
    assert!(bench.try_launch([4, 1, 1], [64, 1, 1], 1).is_err());
    assert!(bench.try_launch([4, 1, 1], [64, 1, 1], 0).is_err());
    let launch = launch(&bench);
    assert!(bench.gpu.execute(0, &launch).is_err());
    bench.gpu.recover();
    bench.launch(4, 64);
    assert_eq!(word(&bench), 100);
    let recovered = bench.report().totals.sm.counters.clone();
    let mut new = self::bench();
    new.launch(4, 64);
    let counted = &new.report().totals.sm.counters;
    assert_eq!(recovered.warp_instructions, counted.warp_instructions);
    assert_eq!(recovered.blocks, 4);
}
