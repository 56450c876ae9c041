//! The scheduler of the guide (`docs/your-own-scheduler.md`) compiles, runs, and is another one.

#[path = "../../../docs/guide/youngest.rs"]
mod youngest;

use warpsim_sim::config::Machine;
use warpsim_sim::gpu::Options;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, Size, find};
use warpsim_workloads::{Outcome, Session};

/// Cycles of a workload; under the guide's policy, or under the one the machine names.
fn cycles(workload: &str, scheduler: Option<&str>, skip: bool) -> u64 {
    let set: Vec<String> = scheduler.iter().map(|s| format!("scheduler={s}")).collect();
    let machine = Machine::resolve("gtx480", &set).expect("a machine");
    let options = Options {
        skip,
        ..Options::default()
    };
    let mut device = Simulated::new(machine, options).expect("a device");
    if scheduler.is_none() {
        let make = |domains| Box::new(youngest::Youngest::new(domains)) as _;
        device.gpu.replace_issue_policy(make);
    }
    let workload = find(workload).expect("a workload");
    let parameters = Parameters::resolve(workload.info().parameters, Size::Tiny, &[]);
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let outcome = workload.run(&parameters.expect("sizes"), 1, &mut session);
    assert!(matches!(outcome, Ok(Outcome::Correct { .. })));
    device.gpu.totals().cycles
}

#[test]
fn the_guides_scheduler_computes_the_same_in_other_cycles() {
    let mut differs = false;
    for workload in ["matmul", "histogram", "collatz", "bfs"] {
        let ours = cycles(workload, None, true);
        assert_eq!(ours, cycles(workload, None, false), "{workload}, stepped");
        differs |= ours != cycles(workload, Some("oldest"), true);
    }
    assert!(differs, "youngest first and oldest first never differ");
}
