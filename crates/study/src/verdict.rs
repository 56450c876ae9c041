//! Whether a paper's claims hold here.

use crate::evaluate::{Cell, Row, Shown, average};
use crate::format::{ALL, Chain, Claim, Figure, On, Order, Shape, Term};
use crate::plan::Plan;
use crate::words;

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// Something it needs was not measured.
    Open,
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "does not hold",
            Verdict::Open => "not measured",
        }
    }
}

/// A claim, looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What became of it.
    pub verdict: Verdict,
    /// The numbers it was judged by.
    pub detail: String,
}

/// Judges a claim of a figure.
pub fn judge(plan: &Plan, figure: &Figure, shown: &Shown, claim: &Claim) -> Judged {
    if let Some(name) = &shown.lacking {
        return open(format!("this build has no statistic `{name}`"));
    }
    let view = View {
        plan,
        figure,
        shown,
        layer: layer(figure, claim),
    };
    if let Some(name) = view.unknown(&claim.chain.value) {
        return open(format!("this build has no configuration `{name}`"));
    }
    match &claim.on {
        On::Mean | On::Best | On::Worst => view.judge_summary(claim),
        On::Every => view.judge_rows(claim, &view.rows(claim), true),
        On::Some => view.judge_rows(claim, &view.rows(claim), false),
        On::Workloads(names) => {
            let named = |r: &&Row| {
                let name = plan.subjects.name(r.subject);
                names.iter().any(|n| n.value == name)
            };
            let rows: Vec<&Row> = view.rows(claim).into_iter().filter(named).collect();
            view.judge_rows(claim, &rows, true)
        }
    }
}

fn open(detail: String) -> Judged {
    Judged {
        verdict: Verdict::Open,
        detail,
    }
}

/// The number of the layer a claim is about; none for a whole stack.
fn layer(figure: &Figure, claim: &Claim) -> Option<usize> {
    match (&figure.shape, &claim.part) {
        (Shape::Bars { .. }, _) => Some(0),
        (Shape::Stack { parts }, Some(part)) => parts.iter().position(|p| p.title == part.value),
        (Shape::Stack { .. }, None) => None,
    }
}

struct View<'a> {
    plan: &'a Plan,
    figure: &'a Figure,
    shown: &'a Shown,
    layer: Option<usize>,
}

