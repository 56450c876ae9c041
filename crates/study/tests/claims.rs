//! Claims: their kinds, why they fail, and the page that opens with them.

use crate::common;

use common::{Scratch, plan, repeated};
use warpsim_present::Source;
use warpsim_study::format::{Kind, parse};
use warpsim_study::runner::Silent;
use warpsim_study::store::Store;
use warpsim_study::verdict::Tally;
use warpsim_study::{Conclusion, Plan, conduct, embedded};

const STUDY: &str = r#"
schema = 1
name = "t"
title = "Claims"
machine = "gtx480"
size = "tiny"
[groups.g]
workloads = ["vecadd", "bfs"]
[configurations]
lrr = { scheduler = "lrr" }
gto = { scheduler = "gto" }
tls = { scheduler = "tls" }
[experiments.slow]
title = "a slow L2"
set = { "l2.latency" = 400 }
[experiments.wide]
title = "a wide buffer"
set = { "fetch.buffer" = 4 }
[[figures]]
id = "f"
number = "Figure 1"
title = "Speed-up"
groups = ["g"]
configurations = ["gto", "tls"]
metric = "ipc"
normalise = "lrr"
display = "change"
[[figures.claims]]
text = "gto gains 40 per cent in the mean"
headline = true
claim = "gto = 1.4 ± 0.05"
paper = "+40%"
reason = "the L2 is fast"
by = "slow"
experiment = ["wide", "slow"]
[[figures.claims]]
text = "gto is ahead of tls, which gains"
claim = "gto > tls > 1"
[[figures.claims]]
text = "gto gains on the one workload"
claim = "gto > 1"
on = "bfs"
[[figures.claims]]
text = "tls is nowhere far behind gto"
claim = "tls / gto > 0.9"
on = "every"
[[figures.claims]]
text = "gto is ahead of tls in the mean"
claim = "gto > tls"
"#;

/// Claims of made-up results: gto gains 20%, and so much with each experiment.
fn concluded(name: &str, text: &str, slow: f64, wide: f64) -> (Conclusion, serde_json::Value) {
    let plan = plan(text).expect("a good study");
    let records = repeated(&plan, &|_, configuration, repeat| {
        let hair = 0.001 * repeat as f64;
        Some(match configuration {
            "gto@slow" => slow,
            "gto@wide" => wide,
            c if c.starts_with("gto") => 1.2 + hair,
            c if c.starts_with("tls") => 1.15 + hair,
            _ => 1.0,
        })
    });
    let scratch = Scratch::new(name);
    let out = scratch.path().join("r");
    let store = Store::open(&out, "t").expect("a folder");
    for record in &records {
        store.put(record).expect("written");
    }
    let conclusion = conduct(&plan, &store, 1, "", &mut Silent).expect("a result");
    let json = std::fs::read_to_string(out.join("conclusions.json")).expect("written");
    (conclusion, serde_json::from_str(&json).expect("JSON"))
}

fn why(name: &str, text: &str, slow: f64, wide: f64) -> String {
    let (conclusion, json) = concluded(name, text, slow, wide);
    let cause = json["claims"][0]["cause"].as_str().expect("a cause");
    assert!(conclusion.full.contains(cause), "{}", conclusion.full);
    cause.to_string()
}

#[test]
fn a_kind_follows_from_the_test() {
    let study = parse(&Source::new("t", STUDY)).expect("a good study");
    let kinds: Vec<Kind> = study.figures[0].claims.iter().map(|c| c.kind).collect();
    use Kind::{Detail, Direction, Order, Size};
    assert_eq!(kinds, [Size, Order, Detail, Size, Direction]);
    let said = STUDY.replace(
        "claim = \"gto > tls > 1\"",
        "kind = \"detail\"\nclaim = \"gto > tls > 1\"",
    );
    let study = parse(&Source::new("t", &said)).expect("a good study");
    assert_eq!(study.figures[0].claims[1].kind, Detail);
}

