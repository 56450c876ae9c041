//! What the paper on variable warp sizing says of warp sizes, on a workload of each kind: divergent
//! code gains from narrow warps, convergent code loses no more than 27%, and gangs keep the better of
//! both.

use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{self, Parameters, Size};
use warpsim_workloads::{Outcome, Session};

/// Cycles and fetches of a workload.
fn run(name: &str, warps: &str) -> (u64, u64) {
    let workload = suite::find(name).expect("a workload");
    let set = [format!("warps={warps}")];
    let machine = Machine::resolve("vws", &set).expect("a machine");
    let parameters = Parameters::resolve(workload.info().parameters, Size::Tiny, &[]).unwrap();
    let mut device = Simulated::new(machine, Options::default()).unwrap();
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let outcome = workload.run(&parameters, 1, &mut session);
    assert!(
        matches!(outcome, Ok(Outcome::Correct { .. })),
        "{name} with {warps}: {outcome:?}"
    );
    let reports = device.gpu.reports();
    let cycles = reports.iter().map(|r| r.totals.cycles).sum();
    let fetches = reports.iter().map(|r| r.totals.sm.counters.fetches).sum();
    eprintln!("{name} {warps}: {cycles} cycles, {fetches} fetches");
    (cycles, fetches)
}

#[test]
fn divergent_code_is_faster_with_narrow_warps() {
    let ((ws32, _), (ws4, fetches_4)) = (run("collatz", "ws32"), run("collatz", "ws4"));
    assert!(ws4 < ws32, "{ws4} cycles, not below {ws32}");
    let (gangs, fetches) = run("collatz", "i-vws");
    assert!(gangs < ws32, "{gangs} cycles, not below {ws32}");
    assert!(fetches < fetches_4, "{fetches}, not below {fetches_4}");
    let (_, joined) = run("collatz", "e-vws");
    assert!(joined < fetches, "{joined}, not below {fetches}");
}

#[test]
fn convergent_code_loses_a_quarter_at_most_and_nothing_with_gangs() {
    let ((ws32, fetches_32), (ws4, _)) = (run("matmul", "ws32"), run("matmul", "ws4"));
    assert!(ws32 as f64 / ws4 as f64 >= 0.73, "{ws4} cycles and {ws32}");
    let (gangs, fetches) = run("matmul", "i-vws");
    let slower = gangs as f64 / ws32 as f64;
    // It may be faster: two gangs are fetched for in a cycle, and one wide warp.
    assert!((0.9..1.02).contains(&slower), "{gangs} and {ws32}");
    assert_eq!(fetches, fetches_32);
}
