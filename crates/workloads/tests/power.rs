//! Laws about power that hold for every workload: results do not depend on it, every cycle of every
//! lane is in one state, and skipped and stepped runs are the same.

use std::cell::RefCell;
use std::rc::Rc;
use warpsim_sim::config::{Machine, ReadMachine, power};
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::power::{Side, lane_pipelines};
use warpsim_sim::stats::{EnergyCounters, LaunchReport, MemoryCounters, PipeCounters, SmCounters};
use warpsim_sim::time::Cycle;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, Size, WORKLOADS, Workload, find};
use warpsim_workloads::{Outcome, Session};

fn machine(preset: &str, set: &[&str]) -> Machine {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    Machine::resolve(preset, &set).unwrap_or_else(|e| panic!("{preset} {set:?}: {e}"))
}

/// Runs a workload, whose result must be right.
fn run(workload: &dyn Workload, machine: &Machine, skip: bool) -> Vec<LaunchReport> {
    let options = Options {
        skip,
        ..Options::default()
    };
    run_with(workload, machine, options)
}

fn run_with(workload: &dyn Workload, machine: &Machine, options: Options) -> Vec<LaunchReport> {
    let parameters = Parameters::resolve(workload.info().parameters, Size::Tiny, &[]).unwrap();
    let mut device = Simulated::new(machine.clone(), options).unwrap();
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let outcome = workload.run(&parameters, 1, &mut session);
    let name = workload.info().name;
    assert!(
        matches!(outcome, Ok(Outcome::Correct { .. })),
        "{name} on {}: {outcome:?}",
        machine.name
    );
    device.gpu.reports().to_vec()
}

fn sum(pipe: &PipeCounters) -> u64 {
    pipe.busy + pipe.idle + pipe.gated_early + pipe.gated + pipe.waking
}

fn check(report: &LaunchReport, machine: &Machine, what: &str) {
    let totals = &report.totals;
    let sides = [
        (Side::Int, &totals.sm.int_pipe),
        (Side::Fp, &totals.sm.fp_pipe),
    ];
    for (side, pipe) in sides {
        let lanes = lane_pipelines(machine, side) * u64::from(machine.gpu.sms);
        assert_eq!(sum(pipe), lanes * totals.cycles, "{what}, {side:?}");
        assert!(pipe.folded <= pipe.issues, "{what}, {side:?}");
        assert!(pipe.short_bubbles <= pipe.bubbles, "{what}, {side:?}");
        let ungated = pipe.busy + pipe.idle + pipe.waking;
        assert_eq!(pipe.leaking, ungated + pipe.overhead, "{what}, {side:?}");
    }
    let energy = &totals.energy;
    assert!(energy.total() > energy.execution(), "{what}");
}

/// So many workloads share these out; the first two meet all.
fn on_all(preset: &str, settings: &[&[&str]], most: usize) {
    for (i, workload) in WORKLOADS.iter().take(most).enumerate() {
        for (j, set) in settings.iter().enumerate() {
            if i >= 2 && (i + j) % settings.len() != 0 {
                continue;
            }
            let what = format!("{} on {preset} {set:?}", workload.info().name);
            let machine = machine(preset, set);
            let reports = run(*workload, &machine, true);
            for report in &reports {
                check(report, &machine, &what);
            }
            let stepped = run(*workload, &machine, false);
            for (a, b) in reports.iter().zip(&stepped) {
                assert_eq!(
                    a.to_json(),
                    b.to_json(),
                    "{what}: skipped and stepped differ"
                );
            }
        }
    }
}

fn every_name(workloads: usize) {
    let names: Vec<String> = power::NAMES
        .iter()
        .map(|n| format!("power={}", n.name))
        .collect();
    let settings: Vec<[&str; 1]> = names.iter().map(|n| [n.as_str()]).collect();
    let settings: Vec<&[&str]> = settings.iter().map(|s| &s[..]).collect();
    on_all("gtx480-v3", &settings, workloads);
}

fn parts(workloads: usize) {
    on_all(
        "gtx480",
        &[
            &[
                "gating=conventional",
                "gating.by=lane",
                "gating.idle_detect=0",
            ],
            &[
                "gating=blackout",
                "gating.coordinated=false",
                "gating.adaptive=false",
            ],
            &[
                "gating=blackout",
                "gating.wake_up=9",
                "gating.epoch=100",
                "gating.critical=0",
            ],
            &["scheduler=gates", "gating.watch=true"],
            &[
                "power=folding",
                "scheduler=lrr",
                "folding.phase=50",
                "folding.cutoff_of=type",
            ],
            &[
                "power=origami",
                "folding.skip=cluster",
                "gating.wake_up=9",
                "folding.eager=false",
            ],
            &[
                "power=origami",
                "scheduler.avoid=true",
                "folding.cutoff_of=slots",
                "gating.wake_up=0",
            ],
            &["power=warped-gates", "scheduler.avoid=true"],
            &["power=folding", "pipes.entries=own", "gating.request=issue"],
            &["pipes.entries=own", "gating.watch=true"],
            &["gating=blackout", "gating.request=issue"],
            &["folding=phases", "gating.watch=true", "folding.shift=true"],
        ],
        workloads,
    );
}

