//! What was learned, as a page of text: three sentences, the headlines, claims counted by kind.

use super::asserted::asserted;
use super::learned::{Headline, headlines, listed as highest, sentences, titled};
use super::table::fitted;
use crate::evaluate::{Results, Shown};
use crate::verdict::{Judged, Tally, Verdict};

/// The sentences, the headlines and the counts.
pub fn learned(
    results: &Results,
    figures: &[(Shown, Vec<Judged>)],
    width: Option<usize>,
) -> String {
    let all = headlines(results, figures);
    let mut out = String::new();
    for sentence in sentences(results, figures, &all) {
        out += &format!("{sentence}\n");
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let asserted = asserted(results, figures);
    for headline in &asserted {
        let mark = headline.judged.verdict.name();
        out += &format!("  {mark:<15}{}\n", headline.claim.text);
        let values = [
            (
                "the paper ",
                headline.claim.paper.as_deref().unwrap_or_default(),
            ),
            ("ours ", headline.ours()),
            ("median ", headline.median()),
            ("worst ", headline.worst()),
            ("repeats from ", headline.spread()),
        ];
        let told = values.iter().filter(|(_, value)| !value.is_empty());
        let mut told: Vec<String> = told.map(|(name, value)| format!("{name}{value}")).collect();
        told.extend(headline.judged.cause.text());
        if !told.is_empty() {
            out += &format!("{:17}{}\n", "", told.join("; "));
        }
    }
    if asserted.is_empty() {
        out += &averages(&highest(&all), width);
    }
    for headline in all.iter().filter(|h| !h.ranges.is_empty()) {
        let (title, ranges) = (titled(headline.figure), headline.open().join("; "));
        out += &format!("{title}, {}: {ranges}.\n", headline.title);
    }
    let kinds = Tally::by_kind(&results.plan().study, figures);
    if results.plan().too_small().is_none() && !kinds.is_empty() {
        let mut lines = vec![vec!["Claims".to_string()]];
        let possible = Verdict::possible(results.plan().repeats);
        lines[0].extend(possible.iter().map(|v| v.name().to_string()));
        for (kind, tally) in kinds {
            let mut line = vec![kind.plural().to_string()];
            line.extend(possible.iter().map(|v| tally.of_verdict(*v).to_string()));
            lines.push(line);
        }
        out += &format!("\n{}", fitted(&lines, 1, width));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Averages, with what they are of above those that it is the same for.
fn averages(listed: &[&Headline], width: Option<usize>) -> String {
    let mut out = String::new();
    let alike =
        |a: &&Headline, b: &&Headline| a.figure.id.value == b.figure.id.value && a.over == b.over;
    for same in listed.chunk_by(alike) {
        out += &format!("{}, {}\n", titled(same[0].figure), same[0].over);
        let head = ["", "ours", "median", "worst", "repeats", "the paper"];
        let mut lines = vec![head.map(String::from).to_vec()];
        lines.extend(same.iter().map(|headline| {
            let behind = headline.behind.clone();
            let (median, worst) = behind.map(|b| (b.median, b.worst)).unwrap_or_default();
            vec![
                headline.title.clone(),
                headline.text(headline.ours.total()),
                median,
                worst,
                headline.spread().unwrap_or_default(),
                headline.paper.map_or(String::new(), |p| headline.text(p)),
            ]
        }));
        out += &fitted(&without_empty(lines), 1, width);
    }
    out
}

/// The columns that have something below their titles.
fn without_empty(lines: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let filled = |column: usize| lines[1..].iter().any(|line| !line[column].is_empty());
    let kept: Vec<usize> = (0..lines[0].len()).filter(|c| filled(*c)).collect();
    let cut = |line: &Vec<String>| kept.iter().map(|c| line[*c].clone()).collect();
    lines.iter().map(cut).collect()
}

/// Where the rest is: a line for each figure.
pub fn listed(results: &Results, figures: &[(Shown, Vec<Judged>)]) -> String {
    let study = &results.plan().study;
    let mut out = String::from("Figures, in the report or with --full\n");
    for (figure, (shown, judged)) in study.figures.iter().zip(figures) {
        let of = |verdict: Verdict| judged.iter().filter(|j| j.verdict == verdict).count();
        let tested = judged.len() - of(Verdict::Untested);
        let claims = match (shown.unmeasured(), judged.len(), tested) {
            (true, ..) => ": not measured".into(),
            (_, 0, _) => String::new(),
            (_, n, 0) => format!(": {n} claims, not tested"),
            (_, _, tested) => format!(": {} of {tested} claims hold", of(Verdict::Holds)),
        };
        out += &format!("  {}{claims}\n", titled(figure));
    }
    out.push('\n');
    out
}
