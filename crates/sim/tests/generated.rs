//! Random kernels on many machines: no timing parameter changes what a race-free program
//! computes, skipped and stepped runs are the same, and cycles add up.

use crate::common;

use common::generate::Generator;
use common::{Bench, check_laws, fetch_settings, issue_policies, kernel, machine};
use proptest::prelude::*;
use warpsim_sim::config::model::rule::Rule;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::divergence::MODELS;
use warpsim_sim::gpu::Options;
use warpsim_sim::schedule::POLICIES;
use warpsim_sim::stats::LaunchReport;

/// Whether such a machine is allowed.
fn fits(preset: &str, set: &[&str]) -> bool {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    Machine::resolve(preset, &set).is_ok()
}

/// Machines by preset and settings: every issue policy on every preset, with every fetch policy,
/// with narrow warps, and every divergence model with its switches.
fn machines() -> Vec<(String, Machine)> {
    let mut all = Vec::new();
    let mut add = |preset: &str, set: &[&str]| {
        all.push((format!("{preset} {set:?}"), machine(preset, set)));
    };
    for preset in ["gtx480", "gtx480-ref", "gtx480-v3", "fx5800", "vws"] {
        for policy in POLICIES {
            let scheduler = format!("scheduler=\"{}\"", policy.info.name);
            if fits(preset, &[&scheduler]) {
                add(preset, &["gpu.sms=2", &scheduler]);
            }
        }
    }
    for scheduler in issue_policies() {
        for fetch in &fetch_settings()[1..] {
            let scheduler = format!("scheduler=\"{scheduler}\"");
            let mut set = vec!["gpu.sms=2", &scheduler, "fetch.buffer=4"];
            set.extend(fetch.iter().map(String::as_str));
            add("gtx480-v3", &set);
        }
    }
    for preset in ["gtx480", "vws"] {
        for (i, scheduler) in issue_policies().enumerate() {
            let width = format!("sm.warp_width={}", [4, 8, 16][i % 3]);
            let ports = "fetch.ports=4".to_string();
            let scheduler = format!("scheduler=\"{scheduler}\"");
            add(preset, &["gpu.sms=2", &width, &ports, &scheduler]);
        }
    }
    // Machines of other releases: memory that nothing comes back from, ports that SMs share, lines that are refetched.
    add("gtx480-v302", &["gpu.sms=2"]);
    add("fx5800-211b", &["gpu.sms=4"]);
    let gangs = ["sm.warp_width=4", "scheduler=gangs", "l1i.mshrs=4"];
    add(
        "vws",
        &[&gangs[..], &["gpu.sms=2", "fetch.refill=refetch"]].concat(),
    );
    add(
        "fx5800",
        &["gpu.sms=2", "divergence=tbc", "divergence.uniform=proven"],
    );
    let room = ["gpu.sms=2", "fetch.eligible=room", "fetch.buffer=3"];
    add("gtx480", &room);
    add(
        "gtx480",
        &[&room[..], &["fetch.wait_for_branch=true"]].concat(),
    );
    let options = [
        "scheduler.ties=slot",
        "scheduler.counts_exited=true",
        "fetch.policy.waiters=last",
    ];
    add(
        "gtx480",
        &[&options[..], &["scheduler=mwf-lrr", "fetch.policy=cff"]].concat(),
    );
    add(
        "gtx480",
        &[
            "gpu.sms=2",
            "unit.sp.lanes=16",
            "unit.sfu.lanes=16",
            "unit.mem.lanes=16",
        ],
    );
    for model in MODELS.iter().filter(|m| m.info.name != "pdom") {
        let name = format!("divergence=\"{}\"", model.info.name);
        let with = |more: &[&'static str]| [&["gpu.sms=2", name.as_str()][..], more].concat();
        for preset in ["gtx480", "gtx480-ref", "gtx480-v3", "vws"] {
            add(preset, &with(&[]));
        }
        for policy in POLICIES {
            let scheduler = format!("scheduler=\"{}\"", policy.info.name);
            let set = [with(&[]), vec![scheduler.as_str()]].concat();
            if fits("fx5800", &set) {
                add("fx5800", &set);
            }
        }
        for (preset, width) in [("vws", "sm.warp_width=4"), ("gtx480", "sm.warp_width=8")] {
            let set = with(&[width, "fetch.ports=4"]);
            if fits(preset, &set) {
                add(preset, &set);
            }
        }
        add("gtx480", &with(&["fetch.wait_for_branch=true"]));
        let parameters = model.info.parameters.iter();
        for flag in parameters.filter(|p| p.rule() == Rule::Flag) {
            for value in ["true", "false"] {
                let set = format!("divergence.{}={value}", flag.name());
                add("fx5800", &[with(&[]), vec![set.as_str()]].concat());
            }
        }
    }
    add("gtx480", &["gpu.sms=2", "fetch.wait_for_branch=true"]);
    add(
        "gtx480",
        &[
            "gpu.sms=2",
            "sm.scoreboard=\"one-in-flight\"",
            "fetch.buffer=4",
        ],
    );
    all
}

fn run(
    machine: &Machine,
    ptx: &str,
    shape: [u32; 2],
    options: Options,
) -> (Vec<u32>, LaunchReport) {
    let options = Options {
        max_cycles: Some(3_000_000),
        ..options
    };
    let mut bench = Bench::with(machine.clone(), ptx, options);
    bench.launch(shape[0], shape[1]);
    (bench.output(), bench.report().clone())
}

/// Of the machines each so manieth runs a kernel where not all do.
const APART: usize = 15;

fn functional() -> Options {
    Options {
        functional: true,
        ..Options::default()
    }
}

fn stepped() -> Options {
    Options {
        skip: false,
        ..Options::default()
    }
}

fn check(seed: u64, shape: [u32; 2], machines: &[(String, Machine)]) {
    let body = Generator::body(seed, shape[1]);
    let ptx = kernel(4 * shape[1], &body);
    let (expected, _) = run(&machines[0].1, &ptx, shape, functional());
    for (name, machine) in machines {
        let (memory, report) = run(machine, &ptx, shape, Options::default());
        let differs = (0..memory.len()).find(|&i| memory[i] != expected[i]);
        assert_eq!(differs, None, "seed {seed} {shape:?} on {name}\n{ptx}");
        check_laws(&report, machine);
        let (_, again) = run(machine, &ptx, shape, stepped());
        assert_eq!(
            report, again,
            "stepped differs: seed {seed} {shape:?} on {name}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "long: .ci/run"]
    fn any_kernel_computes_the_same_on_every_machine(seed: u64, blocks in 1u32..6, threads in 1u32..130) {
        check(seed, [blocks, threads], &machines());
    }

    #[test]
    fn any_kernel_computes_the_same_on_some_machines(
        seed: u64, blocks in 1u32..6, threads in 1u32..130, first in 0..APART,
    ) {
        let some = machines().into_iter().skip(first).step_by(APART);
        check(seed, [blocks, threads], &some.collect::<Vec<_>>());
    }
}

#[test]
fn generated_kernels_diverge_and_use_what_they_should() {
    let mut divergent = 0;
    let mut seen = [0u64; 4];
    for seed in 0..20 {
        let ptx = kernel(4 * 64, &Generator::body(seed, 64));
        let (_, report) = run(&machine("gtx480", &[]), &ptx, [2, 64], Options::default());
        let c = &report.totals.sm.counters;
        divergent += c.divergent_branches;
        for (sum, n) in
            seen.iter_mut()
                .zip([c.barriers, c.shared_requests, c.global_loads, c.atomics])
        {
            *sum += n;
        }
    }
    assert!(divergent > 500, "{divergent}");
    assert!(seen.iter().all(|&n| n > 50), "{seen:?}");
}

#[test]
fn kernels_that_once_went_wrong() {
    // With fetch.wait_for_branch: a branch fetched on the wrong path was flushed, and the warp
    // waited for it to resolve.
    check(1772920192380754132, [1, 7], &machines());
}
