//! Every workload is right under every divergence model, issue policy, warp size and power policy.
//! Each workload takes its turn with one choice of each kind, so that all of them are tried with
//! several; with `WARPSIM_EVERYWHERE=1` every workload is tried with every choice (some 2,000 runs).

use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, Size, WORKLOADS, Workload};
use warpsim_workloads::{Outcome, Session};

/// A machine with a setting or two.
type Choice = (&'static str, &'static [&'static str]);

const MODELS: &[Choice] = &[
    ("gtx480", &["divergence=pdom"]),
    ("gtx480", &["divergence=pdom-lcp"]),
    ("gtx480", &["divergence=dwf"]),
    ("gtx480", &["divergence=dwf-wb"]),
    ("gtx480", &["divergence=tbc"]),
    ("gtx480", &["divergence=tbc-lcp"]),
];

const SCHEDULERS: &[Choice] = &[
    ("gtx480", &["scheduler=lrr"]),
    ("gtx480", &["scheduler=gto"]),
    ("gtx480", &["scheduler=oldest"]),
    ("gtx480", &["scheduler=tls"]),
    ("gtx480", &["scheduler=gates"]),
    ("gtx480", &["scheduler=origami"]),
    ("gtx480", &["scheduler=mwf-lrr"]),
    ("gtx480", &["scheduler=mwf-gto"]),
    ("gtx480", &["scheduler=saws"]),
    ("gtx480", &["scheduler=ccws"]),
    ("gtx480", &["scheduler=age", "divergence=tbc"]),
    ("gtx480", &["scheduler=rrb", "divergence=tbc"]),
    ("gtx480", &["scheduler=srr", "divergence=tbc"]),
    ("gtx480", &["scheduler=majority", "divergence=dwf-wb"]),
    ("gtx480", &["scheduler=progress", "virtual.mode=hardware"]),
];

const SIZES: &[Choice] = &[
    ("vws", &["warps=ws4"]),
    ("vws", &["warps=ws8"]),
    ("vws", &["warps=ws16"]),
    ("vws", &["warps=ws32"]),
    ("vws", &["warps=i-vws"]),
    ("vws", &["warps=e-vws"]),
];

const POWER: &[Choice] = &[
    ("gtx480", &["power=conventional"]),
    ("gtx480", &["power=warped-gates"]),
    ("gtx480", &["power=folding"]),
    ("gtx480", &["power=origami"]),
];

/// Whether a workload relies on the lanes of a warp going together, in warps that this choice does
/// not have.
fn needs_other_warps(workload: &str, (_, set): Choice) -> bool {
    let together = match workload {
        "raytrace-persistent" => &["warps=ws32"][..],
        "raytrace-persistent-4" => &["warps=ws4", "warps=i-vws", "warps=e-vws"],
        _ => return false,
    };
    let sized = set.iter().find(|s| s.starts_with("warps="));
    set.contains(&"divergence=dwf") || sized.is_some_and(|s| !together.contains(s))
}

/// What went wrong, if anything.
fn trouble(workload: &dyn Workload, (machine, set): Choice) -> Option<String> {
    let name = workload.info().name;
    let set: Vec<String> = set.iter().map(|s| (*s).to_string()).collect();
    let outcome = Machine::resolve(machine, &set)
        .map_err(|e| e.to_string())
        .and_then(|machine| {
            let sizes = Parameters::resolve(workload.info().parameters, Size::Tiny, &[]);
            let mut device = Simulated::new(machine, Options::default()).map_err(|e| e.text)?;
            let mut session = Session {
                device: &mut device,
                compiler: &compile,
            };
            let run = workload.run(&sizes.map_err(|e| e.to_string())?, 1, &mut session);
            run.map_err(|e| e.text)
        });
    match outcome {
        Ok(Outcome::Correct { .. }) => None,
        other => Some(format!("{name} on {machine} with {set:?}: {other:?}")),
    }
}

fn try_all(choices: &[Choice]) {
    let every = std::env::var_os("WARPSIM_EVERYWHERE").is_some();
    let mut failed = Vec::new();
    for (turn, workload) in WORKLOADS.iter().enumerate() {
        let name = workload.info().name;
        let wanted = choices
            .iter()
            .enumerate()
            .filter(|(at, _)| every || turn % choices.len() == *at)
            .filter(|(_, choice)| !needs_other_warps(name, **choice));
        failed.extend(wanted.filter_map(|(_, choice)| trouble(*workload, *choice)));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_workload_is_right_under_divergence_models() {
    try_all(MODELS);
}

#[test]
fn every_workload_is_right_under_issue_policies() {
    try_all(SCHEDULERS);
}

#[test]
fn every_workload_is_right_at_warp_sizes() {
    try_all(SIZES);
}

#[test]
fn every_workload_is_right_under_power_policies() {
    try_all(POWER);
}