#[test]
fn a_reason_is_shown_where_its_experiment_shows_it() {
    assert_eq!(
        why("holds", STUDY, 1.38, 1.2),
        "the L2 is fast (with a slow L2 it holds)"
    );
    assert_eq!(
        why("half", STUDY, 1.32, 1.2),
        "the L2 is fast (with a slow L2 half of the difference is gone, or more)"
    );
    // Another experiment shows it: that one is named, and not the reason.
    assert_eq!(
        why("other", STUDY, 1.32, 1.41),
        "with a wide buffer it holds"
    );
    assert_eq!(why("neither", STUDY, 1.25, 1.2), "not explained");
    let paper = STUDY.replace("by = \"slow\"", "by = \"paper\"");
    assert_eq!(
        why("paper", &paper, 1.25, 1.2),
        "the L2 is fast (the paper says so)"
    );
}

#[test]
fn an_experiment_with_fewer_repeats_explains_nothing() {
    let once = STUDY.replace("title = \"a wide buffer\"", "title = \"w\"\nrepeats = 1");
    assert_eq!(why("once", &once, 1.2, 1.4), "not explained");
}

#[test]
fn mistakes_are_refused() {
    let wrong = |from: &str, to: &str| {
        assert!(STUDY.contains(from), "{from}");
        match plan(&STUDY.replacen(from, to, 1)) {
            Ok(_) => panic!("{to} was accepted"),
            Err(error) => error.text,
        }
    };
    let both = "by = \"slow\"\nexperiment = [\"wide\", \"slow\"]\n";
    for (from, to, said) in [
        (both, "", "no experiment shows this reason"),
        ("by = \"slow\"\n", "", "which experiment shows this reason?"),
        (
            "by = \"slow\"",
            "by = \"mesh\"",
            "`mesh` is no experiment of this claim",
        ),
        (
            "reason = \"the L2 is fast\"\n",
            "",
            "there is no `reason` that it shows",
        ),
        (
            "title = \"a slow L2\"",
            "title = \"s\"\nrepeats = 1",
            "has fewer repeats than the study",
        ),
        (
            "set = { \"l2.latency\" = 400 }",
            "set = { \"l2.latency\" = 400, \"dram.latency\" = 400 }",
            "experiment `slow` changes several things",
        ),
        (
            "headline = true",
            "kind = \"direction\"",
            "this claim is no direction",
        ),
        (
            "headline = true",
            "headline = 1",
            "`headline` is true or false",
        ),
        ("headline = true", "kind = \"sise\"", "did you mean `size`?"),
    ] {
        let text = wrong(from, to);
        assert!(
            text.contains(said) && text.contains("test.toml:"),
            "{said}: {text}"
        );
    }
    let together = STUDY.replace(
        "set = { \"l2.latency\" = 400 }",
        "together = \"one memory\"\nset = { \"l2.latency\" = 400, \"dram.latency\" = 400 }",
    );
    assert!(plan(&together).is_ok());
}

