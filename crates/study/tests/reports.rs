//! What reports say: what was learned first, claims as sentences, sweeps over a baseline, variants told apart.

use crate::common;

use common::{Scratch, plan_with, record, records, repeated};
use serde_json::json;
use std::collections::HashSet;
use warpsim_present::Source;
use warpsim_study::evaluate::{Cell, Results};
use warpsim_study::record::{Record, Status};
use warpsim_study::runner::Silent;
use warpsim_study::store::Store;
use warpsim_study::{Choices, Conclusion, Plan, conduct, embedded, format};
use warpsim_workloads::suite::Size;

const STUDY: &str = r#"
schema = 1
name = "t"
title = "A study"
machine = "gtx480"
size = "small"
[groups.g]
workloads = ["vecadd", "matmul"]
[configurations]
lrr = { scheduler = "lrr" }
mwf-gto = { scheduler = "mwf-gto" }
"mwf-gto+cff" = { scheduler = "mwf-gto", fetch = "cff" }
[[figures]]
id = "speedup"
number = "Figure 1"
title = "Speed-up"
groups = ["g"]
configurations = ["mwf-gto", "mwf-gto+cff"]
metric = "ipc"
normalise = "lrr"
display = "change"
[figures.paper]
mean = { mwf-gto = 1.1, "mwf-gto+cff" = 1.5 }
[[figures.claims]]
text = "mwf-gto is slower than lrr"
claim = "mwf-gto < 1"
[[figures.claims]]
text = "mwf-gto is faster than lrr"
claim = "mwf-gto > 1"
[[figures.claims]]
text = "mwf-gto is faster than lrr on every workload"
claim = "mwf-gto > 1"
on = "every"
[[figures.claims]]
text = "mwf-gto is faster than lrr on some workload"
claim = "mwf-gto > 1"
on = "some"
[[figures.claims]]
text = "mwf-gto is faster than lrr on MM"
claim = "mwf-gto > 1"
on = "matmul"
"#;

/// A little more in each repeat; no two runs are alike.
fn ipc(_: &str, configuration: &str, repeat: usize) -> Option<f64> {
    Some(match configuration {
        "mwf-gto" => 1.1 + 0.01 * repeat as f64,
        "mwf-gto+cff" => 1.2,
        _ => 1.0,
    })
}

/// The report and what the terminal shows, of made-up results.
fn concluded(name: &str, plan: &Plan, records: &[Record]) -> (String, Conclusion) {
    let scratch = Scratch::new(name);
    let store = Store::open(&scratch.path().join("r"), &plan.study.name).expect("a folder");
    for record in records {
        store.put(record).expect("written");
    }
    let conclusion = conduct(plan, &store, 1, "warpsim study t", &mut Silent).expect("a result");
    let report = scratch.path().join("r/report.html");
    let report = std::fs::read_to_string(report).expect("a report");
    (report, conclusion)
}

fn studied(name: &str, choices: &Choices) -> (String, Conclusion) {
    let plan = plan_with(STUDY, choices).expect("a good study");
    concluded(name, &plan, &repeated(&plan, &ipc))
}

/// The text of the elements `<tag>` between two places of a page.
fn between<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let rest = page
        .split_once(from)
        .unwrap_or_else(|| panic!("no {from}"))
        .1;
    rest.split_once(to).unwrap_or_else(|| panic!("no {to}")).0
}

#[test]
fn a_report_begins_with_what_was_learned() {
    let (report, conclusion) = studied("learned", &Choices::default());
    let places = [
        "What was learned",
        "<table",
        "id=\"speedup\"",
        "id=\"claims\"",
        "id=\"trust\"",
    ];
    let places = places.map(|text| report.find(text).unwrap_or_else(|| panic!("no {text}")));
    assert!(places.is_sorted(), "{places:?}");
    let opening = between(&report, "What was learned", "<table");
    assert!(
        (1..=3).contains(&opening.matches("<p>").count()),
        "{opening}"
    );
    let sentences = [
        "Of 5 claims that were tested 4 hold, 1 fail (2 of 3 directions, 2 of 2 details hold).",
        "Speed-up (Figure 1): from +11.0% under mwf-gto to +20.0% under mwf-gto+cff (the paper: +50.0%), arithmetic \
         mean over 2.",
        "farthest off is mwf-gto+cff in Figure 1, with +20.0% where the paper has +50.0%.",
    ];
    for sentence in sentences {
        assert!(opening.contains(sentence), "{opening}");
        assert!(conclusion.text.contains(sentence), "{}", conclusion.text);
    }
    // The paper's, ours, and the repeats.
    let table = between(&report, "class=\"headlines\"", "</table>");
    for cell in [
        "<td>+10.0%</td>",
        "<b>+11.0%</b>",
        "<td>+10.0% to +12.0%</td>",
        "<td>+50.0%</td>",
    ] {
        assert!(table.contains(cell), "{cell}: {table}");
    }
    // What holds comes first.
    let claims = between(&report, "id=\"claims\"", "</section>");
    assert!(claims.contains("4 of 5 hold"), "{claims}");
    let verdicts = claims.split("<li class=\"").skip(1);
    let verdicts: Vec<&str> = verdicts.filter_map(|li| li.split('"').next()).collect();
    assert_eq!(verdicts, ["holds", "holds", "holds", "holds", "fails"]);
}

