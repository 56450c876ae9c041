//! A policy that looks at warps looks at them in every cycle: the same policy sees the same on both SMs, stepped or not.

use crate::common;

use common::generate::Generator;
use common::{Bench, kernel, machine};
use std::sync::{Arc, Mutex};
use warpsim_sim::gpu::Options;
use warpsim_sim::schedule::{Considers, Facts, IssuePolicy, Place, WarpInfo};
use warpsim_sim::time::Cycle;

/// What a scheduler's warps are found to be: the sets of [`Facts`], and more about each warp that runs.
type Seen = ([u64; 5], Vec<WarpInfo>);

/// The scheduler's own clock, the scheduler, and what it saw for the first time.
type Looks = Vec<(u64, usize, Seen)>;

/// Warps go in the order of their places, from one on that moves on with every change that is seen. Who is asked too
/// late, or for a cycle less, orders them otherwise.
struct Watches {
    seen: Vec<Seen>,
    /// By scheduler: cycles that have passed.
    clocks: Vec<u64>,
    first: u8,
    looks: Arc<Mutex<Looks>>,
}

impl Watches {
    fn new(domains: usize, looks: Arc<Mutex<Looks>>) -> Watches {
        Watches {
            seen: vec![Seen::default(); domains],
            clocks: vec![0; domains],
            first: 0,
            looks,
        }
    }

    fn rank(&self, index: u8) -> u8 {
        index.wrapping_sub(self.first) % 64
    }
}

impl IssuePolicy for Watches {
    fn launched(&mut self, _: Place, _: u64, _: u16) {}
    fn finished(&mut self, _: Place) {}
    fn issued(&mut self, place: Place) {
        self.clocks[usize::from(place.domain)] += 1;
    }
    fn advance(&mut self, domain: usize, from: Cycle, to: Cycle) {
        self.clocks[domain] += to - from;
    }
    fn before(&self, _: usize, a: u8, b: u8) -> bool {
        self.rank(a) < self.rank(b)
    }
    fn considers(&mut self) -> Option<&mut dyn Considers> {
        Some(self)
    }
}

impl Considers for Watches {
    fn consider(&mut self, domain: usize, facts: &Facts) -> u64 {
        let Facts {
            running,
            waiting,
            long_wait,
            accesses,
            known,
            ..
        } = *facts;
        let runs = |index: &u8| running >> index & 1 != 0;
        let infos = (0..64).filter(runs).map(|index| facts.warp(index));
        let seen = (
            [running, waiting, long_wait, accesses, known],
            infos.collect(),
        );
        if self.seen[domain] != seen {
            self.seen[domain] = seen.clone();
            self.first = (self.first + 1) % 64;
            let mut looks = self.looks.lock().expect("no other thread failed");
            looks.push((self.clocks[domain], domain, seen));
        }
        !0
    }
}

/// Ways of running, of which none may make a difference.
fn ways() -> [(&'static str, Options); 4] {
    let default = Options::default;
    [
        ("skipped", default()),
        (
            "stepped",
            Options {
                skip: false,
                ..default()
            },
        ),
        (
            "on two threads",
            Options {
                threads: 2,
                ..default()
            },
        ),
        (
            "on the reference SM",
            Options {
                reference: true,
                ..default()
            },
        ),
    ]
}

/// Loads, barriers and divergence: warps that wait long, and such that wait for each other.
fn programs() -> Vec<String> {
    let mut bodies: Vec<String> = (0..3).map(|seed| Generator::body(seed, 64)).collect();
    bodies.push(
        "mul.wide.u32 %rd3, %r1, 256; add.u64 %rd4, %rd2, %rd3; mov.u32 %r9, 6;\n\
         MORE: ld.global.u32 %r2, [%rd4]; add.u32 %r3, %r3, %r2; bar.sync 0; sub.u32 %r9, %r9, 1;\n\
         setp.ne.u32 %p1, %r9, 0; @%p1 bra MORE; st.global.u32 [%rd1], %r9;"
            .into(),
    );
    bodies.iter().map(|body| kernel(4096, body)).collect()
}

/// The statistics of all launches, a line each.
fn statistics(bench: &Bench) -> Vec<String> {
    let reports = bench.gpu.reports().iter();
    let text: Vec<String> = reports.map(|r| format!("{:#}", r.to_json())).collect();
    text.iter()
        .flat_map(|text| text.lines().map(String::from))
        .collect()
}

/// Where two lists differ first: both entries there, if they do.
fn difference<'a, T: PartialEq>(
    a: &'a [T],
    b: &'a [T],
) -> Option<(usize, Option<&'a T>, Option<&'a T>)> {
    let at = (0..a.len().max(b.len())).find(|at| a.get(*at) != b.get(*at))?;
    Some((at, a.get(at), b.get(at)))
}

