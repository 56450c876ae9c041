//! What is kept of a whole study beside its study file: the numbers that pages quote, as they are written there.

use super::asserted::asserted;
use super::learned::{headlines, sentences};
use crate::evaluate::{Results, Shown};
use crate::format::SIZES;
use crate::verdict::{Judged, Tally, Verdict};
use crate::words;
use serde_json::{Map, Value, json};

/// The document; nothing of a part of a study, or at another size.
pub fn json(
    results: &Results,
    figures: &[(Shown, Vec<Judged>)],
    pictures: &[(String, String)],
) -> Option<Value> {
    let plan = results.plan();
    if !plan.whole() {
        return None;
    }
    let size = SIZES.iter().find(|(_, size)| *size == plan.size);
    let kinds = Tally::by_kind(&plan.study, figures).into_iter();
    let kinds: Map<String, Value> = kinds
        .map(|(kind, tally)| (kind.plural().to_string(), counts(tally)))
        .collect();
    let told = |judged: &Judged| {
        let behind = judged.ours.as_ref().and_then(|o| o.behind.as_ref());
        json!({
            "median": behind.map(|b| &b.median),
            "worst": behind.map(|b| &b.worst),
            "verdict": judged.verdict.name(),
            "ours": judged.ours.as_ref().map(|o| &o.value),
            "spread": judged.ours.as_ref().and_then(|o| o.spread.as_ref()),
            "cause": judged.cause.text(),
        })
    };
    let mut claims = Map::new();
    for (figure, (_, judged)) in plan.study.figures.iter().zip(figures) {
        for (claim, judged) in figure.claims.iter().zip(judged) {
            let mut one = told(judged);
            one["kind"] = json!(claim.kind.name());
            one["paper"] = json!(claim.paper);
            claims.insert(claim.text.clone(), one);
        }
    }
    let asserted = asserted(results, figures);
    let averages = headlines(results, figures);
    Some(json!({
        "schema": 1,
        "study": plan.study.name,
        "size": size.map(|(name, _)| name),
        "repeats": plan.repeats,
        "learned": sentences(results, figures, &averages),
        "claims": counts(Tally::of(figures)),
        "kinds": kinds,
        "headlines": asserted.iter().map(|a| &a.claim.text).collect::<Vec<_>>(),
        "verdicts": claims,
        "averages": of_figures(results, figures),
        "pictures": pictures.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
    }))
}

fn counts(tally: Tally) -> Value {
    let of = |v: (Verdict, usize)| (v.0.name().to_string(), json!(v.1));
    let mut counts: Map<String, Value> = tally.counts().map(of).collect();
    counts.insert("all".into(), json!(tally.all()));
    counts.insert("tested".into(), json!(tally.tested()));
    Value::Object(counts)
}

/// The averages of every figure, as it writes them: by figure, group and configuration.
fn of_figures(results: &Results, figures: &[(Shown, Vec<Judged>)]) -> Value {
    let plan = results.plan();
    let mut all = Map::new();
    for (figure, (shown, _)) in plan.study.figures.iter().zip(figures) {
        let text = |v: f64| words::value(figure.display, v);
        let mut groups = Map::new();
        for mean in &shown.means {
            let mut cells = Map::new();
            let behind = mean.told(plan, figure).unwrap_or_default();
            for (i, cell) in mean.cells.iter().enumerate() {
                let Some((sample, over)) = cell else {
                    continue;
                };
                let (low, high) = sample.range();
                let ends = || format!("{} to {}", text(low), text(high));
                let behind = behind.get(i).and_then(Option::as_ref);
                let setup = &plan.setups[shown.setups[i]];
                let value = json!({
                    "title": setup.title,
                    "ours": text(sample.total()),
                    "median": behind.map(|b| &b.median),
                    "worst": behind.map(|b| &b.worst),
                    "spread": (sample.count() > 1).then(ends),
                    "over": over,
                    "paper": mean.paper[i].map(text),
                });
                cells.insert(setup.name.clone(), value);
            }
            groups.insert(mean.group.clone(), Value::Object(cells));
        }
        all.insert(figure.id.value.clone(), Value::Object(groups));
    }
    Value::Object(all)
}
