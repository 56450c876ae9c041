//! Laws that hold for every workload and micro-kernel on every machine: right results, cycles
//! that add up, the same statistics on every run, skipped or stepped.

use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_sim::stats::LaunchReport;
use warpsim_workloads::micro;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, Size, WORKLOADS, Workload};
use warpsim_workloads::{Outcome, Session};

/// Names of all issue policies.
fn issue_policies() -> impl Iterator<Item = &'static str> {
    let with_stacks = |name: &&str| Machine::resolve("gtx480", &[scheduler(name)]).is_ok();
    let names = warpsim_sim::schedule::POLICIES.iter().map(|p| p.info.name);
    names.filter(with_stacks)
}

/// A fetch policy with what it needs.
fn fetch(name: &str) -> Vec<String> {
    let needs = warpsim_sim::fetch::needs(name).iter();
    let policy = format!("fetch.policy=\"{name}\"");
    [policy]
        .into_iter()
        .chain(needs.map(|n| n.setting()))
        .collect()
}

/// One lane takes work for 32 without a barrier, as the paper's ray tracer does: narrower warps
/// run apart, and rays are rightly missed.
const WARP_SYNCHRONOUS: [&str; 1] = ["raytrace-persistent"];

/// A block of it has more shared memory than an SM of that machine.
const TOO_LARGE: [(&str, &str); 1] = [("nw-64", "fx5800")];

fn machine(preset: &str, set: &[String]) -> Machine {
    Machine::resolve(preset, set).unwrap_or_else(|e| panic!("{preset}: {e}"))
}

fn scheduler(name: &str) -> String {
    format!("scheduler=\"{name}\"")
}

fn stepped() -> Options {
    Options {
        skip: false,
        ..Options::default()
    }
}

fn run(workload: &dyn Workload, machine: &Machine, options: Options) -> Vec<LaunchReport> {
    let name = workload.info().name;
    let parameters = Parameters::resolve(workload.info().parameters, Size::Tiny, &[]).unwrap();
    let mut device = Simulated::new(machine.clone(), options).unwrap();
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let outcome = workload.run(&parameters, 1, &mut session);
    assert!(
        matches!(outcome, Ok(Outcome::Correct { .. })),
        "{name} on {}: {outcome:?}",
        machine.name
    );
    device.gpu.reports().to_vec()
}

fn check(report: &LaunchReport, machine: &Machine, what: &str) {
    let totals = &report.totals;
    let counters = &totals.sm.counters;
    assert_eq!(totals.sm.warps.sum(), counters.warp_cycles, "{what}");
    assert_eq!(
        totals.sm.schedulers.sum(),
        counters.scheduler_cycles,
        "{what}"
    );
    let slices = 32 / machine.sm.warp_width as u64;
    let schedulers = machine.gpu.sms as u64 * machine.sm.schedulers as u64 * slices;
    assert_eq!(
        counters.scheduler_cycles,
        totals.cycles * schedulers,
        "{what}"
    );
}

/// Which pairs of a workload and a setting are run: those whose places in their lists sum up to a multiple of a number.
#[derive(Clone, Copy)]
enum Share {
    /// One of sixteen.
    Small,
    /// One of six at most, and of the first workloads all.
    Large,
}

impl Share {
    fn takes(self, workload: usize, setting: usize, settings: usize) -> bool {
        match self {
            Share::Small => (workload + setting).is_multiple_of(16),
            Share::Large => workload < 7 || (workload + setting).is_multiple_of(settings.min(6)),
        }
    }
}

fn check_all(preset: &str, settings: &[Vec<String>], share: Share) {
    for (i, workload) in WORKLOADS.iter().enumerate() {
        if TOO_LARGE.contains(&(workload.info().name, preset)) {
            continue;
        }
        for (j, set) in settings.iter().enumerate() {
            if !share.takes(i, j, settings.len()) {
                continue;
            }
            let machine = machine(preset, set);
            if machine.sm.warp_width < 32 && WARP_SYNCHRONOUS.contains(&workload.info().name) {
                continue;
            }
            let what = format!("{} on {preset} {set:?}", workload.info().name);
            let reports = run(*workload, &machine, Options::default());
            for report in &reports {
                check(report, &machine, &what);
            }
            assert!(
                reports == run(*workload, &machine, stepped()),
                "stepped: {what}"
            );
            assert!(
                reports == run(*workload, &machine, Options::default()),
                "again: {what}"
            );
        }
    }
}