impl View<'_> {
    /// A configuration that has no machine.
    fn unknown<'c>(&self, chain: &'c Chain) -> Option<&'c str> {
        let there = |name: &str| self.plan.setups[self.plan.setup(name)].machine.is_some();
        chain.names().find(|name| !there(name))
    }

    fn column(&self, name: &str) -> Option<usize> {
        let named = |&setup: &usize| self.plan.setups[setup].name == name;
        self.shown.setups.iter().position(named)
    }

    fn rows(&self, claim: &Claim) -> Vec<&Row> {
        let group = claim.group.as_ref().map_or(ALL, |g| &g.value);
        let rows = self.shown.rows.iter();
        rows.filter(|r| group == ALL || r.group == group).collect()
    }

    fn value(&self, row: &Row, name: &str) -> Option<f64> {
        // What everything is normalised to need not be shown: it is 1.
        let base = self.figure.normalise.as_ref();
        if base.is_some_and(|b| b.value == name) && self.column(name).is_none() {
            return Some(1.0);
        }
        let cell: &Cell = &row.cells[self.column(name)?];
        match self.layer {
            Some(layer) => cell.layer(layer),
            None => cell.total(),
        }
    }

    /// What a term is on one workload.
    fn on_row(&self, row: &Row, term: &Term) -> Option<f64> {
        match term {
            Term::Number(n) => Some(*n),
            Term::Configuration(name) => self.value(row, name),
            Term::Quotient(a, b) => quotient(self.value(row, a)?, self.value(row, b)?),
        }
    }

    /// The workloads on which everything the claim names has a value.
    fn common<'r>(&self, rows: &[&'r Row], chain: &Chain) -> Vec<&'r Row> {
        let complete = |r: &&&Row| chain.names().all(|n| self.value(r, n).is_some());
        rows.iter().filter(complete).copied().collect()
    }

    fn judge_summary(&self, claim: &Claim) -> Judged {
        let chain = &claim.chain.value;
        let rows = self.common(&self.rows(claim), chain);
        if rows.is_empty() {
            return open("no workload has all the values it needs".into());
        }
        let summary = |name: &str| {
            let values: Option<Vec<f64>> = rows.iter().map(|r| self.value(r, name)).collect();
            let values = values?;
            match claim.on {
                On::Best => values.into_iter().reduce(f64::max),
                On::Worst => values.into_iter().reduce(f64::min),
                _ => average(self.figure.mean, &values),
            }
        };
        let value = |term: &Term| match term {
            Term::Number(n) => Some(*n),
            Term::Configuration(name) => summary(name),
            Term::Quotient(a, b) => quotient(summary(a)?, summary(b)?),
        };
        let values: Option<Vec<f64>> = chain.terms().map(value).collect();
        let Some(values) = values else {
            return open("the average is undefined for these values".into());
        };
        let what = match claim.on {
            On::Best => "best".to_string(),
            On::Worst => "worst".to_string(),
            _ => words::mean(self.figure.mean).to_string(),
        };
        let over = words::over(rows.len(), self.of(claim));
        Judged {
            verdict: verdict(holds(chain, &values, claim.within)),
            detail: format!("{} ({what} {over})", self.listed(chain, &values)),
        }
    }

    /// How many workloads the paper has where the claim is looked at.
    fn of(&self, claim: &Claim) -> usize {
        let of = |g: &str| self.plan.subjects.of(g);
        match &claim.group {
            Some(group) if group.value != ALL => of(&group.value),
            _ => self.figure.groups.iter().map(|g| of(&g.value)).sum(),
        }
    }

    fn listed(&self, chain: &Chain, values: &[f64]) -> String {
        let one = |(term, value): (&Term, &f64)| match term {
            // The claim says it itself.
            Term::Number(_) => None,
            Term::Configuration(name) => {
                let value = words::value(self.figure.display, *value);
                Some(format!("{name} {value}"))
            }
            Term::Quotient(a, b) => Some(format!("{a} / {b} {value:.3}")),
        };
        let all: Vec<String> = chain.terms().zip(values).filter_map(one).collect();
        all.join(", ")
    }

    fn judge_rows(&self, claim: &Claim, rows: &[&Row], every: bool) -> Judged {
        let chain = &claim.chain.value;
        let measured = self.common(rows, chain);
        if measured.is_empty() {
            return open("no workload it names has all the values it needs".into());
        }
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for row in &measured {
            let label = self.plan.subjects.label(row.subject);
            let values: Option<Vec<f64>> = chain.terms().map(|t| self.on_row(row, t)).collect();
            let Some(values) = values else {
                continue;
            };
            let text = format!("{label}: {}", self.listed(chain, &values));
            if holds(chain, &values, claim.within) {
                good.push(text);
            } else {
                bad.push(text);
            }
        }
        let fulfilled = if every {
            bad.is_empty()
        } else {
            !good.is_empty()
        };
        let shown = if fulfilled { &good } else { &bad };
        let mut detail = shown.iter().take(4).cloned().collect::<Vec<_>>().join("; ");
        if shown.len() > 4 {
            detail += &format!("; and {} more", shown.len() - 4);
        }
        let (all, unmeasured) = (rows.len(), rows.len() - measured.len());
        if !fulfilled || !every {
            detail = format!("{} of {all} workloads. {detail}", shown.len());
        }
        if unmeasured > 0 {
            detail += &format!(" ({unmeasured} of {all} not measured)");
        }
        Judged {
            verdict: verdict(fulfilled),
            detail,
        }
    }
}

fn verdict(holds: bool) -> Verdict {
    if holds {
        Verdict::Holds
    } else {
        Verdict::Fails
    }
}

fn quotient(a: f64, b: f64) -> Option<f64> {
    (b != 0.0).then_some(a / b)
}

/// Whether every comparison of a chain holds; `~` allows a relative difference.
fn holds(chain: &Chain, values: &[f64], within: f64) -> bool {
    let pairs = values.windows(2);
    pairs.zip(&chain.rest).all(|(pair, (order, _))| {
        let (a, b) = (pair[0], pair[1]);
        match order {
            Order::Above => a > b,
            Order::NotBelow => a >= b,
            Order::Below => a < b,
            Order::NotAbove => a <= b,
            Order::About => (a - b).abs() <= within * a.abs().max(b.abs()),
        }
    })
}
