//! The mechanisms of the guide (`docs/your-own-*.md`) compile, run, and are others than ours.

use warpsim_sim::config::ReadMachine;
#[path = "../../../docs/guide/buddy.rs"]
mod buddy;
#[path = "../../../docs/guide/compaction.rs"]
mod compaction;
#[path = "../../../docs/guide/greedy.rs"]
mod greedy;
#[path = "../../../docs/guide/most_recent.rs"]
mod most_recent;
#[path = "../../../docs/guide/youngest.rs"]
mod youngest;

use warpsim_sim::config::Machine;
use warpsim_sim::gpu::{Gpu, Options};
use warpsim_sim::mechanism::CacheName;
use warpsim_sim::stats::Totals;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, Size, find};
use warpsim_workloads::{Outcome, Session};

/// What a workload comes to on `gtx480` with these settings, and with what `put` puts into it.
fn totals(workload: &str, set: &[&str], put: impl FnOnce(&mut Gpu), options: Options) -> Totals {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    let machine = Machine::resolve("gtx480", &set).expect("a machine");
    let mut device = Simulated::new(machine, options).expect("a device");
    put(&mut device.gpu);
    let workload = find(workload).expect("a workload");
    let parameters = Parameters::resolve(workload.info().parameters, Size::Tiny, &[]);
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let outcome = workload.run(&parameters.expect("sizes"), 1, &mut session);
    assert!(matches!(outcome, Ok(Outcome::Correct { .. })));
    device.gpu.totals().clone()
}

/// Other ways of running, of which none makes a difference: stepped, and on the reference SM.
fn otherwise() -> [(&'static str, Options); 2] {
    let stepped = Options {
        skip: false,
        ..Options::default()
    };
    let reference = Options {
        reference: true,
        ..Options::default()
    };
    [("stepped", stepped), ("on the reference SM", reference)]
}

/// What a workload comes to with what `put` puts into it, in whatever way it runs.
fn totals_in_all_ways(workload: &str, set: &[&str], put: impl Fn(&mut Gpu)) -> Totals {
    let ours = totals(workload, set, &put, Options::default());
    for (name, options) in otherwise() {
        let same = totals(workload, set, &put, options);
        assert_eq!(ours, same, "{workload}, {name}");
    }
    ours
}

/// What `put` puts in computes what is right, skipping and the reference SM change nothing, and some workload takes other cycles than with
/// each of these settings.
fn differs_from(put: impl Fn(&mut Gpu) + Copy, settings: &[&str]) {
    let workloads = ["matmul", "histogram", "collatz", "bfs"];
    let mut ours = Vec::new();
    for workload in workloads {
        ours.push(totals_in_all_ways(workload, &[], put).cycles);
    }
    for set in settings {
        let theirs = workloads.map(|w| totals(w, &[*set], |_| {}, Options::default()).cycles);
        assert!(ours != theirs, "never other cycles than with {set}");
    }
}

#[test]
fn the_guides_scheduler_computes_the_same_in_other_cycles() {
    let put = |gpu: &mut Gpu| {
        let machine = gpu.machine().clone();
        let values = &machine.scheduler.values;
        gpu.replace_issue_policy(|domains| (youngest::POLICY.make)(values, &machine, domains));
    };
    differs_from(put, &["scheduler=oldest"]);
}

#[test]
fn the_guides_fetch_policy_computes_the_same_in_other_cycles() {
    let put = |gpu: &mut Gpu| {
        let machine = gpu.machine().clone();
        let values = &machine.fetch.policy.values;
        gpu.replace_fetch_policy(|domains| (greedy::POLICY.make)(values, &machine, domains));
    };
    differs_from(put, &["fetch.policy.name=lrr", "fetch.policy.name=cff"]);
}

#[test]
fn the_guides_divergence_model_computes_the_same_in_fewer_warps() {
    let put = |gpu: &mut Gpu| {
        let machine = gpu.machine().clone();
        let values = &machine.divergence.values;
        gpu.replace_divergence_model(|| (compaction::MODEL.make)(values, &machine, 0));
    };
    differs_from(put, &["divergence=pdom"]);
    let issued = |t: &Totals| t.sm.counters.warp_instructions;
    let ours = issued(&totals("collatz", &[], put, Options::default()));
    let stacks = issued(&totals("collatz", &[], |_| {}, Options::default()));
    assert!(ours < stacks, "{ours} {stacks}");
}

/// Caches in which lines have to make room.
const SMALL: [&str; 3] = ["l1d.sets=4", "l2.sets=1", "l2.ways=4"];

#[test]
fn the_guides_replacement_policy_keeps_other_lines() {
    let mut differs = [false; 2];
    for workload in ["matmul", "bfs"] {
        let plain = totals(workload, &SMALL, |_| {}, Options::default());
        for (at, cache) in [CacheName::L1d, CacheName::L2].into_iter().enumerate() {
            let put = |gpu: &mut Gpu| {
                let values = gpu.machine().l1d.cache.replacement.values.clone();
                gpu.replace_replacement_policy(cache, |sets, ways| {
                    (most_recent::POLICY.make)(&values, sets, ways)
                });
            };
            let ours = totals_in_all_ways(workload, &SMALL, put);
            let hits = |t: &Totals| [t.sm.counters.l1d_hits, t.memory.l2_hits][at];
            differs[at] |= hits(&ours) != hits(&plain);
        }
    }
    assert_eq!(differs, [true; 2], "it makes no difference in L1D or L2");
}

#[test]
fn the_guides_prefetcher_fetches_what_is_used() {
    let put = |gpu: &mut Gpu| {
        let values = gpu.machine().l1d.prefetch.values.clone();
        gpu.replace_prefetcher(|| (buddy::PREFETCHER.make)(&values).expect("it prefetches"));
    };
    let mut useful = 0;
    for workload in ["matmul", "bfs"] {
        let ours = totals_in_all_ways(workload, &[], put);
        useful += ours.sm.counters.l1d_prefetches_useful;
    }
    assert!(useful > 0);
}
