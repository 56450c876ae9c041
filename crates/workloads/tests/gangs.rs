//! Workloads end and are right under every way to size warps and every kind of fetch.

use warpsim_sim::config::warps::NAMES;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{self, Parameters, Size};
use warpsim_workloads::{Outcome, Session};

/// Loops of many lengths, barriers, atomics, and threads that leave early.
const WORKLOADS: &[&str] = &["collatz", "reduction", "bfs", "nqueens", "hotspot"];

const FETCH: &[&[&str]] = &[
    &["fetch.wait_for_branch=true"],
    &["fetch.oracle=true"],
    &["fetch.buffer=4", "fetch.width=2", "fetch.eligible=room"],
    &["fetch.cache_ports=2", "fetch.l0_bytes=256"],
    &["sm.constant_operands=true", "fetch.wait_for_branch=true"],
    &["fetch.refill=refetch", "l1i.mshrs=4"],
    &["fetch.policy=cff", "fetch.ports=4", "fetch.per=sm"],
];

/// No run takes as many cycles.
const CYCLES: u64 = 3_000_000;

#[test]
fn workloads_end_and_are_right_under_all_gangs_and_fetch_settings() {
    for (i, name) in NAMES.iter().enumerate() {
        for (j, fetch) in FETCH.iter().enumerate() {
            let workload = suite::find(WORKLOADS[(i + j) % WORKLOADS.len()]).expect("a workload");
            let mut set = vec![format!("warps={}", name.example())];
            set.extend(fetch.iter().map(|s| s.to_string()));
            let what = format!("{} with {set:?}", workload.info().name);
            let machine = Machine::resolve("vws", &set).unwrap_or_else(|e| panic!("{what}: {e}"));
            let parameters = Parameters::resolve(workload.info().parameters, Size::Tiny, &[]);
            let options = Options {
                max_cycles: Some(CYCLES),
                ..Options::default()
            };
            let mut device = Simulated::new(machine, options).expect("a device");
            let mut session = Session {
                device: &mut device,
                compiler: &compile,
            };
            let outcome = workload.run(&parameters.expect("parameters"), 1, &mut session);
            assert!(
                matches!(outcome, Ok(Outcome::Correct { .. })),
                "{what}: {outcome:?}"
            );
        }
    }
}