#[test]
fn a_part_of_the_workloads_says_nothing_about_all_of_them() {
    let only = |name: &str| Choices {
        workloads: Some(vec![name.into()]),
        ..Choices::default()
    };
    let (report, conclusion) = studied("part", &only("matmul"));
    let said = "Only 1 of the 2 workloads ran, so nothing is said about averages; of 2 claims that were tested 2 \
                hold, 0 fail (2 of 2 details hold).";
    assert!(conclusion.text.contains(said), "{}", conclusion.text);
    assert!(report.contains(said) && !report.contains("farthest off"));
    assert_eq!(
        conclusion.claims.to_string(),
        "2 hold, 0 fail, 0 within scatter, 3 untested, 0 vacuous"
    );
    let (_, conclusion) = studied("part-other", &only("vecadd"));
    assert!(
        conclusion.text.contains("one claim was tested: it holds"),
        "{}",
        conclusion.text
    );
}

#[test]
fn a_size_that_is_too_small_tests_nothing() {
    let tiny = Choices {
        size: Some(Size::Tiny),
        ..Choices::default()
    };
    let (report, conclusion) = studied("tiny", &tiny);
    let said = "Nothing was tested: at size tiny kernels are too short for what a study of size small claims.";
    assert!(conclusion.text.contains(said), "{}", conclusion.text);
    assert!(report.contains(said) && report.contains("<small>not tested</small>"));
    assert!(conclusion.claims.to_string().contains("5 untested"));
}

#[test]
fn variants_of_a_scheduler_have_patterns_of_their_own() {
    let (report, _) = studied("patterns", &Choices::default());
    let picture = between(&report, "class=\"picture\"", "</div>");
    // One for the broad picture, one for telephones: a hidden picture's patterns are not drawn.
    let defined = picture.split("<pattern id=\"").skip(1);
    let defined: Vec<&str> = defined.filter_map(|p| p.split('"').next()).collect();
    assert_eq!(defined.len(), 2, "{defined:?}");
    assert_ne!(defined[0], defined[1]);
    for name in defined {
        // In the legend, two workloads, their average and the paper's.
        let used = picture.matches(&format!("fill=\"url(#{name})\"")).count();
        assert_eq!(used, 5, "{name}");
    }
    assert!(picture.contains("fill=\"var(--c1)\""), "the other is plain");
}

const SWEEP: &str = r#"
schema = 1
name = "t"
machine = "gtx480"
size = "tiny"
repeats = { count = 1 }
[groups.g]
workloads = ["vecadd"]
[[grid]]
scheduler = ["lrr", "gto"]
set = { "sm.schedulers" = [1, 2] }
"#;

/// Cycles of each choice.
fn cycles(configuration: &str) -> u64 {
    match configuration {
        "lrr+sm.schedulers=1" => 800,
        "lrr+sm.schedulers=2" => 400,
        "gto+sm.schedulers=1" => 200,
        _ => 100,
    }
}

fn swept(plan: &Plan) -> Vec<Record> {
    let runs = plan.runs.iter();
    let made = runs.map(|run| {
        let cycles = cycles(&run.configuration);
        record(
            run,
            Status::Correct,
            json!({ "cycles": cycles, "ipc": 1.0 }),
        )
    });
    made.collect()
}

