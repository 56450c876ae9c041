//! `run --view`: the page says what the timeline says, and mistakes are errors.

use crate::{chromium, common, visit};

use common::{Scratch, fails, succeeds};
use serde_json::Value;
use std::collections::BTreeMap;

/// The data of a page.
fn data(page: &str) -> Value {
    let text = std::fs::read_to_string(page).expect("a page");
    let start = "<script type=\"application/json\" id=\"view\">";
    let at = text.find(start).expect("data") + start.len();
    let data = text[at..].split("</script>").next().expect("their end");
    serde_json::from_str(data).expect("JSON")
}

fn numbers(value: &Value) -> Vec<i64> {
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().map(|n| n.as_i64().expect("a number")).collect()
}

/// How many warps are in each state in a cycle, by the page.
fn by_page(run: &Value, cycle: i64) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for track in run["tracks"].as_array().expect("tracks") {
        let (from, to) = (track["from"].as_i64(), track["to"].as_i64());
        let (mut at, mut state) = (from.expect("a cycle"), None);
        if !(at..to.expect("a cycle")).contains(&cycle) {
            continue;
        }
        for change in numbers(&track["states"]).chunks(2) {
            at += change[0];
            if at <= cycle {
                state = Some(change[1] as usize);
            }
        }
        let name = state.map(|code| run["states"][code]["name"].as_str().expect("a name"));
        *counts
            .entry(name.unwrap_or("none").to_string())
            .or_default() += 1;
    }
    counts
}

