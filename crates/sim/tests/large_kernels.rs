//! Large kernels are read, analysed and run in time that grows about as they do. The bounds are
//! generous, for machines that have other things to do; `cargo bench -p warpsim-sim` measures.

use crate::common;

use common::{Bench, large, machine};
use std::time::{Duration, Instant};
use warpsim_sim::gpu::Options;

/// What the slowest computer with optimisation turned down may take. Before, each took minutes.
const LONGEST: Duration = Duration::from_secs(90);

fn runs(ptx: &str) {
    let began = Instant::now();
    let options = Options {
        functional: true,
        ..Options::default()
    };
    let machine = machine("gtx480", &["gpu.sms=1", "sm.spills=false"]);
    Bench::unobserved(machine, ptx, options).launch(1, 32);
    let took = began.elapsed();
    assert!(took < LONGEST, "{took:?}");
}

#[test]
fn a_hundred_thousand_instructions_with_numbers_of_their_own() {
    runs(&large::immediates(100_000));
}

#[test]
fn thirty_thousand_branches() {
    runs(&large::branches(30_000));
}

#[test]
fn thirty_thousand_ways_out_of_a_loop_and_back() {
    runs(&large::breaks(30_000));
}

#[test]
fn ten_thousand_loops_in_each_other() {
    runs(&large::nested_loops(10_000));
}

#[test]
fn fifty_thousand_registers_that_are_live_at_once() {
    let began = Instant::now();
    // No SM has so many for a warp, so that it is read and refused.
    let program = common::program(&large::live_registers(50_000));
    assert!(program.kernels[0].register_demand >= 50_000);
    assert!(began.elapsed() < LONGEST, "{:?}", began.elapsed());
}

#[test]
fn thirty_thousand_ends() {
    runs(&large::exits(30_000));
}

/// One of them is launched: the others are read and checked, and that is all.
#[test]
fn a_file_of_four_hundred_kernels() {
    runs(&large::kernels(400));
}

/// Kernels of up to 10,000 instructions have their registers estimated closely.
#[test]
fn kernels_that_are_looked_at_closely() {
    for ptx in [
        large::immediates(9900),
        large::branches(3200),
        large::breaks(3200),
        large::nested_loops(3200),
        large::exits(2400),
    ] {
        runs(&ptx);
    }
    let began = Instant::now();
    common::program(&large::live_registers(4900));
    assert!(began.elapsed() < LONGEST, "{:?}", began.elapsed());
}

#[test]
fn functions_that_double_keep_one_body_each() {
    let began = Instant::now();
    let text = large::calls(40);
    let module = warpsim_ptx::parse(&text).expect("valid");
    let program = warpsim_ptx::lower::lower(&module).expect("valid");
    // Inlined, it would be 2^40 calls.
    assert!(program.kernels[0].code.len() < 1000);
    // Those that are inlined because an option asks for it are refused.
    let options = warpsim_ptx::lower::Options {
        inline_limit: Some(1_000_000),
    };
    let program = warpsim_ptx::lower::lower_with(&module, options).expect("valid");
    let (_, why) = &program.rejected[0];
    assert_eq!(why.len(), 1, "{why:?}");
    assert!(why[0].message.contains("too many calls"), "{why:?}");
    assert!(began.elapsed() < LONGEST, "{:?}", began.elapsed());
}

#[test]
fn too_many_registers_are_one_error() {
    let text = large::live_registers(70_000);
    let module = warpsim_ptx::parse(&text).expect("valid");
    let program = warpsim_ptx::lower::lower(&module).expect("no mistakes");
    let (_, why) = &program.rejected[0];
    assert_eq!(why.len(), 1, "{} errors", why.len());
    assert!(why[0].message.contains("more than 65536 registers"));
}
