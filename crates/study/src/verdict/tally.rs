//! Claims, counted by verdict and by kind.

use super::{Judged, Verdict};
use crate::evaluate::Shown;
use crate::format::{Kind, Study};

/// How many claims came to which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([usize; Verdict::ALL.len()]);

impl Tally {
    /// Counts the claims of figures.
    pub fn of(figures: &[(Shown, Vec<Judged>)]) -> Tally {
        let mut tally = Tally::default();
        for judged in figures.iter().flat_map(|(_, j)| j) {
            tally.add(judged.verdict);
        }
        tally
    }

    /// Counts those of each kind; kinds of which there are none are left out.
    pub fn by_kind(study: &Study, figures: &[(Shown, Vec<Judged>)]) -> Vec<(Kind, Tally)> {
        let mut tallies = [Tally::default(); Kind::ALL.len()];
        let claims = study.figures.iter().flat_map(|f| &f.claims);
        let judged = figures.iter().flat_map(|(_, j)| j);
        for (claim, judged) in claims.zip(judged) {
            let kind = Kind::ALL.iter().position(|k| *k == claim.kind);
            tallies[kind.unwrap_or(0)].add(judged.verdict);
        }
        let all = Kind::ALL.into_iter().zip(tallies);
        all.filter(|(_, t)| t.all() > 0).collect()
    }

    fn add(&mut self, verdict: Verdict) {
        let place = Verdict::ALL.iter().position(|v| *v == verdict);
        self.0[place.unwrap_or(0)] += 1;
    }

    /// Every verdict with how many claims came to it.
    pub fn counts(self) -> impl Iterator<Item = (Verdict, usize)> {
        Verdict::ALL.into_iter().zip(self.0)
    }

    /// How many came to a verdict.
    pub fn of_verdict(self, verdict: Verdict) -> usize {
        let found = self.counts().find(|(v, _)| *v == verdict);
        found.map_or(0, |(_, n)| n)
    }

    /// How many were tested.
    pub fn tested(self) -> usize {
        self.all() - self.of_verdict(Verdict::Untested)
    }

    /// How many claims there are.
    pub fn all(self) -> usize {
        self.0.iter().sum()
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let part = |(verdict, n): (Verdict, usize)| format!("{n} {}", verdict.plural());
        f.write_str(&self.counts().map(part).collect::<Vec<_>>().join(", "))
    }
}