#[test]
fn a_sweep_shows_the_speed_up_over_a_baseline() {
    let speedups = |text: &str, baseline: Option<&str>| -> (String, Vec<f64>) {
        let choices = Choices {
            baseline: baseline.map(String::from),
            ..Choices::default()
        };
        let plan = plan_with(text, &choices).expect("a good study");
        let records = swept(&plan);
        let shown = Results::new(&plan, &records).figure(0);
        let cells = shown.rows[0].cells.iter();
        let values = cells.map(|cell| match cell {
            Cell::Value(sample) => sample.total(),
            other => panic!("{other:?}"),
        });
        (plan.study.figures[0].title.clone(), values.collect())
    };
    let first = "Speed-up over scheduler=lrr, sm.schedulers=1".to_string();
    assert_eq!(speedups(SWEEP, None), (first, vec![1.0, 2.0, 4.0, 8.0]));
    let lrr = (
        "Speed-up over scheduler=lrr".to_string(),
        vec![1.0, 1.0, 4.0, 4.0],
    );
    assert_eq!(speedups(SWEEP, Some("lrr")), lrr);
    let file = format!("baseline = \"scheduler=lrr\"\n{SWEEP}");
    assert_eq!(speedups(&file, None), lrr);
    let last = "gto+sm.schedulers=2";
    let (title, values) = speedups(&file, Some(last));
    assert_eq!(
        title,
        format!("Speed-up over {last}"),
        "the command line has the last word"
    );
    assert_eq!(values, [0.125, 0.25, 0.5, 1.0]);
}

#[test]
fn a_sweeps_speed_up_is_the_first_thing_in_its_report() {
    let plan = plan_with(SWEEP, &Choices::default()).expect("a good study");
    let (report, conclusion) = concluded("sweep", &plan, &swept(&plan));
    assert!(
        conclusion
            .text
            .starts_with("Speed-up over scheduler=lrr, sm.schedulers=1: from ")
    );
    let table = between(&report, "class=\"headlines\"", "</table>");
    assert!(table.contains("<b>+700.0%</b>"), "{table}");
    let figure = between(&report, "id=\"speedup\"", "</section>");
    assert!(figure.contains("<svg") && figure.contains(">speed, change from "));
}

#[test]
fn of_many_configurations_the_highest_are_listed_and_the_lowest_is_named() {
    let widths: Vec<String> = (1..=12).map(|n| n.to_string()).collect();
    let text = SWEEP.replace("[1, 2]", &format!("[{}]", widths.join(", ")));
    let text = text.replace("scheduler = [\"lrr\", \"gto\"]\n", "");
    let plan = plan_with(
        &text.replace("sm.schedulers", "l2.latency"),
        &Choices::default(),
    );
    let plan = plan.expect("a good study");
    let made = plan.runs.iter().enumerate().map(|(i, run)| {
        record(
            run,
            Status::Correct,
            json!({ "cycles": 100 + i, "ipc": 1.0 }),
        )
    });
    let made: Vec<Record> = made.collect();
    let (report, conclusion) = concluded("many", &plan, &made);
    let table = between(&report, "class=\"headlines\"", "</table>");
    assert_eq!(table.matches("<b>").count(), 10, "{table}");
    let said = "from -9.9% under l2.latency=12 to 0.0% under l2.latency=1";
    assert!(conclusion.text.contains(said), "{}", conclusion.text);
}

#[test]
fn a_baseline_that_makes_no_sense_is_an_error() {
    let wrong = |text: &str, baseline: Option<&str>| {
        let choices = Choices {
            baseline: baseline.map(String::from),
            ..Choices::default()
        };
        match plan_with(text, &choices) {
            Ok(_) => panic!("no such baseline"),
            Err(e) => e.to_string(),
        }
    };
    let text = wrong(SWEEP, Some("grr"));
    assert!(
        text.contains("--baseline grr") && text.contains("scheduler=lrr"),
        "{text}"
    );
    let text = wrong(&format!("baseline = \"lrt\"\n{SWEEP}"), None);
    assert!(
        text.contains("test.toml:1") && text.contains("lrt"),
        "{text}"
    );
    assert!(wrong(STUDY, Some("lrr")).contains("figures of its own"));
}

/// Every study that comes with warpsim.
fn studies() -> impl Iterator<Item = format::Study> {
    embedded::names().map(|name| {
        let text = embedded::text(name).expect("a study");
        format::parse(&Source::new(name, text)).expect("a good study")
    })
}

#[test]
fn claims_are_sentences_that_stand_alone() {
    // They begin with what they are about, not with what goes on from the one before.
    const GOING_ON: [&str; 10] = [
        "And",
        "It",
        "They",
        "Both",
        "All",
        "That",
        "Slightly:",
        "Whatever",
        "By",
        "Up",
    ];
    for study in studies() {
        let mut seen = HashSet::new();
        let figures = study.figures.iter();
        for claim in figures.flat_map(|f| &f.claims) {
            let text = claim.text.as_str();
            let words: Vec<&str> = text.split_whitespace().collect();
            assert!(seen.insert(text), "{}: `{text}` is there twice", study.name);
            assert!(!GOING_ON.contains(&words[0]), "{}: {text}", study.name);
            assert!(words.len() > 3, "{}: `{text}` is no sentence", study.name);
            let last = words[words.len() - 1];
            assert!(!["too", "there"].contains(&last), "{}: {text}", study.name);
            assert!(!text.contains(':'), "{}: {text}", study.name);
        }
    }
}

