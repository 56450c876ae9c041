//! Which launches drift; that all results are the same is seen where every recorded run is made again on several threads.

use crate::config::{Machine, ReadMachine};
use crate::gpu::api::Launch;
use crate::gpu::run::timed::LAST_LOOK;
use crate::gpu::{Gpu, Options};
use crate::observe::{Observer, WarpEvent};
use crate::time::Cycle;
use std::sync::Arc;

struct Listener;
impl Observer for Listener {
    fn warp(&mut self, _: Cycle, _: u16, _: u16, _: WarpEvent) {}
}

/// A GPU, and a launch of a kernel `k(out, in)` with this body on so many blocks.
fn launch(set: &[&str], body: &str, blocks: u32, options: Options) -> (Gpu, usize, Launch) {
    let ptx = format!(
        ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in) {{\n\
         .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<6>;\n\
         ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];\n{body}\nret;\n}}"
    );
    let module = warpsim_ptx::parse::parse(&ptx).expect("it parses");
    let program = warpsim_ptx::lower::lower(&module).expect("it lowers");
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    let machine = Machine::resolve("gtx480", &set).expect("a machine");
    let mut gpu = Gpu::new(machine, options).expect("a GPU");
    let module = gpu.load(Arc::new(program)).expect("it loads");
    let buffers = ["out", "in"].map(|label| gpu.alloc(1 << 16, label).expect("room"));
    let launch = Launch {
        params: buffers.iter().flat_map(|b| b.to_le_bytes()).collect(),
        kernel: 0,
        grid: [blocks, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        registers: None,
    };
    (gpu, module, launch)
}

/// How many periods such a launch of 15 blocks may drift for as it begins.
fn periods(set: &[&str], body: &str, options: Options) -> u64 {
    let (mut gpu, module, launch) = launch(set, body, 15, options);
    let (launched, ..) = gpu.prepare(module, &launch).expect("it can run");
    let course = gpu.set_out(&launched, Cycle::ZERO, false);
    gpu.periods_apart(Cycle::ZERO, &course)
}

const COPIES: &str = "ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1;";

fn threads(threads: usize) -> Options {
    Options {
        threads,
        all_threads: true,
        ..Options::default()
    }
}

#[test]
fn launches_drift_that_read_nothing_that_they_write_until_stores_are_shown() {
    assert_eq!(periods(&[], COPIES, threads(4)), 64);
    let limited = |cycles| Options {
        max_cycles: Some(cycles),
        ..threads(4)
    };
    let looked_at = limited(LAST_LOOK + 10 * 48 + 47);
    assert_eq!(
        periods(&[], COPIES, looked_at),
        10,
        "until warps are looked at"
    );
    assert_eq!(periods(&[], COPIES, limited(LAST_LOOK)), 0);
}

#[test]
fn all_others_stay_in_step() {
    let reads_back = "ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1;";
    let counts = "red.global.add.u32 [%rd1], 1; ld.global.u32 %r1, [%rd2];";
    assert_eq!(periods(&[], reads_back, threads(4)), 0);
    assert_eq!(periods(&[], counts, threads(4)), 0);
    assert_eq!(periods(&[], COPIES, threads(1)), 0, "one thread");
    assert_eq!(periods(&[], COPIES, threads(3)), 0, "five SMs per thread");
    let observed = Options {
        observer: Some(Box::new(Listener)),
        ..threads(4)
    };
    assert_eq!(periods(&[], COPIES, observed), 0, "an observer listens");
    let steps = Options {
        skip: false,
        ..threads(4)
    };
    assert_eq!(periods(&[], COPIES, steps), 0, "every cycle is looked at");
    let short = ["gpu.store_visibility=1"];
    assert_eq!(
        periods(&short, COPIES, threads(4)),
        0,
        "periods of a quantum"
    );
}

/// Blocks of all lengths, several of which end together, and some of which load much: whichever thread [lingers](super::linger), all comes out the same.
#[test]
fn who_is_ahead_of_whom_makes_no_difference() {
    let loads = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;\n\
         mul.lo.u32 %r3, %r1, 37; rem.u32 %r3, %r3, 7; mad.lo.u32 %r4, %r1, 32, %r2; and.b32 %r4, %r4, 511;\n\
         mul.wide.u32 %rd3, %r4, 128; add.u64 %rd2, %rd2, %rd3; mul.wide.u32 %rd4, %r4, 4; add.u64 %rd1, %rd1, %rd4;\n\
         MORE: ld.global.cg.u32 %r5, [%rd2]; st.global.u32 [%rd1], %r5;\n\
         setp.eq.u32 %p1, %r3, 0; sub.u32 %r3, %r3, 1; @!%p1 bra MORE;";
    let sets = [
        &["gpu.quantum=1"][..],
        &[],
        &["sm.max_blocks=1"],
        &["interconnect.input_buffer=16", "gpu.quantum=2"],
        &["gpu.store_visibility=20", "dram.latency=20"],
        &["l2.sets=2"],
    ];
    for set in sets {
        let run = |count: usize| {
            let (mut gpu, module, launch) = launch(set, loads, 100, threads(count));
            gpu.launch(module, &launch).expect("it runs");
            format!("{:?}", gpu.totals())
        };
        let alone = run(1);
        for count in [5, 5, 9] {
            assert_eq!(run(count), alone, "{count} threads, {set:?}");
        }
    }
}
