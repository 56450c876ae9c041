//! Whether a paper's claims hold here.
//!
//! A claim is looked at in every repeat. It holds or fails when all repeats say so, and is within
//! scatter when they disagree.

mod cause;
mod count;
mod outcome;
mod rows;
mod tally;
mod view;

pub use cause::Cause;
pub use outcome::Verdict;
pub use tally::Tally;

use crate::evaluate::{Results, Row, Shown};
use crate::format::{Chain, Claim, Figure, On, Shape, Term};
use crate::plan::Plan;
use crate::values::behind::BehindText;
use crate::words;
use cause::{Outlook, cause};
use outcome::Outcome;
use rows::{Which, judge_rows};
use view::{View, quotient};

/// A claim, looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What became of it.
    pub verdict: Verdict,
    /// The numbers it was judged by, or why it was not.
    pub detail: String,
    /// The value that it is about, where it is about one.
    pub ours: Option<Measured>,
    /// Why it fails, as far as experiments show it.
    pub cause: Cause,
    /// Where it fails, the same claim in the experiments that it names.
    pub experiments: Vec<Tried>,
}

/// The value that a claim is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The average over the repeats.
    pub value: String,
    /// From the lowest to the highest repeat; nothing for a single one.
    pub spread: Option<String>,
    /// The median and the worst workload, where it is a mean over several.
    pub behind: Option<BehindText>,
}

/// A claim in an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// What is changed.
    pub title: String,
    /// What became of the claim.
    pub verdict: Verdict,
    /// The numbers.
    pub detail: String,
}

/// Judges a claim of a figure, as it is shown.
pub fn judge(plan: &Plan, figure: &Figure, shown: &Shown, claim: &Claim) -> Judged {
    let found = look(plan, figure, shown, claim);
    Judged {
        verdict: found.verdict,
        detail: found.detail,
        ours: found.ours,
        cause: Cause::default(),
        experiments: Vec::new(),
    }
}

/// Judges claim `number` of figure `index`; one that fails with its experiments: what it fails for, where one of them
/// shows it.
pub fn explained(results: &Results, index: usize, number: usize, shown: &Shown) -> Judged {
    let plan = results.plan();
    let figure = &plan.study.figures[index];
    let claim = &figure.claims[number];
    let found = look(plan, figure, shown, claim);
    let variants = match found.verdict {
        Verdict::Fails => plan.experiments(index, number),
        _ => &[],
    };
    let looked: Vec<Looked> = variants
        .iter()
        .map(|variant| {
            let shown = results.figure_under(index, Some(variant));
            look(plan, figure, &shown, claim)
        })
        .collect();
    let outlooks = variants
        .iter()
        .zip(&looked)
        .map(|(variant, looked)| Outlook {
            name: &variant.name,
            title: &variant.title,
            whole: variant.whole,
            verdict: looked.verdict,
            gap: looked.gap,
        });
    let outlooks: Vec<Outlook> = outlooks.collect();
    let cause = cause(claim, found.verdict, found.gap, &outlooks);
    let tried = variants.iter().zip(&looked).map(|(variant, looked)| Tried {
        title: variant.title.clone(),
        verdict: looked.verdict,
        detail: looked.detail.clone(),
    });
    Judged {
        experiments: tried.collect(),
        verdict: found.verdict,
        detail: found.detail,
        ours: found.ours,
        cause,
    }
}

/// What became of a claim, alone.
struct Looked {
    verdict: Verdict,
    detail: String,
    ours: Option<Measured>,
    /// By how much it fails, in the best and in the worst repeat.
    gap: (f64, f64),
}

impl From<(Verdict, String)> for Looked {
    fn from((verdict, detail): (Verdict, String)) -> Looked {
        Looked {
            verdict,
            detail,
            ours: None,
            gap: (f64::INFINITY, f64::INFINITY),
        }
    }
}