#[test]
fn captions_have_no_results_of_ours() {
    // A number of per cent in a caption is the paper's or a limit, and its sentence says which.
    for study in studies() {
        for figure in &study.figures {
            for sentence in figure.note.as_deref().unwrap_or_default().split(". ") {
                let digit = |at: usize| sentence[..at].ends_with(|c: char| c.is_ascii_digit());
                let measured = sentence.match_indices('%').any(|(at, _)| digit(at));
                let told = ["paper", "Its largest", "below", "by more than"];
                let said = told.iter().any(|word| sentence.contains(word));
                assert!(
                    !measured || said,
                    "{} {}: {sentence}",
                    study.name,
                    figure.id.value
                );
            }
        }
    }
}

#[test]
fn records_of_one_repeat_have_no_spread() {
    let once = Choices {
        repeats: Some(1),
        ..Choices::default()
    };
    let plan = plan_with(STUDY, &once).expect("a good study");
    let made = records(&plan, &|workload, configuration| {
        ipc(workload, configuration, 0)
    });
    let (report, conclusion) = concluded("once", &plan, &made);
    let table = between(&report, "class=\"headlines\"", "</table>");
    assert!(
        !table.contains("repeat") && table.contains("<b>+10.0%</b>"),
        "{table}"
    );
    for text in [&report, &conclusion.full] {
        assert!(!text.contains("within scatter</"), "one repeat has none");
        assert!(!text.contains("within scatter  "), "one repeat has none");
    }
    let kept = conclusion.kept.expect("all workloads ran");
    assert_eq!(kept["repeats"], 1);
    let average = &kept["averages"]["speedup"]["g"]["mwf-gto"];
    assert_eq!(average["median"], "+10.0%");
    assert_eq!(average["worst"], "+10.0% (vecadd)");
    assert!(kept["averages"]["speedup"]["g"]["mwf-gto"]["spread"].is_null());
}

#[test]
fn beside_a_mean_stand_the_median_and_the_worst_workload() {
    let text = STUDY
        .replace(
            "\"vecadd\", \"matmul\"",
            "\"vecadd\", \"matmul\", \"reduction\"",
        )
        .replace("than lrr\"\n", "than lrr\"\nheadline = true\n");
    let plan = |better: &str| {
        let text = text.replace("display = ", &format!("better = \"{better}\"\ndisplay = "));
        plan_with(&text, &Choices::default()).expect("a good study")
    };
    let ipc = |workload: &str, configuration: &str, _| {
        Some(match (configuration, workload) {
            ("mwf-gto", "matmul") => 0.8,
            ("mwf-gto", "reduction") => 1.6,
            ("mwf-gto", _) => 1.1,
            _ => 1.0,
        })
    };
    let made = plan("more");
    let (report, conclusion) = concluded("behind", &made, &repeated(&made, &ipc));
    let table = between(&report, "class=\"headlines\"", "</table>");
    for cell in [
        "<th>median</th>",
        "<td>+10.0%</td>",
        "<td>-20.0% (matmul)</td>",
    ] {
        assert!(table.contains(cell), "{cell}: {table}");
    }
    let figure = between(&report, "id=\"speedup\"", "</section>");
    let values = "<th>worst</th><td>-20.0% (matmul)</td><td>0.0% (vecadd)</td>";
    assert!(figure.contains(values), "{figure}");
    let full = &conclusion.full;
    assert!(
        full.contains("median +10.0%; worst -20.0% (matmul)"),
        "{full}"
    );
    let line = full
        .lines()
        .find(|l| l.trim_start().starts_with("worst  "))
        .expect("a line");
    assert!(line.contains("-20.0% (matmul)"), "{line}");
    let kept = conclusion.kept.expect("all workloads ran");
    let claim = &kept["verdicts"]["mwf-gto is faster than lrr"];
    assert_eq!(
        (&claim["median"], &claim["worst"]),
        (&json!("+10.0%"), &json!("-20.0% (matmul)"))
    );
    // Where less is better, the worst is the highest.
    let made = plan("less");
    let (_, conclusion) = concluded("behind-less", &made, &repeated(&made, &ipc));
    let kept = conclusion.kept.expect("all workloads ran");
    assert_eq!(
        kept["averages"]["speedup"]["g"]["mwf-gto"]["worst"],
        "+60.0% (reduction)"
    );
}
