//! Claims that are looked at workload by workload.

use super::outcome::{Outcome, Verdict, every, narrowest, some, widest};
use super::view::View;
use super::{Looked, repeats_text, untested};
use crate::evaluate::Row;

/// The workloads of which a claim is to hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// All that were measured.
    Every,
    /// One of those that were measured.
    Some,
    /// Each that is named, measured or not.
    Each,
}

/// Judges a claim workload by workload.
pub fn judge_rows(view: &View, rows: &[&Row], which: Which) -> Looked {
    let measured = view.common(rows);
    if measured.is_empty() {
        return untested("no workload it names has all the values it needs".into());
    }
    let mut looked = Vec::new();
    let mut ours = None;
    for row in &measured {
        let values = view.chain.terms().map(|t| view.on_row(row, t));
        let Some(values) = values.collect::<Option<Vec<Vec<f64>>>>() else {
            continue;
        };
        let mut outcome = Outcome {
            identical: view.alike(row),
            ..Outcome::of(view.chain, &values, view.claim.within)
        };
        let label = view.plan.subjects.label(row.subject);
        let mut text = format!("{label}: {}", view.listed(&values));
        text += &repeats_text(&outcome).replacen(';', ",", 1);
        if outcome.identical {
            text += ", identical in every statistic";
        }
        if which == Which::Every {
            outcome = outcome.tolerant();
        }
        if view.excepted(row) {
            outcome = outcome.opposite();
            text += ", the exception";
        }
        ours = view.ours(&values);
        looked.push((outcome, text));
    }
    let outcomes = || looked.iter().map(|(o, _)| o);
    let (verdict, gap) = match which {
        Which::Some => (some(outcomes()), narrowest(outcomes())),
        _ => (every(outcomes()), widest(outcomes())),
    };
    // What decided it: for "every" the worst, for "some" the best.
    let deciding = |o: &Outcome| match (which, verdict) {
        (_, Verdict::Holds) => o.verdict() == Verdict::Holds || o.trivially(),
        (Which::Some, Verdict::Fails) | (_, Verdict::Vacuous) => true,
        (_, Verdict::Fails) => o.verdict() == Verdict::Fails || o.identical && !o.trivially(),
        _ => o.verdict() == verdict,
    };
    let texts: Vec<&str> = looked
        .iter()
        .filter(|(o, _)| deciding(o))
        .map(|(_, t)| t.as_str())
        .collect();
    let mut detail = texts.iter().take(4).copied().collect::<Vec<_>>().join("; ");
    if texts.len() > 4 {
        detail += &format!("; and {} more", texts.len() - 4);
    }
    let (all, unmeasured) = (rows.len(), rows.len() - measured.len());
    if verdict != Verdict::Holds || which == Which::Some {
        detail = format!("{} of {all} workloads. {detail}", texts.len());
    }
    if unmeasured > 0 {
        detail += &format!(" ({unmeasured} of {all} not measured)");
    }
    let left_out = rows.iter();
    let left_out = left_out.filter(|r| view.plan.subjects.left_out(r.subject));
    // What some workloads of a part show is so of the whole; what all of them show is not.
    let decided = match which {
        Which::Each => unmeasured == 0 || verdict == Verdict::Fails,
        Which::Every => left_out.count() == 0 || verdict == Verdict::Fails,
        Which::Some => left_out.count() == 0 || verdict == Verdict::Holds,
    };
    if !decided {
        return untested(detail);
    }
    Looked {
        verdict,
        detail,
        // Of several workloads none is the value.
        ours: ours.filter(|_| looked.len() == 1 && rows.len() == 1),
        gap,
    }
}
