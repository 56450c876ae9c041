//! A timeline adds up to the statistics.

use crate::common;

use common::{Scratch, succeeds, warpsim};
use serde_json::Value;
use std::collections::BTreeMap;

fn read(path: &str) -> Value {
    let text = std::fs::read_to_string(path).expect("written");
    serde_json::from_str(&text).expect("JSON")
}

/// A slice: first cycle, length, category, name, state.
struct Slice {
    ts: u64,
    dur: u64,
    category: String,
    name: String,
    state: String,
}

/// Slices of warps by process and track, in order of time.
fn tracks(trace: &Value) -> BTreeMap<(u64, u64), Vec<Slice>> {
    let mut tracks: BTreeMap<(u64, u64), Vec<Slice>> = BTreeMap::new();
    for e in trace["traceEvents"].as_array().expect("a list") {
        let text = |v: &Value| v.as_str().unwrap_or("").to_string();
        let category = text(&e["cat"]);
        if e["ph"] == "X" && category != "kernel" {
            let number = |key: &str| e[key].as_u64().expect("a number");
            let key = (number("pid"), number("tid"));
            tracks.entry(key).or_default().push(Slice {
                ts: number("ts"),
                dur: number("dur"),
                category,
                name: text(&e["name"]),
                state: text(&e["args"]["state"]),
            });
        }
    }
    for slices in tracks.values_mut() {
        slices.sort_by_key(|s| s.ts);
    }
    tracks
}

/// Names that metadata gives.
fn named(trace: &Value, what: &str) -> Vec<String> {
    let events = trace["traceEvents"].as_array().expect("a list").iter();
    let names = events.filter(|e| e["name"] == what);
    names
        .map(|e| e["args"]["name"].as_str().expect("a name").to_string())
        .collect()
}

#[test]
fn slices_cover_every_cycle_of_every_warp_once() {
    let scratch = Scratch::new("timeline");
    // Loops, barriers, divergence; two schedulers and one; narrow warps on the last.
    for (workload, machine) in [
        ("vecadd", "gtx480"),
        ("reduction", "gtx480"),
        ("bfs", "fx5800"),
        ("vecadd", "vws"),
    ] {
        let (t, s) = (scratch.path("t.json"), scratch.path("s.json"));
        succeeds(&[
            "run",
            workload,
            "--size",
            "tiny",
            "--machine",
            machine,
            "--trace",
            &t,
            "--stats",
            &s,
        ]);
        let (trace, stats) = (read(&t), read(&s));
        let totals = &stats["totals"];
        let tracks = tracks(&trace);
        let all = || tracks.values().flatten();
        let issues = all().filter(|s| s.category == "issue");
        assert_eq!(issues.clone().count() as u64, totals["warp_instructions"]);
        assert!(issues.clone().all(|s| s.dur == 1));
        for slices in tracks.values() {
            for pair in slices.windows(2) {
                assert_eq!(pair[0].ts + pair[0].dur, pair[1].ts, "{workload}");
            }
        }
        let resident: u64 = all().map(|s| s.dur).sum();
        assert_eq!(resident, totals["warp_cycles"], "{workload}");
        // And state by state.
        for (state, cycles) in totals["warp_states"].as_object().expect("a table") {
            let shown: u64 = match state.as_str() {
                "issued" => issues.clone().count() as u64,
                _ => all().filter(|s| s.state == *state).map(|s| s.dur).sum(),
            };
            assert_eq!(shown, *cycles, "{workload}: {state}");
        }
        assert!(
            all()
                .filter(|s| s.state == "barrier")
                .all(|s| s.name == "barrier 0")
        );
        assert_eq!(
            named(&trace, "thread_name")
                .iter()
                .filter(|n| n.starts_with("warp "))
                .count(),
            tracks.len()
        );
    }
}

#[test]
fn formed_warps_share_tracks_and_add_up_too() {
    let scratch = Scratch::new("formed");
    for (workload, model) in [("reduction", "dwf"), ("bfs", "dwf"), ("bfs", "dwf-wb")] {
        let (t, s) = (scratch.path("t.json"), scratch.path("s.json"));
        let mut arguments = vec!["run", workload, "--size", "tiny", "--machine", "fx5800"];
        arguments.extend(["--divergence", model, "--scheduler", "majority"]);
        arguments.extend(["--trace", &t, "--stats", &s]);
        succeeds(&arguments);
        let (trace, stats) = (read(&t), read(&s));
        let totals = &stats["totals"];
        let tracks = tracks(&trace);
        for slices in tracks.values() {
            for pair in slices.windows(2) {
                assert!(pair[0].ts + pair[0].dur <= pair[1].ts, "{workload}");
            }
        }
        let all = || tracks.values().flatten();
        let resident: u64 = all().map(|s| s.dur).sum();
        assert_eq!(resident, totals["warp_cycles"], "{workload} under {model}");
        for (state, cycles) in totals["warp_states"].as_object().expect("a table") {
            let issued = |s: &&Slice| s.category == "issue" && state == "issued";
            let shown: u64 = all()
                .filter(|s| issued(s) || s.state == *state)
                .map(|s| s.dur)
                .sum();
            assert_eq!(shown, *cycles, "{workload} under {model}: {state}");
        }
        let names = named(&trace, "thread_name");
        let slots = names.iter().filter(|n| n.starts_with("slot "));
        assert_eq!(slots.count(), tracks.len(), "a track for each slot used");
    }
}

