//! Variants of kernels and inputs that parameters choose: they are launched, they are right, they are what they
//! say, and registers decide residency.

use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_sim::stats::LaunchReport;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, Size, find};
use warpsim_workloads::{Outcome, Session};

/// Runs a workload at its tiny size with some parameters and says what was launched.
fn run(
    name: &str,
    changes: &[&str],
    seed: u64,
    set: &[&str],
    functional: bool,
) -> Vec<LaunchReport> {
    let strings = |texts: &[&str]| -> Vec<String> { texts.iter().map(|s| s.to_string()).collect() };
    let what = format!("{name} {changes:?} seed {seed} {set:?}");
    let machine = Machine::resolve("gtx480-v3", &strings(set));
    let options = Options {
        functional,
        ..Options::default()
    };
    let mut device = Simulated::new(machine.expect(&what), options).expect("a machine");
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let workload = find(name).expect("a workload");
    let parameters = workload.info().parameters;
    let parameters = Parameters::resolve(parameters, Size::Tiny, &strings(changes)).expect(&what);
    let outcome = workload.run(&parameters, seed, &mut session);
    assert!(
        matches!(outcome, Ok(Outcome::Correct { .. })),
        "{what}: {outcome:?}"
    );
    device.gpu.reports().to_vec()
}

/// Workload, parameters, a kernel that is launched then and not otherwise.
const VARIANTS: &[(&str, &[&str], &str)] = &[
    ("hotspot", &["divides=1"], "hotspot_divides"),
    ("hotspot", &["branches=1"], "hotspot_branches"),
    (
        "hotspot",
        &["divides=1", "branches=1"],
        "hotspot_divides_branches",
    ),
    ("neural-net", &["subscripts=1"], "layer3_subscripts"),
    ("neural-net", &["subscripts=1"], "layer4_subscripts"),
    ("bfs", &["rolled=1"], "bfs_visit_rolled"),
    ("bfs", &["bytes=1"], "bfs_visit_bytes"),
    ("bfs", &["bytes=1"], "bfs_advance_bytes"),
    ("bfs", &["bytes=1", "rolled=1"], "bfs_visit_bytes_rolled"),
    (
        "bfs",
        &["uniform=1", "degree=6", "block=512", "bytes=1", "rolled=1"],
        "bfs_visit_bytes_rolled",
    ),
    (
        "bfs-mesh",
        &["bytes=1", "rolled=1"],
        "bfs_visit_bytes_rolled",
    ),
    ("face-detect", &["turned=1"], "detect_early_turned"),
    ("face-detect", &["turned=1"], "detect_late_turned"),
];

#[test]
fn variants_are_launched_and_right() {
    for &(name, changes, kernel) in VARIANTS {
        for seed in 1..=3 {
            let reports = run(name, changes, seed, &[], true);
            assert!(
                reports.iter().any(|r| r.kernel == kernel),
                "{name} {changes:?} does not launch {kernel}"
            );
        }
        let usual = run(name, &[], 1, &[], true);
        assert!(usual.iter().all(|r| r.kernel != kernel), "{name}: {kernel}");
    }
}

#[test]
fn variants_are_right_under_the_papers_mechanisms() {
    let ways: [&[&str]; 2] = [
        &["divergence=tbc-lcp", "scheduler=age"],
        &["virtual.mode=hardware", "scheduler=progress"],
    ];
    for &(name, changes, _) in VARIANTS {
        for way in ways {
            run(name, changes, 1, way, false);
        }
    }
}

#[test]
fn a_uniform_graph_has_fewer_levels_of_unlike_lengths() {
    // Warps of a uniform graph's crowded levels have more lanes at work than those of hubs.
    let efficiency = |changes: &[&str]| {
        let reports = run("bfs", changes, 1, &[], false);
        let sum = |f: fn(&LaunchReport) -> u64| reports.iter().map(f).sum::<u64>() as f64;
        sum(|r| r.totals.sm.counters.thread_instructions)
            / sum(|r| r.totals.sm.counters.warp_instructions)
    };
    let (usual, uniform) = (
        efficiency(&["scale=12"]),
        efficiency(&["scale=12", "uniform=1", "degree=6"]),
    );
    assert!(uniform > usual, "{uniform} and {usual} lanes");
}

/// Text of a kernel in the PTX of its workload.
fn text(workload: &str, kernel: &str) -> &'static str {
    let ptx = find(workload).expect("a workload").info().kernel.ptx;
    let from = ptx.find(&format!(".entry {kernel}(")).expect(kernel);
    let rest = &ptx[from..];
    &rest[..rest.find("\n}").expect("its end")]
}

#[test]
fn kernels_are_what_they_say() {
    let count = |workload, kernel, what: &str| text(workload, kernel).matches(what).count();
    // Twelve comparisons with bounds, or two pairs that were joined before and in the loop; and two that are there anyway.
    assert_eq!(count("hotspot", "hotspot_branches", "@%p"), 12 + 2);
    assert_eq!(count("hotspot", "hotspot", "@%p"), 2 + 2 + 2);
    assert_eq!(count("hotspot", "hotspot_divides", "div.rn.f32"), 1);
    assert_eq!(count("hotspot", "hotspot_divides", "rcp.rn.f32"), 3);
    assert_eq!(count("hotspot", "hotspot", "div."), 0);
    // One neighbour in the loop, or one in the loop that is left of four at a time.
    for (kernel, neighbours) in [
        ("bfs_visit", 5),
        ("bfs_visit_bytes", 5),
        ("bfs_visit_rolled", 1),
        ("bfs_visit_bytes_rolled", 1),
    ] {
        let stores = count("bfs", kernel, "st.global") - 1;
        assert_eq!(stores, 2 * neighbours, "{kernel}");
    }
    assert_eq!(count("bfs", "bfs_visit_rolled", "u8"), 0);
    assert!(count("bfs", "bfs_visit_bytes_rolled", "ld.global.u8") >= 2);
    // A subscript of 32 bits becomes an address anew.
    let widened = |kernel| count("neural-net", kernel, "mul.wide.u32");
    assert!(widened("layer3_subscripts") > widened("layer3") + 3);
}

/// The virtual-warps paper's residency, blocks of an SM: workload, parameters, kernel, blocks.
const RESIDENT: &[(&str, &[&str], &str, u32)] = &[
    ("hotspot", &["registers=25"], "hotspot", 4),
    ("kmeans", &["registers=17"], "kmeans_nearest", 6),
    ("btree-find-k", &["registers=20"], "btree_find_k", 6),
    ("btree-range", &["registers=19"], "btree_range", 6),
    ("neural-net", &["registers=21"], "layer1", 7),
    ("bfs", &["block=512"], "bfs_visit", 3),
];

#[test]
fn registers_decide_how_many_blocks_an_sm_holds() {
    for &(name, changes, kernel, blocks) in RESIDENT {
        let reports = run(name, changes, 1, &[], false);
        let of = |r: &&LaunchReport| r.kernel == kernel;
        let held: Vec<u32> = reports.iter().filter(of).map(|r| r.blocks_per_sm).collect();
        assert!(
            !held.is_empty() && held.iter().all(|b| *b == blocks),
            "{name}: {held:?}"
        );
    }
}

#[test]
fn virtual_blocks_need_more_registers_than_are_given() {
    let held = |set: &[&str]| {
        let reports = run("hotspot", &["registers=32"], 1, set, false);
        reports[0].blocks_per_sm
    };
    assert_eq!(held(&[]), 4);
    assert_eq!(held(&["virtual.mode=hardware", "scheduler=gto"]), 3);
}
