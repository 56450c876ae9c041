//! The claims, figure by figure: those that hold, then the others.

use super::Report;
use crate::format::{Claim, Figure};
use crate::verdict::{Judged, Verdict};
use maud::{Markup, html};

impl Report<'_> {
    pub(super) fn claim_section(&self) -> Markup {
        let figures = self.results.plan().study.figures.iter().zip(self.figures);
        let figures: Vec<_> = figures
            .filter(|(_, (_, judged))| !judged.is_empty())
            .collect();
        html! {
            @if !figures.is_empty() {
                section id="claims" {
                    h2 { "Claims" }
                    p class="note" {
                        "A cause (\u{201c}why\u{201d}) stands beside a claim that fails where an experiment of this study, \
                         repeated as often, shows it: with the change the claim holds, or half of the difference is gone."
                    }
                    @for (figure, (_, judged)) in figures {
                        (of_figure(figure, judged))
                    }
                }
                "\n"
            }
        }
    }
}

fn of_figure(figure: &Figure, judged: &[Judged]) -> Markup {
    let all = || figure.claims.iter().zip(judged);
    let held = |j: &Judged| j.verdict == Verdict::Holds;
    let sorted = all().filter(|(_, j)| held(j));
    let sorted = sorted.chain(all().filter(|(_, j)| !held(j)));
    html! {
        h3 {
            a href={ "#" (figure.id.value) } {
                @if figure.number.is_empty() { (figure.title) } @else { (figure.number) }
            }
            " " small { (counted(judged)) }
        }
        ul class="claims" {
            @for (claim, judged) in sorted {
                (item(claim, judged))
            }
        }
    }
}

/// How many hold of those that were tested.
fn counted(judged: &[Judged]) -> String {
    let of = |verdict: Verdict| judged.iter().filter(|j| j.verdict == verdict).count();
    let (held, untested) = (of(Verdict::Holds), of(Verdict::Untested));
    match (judged.len() - untested, untested) {
        (0, _) => "not tested".into(),
        (tested, 0) => format!("{held} of {tested} hold"),
        (tested, _) => format!("{held} of {tested} hold, {untested} not tested"),
    }
}

fn item(claim: &Claim, judged: &Judged) -> Markup {
    html! {
        li class=(class(judged.verdict)) {
            span {
                (claim.text) " "
                em { (claim.kind.name()) } " "
                i title=(meaning(judged.verdict)) { (judged.verdict.name()) }
                @if let Some(paper) = &claim.paper {
                    small { b { "The paper:" } " " (paper) }
                }
                small { (judged.detail) }
                @if let Some(cause) = judged.cause.text() {
                    small { b { "Why:" } " " (cause) }
                }
                @for tried in &judged.experiments {
                    small class="experiment" {
                        b { "With " (tried.title) ": " (tried.verdict.name()) "." }
                        " " (tried.detail)
                    }
                }
                @for changed in &claim.changed {
                    small class="changed" {
                        b { "Changed after results were seen:" } " " (changed)
                    }
                }
            }
        }
    }
}

/// The class of a claim's list item.
pub(super) fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Fails => "fails",
        Verdict::Scatter => "scatter",
        Verdict::Untested => "untested",
        Verdict::Vacuous => "vacuous",
    }
}

/// What a verdict means.
pub(super) fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "true in every repeat",
        Verdict::Fails => "not true in any repeat, as a whole or for one of what it names",
        Verdict::Scatter => "true in some repeats and not in others",
        Verdict::Untested => "not looked at: something is missing, or the study says why not",
        Verdict::Vacuous => "what it compares ran the same to the last byte of its statistics",
    }
}