#[test]
fn names_and_parts_by_themselves_on_some_workloads() {
    every_name(8);
    parts(8);
}

#[test]
#[ignore = "long: .ci/run"]
fn every_named_way_to_save_power() {
    every_name(WORKLOADS.len());
}

#[test]
#[ignore = "long: .ci/run"]
fn parts_by_themselves_and_other_values() {
    parts(WORKLOADS.len());
}

#[test]
fn other_machines_and_divergence_models() {
    on_all("fx5800", &[&["power=origami"], &["power=warped-gates"]], 8);
    on_all("vws", &[&["power=folding"], &["power=warped-gates"]], 8);
    let block = ["power=origami", "divergence=tbc", "scheduler=age"];
    let formed = ["power=folding", "divergence=dwf", "scheduler=majority"];
    for set in [block, formed] {
        let machine = machine("gtx480-v3", &set);
        for workload in WORKLOADS.iter().take(4) {
            let reports = run(*workload, &machine, true);
            for report in &reports {
                check(report, &machine, workload.info().name);
            }
            assert_eq!(reports, run(*workload, &machine, false));
        }
    }
}

#[test]
fn gangs_can_be_gated_too() {
    let set = ["warps=i-vws", "gating=conventional", "gating.by=lane"];
    let machine = machine("vws", &set);
    for workload in WORKLOADS.iter().take(4) {
        let reports = run(*workload, &machine, true);
        for report in &reports {
            check(report, &machine, workload.info().name);
        }
        assert_eq!(reports, run(*workload, &machine, false));
    }
}

/// An observer that asks for the power every fifty cycles, and adds it up.
#[derive(Clone, Default)]
struct Sampled(Rc<RefCell<u64>>);

impl Observer for Sampled {
    fn warp(&mut self, _: Cycle, _: u16, _: u16, _: WarpEvent) {}

    fn samples_every(&self) -> Option<u64> {
        Some(50)
    }

    fn sample(&mut self, _: Cycle, _: Cycle, spent: &EnergyCounters) {
        *self.0.borrow_mut() += spent.total();
    }
}

#[test]
fn samples_of_power_change_nothing_and_add_up_to_the_ledger() {
    for named in power::NAMES {
        let machine = machine("gtx480-v3", &[&format!("power={}", named.name)]);
        for workload in WORKLOADS.iter().take(4) {
            let sampled = Sampled::default();
            let options = Options {
                observer: Some(Box::new(sampled.clone())),
                ..Options::default()
            };
            let heard = run_with(*workload, &machine, options);
            let plain = run(*workload, &machine, true);
            let what = format!("{} with {}", workload.info().name, named.name);
            assert_eq!(heard, plain, "{what}");
            let spent: u64 = plain.iter().map(|r| r.totals.energy.total()).sum();
            assert_eq!(*sampled.0.borrow(), spent, "{what}");
        }
    }
}

/// Writes down every sample, of energy and of what was counted.
#[derive(Clone, Default)]
struct Written(Rc<RefCell<Vec<String>>>);

impl Observer for Written {
    fn warp(&mut self, _: Cycle, _: u16, _: u16, _: WarpEvent) {}

    fn samples_every(&self) -> Option<u64> {
        Some(40)
    }

    fn sample(&mut self, from: Cycle, to: Cycle, spent: &EnergyCounters) {
        let line = format!("{from} {to} {spent:?}");
        self.0.borrow_mut().push(line);
    }

    fn counted(&mut self, from: Cycle, to: Cycle, sm: &SmCounters, memory: &MemoryCounters) {
        let line = format!("{from} {to} {sm:?} {memory:?}");
        self.0.borrow_mut().push(line);
    }
}

/// A sample shows all of the machine at one time, memory too, which runs ahead of the SMs where they
/// have several threads.
#[test]
fn samples_are_the_same_on_any_number_of_threads() {
    let machine = machine("gtx480-v3", &["power=conventional"]);
    for name in ["bfs", "vecadd"] {
        let workload = find(name).unwrap_or_else(|_| panic!("no {name}"));
        let written = [1, 2, 5].map(|threads| {
            let written = Written::default();
            let options = Options {
                observer: Some(Box::new(written.clone())),
                threads,
                ..Options::default()
            };
            run_with(workload, &machine, options);
            written.0.take()
        });
        let [one, two, five] = &written;
        assert!(one.len() > 50, "{name}: {} samples", one.len());
        assert!(one == two, "{name}: two threads");
        assert!(one == five, "{name}: five threads");
    }
}
