//! `cargo bench --bench reference`: our speed beside the reference simulator's, on the suite's
//! counterparts of the public benchmarks it was measured with.
//!
//! The reference is GPGPU-Sim 4.0.1 with its GTX 480 configuration (power model off), release
//! build, one core of a two-core machine. Its benchmarks and ours are different programs of the
//! same algorithm, so what is compared is thread instructions a second of wall time; ours is the
//! median of five runs at size `small` on `gtx480` under `gto`. `-- NAME` runs what matches,
//! `-- --quick` runs once.

use warpsim_sim::config::Machine;
use warpsim_sim::config::ReadMachine;
use warpsim_sim::gpu::Options;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{self, Parameters, Size};
use warpsim_workloads::{Outcome, Session};

/// The reference's benchmark, thousand thread instructions per second it managed, our workload.
const ROWS: &[(&str, f64, &str)] = &[
    ("BFS (ISPASS)", 104.0, "bfs"),
    ("CP", 499.0, "coulomb"),
    ("LIB", 275.0, "libor"),
    ("LPS", 456.0, "laplace3d"),
    ("NN", 85.0, "neural-net"),
    ("NQU", 223.0, "nqueens"),
    ("RAY", 280.0, "raytrace"),
    ("STO", 329.0, "sha1"),
    ("backprop", 488.0, "backprop"),
    ("bfs (Rodinia)", 160.0, "bfs"),
    ("b+tree", 573.0, "btree-find-k"),
    ("hotspot", 620.0, "hotspot"),
    ("nw", 33.0, "nw"),
    ("pathfinder", 553.0, "pathfinder"),
    ("srad", 490.0, "srad-v2"),
];

type Error = Box<dyn std::error::Error>;

/// Thread instructions a second of one run.
fn speed(name: &str) -> Result<f64, Error> {
    let workload = suite::find(name)?;
    let parameters = Parameters::resolve(workload.info().parameters, Size::Small, &[])?;
    let machine = Machine::resolve("gtx480", &["scheduler=gto".into()])?;
    let mut device = Simulated::new(machine, Options::default())?;
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    if let Outcome::Wrong(_) = workload.run(&parameters, 1, &mut session)? {
        return Err(format!("{name}: the result is wrong").into());
    }
    let threads = device.gpu.totals().sm.counters.thread_instructions;
    Ok(threads as f64 / device.gpu.host_time().as_secs_f64())
}

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let runs = if args.iter().any(|a| a == "--quick") {
        1
    } else {
        5
    };
    let filter = args.iter().find(|a| !a.starts_with("--"));
    println!(
        "{:<14} {:<14} {:>16} {:>16} {:>7}",
        "reference", "ours", "reference k/s", "ours k/s", "times"
    );
    let mut ratios = Vec::new();
    for (reference, theirs, name) in ROWS {
        if filter.is_some_and(|f| !name.contains(f.as_str())) {
            continue;
        }
        let mut speeds = (0..runs)
            .map(|_| speed(name))
            .collect::<Result<Vec<_>, _>>()?;
        speeds.sort_by(f64::total_cmp);
        let ours = speeds[speeds.len() / 2] / 1e3;
        let times = ours / theirs;
        println!("{reference:<14} {name:<14} {theirs:>16.0} {ours:>16.0} {times:>7.1}");
        ratios.push(times);
    }
    let mean = ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len().max(1) as f64;
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    println!(
        "geometric mean {:.1} times the reference, least {least:.1}",
        mean.exp()
    );
    Ok(())
}
