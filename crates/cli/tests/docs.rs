//! The documentation says what the program does.

mod common;

use common::{Scratch, root, succeeds};
use serde_json::Value;
use warpsim_sim::stats::all_statistics;

const BEGIN: &str = "<!-- begin statistics";
const END: &str = "<!-- end statistics -->";

fn table() -> String {
    let mut out = String::from("| statistic | unit | meaning |\n|---|---|---|\n");
    for (group, info) in all_statistics() {
        out += &format!(
            "| `{group}.{}` | {} | {} |\n",
            info.name, info.unit, info.description
        );
    }
    out
}

/// The table between the marks of docs/statistics.md, and what surrounds it.
fn split(text: &str) -> (&str, &str, &str) {
    let begin = text.find(BEGIN).expect("a begin mark");
    let begin = begin + text[begin..].find('\n').expect("a line") + 1;
    let end = text.find(END).expect("an end mark");
    (&text[..begin], &text[begin..end], &text[end..])
}

#[test]
fn every_statistic_is_documented() {
    let path = root().join("docs/statistics.md");
    let text = std::fs::read_to_string(&path).expect("the page");
    let (before, shown, after) = split(&text);
    let expected = table();
    if std::env::var_os("WARPSIM_BLESS").is_some() {
        std::fs::write(&path, format!("{before}{expected}{after}")).expect("written");
    } else {
        assert_eq!(shown, expected, "run this test with WARPSIM_BLESS=1");
    }
}

#[test]
fn the_list_the_page_and_the_file_have_the_same_statistics() {
    let listed = succeeds(&["list", "stats"]);
    let names: Vec<&str> = listed
        .lines()
        .map(|l| l.split_whitespace().next().expect("a name"))
        .collect();
    let declared = all_statistics();
    assert_eq!(names.len(), declared.len());
    let scratch = Scratch::new("stats");
    let file = scratch.path("s.json");
    succeeds(&["run", "vecadd", "--size", "tiny", "--stats", &file]);
    let text = std::fs::read_to_string(&file).expect("written");
    let stats: Value = serde_json::from_str(&text).expect("JSON");
    for name in &names {
        let at = format!("/{}", name.replace('.', "/"));
        assert!(stats.pointer(&at).is_some_and(Value::is_number), "{name}");
    }
    // And nothing is in the file that is not listed.
    for (key, value) in stats["totals"].as_object().expect("an object") {
        let name = format!("totals.{key}");
        assert!(
            value.is_object() || names.contains(&name.as_str()),
            "{name}"
        );
    }
    for key in ["cycles", "warp_instructions", "thread_instructions", "ipc"] {
        assert!(stats["totals"][key].as_f64() > Some(0.0), "{key}");
    }
    assert_eq!(stats["result"], "correct");
    assert!(stats["host"]["seconds"].as_f64() > Some(0.0));
    assert_eq!(stats["launches"][0]["stats"], stats["totals"]);
}
