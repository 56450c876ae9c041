//! Every workload computes the same with virtual blocks, in software and as the hardware hands
//! blocks out, without timing and with.

use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, Size, WORKLOADS, Workload};
use warpsim_workloads::{Outcome, Session};

/// Runs a workload; says what came of it, and how many blocks were virtual ones.
fn run(workload: &dyn Workload, set: &[&str], functional: bool) -> (String, u64, u64) {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    let machine = Machine::resolve("gtx480", &set).unwrap_or_else(|e| panic!("{set:?}: {e}"));
    let options = Options {
        functional,
        max_cycles: Some(20_000_000),
        ..Options::default()
    };
    let mut device = Simulated::new(machine, options).expect("a machine");
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let info = workload.info();
    let parameters = Parameters::resolve(info.parameters, Size::Tiny, &[]).expect("its own");
    let result = match workload.run(&parameters, 1, &mut session) {
        Ok(Outcome::Correct { .. }) => String::new(),
        Ok(outcome) => outcome.to_string(),
        Err(e) => e.to_string(),
    };
    let reports = device.gpu.reports();
    let blocks = |r: &warpsim_sim::stats::LaunchReport| {
        r.grid.iter().map(|n| u64::from(*n)).product::<u64>()
    };
    let logical = reports.iter().map(blocks).sum();
    let virtual_ = reports.iter().filter_map(|r| r.virtual_blocks).sum();
    (result, logical, virtual_)
}

/// Runs each workload in one way of `every`, another one each time.
fn check(every: usize) {
    let ways: [&[&str]; 4] = [
        &["virtual.mode=software"],
        &["virtual.mode=software", "virtual.blocks=4"],
        &["virtual.mode=hardware", "scheduler=progress"],
        &[
            "virtual.mode=hardware",
            "virtual.blocks=4",
            "virtual.next_tid=slowest-lane",
        ],
    ];
    for (i, workload) in WORKLOADS.iter().enumerate() {
        let name = workload.info().name;
        for way in ways.iter().skip(i % every).step_by(every) {
            for functional in [true, false] {
                let (result, logical, virtual_) = run(*workload, way, functional);
                assert_eq!(result, "", "{name} {way:?} {functional}");
                assert!(
                    (1..=logical).contains(&virtual_),
                    "{name}: {virtual_} for {logical}"
                );
            }
        }
    }
}

#[test]
fn every_workload_computes_the_same() {
    check(4);
}

#[test]
#[ignore = "long: .ci/run"]
fn every_workload_computes_the_same_in_every_way() {
    check(1);
}

#[test]
fn kernels_whose_blocks_wait_for_each_other_need_a_place_for_each() {
    let workload = WORKLOADS.iter().find(|w| w.info().name == "stencil-global");
    let workload = workload.expect("it is there");
    let (result, _, _) = run(
        *workload,
        &["virtual.mode=software", "virtual.blocks=1"],
        false,
    );
    assert!(result.contains("wait for each other"), "{result}");
}
