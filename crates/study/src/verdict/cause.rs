//! Why a claim fails: only what an experiment of the same study shows.

use super::outcome::Verdict;
use crate::format::{By, Claim};

/// Why a claim fails, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// It does not fail.
    #[default]
    Unasked,
    /// The paper says so.
    Paper(String),
    /// An experiment shows it.
    Shown {
        /// The study's reason, where this experiment is the one that it names.
        reason: Option<String>,
        /// What the experiment changes.
        title: String,
        /// The claim fails with it, too, but by half as much or less.
        half: bool,
    },
    /// Nothing that was run shows it.
    Open,
}

impl Cause {
    /// In a line; nothing for a claim that does not fail.
    pub fn text(&self) -> Option<String> {
        let with = |title: &str, half: bool| match half {
            true => format!("with {title} half of the difference is gone, or more"),
            false => format!("with {title} it holds"),
        };
        Some(match self {
            Cause::Unasked => return None,
            Cause::Paper(reason) => format!("{reason} (the paper says so)"),
            Cause::Shown {
                reason: Some(reason),
                title,
                half,
            } => format!("{} ({})", reason.trim_end_matches('.'), with(title, *half)),
            Cause::Shown { title, half, .. } => with(title, *half),
            Cause::Open => "not explained".into(),
        })
    }
}

/// An experiment with what became of the claim in it.
pub struct Outlook<'a> {
    /// Its name in the study.
    pub name: &'a str,
    /// What it changes.
    pub title: &'a str,
    /// Whether it has as many repeats as the claim.
    pub whole: bool,
    /// What became of the claim.
    pub verdict: Verdict,
    /// By how much the claim fails, in the best and in the worst repeat.
    pub gap: (f64, f64),
}

/// Why a claim with this verdict and these gaps fails: its experiments that were run say.
pub fn cause(claim: &Claim, verdict: Verdict, gap: (f64, f64), tried: &[Outlook]) -> Cause {
    if verdict != Verdict::Fails {
        return Cause::Unasked;
    }
    let reason = claim.reason.as_ref();
    if let Some(By::Paper) = reason.map(|r| &r.by) {
        return Cause::Paper(reason.map(|r| r.text.clone()).unwrap_or_default());
    }
    let named = match reason.map(|r| &r.by) {
        Some(By::Experiment(name)) => Some(name.value.as_str()),
        _ => None,
    };
    let holds = |t: &&Outlook| t.whole && t.verdict == Verdict::Holds;
    // Who wins is a matter of yes and no: half of it explains a size alone. The worst repeat with the change then
    // lacks half of what the best one without it lacks.
    let sized = claim.chain.as_ref().is_some_and(|c| c.value.tolerates());
    let sized = sized && gap.0.is_finite();
    let halves = |t: &&Outlook| sized && t.whole && t.gap.1 <= gap.0 / 2.0;
    let preferred = |shows: &dyn Fn(&&Outlook) -> bool| {
        let own = tried.iter().filter(|t| Some(t.name) == named);
        own.chain(tried.iter())
            .find(|t| shows(t))
            .map(|t| (t.name, t.title))
    };
    let shown = |(name, title): (&str, &str), half: bool| Cause::Shown {
        reason: reason
            .filter(|_| Some(name) == named)
            .map(|r| r.text.clone()),
        title: title.to_string(),
        half,
    };
    let whole = preferred(&holds).map(|t| shown(t, false));
    whole
        .or_else(|| preferred(&halves).map(|t| shown(t, true)))
        .unwrap_or(Cause::Open)
}
