//! What observers hear that ask for details: registers get their values before they are read, and gates of lanes are
//! off for as long as is counted.

mod gates;
mod registers;
mod wanted;

use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::Observer;
use warpsim_sim::stats::LaunchReport;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, Size, find};
use warpsim_workloads::{Outcome, Session};

fn machine(preset: &str, set: &[&str]) -> Machine {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    Machine::resolve(preset, &set).unwrap_or_else(|e| panic!("{preset} {set:?}: {e}"))
}

/// Runs a tiny workload, whose result must be right, with this observer.
fn run(
    name: &str,
    machine: &Machine,
    skip: bool,
    observer: Option<Box<dyn Observer>>,
) -> Vec<LaunchReport> {
    let workload = find(name).expect("a workload");
    let parameters = Parameters::resolve(workload.info().parameters, Size::Tiny, &[]);
    let options = Options {
        skip,
        observer,
        ..Options::default()
    };
    let mut device = Simulated::new(machine.clone(), options).expect("a device");
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let outcome = workload.run(&parameters.expect("sizes"), 1, &mut session);
    assert!(
        matches!(outcome, Ok(Outcome::Correct { .. })),
        "{name} on {}: {outcome:?}",
        machine.name
    );
    device.gpu.reports().to_vec()
}
