//! The documentation says what the program does.

mod common;

use common::{Scratch, root, succeeds};
use serde_json::Value;
use warpsim_sim::config::{Machine, SECTIONS};
use warpsim_sim::mechanism::Kind;
use warpsim_sim::stats::all_statistics;

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

/// What stands between two marks of a page, and what surrounds it.
fn split<'a>(text: &'a str, what: &str) -> (&'a str, &'a str, &'a str) {
    let begin = text
        .find(&format!("<!-- begin {what}"))
        .expect("a begin mark");
    let begin = begin + text[begin..].find('\n').expect("a line") + 1;
    let end = text
        .find(&format!("<!-- end {what} -->"))
        .expect("an end mark");
    (&text[..begin], &text[begin..end], &text[end..])
}

/// The part of a page called `what` is this table.
fn hold(page: &str, what: &str, expected: &str) {
    let path = root().join(page);
    let text = std::fs::read_to_string(&path).expect("the page");
    let (before, shown, after) = split(&text, what);
    if std::env::var_os("WARPSIM_BLESS").is_some() {
        std::fs::write(&path, format!("{before}{expected}{after}")).expect("written");
    } else {
        assert_eq!(shown, expected, "run this test with WARPSIM_BLESS=1");
    }
}

#[test]
fn every_statistic_is_documented() {
    hold("docs/statistics.md", "statistics", &table());
}

#[test]
fn every_setting_is_documented() {
    let base = Machine::preset("gtx480").expect("a preset");
    let values = toml::Value::try_from(&base).expect("plain data");
    let mut out = String::from("| setting | gtx480 | allowed | meaning |\n|---|---|---|---|\n");
    for (section, settings) in SECTIONS {
        let parts = section.split('.');
        let values = parts.fold(&values, |at, part| &at[part]);
        for s in *settings {
            let value = values[s.name].to_string().replace('"', "");
            let allowed = s.rule.in_unit(s.unit).replace(" | ", ", ");
            out += &format!(
                "| `{section}.{}` | {value} | {allowed} | {} |\n",
                s.name,
                s.description()
            );
        }
    }
    hold("docs/settings.md", "settings", &out);
    let mut out =
        String::from("| parameter | of | default | allowed | meaning |\n|---|---|---|---|---|\n");
    for kind in Kind::ALL {
        for info in kind.registered() {
            for p in info.parameters {
                out += &format!(
                    "| `{}.{}` | {} | {} | {} | {} |\n",
                    kind.key(),
                    p.name(),
                    info.name,
                    p.default().to_string().replace('"', ""),
                    p.rule().in_unit(p.unit()).replace(" | ", ", "),
                    p.description()
                );
            }
        }
    }
    hold("docs/settings.md", "parameters", &out);
}

#[test]
fn combinations_are_documented() {
    let listed = succeeds(&["list", "combinations"]);
    let shown = format!("```text\n{listed}```\n");
    hold("docs/combinations.md", "combinations", &shown);
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
