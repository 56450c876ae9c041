//! The claims that a study names as its headlines.

use crate::evaluate::{Results, Shown};
use crate::format::{Claim, Figure};
use crate::values::behind::BehindText;
use crate::verdict::{Judged, Verdict};

/// A claim that a report begins with.
pub struct Asserted<'a> {
    /// The figure it is of.
    pub figure: &'a Figure,
    /// What the paper says.
    pub claim: &'a Claim,
    /// What became of it.
    pub judged: &'a Judged,
}

impl Asserted<'_> {
    /// What came out; nothing where there is no single value.
    pub fn ours(&self) -> &str {
        self.judged.ours.as_ref().map_or("", |o| o.value.as_str())
    }

    /// The median over workloads, where ours is a mean.
    pub fn median(&self) -> &str {
        self.behind().map_or("", |b| &b.median)
    }

    /// The worst workload, where ours is a mean.
    pub fn worst(&self) -> &str {
        self.behind().map_or("", |b| &b.worst)
    }

    fn behind(&self) -> Option<&BehindText> {
        self.judged.ours.as_ref()?.behind.as_ref()
    }

    /// From the lowest to the highest repeat.
    pub fn spread(&self) -> &str {
        let spread = self.judged.ours.as_ref().and_then(|o| o.spread.as_deref());
        spread.unwrap_or_default()
    }
}

/// The claims that the study names as its headlines; none where none of them was tested.
pub fn asserted<'a>(
    results: &Results<'a>,
    figures: &'a [(Shown, Vec<Judged>)],
) -> Vec<Asserted<'a>> {
    let study = &results.plan().study;
    let mut found = Vec::new();
    for (figure, (_, judged)) in study.figures.iter().zip(figures) {
        let of_figure = figure.claims.iter().zip(judged);
        let named = of_figure.filter(|(claim, _)| claim.headline);
        found.extend(named.map(|(claim, judged)| Asserted {
            figure,
            claim,
            judged,
        }));
    }
    let tested = |a: &Asserted| a.judged.verdict != Verdict::Untested;
    if found.iter().any(tested) {
        found
    } else {
        Vec::new()
    }
}
