//! The documentation says what the program does.

mod common;

use common::{Scratch, root, succeeds};
use serde_json::Value;
use warpsim_sim::config::{Machine, ReadMachine, SECTIONS};
use warpsim_sim::mechanism::{Kind, MECHANISMS};
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

/// What a run of `matmul` counts.
fn matmul(scratch: &Scratch, more: &[&str]) -> Value {
    let file = scratch.path("matmul.json");
    let run = ["run", "matmul", "--param", "n=160", "-q", "--stats", &file];
    succeeds(&[&run[..], more].concat());
    let text = std::fs::read_to_string(&file).expect("written");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn the_numbers_about_statistics_are_of_runs() {
    let scratch = Scratch::new("statistics-page");
    let stats = matmul(&scratch, &[]);
    let text = |key: &str| stats[key].as_str().expect("text");
    let totals = &stats["totals"];
    let count = |key: &str| totals[key].as_u64().expect("a count");
    let first = &stats["launches"][0];
    let example = format!(
        "```json\n{{\n  \"schema\": {},\n  \"warpsim\": \"{}\",\n  \"what\": \"{}\",\n  \"machine\": \"{}\",\n  \
         \"scheduler\": \"{}\",\n  \"fetch\": \"{}\",\n  \"divergence\": \"{}\",\n  \"result\": \"{}\",\n  \
         \"totals\": {{ \"cycles\": {}, \"warp_instructions\": {}, \"ipc\": {:.2}, \"...\": 0 }},\n  \
         \"launches\": [ {{ \"kernel\": \"{}\", \"...\": 0, \"stats\": {{ \"cycles\": {}, \"...\": 0 }} }} ],\n  \
         \"host\": {{ \"seconds\": 0.5, \"...\": 0 }}\n}}\n```\n",
        stats["schema"],
        env!("CARGO_PKG_VERSION"),
        text("what"),
        text("machine"),
        text("scheduler"),
        text("fetch"),
        text("divergence"),
        text("result"),
        count("cycles"),
        count("warp_instructions"),
        totals["ipc"].as_f64().expect("a number"),
        first["kernel"].as_str().expect("a name"),
        first["stats"]["cycles"]
    );
    hold("docs/statistics.md", "example", &example);
    let states = [
        "issued",
        "fetch",
        "data_memory",
        "data_alu",
        "structural",
        "barrier",
        "idle",
    ];
    let mut table = format!("| | cycles | {} |\n", states.join(" | "));
    table += &format!("|---|---|{}\n", "---|".repeat(states.len()));
    for scheduler in ["lrr", "gto", "mwf-gto"] {
        let choice = ["--machine", "gtx480-v3", "--scheduler", scheduler];
        let totals = &matmul(&scratch, &choice)["totals"];
        let number = |value: &Value| value.as_f64().expect("a number");
        let cycles = number(&totals["cycles"]) as u64;
        let all = number(&totals["scheduler_cycles"]);
        let share = |state: &&str| {
            let share = 100.0 * number(&totals["scheduler_states"][*state]) / all;
            format!("{share:.1}")
        };
        let shares: Vec<String> = states.iter().map(share).collect();
        table += &format!(
            "| `{scheduler}` | {},{:03} | {} |\n",
            cycles / 1000,
            cycles % 1000,
            shares.join(" | ")
        );
    }
    hold("docs/statistics.md", "schedulers", &table);
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
        for info in MECHANISMS.of(kind) {
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