/// Every issue policy, each with the next fetch policy.
fn all_schedulers() -> Vec<Vec<String>> {
    let fetch_policies = warpsim_sim::fetch::POLICIES.iter().cycle();
    issue_policies()
        .zip(fetch_policies)
        .map(|(s, f)| [vec![scheduler(s)], fetch(f.info.name)].concat())
        .collect()
}

fn on_gtx480(share: Share) {
    check_all("gtx480", &all_schedulers(), share);
}

fn on_the_reference_machine_and_its_predecessor(share: Share) {
    check_all(
        "gtx480-ref",
        &[vec![scheduler("lrr")], vec![scheduler("gto")]],
        share,
    );
    check_all(
        "gtx480-v3",
        &[
            vec![scheduler("lrr")],
            vec![scheduler("tls")],
            [vec![scheduler("mwf-lrr")], fetch("cff")].concat(),
            [vec![scheduler("mwf-gto")], fetch("fef")].concat(),
            [vec![scheduler("saws")], fetch("cff")].concat(),
        ],
        share,
    );
}

fn on_fx5800(share: Share) {
    let settings = [vec![scheduler("lrr")], vec![scheduler("gto")]];
    check_all("fx5800", &settings, share);
}

fn with_narrow_warps(share: Share) {
    let width = |n: u32, s: &str| {
        let ports = 32 / n;
        vec![
            format!("sm.warp_width={n}"),
            format!("fetch.ports={ports}"),
            scheduler(s),
        ]
    };
    let widths = [
        width(4, "gto"),
        width(8, "lrr"),
        width(16, "tls"),
        width(32, "gto"),
    ];
    check_all("vws", &widths, share);
    check_all("gtx480", &[width(8, "gto")], share);
}

/// Each kernel with one policy of `every`.
fn micro_kernels(every: usize) {
    let mut seen = Vec::new();
    for mut launch in micro::launches() {
        if seen.contains(&launch.kernel) || launch.kernel == "icache_big" {
            continue; // one small launch of each; icache_big is all the same and long
        }
        seen.push(launch.kernel.clone());
        launch.n = 3;
        // Gangs plan what the schedulers of this machine choose one after the other.
        let policies = issue_policies().filter(|s| *s != "gangs");
        for s in policies.skip(seen.len() % every).step_by(every) {
            let machine = machine("gtx480-ref", &[scheduler(s)]);
            let skipped = launch.run(machine.clone(), Options::default()).unwrap();
            let stepped = launch.run(machine, stepped()).unwrap();
            assert_eq!(skipped, stepped, "{} under {s}", launch.kernel);
        }
    }
    assert_eq!(seen.len() + 1, micro::KERNELS.len());
}

#[test]
fn some_workloads_on_all_machines() {
    on_gtx480(Share::Small);
    on_the_reference_machine_and_its_predecessor(Share::Small);
    on_fx5800(Share::Small);
    with_narrow_warps(Share::Small);
}

#[test]
fn micro_kernels_are_the_same_skipped_and_stepped() {
    micro_kernels(5);
}

#[test]
#[ignore = "long: .ci/run"]
fn workloads_on_gtx480() {
    on_gtx480(Share::Large);
}

#[test]
#[ignore = "long: .ci/run"]
fn workloads_on_the_reference_machine_and_its_predecessor() {
    on_the_reference_machine_and_its_predecessor(Share::Large);
}

#[test]
#[ignore = "long: .ci/run"]
fn workloads_on_fx5800() {
    on_fx5800(Share::Large);
}

#[test]
#[ignore = "long: .ci/run"]
fn workloads_with_narrow_warps() {
    with_narrow_warps(Share::Large);
}

#[test]
#[ignore = "long: .ci/run"]
fn micro_kernels_are_the_same_under_every_policy() {
    micro_kernels(1);
}
