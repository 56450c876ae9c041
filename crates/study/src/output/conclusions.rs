//! `conclusions.json`: claims, values of figures, sizes and sensitivities, for programs.

use super::values::Value as Measured;
use crate::evaluate::{Results, Shown};
use crate::values::sample::Sample;
use crate::values::sensitivity;
use crate::values::sizes::KernelSize;
use crate::verdict::{Judged, Tally, Verdict};
use serde_json::{Value, json};

/// The document.
pub fn json(
    results: &Results,
    figures: &[(Shown, Vec<Judged>)],
    values: &[Measured],
    sizes: &[KernelSize],
) -> Value {
    let plan = results.plan();
    let mut claims = Vec::new();
    for (figure, (_, judged)) in plan.study.figures.iter().zip(figures) {
        for (claim, judged) in figure.claims.iter().zip(judged) {
            let tried = judged.experiments.iter().map(
                |t| json!({"title": t.title, "verdict": t.verdict.name(), "detail": t.detail}),
            );
            claims.push(json!({
                "figure": figure.id.value,
                "text": claim.text,
                "kind": claim.kind.name(),
                "headline": claim.headline,
                "verdict": judged.verdict.name(),
                "detail": judged.detail,
                "paper": claim.paper,
                "ours": judged.ours.as_ref().map(|o| json!({"value": o.value, "spread": o.spread})),
                "cause": judged.cause.text(),
                "changed": claim.changed,
                "experiments": tried.collect::<Vec<_>>(),
            }));
        }
    }
    let value = |v: &Measured| {
        json!({
            "figure": v.figure,
            "group": v.group,
            "workload": v.workload,
            "configuration": v.configuration,
            "part": v.part,
            "measured": v.sample.as_ref().map(sample),
            "over": v.over,
            "paper": v.paper,
        })
    };
    let size = |s: &KernelSize| {
        json!({
            "workload": plan.subjects.workload(s.subject),
            "kernel": s.kernel,
            "launches": s.launches,
            "blocks": [s.blocks.0, s.blocks.1],
            "blocks_per_sm": s.resident,
            "waves": [s.waves.0, s.waves.1],
            "share_of_cycles": s.share,
            "idle": s.idle,
            "too_small": s.too_small(),
            "waived": s.waived,
        })
    };
    let mut moved = Vec::new();
    for table in &plan.sensitivities {
        for line in sensitivity::lines(results, table) {
            for (setup, cell) in table.setups.iter().zip(&line.means) {
                moved.push(json!({
                    "figure": plan.study.figures[table.figure].id.value,
                    "group": table.group,
                    "setting": line.setting,
                    "value": line.value,
                    "configuration": plan.setups[*setup].name,
                    "measured": cell.as_ref().map(sample),
                }));
            }
        }
    }
    let kinds = Tally::by_kind(&plan.study, figures).into_iter();
    let kinds: serde_json::Map<String, Value> = kinds
        .map(|(kind, tally)| {
            let told = json!({"claims": tally.all(), "tested": tally.tested(), "hold": tally.of_verdict(Verdict::Holds)});
            (kind.name().to_string(), told)
        })
        .collect();
    let counts: serde_json::Map<String, Value> = Tally::of(figures)
        .counts()
        .map(|(verdict, n)| (verdict.name().to_string(), json!(n)))
        .collect();
    json!({
        "schema": 1,
        "study": plan.study.name,
        "repeats": plan.repeats,
        "counts": counts,
        "kinds": kinds,
        "claims": claims,
        "values": values.iter().map(value).collect::<Vec<_>>(),
        "sizes": sizes.iter().map(size).collect::<Vec<_>>(),
        "sensitivities": moved,
    })
}

fn sample(sample: &Sample) -> Value {
    let (low, high) = sample.range();
    json!({
        "value": sample.total(),
        "low": low,
        "high": high,
        "deviation": sample.deviation(),
        "repeats": sample.values(None),
    })
}