fn look(plan: &Plan, figure: &Figure, shown: &Shown, claim: &Claim) -> Looked {
    if let Some(reason) = &claim.untested {
        return untested(reason.clone());
    }
    let Some(chain) = &claim.chain else {
        return untested("nothing says how to test it".into());
    };
    if let Some(name) = &shown.lacking {
        return untested(format!("this build has no statistic `{name}`"));
    }
    if let Some((here, own)) = plan.too_small() {
        return untested(format!(
            "size {here} is too small: the study is of size {own}"
        ));
    }
    let view = View {
        plan,
        figure,
        shown,
        claim,
        chain: &chain.value,
        layer: layer(figure, claim),
    };
    if let Some(name) = view.unknown() {
        return untested(format!("this build has no configuration `{name}`"));
    }
    match &claim.on {
        On::Mean | On::Best | On::Worst => judge_summary(&view),
        On::Every => judge_rows(&view, &view.rows(), Which::Every),
        On::Some => judge_rows(&view, &view.rows(), Which::Some),
        On::Count(wanted) => count::judge(&view, wanted).into(),
        On::Workloads(names) => {
            let name = |r: &Row| plan.subjects.name(r.subject);
            let named = |r: &&Row| names.iter().any(|n| n.value == name(r));
            let rows: Vec<&Row> = view.rows().into_iter().filter(named).collect();
            // One that no group of the figure has was not measured either.
            let there = |n: &str| rows.iter().any(|r| name(r) == n);
            let absent = names.iter().map(|n| n.value.as_str());
            let absent: Vec<&str> = absent.filter(|n| !there(n)).collect();
            match (rows.is_empty(), absent.first()) {
                (false, Some(name)) => {
                    let looked = judge_rows(&view, &rows, Which::Each);
                    match looked.verdict {
                        Verdict::Fails => looked,
                        _ => untested(format!("`{name}` is not in the figure. {}", looked.detail)),
                    }
                }
                _ => judge_rows(&view, &rows, Which::Each),
            }
        }
    }
}

fn untested(detail: String) -> Looked {
    (Verdict::Untested, detail).into()
}

/// The number of the layer a claim is about; none for a whole stack.
fn layer(figure: &Figure, claim: &Claim) -> Option<usize> {
    match (&figure.shape, &claim.part) {
        (Shape::Bars { .. }, _) => Some(0),
        (Shape::Stack { parts }, Some(part)) => parts.iter().position(|p| p.title == part.value),
        (Shape::Stack { .. }, None) => None,
    }
}

/// Judges a claim by averages, or by the best or worst workload.
fn judge_summary(view: &View) -> Looked {
    let all = view.rows();
    let rows = view.common(&all);
    if rows.is_empty() {
        return untested("no workload has all the values it needs".into());
    }
    let left_out = all
        .iter()
        .filter(|r| view.plan.subjects.left_out(r.subject));
    let left_out = left_out.count();
    let Some(repeats) = rows.iter().map(|r| view.repeats(r)).min() else {
        return untested("no workload has all the values it needs".into());
    };
    let term = |term: &Term| -> Option<Vec<f64>> {
        let value = |repeat: usize| match term {
            Term::Number(n) => Some(*n),
            Term::Configuration(name) => view.summary(&rows, name, repeat),
            Term::Quotient(a, b) => quotient(
                view.summary(&rows, a, repeat)?,
                view.summary(&rows, b, repeat)?,
            ),
        };
        (0..repeats).map(value).collect()
    };
    let values: Option<Vec<Vec<f64>>> = view.chain.terms().map(term).collect();
    let Some(values) = values else {
        return untested("the average is undefined for these values".into());
    };
    let what = match view.claim.on {
        On::Best => "best".to_string(),
        On::Worst => "worst".to_string(),
        _ => words::mean(view.figure.mean).to_string(),
    };
    let over = words::over(rows.len(), view.of());
    let alike = rows.iter().filter(|r| view.alike(r)).count();
    let outcome = Outcome {
        identical: alike == rows.len(),
        ..Outcome::of(view.chain, &values, view.claim.within)
    };
    let mut detail = format!("{} ({what} {over})", view.listed(&values));
    detail += &repeats_text(&outcome);
    if outcome.identical {
        detail += "; the runs are identical in every statistic";
    } else if alike > 0 {
        let all = rows.len();
        detail += &format!("; on {alike} of {all} the runs are identical in every statistic");
    }
    if left_out > 0 {
        let all = all.len();
        return untested(format!(
            "{detail}; {left_out} of the {all} workloads were left out, and it is about all of them"
        ));
    }
    Looked {
        verdict: outcome.verdict(),
        detail,
        ours: view.ours(&values).map(|ours| Measured {
            behind: view.behind(&rows),
            ..ours
        }),
        gap: outcome.gap,
    }
}

/// In how many repeats a claim holds, when they disagree.
fn repeats_text(outcome: &Outcome) -> String {
    match outcome.verdict() {
        Verdict::Scatter => format!(
            "; it holds in {} of {} repeats",
            outcome.holds, outcome.repeats
        ),
        _ => String::new(),
    }
}

impl Chain {
    /// Pairs of neighbours: what is compared.
    fn pairs(&self) -> impl Iterator<Item = (&Term, &Term)> {
        self.terms().zip(self.terms().skip(1))
    }
}
