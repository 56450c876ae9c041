//! `cargo bench -p warpsim-sim`: how long kernels that are large in one way each take to be read,
//! analysed and run by a warp without timing, at two sizes each: twice as large should take about
//! twice as long. `cargo bench -p warpsim-sim --bench large -- exits` does one of them.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Bench, large, machine};
use std::time::Instant;
use warpsim_sim::gpu::Options;

fn seconds(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64()
}

fn run(ptx: &str) {
    let options = Options {
        functional: true,
        ..Options::default()
    };
    let machine = machine("gtx480", &["gpu.sms=1", "sm.spills=false"]);
    Bench::unobserved(machine, ptx, options).launch(1, 32);
}

fn main() {
    type Kind = (&'static str, usize, fn(usize) -> String, fn(&str));
    let read: fn(&str) = |ptx| drop(common::program(ptx));
    let kinds: [Kind; 13] = [
        ("instructions", 100_000, large::immediates, run),
        ("branches", 30_000, large::branches, run),
        ("breaks", 30_000, large::breaks, run),
        ("nested loops", 10_000, large::nested_loops, run),
        ("live registers", 50_000, large::live_registers, read),
        ("exits", 30_000, large::exits, run),
        // Those that are short enough to have their registers estimated closely.
        ("instructions", 9900, large::immediates, run),
        ("branches", 3200, large::branches, run),
        ("breaks", 3200, large::breaks, run),
        ("nested loops", 3200, large::nested_loops, run),
        ("live registers", 4900, large::live_registers, read),
        // A file of some 100 MB, four million instructions.
        ("kernels", 4000, large::kernels, run),
        // Another; the rest of it is comments.
        (
            "megabytes",
            100,
            |n| "// ".repeat(n << 18) + "\n" + &large::immediates(1000),
            run,
        ),
    ];
    // Cargo says `--bench` as well.
    let asked = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let wanted = |name: &str| asked.as_deref().is_none_or(|asked| name.contains(asked));
    for (name, count, make, work) in kinds.into_iter().filter(|kind| wanted(kind.0)) {
        let (half, whole) = (make(count / 2), make(count));
        let (first, second) = (seconds(|| work(&half)), seconds(|| work(&whole)));
        println!("{count:>7} {name:<15} {second:>7.2} s  (half: {first:.2} s)");
    }
}