#[test]
fn the_page_opens_with_sentences_and_headlines() {
    let (conclusion, json) = concluded("opens", STUDY, 1.38, 1.2);
    let mut lines = conclusion.text.lines();
    let first = "Of 5 claims that were tested 4 hold, 1 fail (1 of 1 direction, 1 of 1 order, 1 of 2 sizes, \
                 1 of 1 detail hold).";
    assert_eq!(lines.next(), Some(first));
    let text = &conclusion.text;
    for line in [
        "  fails          gto gains 40 per cent in the mean\n",
        "the paper +40%; ours +20.1%; median +20.1%; worst +20.1% (vecadd); repeats from +20.0% to +20.2%; the L2 is fast (with a slow L2 it holds)\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let headlines = text.find("  fails  ").expect("the headlines");
    let figure = text.find("Figure 1: Speed-up\n").expect("the figure");
    assert!(headlines < figure, "{text}");
    assert_eq!(json["kinds"]["size"]["hold"], 1);
    assert_eq!(json["claims"][0]["ours"]["value"], "+20.1%");
}

#[test]
fn what_does_not_fit_on_a_page_or_two_is_in_the_report() {
    let figures = (0..40).map(|n| {
        format!(
            "[[figures]]\nid = \"g{n}\"\ngroups = [\"g\"]\nconfigurations = [\"gto\", \"tls\"]\nmetric = \"ipc\"\n"
        )
    });
    let long = format!("{STUDY}{}", figures.collect::<String>());
    let (conclusion, _) = concluded("long", &long, 1.38, 1.2);
    assert!(conclusion.text.lines().count() < 90);
    assert!(conclusion.full.lines().count() > 150);
    for text in [&conclusion.text, &conclusion.full] {
        assert!(text.starts_with("Of 5 claims"), "{text}");
    }
    let listed = "Speed-up (Figure 1): 4 of 5 claims hold\n";
    assert!(conclusion.text.contains(listed), "{}", conclusion.text);
}

#[test]
fn every_study_has_six_headlines_that_are_about_all_workloads() {
    for name in embedded::names() {
        let text = embedded::text(name).expect("a study");
        let study = parse(&Source::new(name, text)).expect("a good study");
        let claims = study.figures.iter().flat_map(|f| &f.claims);
        let headlines = claims.filter(|c| c.headline);
        let kinds: Vec<Kind> = headlines.map(|c| c.kind).collect();
        assert_eq!(kinds.len(), 6, "{name}");
        assert!(!kinds.contains(&Kind::Detail), "{name}");
    }
}

#[test]
fn an_experiment_with_a_size_of_its_own_runs_at_the_studys_size_only() {
    use warpsim_study::Choices;
    use warpsim_workloads::suite::Size;
    let resized = STUDY.replace("set = { \"fetch.buffer\" = 4 }", "param = { n = 4096 }");
    let resized = resized.replace("[\"vecadd\", \"bfs\"]", "[\"vecadd\"]");
    let resized = resized.replace("on = \"bfs\"", "on = \"vecadd\"");
    let runs = |size: Option<Size>| {
        let choices = Choices {
            size,
            ..Choices::default()
        };
        let plan = common::plan_with(&resized, &choices).expect("a good study");
        let all = plan.runs.iter().map(|r| r.configuration.clone());
        let under = |name: &'static str| all.clone().filter(|c| c.ends_with(name)).count();
        (under("@wide") > 0, under("@slow") > 0)
    };
    assert_eq!(runs(None), (true, true));
    assert_eq!(runs(Some(Size::Small)), (false, true));
}

/// A claim about averages is untested at a size that is too small, and with a part of the workloads.
#[test]
fn nothing_is_said_of_averages_by_a_part() {
    use warpsim_study::Choices;
    use warpsim_study::evaluate::Results;
    use warpsim_study::verdict::{Verdict, explained};
    use warpsim_workloads::suite::Size;
    for name in embedded::names() {
        for (size, workloads) in [(Some(Size::Tiny), None), (None, Some("one"))] {
            let text = embedded::text(name).expect("a study");
            let study = parse(&Source::new(name, text)).expect("a good study");
            let first = study.groups[0].workloads[0].value.clone();
            let choices = Choices {
                size,
                workloads: workloads.map(|_| vec![first]),
                repeats: Some(1),
                ..Choices::default()
            };
            let plan = Plan::new(study, &choices).expect("a plan");
            let records = repeated(&plan, &|_, _, _| Some(1.0));
            let results = Results::new(&plan, &records);
            let mut all = Vec::new();
            for (f, figure) in plan.study.figures.iter().enumerate() {
                let shown = results.figure(f);
                let of = |c| explained(&results, f, c, &shown);
                let judged: Vec<_> = (0..figure.claims.len()).map(of).collect();
                for (claim, judged) in figure.claims.iter().zip(&judged) {
                    let detail = claim.kind == Kind::Detail && size.is_none();
                    let every = claim.on == warpsim_study::format::On::Every;
                    let excused = detail || every && judged.verdict == Verdict::Fails;
                    assert!(
                        judged.verdict == Verdict::Untested || excused,
                        "{name}: {}: {judged:?}",
                        claim.text
                    );
                }
                all.push((shown, judged));
            }
            let tested: usize = Tally::by_kind(&plan.study, &all)
                .iter()
                .filter(|(kind, _)| *kind == Kind::Order)
                .map(|(_, t)| t.of_verdict(Verdict::Holds))
                .sum();
            assert_eq!(tested, 0, "{name}");
        }
    }
}
