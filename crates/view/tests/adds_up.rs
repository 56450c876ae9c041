//! What is recorded is what the statistics count, under every kind of machine.

use crate::common::{ROOM, machine, paths, record, records, states};
use warpsim_sim::stats::{Totals, WarpState};
use warpsim_view::Window;
use warpsim_view::format::{Run, Track};

/// Machines that differ in what warps are: stacks, compaction, formation, gangs, virtual blocks, folding.
const MACHINES: [(&str, &str, &[&str]); 10] = [
    ("bfs", "gtx480", &["divergence=pdom"]),
    ("bfs", "gtx480", &["divergence=pdom-lcp"]),
    ("bfs", "fx5800", &["divergence=tbc"]),
    (
        "merge-sort",
        "fx5800",
        &["divergence=dwf", "scheduler=majority"],
    ),
    ("bfs", "fx5800", &["divergence=dwf-wb"]),
    ("bfs", "vws", &["warps=ws4"]),
    ("reduction", "vws", &["warps=i-vws"]),
    ("histogram", "gtx480", &["virtual.mode=hardware"]),
    ("merge-sort", "gtx480-v3", &["power=origami"]),
    ("matmul", "gtx480", &["scheduler=tls", "fetch.policy=cff"]),
];

fn all(mut test: impl FnMut(&str, &Run, &Totals)) {
    for (workload, preset, settings) in MACHINES {
        let machine = machine(preset, settings);
        let (run, totals) = record(workload, &machine, Window::default(), ROOM);
        assert!(run.notes.is_empty(), "{:?}", run.notes);
        test(
            &format!("{workload} on {preset} {settings:?}"),
            &run,
            &totals,
        );
    }
}

#[test]
fn states_and_issues_add_up_to_the_statistics() {
    all(|name, run, totals| {
        let mut cycles = vec![0; run.states.len()];
        for track in &run.tracks {
            for (sum, here) in cycles.iter_mut().zip(states(track, run.states.len())) {
                *sum += here;
            }
        }
        let counted = totals.to_json();
        let names = WarpState::ALL.iter().map(|state| state.name());
        let counted: Vec<(&str, u64)> = names
            .map(|name| {
                (
                    name,
                    counted["warp_states"][name].as_u64().expect("a count"),
                )
            })
            .collect();
        let recorded = counted.iter().zip(&cycles);
        let recorded: Vec<(&str, u64)> = recorded.map(|((name, _), c)| (*name, *c)).collect();
        assert_eq!(recorded, counted, "{name}");
        let issues = run.tracks.iter().flat_map(|t| records(t, &t.issues, 3));
        let lanes: Vec<u32> = issues.map(|(_, record)| record[1] as u32).collect();
        let threads: u64 = lanes
            .iter()
            .map(|lanes| u64::from(lanes.count_ones()))
            .sum();
        let counters = &totals.sm.counters;
        assert_eq!(lanes.len() as u64, counters.warp_instructions, "{name}");
        assert_eq!(threads, counters.thread_instructions, "{name}");
        assert_eq!(
            run.map.issued.iter().sum::<u64>(),
            counters.warp_instructions,
            "{name}"
        );
        let launched = run.launches.iter().map(|launch| launch.to - launch.from);
        assert_eq!(launched.sum::<u64>(), totals.cycles, "{name}");
    });
}

/// The paths that hold from a cycle on, as they were told last before it.
fn paths_before(told: &[(u64, Vec<[i64; 4]>)], cycle: u64) -> Option<&[[i64; 4]]> {
    let known = told.iter().take_while(|(at, _)| *at < cycle);
    known.last().map(|(_, paths)| paths.as_slice())
}

/// The threads that execute an instruction are on the path that runs.
fn runs_on_its_path(name: &str, track: &Track) -> usize {
    let told = paths(track);
    let mut checked = 0;
    for (cycle, issue) in records(track, &track.issues, 3) {
        let Some([[pc, _, lanes, 0], ..]) = paths_before(&told, cycle) else {
            continue;
        };
        assert_eq!(
            issue[1] & !lanes,
            0,
            "{name}: warp {} of block {} in cycle {cycle}: path at {pc}",
            track.warp,
            track.block
        );
        checked += 1;
    }
    checked
}

#[test]
fn what_executes_is_on_the_path_that_runs() {
    all(|name, run, totals| {
        // Those of formed warps are tested where they are told.
        if run.tracks.iter().any(|track| track.block < 0) {
            return;
        }
        let tracks = run.tracks.iter();
        let checked: usize = tracks.map(|track| runs_on_its_path(name, track)).sum();
        let issued = totals.sm.counters.warp_instructions as usize;
        assert!(checked * 10 > issued * 9, "{name}: {checked} of {issued}");
    });
}

#[test]
fn instructions_name_their_registers_and_lines() {
    let machine = machine("gtx480", &[]);
    let (run, _) = record("matmul", &machine, Window::default(), ROOM);
    let kernel = &run.kernels[run.launches[0].kernel];
    let listing = run.files[kernel.code[0].ptx_file]
        .text
        .as_ref()
        .expect("a listing");
    let lines: Vec<&str> = listing.lines().collect();
    for code in &kernel.code {
        assert_eq!(lines[code.ptx as usize - 1].trim(), code.text);
        for register in code.reads.iter().chain(&code.writes) {
            let register = &kernel.registers[*register as usize];
            assert!(
                code.text.contains(register.as_str()),
                "{register} in {}",
                code.text
            );
        }
    }
    let track = &run.tracks[0];
    let arrived = records(track, &track.written, 2);
    assert!(arrived.len() > 100, "{} values came", arrived.len());
}

#[test]
fn gates_and_folds_are_there_with_origami() {
    let machine = machine("gtx480-v3", &["power=origami"]);
    let (run, _) = record("merge-sort", &machine, Window::default(), ROOM);
    let changes: usize = run.lanes.iter().map(|lanes| lanes.changes.len() / 3).sum();
    let folds: usize = run.tracks.iter().map(|track| track.folds.len() / 2).sum();
    assert!(
        changes > 10 && folds > 10,
        "{changes} changes, {folds} folds"
    );
    let issued = |track: &Track, cycle: u64| {
        let issues = records(track, &track.issues, 3);
        issues.iter().any(|(at, _)| *at == cycle)
    };
    for track in &run.tracks {
        for (cycle, _) in records(track, &track.folds, 2).iter().take(20) {
            assert!(
                issued(track, *cycle),
                "a folded instruction was issued in cycle {cycle}"
            );
        }
    }
}
