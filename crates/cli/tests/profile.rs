//! `run --profile`: its sums are those that the statistics count, and it changes nothing.

use crate::common;

use common::{Scratch, fails, succeeds};
use serde_json::Value;

fn json(path: &str) -> Value {
    let text = std::fs::read_to_string(path).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

/// A counter over all kernels of a profile.
fn sum(profile: &Value, path: &str) -> u64 {
    let kernels = profile["kernels"].as_array().expect("kernels");
    let one = |k: &Value| {
        k.pointer(&format!("/total/{path}"))
            .and_then(Value::as_u64)
            .expect("a number")
    };
    kernels.iter().map(one).sum()
}

#[test]
fn its_sums_are_the_statistics() {
    // Barriers, divergence, many launches, threads that change warps.
    for arguments in [
        &["matmul"][..],
        &["bfs", "--scheduler", "lrr"],
        &["reduction", "--machine", "gtx480-v3"],
        &["histogram"],
    ] {
        let scratch = Scratch::new(&format!("profile-{}", arguments[0]));
        let (page, stats) = (scratch.path("profile.json"), scratch.path("stats.json"));
        let plain = scratch.path("plain.json");
        let profile = format!("--profile={page}");
        let mut run = vec!["run", "--size", "tiny", "-q"];
        run.extend(arguments);
        succeeds(&[&run[..], &["--stats", &plain]].concat());
        succeeds(&[&run[..], &["--stats", &stats, &profile]].concat());
        let (page, stats) = (json(&page), json(&stats));
        assert_eq!(stats["totals"], json(&plain)["totals"], "{arguments:?}");
        let issued = stats["totals"]["warp_instructions"].as_u64();
        assert_eq!(Some(sum(&page, "issued")), issued, "{arguments:?}");
        for state in [
            "issued",
            "data_memory",
            "data_alu",
            "barrier",
            "fetch",
            "control",
            "structural",
        ] {
            let counted = stats["totals"]["warp_states"][state].as_u64();
            let seen = sum(&page, &format!("warp_cycles/{state}"));
            assert_eq!(Some(seen), counted, "{arguments:?}: {state}");
        }
    }
}

#[test]
fn memory_is_counted_where_it_is_used() {
    let scratch = Scratch::new("profile-memory");
    let path = scratch.path("profile.json");
    succeeds(&[
        "run",
        "matmul",
        "--size",
        "tiny",
        "-q",
        &format!("--profile={path}"),
    ]);
    let profile = json(&path);
    let mut seen = [false; 3];
    for line in profile["kernels"][0]["lines"].as_array().expect("lines") {
        for i in line["instructions"].as_array().expect("instructions") {
            let text = i["text"].as_str().expect("text");
            let number = |key: &str| i[key].as_u64().expect("a number");
            if text.contains("ld.global") {
                seen[0] = true;
                assert!(
                    number("transactions") >= number("issued") && number("l1d_lookups") > 0,
                    "{i}"
                );
            } else if text.contains("ld.shared") {
                seen[1] = true;
                // No conflicts in this kernel.
                assert_eq!(number("bank_cycles"), number("issued"), "{i}");
                assert_eq!(number("l1d_lookups"), 0, "{i}");
            } else if text.contains("ld.param") || text.contains("fma") {
                seen[2] = true;
                assert_eq!(number("bank_cycles"), 0, "{i}");
            }
        }
    }
    assert_eq!(seen, [true; 3]);
}

#[test]
fn the_hottest_line_comes_first() {
    let shown = succeeds(&["run", "matmul", "--size", "tiny", "--profile"]);
    assert!(shown.contains("profile of matmul"), "{shown}");
    let shares: Vec<f64> = shown
        .lines()
        .skip_while(|l| !l.starts_with("profile of"))
        .filter_map(|l| l.trim_start().split_once('%')?.0.parse().ok())
        .collect();
    assert!(
        shares.len() > 3 && shares.is_sorted_by(|a, b| a >= b),
        "{shares:?}"
    );
    let scratch = Scratch::new("profile-html");
    let page = scratch.path("profile.html");
    succeeds(&[
        "run",
        "matmul",
        "--size",
        "tiny",
        &format!("--profile={page}"),
    ]);
    let html = std::fs::read_to_string(page).expect("a page");
    assert!(html.contains("ld.global") && html.contains("bar.sync") && html.ends_with("</html>\n"));
    let shown = fails(2, &["run", "matmul", "--profile=x.txt"]);
    assert!(shown.contains(".html"), "{shown}");
}