#[test]
fn names_and_arguments_say_what_and_where() {
    let scratch = Scratch::new("names");
    let t = scratch.path("t.json");
    succeeds(&["run", "vecadd", "--size", "tiny", "--trace", &t]);
    let trace = read(&t);
    assert!(named(&trace, "process_name").contains(&"SM 14".to_string()));
    assert!(named(&trace, "thread_name").contains(&"warp 3 (block 12)".to_string()));
    let events = trace["traceEvents"].as_array().expect("a list");
    let load = events.iter().find(|e| e["name"] == "ld.global.f32");
    let arguments = &load.expect("vecadd loads")["args"];
    assert_eq!(
        (&arguments["lanes"], &arguments["mask"]),
        (&32.into(), &"ffffffff".into())
    );
    assert!(arguments["ptx_line"].as_u64() > Some(0) && arguments["pc"].as_u64() > Some(0));
    let count = |name: &str| events.iter().filter(|e| e["name"] == name).count();
    assert_eq!(
        (count("block 19 arrives"), count("block 19 leaves")),
        (1, 1)
    );
    assert_eq!(count("vecadd"), 1);
}

/// The rules of the trace-event format, and two of Perfetto's: a track belongs to one process, and
/// none has its process's number, which would make it the "main thread".
#[test]
fn the_file_keeps_the_rules_of_its_format() {
    let scratch = Scratch::new("rules");
    let t = scratch.path("t.json");
    succeeds(&["run", "reduction", "--size", "tiny", "--trace", &t]);
    let trace = read(&t);
    assert_eq!(trace["displayTimeUnit"], "ms");
    let mut process_of: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut processes, mut threads) = (Vec::new(), Vec::new());
    let mut counters = 0;
    for event in trace["traceEvents"].as_array().expect("a list") {
        let number = |key: &str| {
            event[key]
                .as_u64()
                .unwrap_or_else(|| panic!("{key}: {event}"))
        };
        let name = event["name"].as_str().expect("a name");
        let process = number("pid");
        match event["ph"].as_str().expect("a phase") {
            "M" => match name {
                "process_name" => processes.push(process),
                "thread_name" => threads.push((process, number("tid"))),
                "process_sort_index" | "thread_sort_index" => {
                    assert!(event["args"]["sort_index"].is_u64(), "{event}");
                }
                other => panic!("metadata {other}"),
            },
            "X" => {
                assert!(number("dur") > 0, "{event}");
                assert!(
                    event["cat"].is_string() && event["args"].is_object(),
                    "{event}"
                );
            }
            "i" => assert_eq!(event["s"], "t", "{event}"),
            "C" => {
                // Power: a counter belongs to a process, and has watts for each part.
                let parts = event["args"].as_object().expect("parts");
                let watts: f64 = parts.values().filter_map(Value::as_f64).sum();
                assert!(parts.len() == 8 && watts > 0.0, "{event}");
                assert!(processes.contains(&process), "{event}");
                counters += 1;
                continue;
            }
            other => panic!("phase {other}"),
        }
        if event["ph"] != "M" {
            let track = number("tid");
            number("ts");
            assert!(
                processes.contains(&process),
                "named before it is used: {event}"
            );
            assert!(
                threads.contains(&(process, track)),
                "named before it is used: {event}"
            );
            assert_eq!(*process_of.entry(track).or_insert(process), process);
            assert_ne!(track, process);
        }
    }
    assert!(process_of.len() > 10);
    assert!(counters > 1, "power over time");
}

#[test]
fn a_window_and_a_cap_keep_a_timeline_small() {
    let scratch = Scratch::new("window");
    let t = scratch.path("t.json");
    let run = |more: &[&str]| {
        let output = warpsim(
            &[
                &["run", "vecadd", "--size", "tiny", "-q", "--trace", &t],
                more,
            ]
            .concat(),
        );
        assert!(output.status.success());
        (read(&t), String::from_utf8(output.stderr).expect("text"))
    };
    let (trace, note) = run(&["--trace-cycles", "300..400", "--trace-sms", "2,4"]);
    assert_eq!(note, "");
    let shown = tracks(&trace);
    assert!(
        shown
            .values()
            .flatten()
            .all(|s| s.ts >= 300 && s.ts + s.dur <= 400)
    );
    let mut processes: Vec<u64> = shown.keys().map(|k| k.0).collect();
    processes.dedup();
    assert_eq!(processes, [4, 6]);
    let (trace, note) = run(&["--trace-events", "100"]);
    let slices: usize = tracks(&trace).values().map(Vec::len).sum();
    assert!(slices <= 100 && slices > 50, "{slices}");
    assert!(
        note.contains("the timeline was cut") && note.contains("first 100 events"),
        "{note}"
    );
}