/// The same by the timeline.
fn by_trace(trace: &Value, cycle: i64) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for event in trace["traceEvents"].as_array().expect("events") {
        let category = event["cat"].as_str().unwrap_or_default();
        let (Some(ts), Some(dur)) = (event["ts"].as_i64(), event["dur"].as_i64()) else {
            continue;
        };
        let state = match category {
            "issue" => Some("issued"),
            "stall" => event["args"]["state"].as_str(),
            _ => None,
        };
        if let Some(state) = state.filter(|_| (ts..ts + dur).contains(&cycle)) {
            *counts.entry(state.to_string()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn the_page_and_the_timeline_agree_in_twenty_cycles() {
    let scratch = Scratch::new("view");
    for options in [
        &["bfs", "--divergence", "pdom"][..],
        &["reduction", "--divergence", "tbc", "--machine", "fx5800"],
        &["reduction", "--machine", "vws", "--warps", "i-vws"],
    ] {
        let (page, trace) = (scratch.path("v.html"), scratch.path("t.json"));
        let mut arguments = vec!["run", "--size", "tiny", "--set", "gpu.sms=1"];
        arguments.extend(["--view", &page, "--trace", &trace]);
        arguments.extend(options);
        succeeds(&arguments);
        let view = data(&page);
        let run = &view["runs"][0];
        let trace = std::fs::read_to_string(&trace).expect("a timeline");
        let trace: Value = serde_json::from_str(&trace).expect("JSON");
        let whole = run["whole"].as_i64().expect("cycles");
        let mut busy = 0;
        for n in 0..20 {
            let cycle = whole * (2 * n + 1) / 40;
            let said = by_page(run, cycle);
            assert_eq!(said, by_trace(&trace, cycle), "{options:?}, cycle {cycle}");
            busy += usize::from(!said.is_empty());
        }
        assert!(
            busy > 5,
            "{options:?}: warps are there in {busy} of 20 cycles"
        );
    }
}

/// What a profile says of each kernel's instructions: warp-cycles and issues, by pc.
fn by_profile(profile: &Value) -> BTreeMap<(usize, u64), [u64; 2]> {
    let mut found = BTreeMap::new();
    let kernels = profile["kernels"].as_array().expect("kernels");
    for (number, kernel) in kernels.iter().enumerate() {
        let lines = kernel["lines"].as_array().expect("lines").iter();
        let code = lines.flat_map(|line| line["instructions"].as_array().expect("instructions"));
        for instruction in code {
            let cycles = instruction["warp_cycles"].as_object().expect("states");
            let cycles = cycles.values().filter_map(Value::as_u64).sum();
            let number_of = |key: &str| instruction[key].as_u64().expect("a number");
            found.insert((number, number_of("pc")), [cycles, number_of("issued")]);
        }
    }
    found
}

#[test]
fn shares_of_instructions_are_those_of_the_profile() {
    let Some(browser) = chromium::browser() else {
        return;
    };
    let scratch = Scratch::new("shares");
    for options in [
        &["bfs", "--divergence", "pdom"][..],
        &["reduction", "--divergence", "tbc", "--machine", "fx5800"],
        &["merge-sort", "--machine", "fx5800", "--divergence", "dwf"],
        &["histogram", "--set", "virtual.mode=hardware"],
    ] {
        let (page, profile) = (scratch.path("v.html"), scratch.path("p.json"));
        let profiled = format!("--profile={profile}");
        let mut arguments = vec!["run", "--size", "tiny", "-q", "--set", "gpu.sms=1"];
        arguments.extend(["--view", &page, &profiled]);
        arguments.extend(options);
        if options.contains(&"dwf") {
            arguments.extend(["--scheduler", "majority"]);
        }
        succeeds(&arguments);
        let text = std::fs::read_to_string(&page).expect("a page");
        let folder = std::path::Path::new(&page).parent().expect("a folder");
        let script = "const all = sharesIn(0, 1e9); return all.time.flatMap((time, k) => \
            [...time].map((cycles, pc) => [k, pc, cycles, all.issues[k][pc]]));";
        let said = visit::visit(browser, folder, &text, script);
        let said: Vec<Vec<i64>> = said
            .as_array()
            .expect("shares")
            .iter()
            .map(numbers)
            .collect();
        let shared: BTreeMap<(usize, u64), [u64; 2]> = said
            .iter()
            .filter(|s| s[2] + s[3] > 0)
            .map(|s| ((s[0] as usize, s[1] as u64), [s[2] as u64, s[3] as u64]))
            .collect();
        let profile = std::fs::read_to_string(&profile).expect("a profile");
        let mut counted = by_profile(&serde_json::from_str(&profile).expect("JSON"));
        counted.retain(|_, [cycles, issued]| *cycles + *issued > 0);
        // Time of warps that are formed and never issue is the first instruction's in a profile, and no one's on the page.
        let mut shared = shared;
        if options.contains(&"dwf") {
            for all in [&mut shared, &mut counted] {
                all.retain(|(_, pc), _| *pc != 0);
            }
        }
        assert!(counted.len() > 10);
        assert_eq!(shared, counted, "{options:?}");
    }
}

#[test]
fn a_second_run_has_its_own_options() {
    let scratch = Scratch::new("against");
    let page = scratch.path("v.html");
    let first = ["--set", "gpu.sms=1", "--set", "sm.max_blocks=5"];
    let against = "--scheduler lrr --set sm.max_blocks=3";
    let view = ["--view", &page, "--view-against", against];
    succeeds(&[&["run", "reduction", "--size", "tiny"], &first[..], &view].concat());
    let view = data(&page);
    let runs = view["runs"].as_array().expect("runs");
    let options: Vec<&str> = runs.iter().filter_map(|r| r["options"].as_str()).collect();
    assert!(options[0].contains("scheduler gto") && options[1].contains("scheduler lrr"));
    let at_once = |run: &Value| by_page(run, 500).values().sum::<u64>();
    assert_eq!(
        at_once(&runs[0]) * 3,
        at_once(&runs[1]) * 5,
        "blocks on the SM"
    );
    assert_eq!(runs[0]["title"], runs[1]["title"]);
    // What is not named says what was typed.
    let view = ["--view", &page, "--view-against", "--set l1d.ways=8"];
    let said = succeeds(&[&["run", "vecadd", "--size", "tiny"], &view[..]].concat());
    assert!(said.contains("v.html: SM 0, cycles 0 to "), "{said}");
    let second = data(&page)["runs"][1]["options"].clone();
    assert!(
        second
            .as_str()
            .is_some_and(|o| o.ends_with(", --set l1d.ways=8")),
        "{second}"
    );
}

#[test]
fn mistakes_are_said() {
    let scratch = Scratch::new("mistakes");
    let (page, text) = (scratch.path("v.html"), scratch.path("v.txt"));
    let vecadd = ["run", "vecadd", "--size", "tiny", "--view"];
    for (more, said) in [
        (
            &[&text[..]][..],
            "the view is a page: end its name in .html",
        ),
        (
            &[&page, "--view-sm", "15"],
            "there is no SM 15; gtx480 has 15, from 0",
        ),
        (
            &[&page, "--view-cycles", "9-3"],
            "`9-3` has no cycles in it",
        ),
        (
            &[&page, "--view-against", "--shduler lrr"],
            "--view-against \"--shduler lrr\": unexpected argument",
        ),
        (&[&page, "--view-against", "--scheduler best"], "best"),
        (
            &[&page, "--view-against", "--trace t.json"],
            "--trace is for the first run",
        ),
        (&[&page, "--view-against", "--set gpu.sms=0"], "gpu.sms"),
        (&[&page, "--functional"], "cannot be used with"),
    ] {
        let error = fails(2, &[&vecadd[..], more].concat());
        assert!(error.contains(said), "{error}");
        assert!(
            !std::path::Path::new(&page).exists(),
            "{more:?} leaves no page"
        );
    }
}
