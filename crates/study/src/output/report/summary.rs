//! The top of the report: what it is, and which claims hold.

use super::Report;
use crate::conduct::Tally;
use crate::format::SIZES;
use crate::verdict::Verdict;
use maud::{Markup, html};

impl Report<'_> {
    pub(super) fn head(&self) -> Markup {
        let plan = self.results.plan();
        let study = &plan.study;
        let size = SIZES.iter().find(|(_, s)| *s == plan.size);
        let configurations = plan.setups.iter();
        let configurations = configurations.filter(|s| s.machine.is_some() && s.base.is_none());
        let configurations = configurations.count();
        html! {
            header {
                h1 { (study.title) }
                @if let Some(paper) = &study.paper {
                    p class="paper" { (paper) }
                }
                @if let Some(text) = &study.description {
                    p { (text) }
                }
                p class="facts" {
                    span { "machine " b { (study.machine.value) } }
                    span { "size " b { (size.map_or("", |(name, _)| name)) } }
                    span { b { (plan.runs.len()) } " runs" }
                    span { b { (configurations) } " configurations" }
                    span { b { (plan.repeats) } @if plan.repeats == 1 { " repeat" } @else { " repeats" } }
                }
            }
            "\n"
        }
    }

    pub(super) fn summary(&self) -> Markup {
        let claims = self.figures.iter().any(|(_, j)| !j.is_empty());
        let missing = &self.results.plan().missing;
        html! {
            section id="summary" {
                h2 { "Summary" }
                @if claims {
                    (self.claims())
                    @if let Some(own) = self.results.plan().foreign_size() {
                        p class="note" {
                            "The study asks for size " b { (own) } ": at this one an SM may hold \
                             other numbers of blocks, and claims can come out otherwise. Reasons \
                             below speak of size " (own) "."
                        }
                    }
                }
                (self.contents())
                @if !missing.is_empty() {
                    details class="missing" {
                        summary {
                            (missing.len()) " things the study names are not in this build"
                        }
                        ul {
                            @for line in missing {
                                li { (line) }
                            }
                        }
                    }
                }
            }
            "\n"
        }
    }

    /// How many claims hold, fail and so on, and each with its figure.
    fn claims(&self) -> Markup {
        let figures = &self.results.plan().study.figures;
        html! {
            div class="tiles" {
                @for (verdict, count) in Tally::of(self.figures).counts() {
                    div class={ "tile " (class(verdict)) } title=(meaning(verdict)) {
                        b { (count) }
                        span { (verdict.plural()) }
                    }
                }
            }
            ul class="claims" {
                @for (figure, (_, judged)) in figures.iter().zip(self.figures) {
                    @for (claim, judged) in figure.claims.iter().zip(judged) {
                        li class=(class(judged.verdict)) {
                            span { (claim.text) }
                            a href={ "#" (figure.id.value) } { (figure.number) }
                        }
                    }
                }
            }
        }
    }

    /// Links to the parts, where there are several figures.
    fn contents(&self) -> Markup {
        let figures = &self.results.plan().study.figures;
        html! {
            @if figures.len() > 1 {
                nav {
                    @for figure in figures {
                        a href={ "#" (figure.id.value) } {
                            @if figure.number.is_empty() { (figure.title) } @else { (figure.number) }
                        }
                    }
                    @if !self.timelines.is_empty() {
                        a href="#timelines" { "Timelines" }
                    }
                    a href="#trust" { "How far to trust this" }
                    @if !self.sizes.is_empty() {
                        a href="#sizes" { "Sizes" }
                    }
                    a href="#machines" { "Machines" }
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