/// What a policy that looks at warps has seen, and when, in all ways of running; and what the runs have come to.
#[test]
fn a_policy_sees_every_change_in_its_cycle() {
    let settings = [
        &["fetch.policy.name=cff"][..],
        &["sm.barriers_open_at_once=true"],
        &["fetch.ideal=true"],
    ];
    for (set, ptx) in settings
        .iter()
        .flat_map(|set| programs().into_iter().map(move |ptx| (*set, ptx)))
    {
        let runs = ways().map(|(name, options)| {
            let machine = machine("gtx480", &[set, &["gpu.sms=1"]].concat());
            let looks = Arc::new(Mutex::new(Looks::new()));
            let mut bench = Bench::unobserved(machine, &ptx, options);
            let policy = |domains| Watches::new(domains, looks.clone());
            bench
                .gpu
                .replace_issue_policy(|domains| Box::new(policy(domains)));
            bench.launch(7, 64).launch(2, 64);
            let looks = std::mem::take(&mut *looks.lock().expect("no other thread failed"));
            (name, looks, statistics(&bench))
        });
        let [(_, first, counted), others @ ..] = &runs;
        assert!(first.len() > 500, "{set:?}: it saw {} changes", first.len());
        for (name, looks, also_counted) in others {
            assert_eq!(difference(looks, first), None, "{set:?}, {name}");
            assert_eq!(difference(also_counted, counted), None, "{set:?}, {name}");
        }
    }
}

/// The policies that look at warps, with all that goes by the active sets that they keep.
#[test]
fn what_a_policy_has_seen_makes_the_same_statistics() {
    let policies = [
        "scheduler=tls",
        "scheduler=gates",
        "scheduler=origami",
        "scheduler=ccws",
    ];
    let powers = [
        &["fetch.policy.name=cff"][..],
        &["folding=phases", "folding.phase=20"],
        &["gating=blackout", "fetch.policy.name=cff"],
        &["gating=blackout", "gating.coordinated=false"],
        &[
            "gating=conventional",
            "gating.by=lane",
            "folding=phases",
            "folding.phase=20",
        ],
    ];
    let programs = programs();
    let mut next = programs.iter().cycle();
    let mut compare = |set: &[&str]| {
        let ptx = next.next().expect("there are programs");
        let runs = ways().map(|(name, options)| {
            let mut bench = Bench::unobserved(machine("gtx480-v3", set), ptx, options);
            bench.launch(7, 64).launch(2, 64);
            (name, statistics(&bench))
        });
        let [(_, first), others @ ..] = &runs;
        for (name, same) in others {
            assert_eq!(difference(same, first), None, "{set:?}, {name}\n{ptx}");
        }
    };
    for (policy, power) in policies
        .iter()
        .flat_map(|p| powers.iter().map(move |q| (*p, *q)))
    {
        let set = [power, &[policy, "gpu.sms=1"]].concat();
        compare(&set);
        if policy.ends_with("gates") || policy.ends_with("origami") {
            compare(&[&set[..], &["scheduler.avoid=true"]].concat());
        }
    }
}
