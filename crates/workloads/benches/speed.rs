//! `cargo bench --bench speed`: how fast the simulator is on one core, on the `gtx480` machine.
//!
//! For every kernel: thread and warp instructions and simulated cycles a second (median of
//! several runs), the largest memory the process has used, and, where valgrind is installed,
//! host instructions for each simulated warp instruction (callgrind; they repeat exactly,
//! whatever else the machine does; start-up included). `cargo bench -- NAME` runs what matches,
//! `cargo bench -- --quick` runs once and counts nothing.

use std::process::Command;
use std::time::Instant;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{self, Parameters, Size};
use warpsim_workloads::{Session, micro};

/// Micro-kernel launches that are measured beside the workloads.
const MICRO: &[(&str, u32, u32)] = &[
    ("int_add_chain", 15, 256),
    ("int_add_chain", 90, 256),
    ("fp_fma_ilp4", 90, 256),
    ("branch_nested", 90, 256),
    ("global_stream", 120, 256),
    ("global_gather", 15, 256),
    ("int_add_chain", 1, 32),
];

type Error = Box<dyn std::error::Error>;

/// What one run did.
struct Run {
    seconds: f64,
    cycles: u64,
    threads: u64,
    warps: u64,
}

fn machine() -> Result<Machine, Error> {
    Ok(Machine::preset("gtx480")?)
}

/// Runs `micro:KERNEL:GRID:BLOCK` or `WORKLOAD:SIZE` once.
fn run(name: &str) -> Result<Run, Error> {
    let begin = Instant::now();
    let parts: Vec<&str> = name.split(':').collect();
    if parts[0] == "micro" {
        let found = micro::launches().into_iter().find(|l| {
            l.kernel == parts[1]
                && l.grid.to_string() == parts[2]
                && l.block.to_string() == parts[3]
        });
        let launch = found.ok_or("no such launch")?;
        let measured = launch.run(machine()?, Options::default())?;
        return Ok(Run {
            seconds: begin.elapsed().as_secs_f64(),
            cycles: measured.cycles,
            threads: measured.thread_instructions,
            warps: measured.warp_instructions,
        });
    }
    let workload = suite::find(parts[0])?;
    let size = if parts.get(1) == Some(&"tiny") {
        Size::Tiny
    } else {
        Size::Small
    };
    let parameters = Parameters::resolve(workload.info().parameters, size, &[])?;
    let mut device = Simulated::new(machine()?, Options::default())?;
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    workload.run(&parameters, 1, &mut session)?;
    let totals = device.gpu.totals();
    Ok(Run {
        seconds: device.gpu.host_time().as_secs_f64(),
        cycles: totals.cycles,
        threads: totals.sm.counters.thread_instructions,
        warps: totals.sm.counters.warp_instructions,
    })
}

/// Host instructions of a run of this program under callgrind.
fn host_instructions(name: &str) -> Option<u64> {
    let me = std::env::current_exe().ok()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(me)
        .args(["--one", name])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|l| l.contains("Collected"))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// Largest resident set of this process in megabytes, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()
        .map(|kb| kb / 1024)
}

fn million(value: f64) -> String {
    format!("{:.2}", value / 1e6)
}

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = args.iter().position(|a| a == "--one") {
        run(args.get(at + 1).ok_or("--one needs a name")?)?;
        return Ok(());
    }
    let quick = args.iter().any(|a| a == "--quick");
    let filter = args
        .iter()
        .find(|a| !a.starts_with("--"))
        .cloned()
        .unwrap_or_default();
    let workloads = suite::WORKLOADS
        .iter()
        .map(|w| format!("{}:small", w.info().name));
    let micro = MICRO.iter().map(|(k, g, b)| format!("micro:{k}:{g}:{b}"));
    println!(
        "{:<28} {:>10} {:>10} {:>10} {:>9} {:>7} {:>12}",
        "", "thread", "warp", "thousand", "", "", "host instr"
    );
    println!(
        "{:<28} {:>10} {:>10} {:>10} {:>9} {:>7} {:>12}",
        "kernel", "M instr/s", "M instr/s", "cycles/s", "seconds", "peak MB", "/warp instr"
    );
    for name in workloads.chain(micro).filter(|n| n.contains(&filter)) {
        let mut runs = Vec::new();
        for _ in 0..if quick { 1 } else { 5 } {
            runs.push(run(&name)?);
        }
        runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let r = &runs[runs.len() / 2];
        // Counting is fifty times slower than running: workloads are counted at `tiny`.
        let (counted, warps) = match name.strip_suffix(":small") {
            Some(workload) if !quick => {
                let tiny = format!("{workload}:tiny");
                let warps = run(&tiny)?.warps;
                (host_instructions(&tiny), warps)
            }
            None if !quick => (host_instructions(&name), r.warps),
            _ => (None, 1),
        };
        let per_warp = counted.map_or("-".into(), |n| (n / warps.max(1)).to_string());
        println!(
            "{name:<28} {:>10} {:>10} {:>10.0} {:>9.3} {:>7} {:>12}",
            million(r.threads as f64 / r.seconds),
            million(r.warps as f64 / r.seconds),
            r.cycles as f64 / r.seconds / 1e3,
            r.seconds,
            peak_memory().map_or("-".into(), |mb| mb.to_string()),
            per_warp,
        );
    }
    Ok(())
}
