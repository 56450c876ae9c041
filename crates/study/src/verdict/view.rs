//! A figure as a claim sees it.

use super::Measured;
use crate::evaluate::{Cell, Row, Shown};
use crate::format::{ALL, Chain, Claim, Display, Figure, On, Term};
use crate::plan::Plan;
use crate::values::average::average;
use crate::values::behind::{Behind, BehindText};
use crate::values::sample::Sample;
use crate::words;

/// A figure and the claim that is looked at.
pub struct View<'a> {
    pub plan: &'a Plan,
    pub figure: &'a Figure,
    pub shown: &'a Shown,
    pub claim: &'a Claim,
    pub chain: &'a Chain,
    /// The layer it is about; none for whole stacks.
    pub layer: Option<usize>,
}

impl<'a> View<'a> {
    /// A configuration that has no machine.
    pub fn unknown(&self) -> Option<&'a str> {
        let there = |name: &str| self.plan.setups[self.plan.setup(name)].machine.is_some();
        self.chain.names().find(|name| !there(name))
    }

    fn column(&self, name: &str) -> Option<usize> {
        let named = |&setup: &usize| self.plan.setups[setup].name == name;
        self.shown.setups.iter().position(named)
    }

    /// The workloads of the claim's group.
    pub fn rows(&self) -> Vec<&'a Row> {
        let group = self.claim.group.as_ref().map_or(ALL, |g| &g.value);
        let rows = self.shown.rows.iter();
        rows.filter(|r| group == ALL || r.group == group).collect()
    }

    /// Whether the paper says the opposite of a workload.
    pub fn excepted(&self, row: &Row) -> bool {
        let name = self.plan.subjects.name(row.subject);
        self.claim.except.iter().any(|n| n.value == name)
    }

    /// The repeats that every configuration of the claim has on a workload.
    pub fn repeats(&self, row: &Row) -> usize {
        let cells = row.cells.iter().filter_map(|c| c.values(None));
        cells.map(|v| v.len()).min().unwrap_or(0)
    }

    /// What a configuration has on a workload in each repeat.
    fn value(&self, row: &Row, name: &str) -> Option<Vec<f64>> {
        match self.column(name) {
            Some(column) => {
                let cell: &Cell = &row.cells[column];
                cell.values(self.layer)
            }
            // What everything is normalised to need not be shown: it is 1.
            None => Some(vec![1.0; self.repeats(row)]),
        }
    }

    /// What a term is on one workload, in each repeat.
    pub fn on_row(&self, row: &Row, term: &Term) -> Option<Vec<f64>> {
        match term {
            Term::Number(n) => Some(vec![*n; self.repeats(row)]),
            Term::Configuration(name) => self.value(row, name),
            Term::Quotient(a, b) => {
                let (a, b) = (self.value(row, a)?, self.value(row, b)?);
                a.into_iter().zip(b).map(|(a, b)| quotient(a, b)).collect()
            }
        }
    }

    /// A configuration's average, best or worst in a repeat.
    pub fn summary(&self, rows: &[&Row], name: &str, repeat: usize) -> Option<f64> {
        let value = |r: &&Row| self.value(r, name)?.get(repeat).copied();
        let values: Vec<f64> = rows.iter().map(value).collect::<Option<_>>()?;
        match self.claim.on {
            On::Best | On::Worst => {
                let largest = (self.claim.on == On::Best) == self.figure.more.unwrap_or(true);
                values
                    .into_iter()
                    .reduce(if largest { f64::max } else { f64::min })
            }
            _ => average(self.figure.mean, &values),
        }
    }

    /// The workloads on which everything the claim names has a value.
    pub fn common(&self, rows: &[&'a Row]) -> Vec<&'a Row> {
        let complete = |r: &&&Row| {
            let named = self.chain.names().all(|n| self.value(r, n).is_some());
            named && self.repeats(r) > 0
        };
        rows.iter().filter(complete).copied().collect()
    }

    /// Whether every comparison of the claim is between runs that did the same on a workload.
    pub fn alike(&self, row: &Row) -> bool {
        self.chain.pairs().all(|(a, b)| self.pair_alike(row, a, b))
    }

    fn pair_alike(&self, row: &Row, a: &Term, b: &Term) -> bool {
        let mut prints = Vec::new();
        let mut names = Vec::new();
        for term in [a, b] {
            match term {
                Term::Configuration(name) => names.push(name.as_str()),
                Term::Quotient(above, below) => names.extend([above.as_str(), below.as_str()]),
                // In a normalised figure a number is so much of the base.
                Term::Number(_) if self.figure.normalise.is_some() => {
                    prints.push(row.base_print.as_deref());
                }
                Term::Number(_) => {}
            }
        }
        for name in names {
            prints.push(match self.column(name) {
                Some(column) => row.prints[column].as_deref(),
                None => row.base_print.as_deref(),
            });
        }
        prints.len() > 1 && prints[0].is_some() && prints.iter().all(|p| *p == prints[0])
    }

    /// How many workloads the paper has where the claim is looked at.
    pub fn of(&self) -> usize {
        let of = |g: &str| self.plan.subjects.of(g);
        match &self.claim.group {
            Some(group) if group.value != ALL => of(&group.value),
            _ => self.figure.groups.iter().map(|g| of(&g.value)).sum(),
        }
    }

    /// What a claim is about: the value of its one term that is no number, or all of its values.
    pub fn ours(&self, all: &[Vec<f64>]) -> Option<Measured> {
        let mut terms = self.chain.terms().zip(all);
        let named = |(term, _): &(&Term, &Vec<f64>)| self.measured(term);
        let (term, values) = terms.by_ref().find(named)?;
        if terms.any(|t| named(&t)) {
            return Some(Measured {
                value: self.listed(all),
                spread: None,
                behind: None,
            });
        }
        let sample = Sample::of(values.clone())?;
        let text = |v: f64| words::value(self.display(term), v);
        let (low, high) = sample.range();
        let ends = || format!("{} to {}", text(low), text(high));
        Some(Measured {
            value: text(sample.total()),
            spread: (sample.count() > 1).then(ends),
            behind: None,
        })
    }

    /// Whether a term is about something that was measured, and not 1 by definition.
    fn measured(&self, term: &Term) -> bool {
        match term {
            Term::Number(_) => false,
            Term::Configuration(name) => self.column(name).is_some(),
            Term::Quotient(..) => true,
        }
    }

    fn display(&self, term: &Term) -> Display {
        match (term, self.figure.display) {
            (Term::Quotient(..), Display::Change) => Display::Change,
            (Term::Quotient(..), _) => Display::Ratio,
            (_, display) => display,
        }
    }

    /// The median and the worst of workloads over which a claim takes means; of several terms each after its name.
    pub fn behind(&self, rows: &[&Row]) -> Option<BehindText> {
        if self.claim.on != On::Mean {
            return None;
        }
        let mut told: Vec<(String, BehindText)> = Vec::new();
        for term in self.chain.terms().filter(|t| self.measured(t)) {
            let value = |row: &&Row| Some((row.subject, Sample::of(self.on_row(row, term)?)?));
            let values = rows.iter().filter_map(value);
            let values: Vec<(usize, f64)> = values.map(|(s, v)| (s, v.total())).collect();
            let behind = Behind::of(&values, self.figure.more)?;
            let title = match term {
                Term::Configuration(name) => name.clone(),
                Term::Quotient(a, b) => format!("{a} / {b}"),
                Term::Number(_) => continue,
            };
            if told.iter().all(|(before, _)| *before != title) {
                let name = |subject| self.plan.subjects.name(subject);
                told.push((title, behind.text(self.display(term), name)));
            }
        }
        if told.len() < 2 {
            return told.pop().map(|(_, text)| text);
        }
        let all = |of: fn(&BehindText) -> &String| {
            let there = told.iter().filter(|(_, b)| !of(b).is_empty());
            let each = there.map(|(title, b)| format!("{title} {}", of(b)));
            each.collect::<Vec<_>>().join(", ")
        };
        Some(BehindText {
            median: all(|b| &b.median),
            worst: all(|b| &b.worst),
        })
    }

    /// The terms with their values, averaged over the repeats.
    pub fn listed(&self, values: &[Vec<f64>]) -> String {
        let one = |(term, values): (&Term, &Vec<f64>)| {
            let sample = Sample::of(values.clone())?;
            match term {
                // The claim says it itself.
                Term::Number(_) => None,
                // What everything is normalised to is 1 by definition.
                Term::Configuration(name) if self.column(name).is_none() => None,
                Term::Configuration(name) => {
                    let value = words::sample(self.figure.display, &sample);
                    Some(format!("{name} {value}"))
                }
                Term::Quotient(a, b) => {
                    let value = words::sample(crate::format::Display::Ratio, &sample);
                    Some(format!("{a} / {b} {value}"))
                }
            }
        };
        let mut all: Vec<String> = Vec::new();
        // A chain may come back to a configuration.
        for text in self.chain.terms().zip(values).filter_map(one) {
            if !all.contains(&text) {
                all.push(text);
            }
        }
        all.join(", ")
    }
}

/// One over another; none of nothing.
pub fn quotient(a: f64, b: f64) -> Option<f64> {
    (b != 0.0).then_some(a / b)
}
