//! Listening changes nothing: with an observer every domain of warps is accounted for in every
//! cycle, without one cycles are accounted for together, and the statistics are the same.

use warpsim_sim::config::check::matrix::{axes, machine};
use warpsim_sim::config::read::presets;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::stats::LaunchReport;
use warpsim_sim::time::Cycle;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, Size, find};
use warpsim_workloads::{Outcome, Session};

/// An observer that listens, to samples too if so, and forgets.
struct Listener(Option<u64>);

impl Observer for Listener {
    fn warp(&mut self, _cycle: Cycle, _sm: u16, _slot: u16, _event: WarpEvent) {}

    fn samples_every(&self) -> Option<u64> {
        self.0
    }
}

fn run(name: &str, machine: &Machine, observer: Option<Box<dyn Observer>>) -> Vec<LaunchReport> {
    let workload = find(name).expect("a workload");
    let parameters = Parameters::resolve(workload.info().parameters, Size::Tiny, &[]);
    let options = Options {
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

/// Statistics with and without an observer are equal for some workloads that diverge, wait at
/// barriers, or both.
fn check(preset: &str, settings: &[&str]) {
    let set: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    let machine = Machine::resolve(preset, &set).unwrap_or_else(|e| panic!("{preset}: {e}"));
    check_on(&machine, &["bfs", "reduction", "collatz"], settings);
}

fn check_on(machine: &Machine, workloads: &[&str], settings: &[&str]) {
    let preset = &machine.name;
    for name in workloads {
        let plain = run(name, machine, None);
        let observed = run(name, machine, Some(Box::new(Listener(None))));
        for (plain, observed) in plain.iter().zip(&observed) {
            assert_eq!(plain, observed, "{name} on {preset} {settings:?}");
        }
        assert_eq!(plain.len(), observed.len());
        let sampled = run(name, machine, Some(Box::new(Listener(Some(100)))));
        assert_eq!(plain, sampled, "{name} on {preset} {settings:?}, sampled");
    }
}

/// A machine for each choice of these axes that its preset takes, with two SMs so that they have much to do; of these machines one of `every`.
fn check_axis(of: &[&str], every: usize) {
    let mut checked = 0;
    for preset in presets::names() {
        for axis in axes().iter().filter(|axis| of.contains(&axis.name)) {
            for choice in &axis.choices {
                let Ok(mut machine) = machine(preset, &[choice]) else {
                    continue;
                };
                machine.gpu.sms = machine.gpu.sms.min(2);
                checked += 1;
                if checked % every != 0 {
                    continue;
                }
                let settings: Vec<&str> = choice.settings.iter().map(String::as_str).collect();
                check_on(&machine, &["matmul"], &settings);
            }
        }
    }
    assert!(checked > 30, "{checked}");
}

const POLICIES: &[&str] = &["issue policy", "fetch policy"];
const MODELS: &[&str] = &["warps", "power", "divergence", "virtual blocks"];

#[test]
fn under_some_policies_and_models_on_every_preset() {
    check_axis(POLICIES, 5);
    check_axis(MODELS, 5);
}

#[test]
#[ignore = "long: .ci/run"]
fn under_every_issue_and_fetch_policy_on_every_preset() {
    check_axis(POLICIES, 1);
}

#[test]
#[ignore = "long: .ci/run"]
fn under_every_model_and_power_and_way_to_size_warps_on_every_preset() {
    check_axis(MODELS, 1);
}

#[test]
fn when_fetch_waits_for_branches() {
    const WAIT: &str = "fetch.wait_for_branch=true";
    for settings in [
        &[WAIT][..],
        &[WAIT, "scheduler=lrr"],
        &[WAIT, "scheduler=tls", "fetch.policy=cff"],
        &[WAIT, "scheduler=mwf-lrr", "fetch.ports=2"],
        &[
            WAIT,
            "fetch.policy=fef",
            "fetch.eligible=room",
            "fetch.buffer=4",
        ],
        &[WAIT, "sm.warp_width=8", "fetch.ports=4"],
        &[WAIT, "divergence=tbc", "scheduler=age"],
        &[WAIT, "divergence=pdom-lcp"],
        &[WAIT, "divergence=dwf", "scheduler=majority"],
        &[WAIT, "divergence=dwf-wb"],
    ] {
        check("gtx480", settings);
    }
    check("vws", &[WAIT, "sm.warp_width=4", "fetch.ports=8"]);
    check("gtx480-v3", &[WAIT]);
}

#[test]
fn under_every_issue_and_fetch_policy() {
    let fetch_policies = warpsim_sim::fetch::POLICIES.iter().cycle();
    for (issue, fetch) in warpsim_sim::schedule::POLICIES.iter().zip(fetch_policies) {
        let scheduler = format!("scheduler={}", issue.info.name);
        let policy = format!("fetch.policy={}", fetch.info.name);
        let needs: Vec<String> = fetch.needs.iter().map(|n| n.setting()).collect();
        let mut settings = vec![scheduler.as_str(), policy.as_str()];
        settings.extend(needs.iter().map(String::as_str));
        let model = if issue.info.name == "majority" {
            "dwf"
        } else {
            "pdom"
        };
        let model = format!("divergence={model}");
        check("gtx480", &[&settings[..], &[model.as_str()]].concat());
    }
}

#[test]
fn under_every_divergence_model() {
    for model in warpsim_sim::divergence::MODELS {
        let model = format!("divergence={}", model.info.name);
        check("fx5800", &[&model]);
        check("gtx480", &[&model, "fetch.policy=cff"]);
    }
    check("fx5800", &["divergence=tbc", "divergence.compaction=false"]);
    check("fx5800", &["fetch.ideal=false", "collector.ideal=false"]);
}
