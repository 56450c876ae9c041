//! The top of the report: what it is, and what was learned.

use super::Report;
use crate::format::{Figure, SIZES};
use crate::output::asserted::{Asserted, asserted};
use crate::output::learned::{self, Headline};
use crate::verdict::{Tally, Verdict};
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
                    span { b { (self.results.runs()) } " runs" }
                    span { b { (configurations) } " configurations" }
                    span { b { (plan.repeats) } @if plan.repeats == 1 { " repeat" } @else { " repeats" } }
                }
            }
            "\n"
        }
    }

    pub(super) fn summary(&self) -> Markup {
        let plan = self.results.plan();
        let headlines = learned::headlines(self.results, self.figures);
        let claims = self.figures.iter().any(|(_, j)| !j.is_empty());
        html! {
            section id="summary" {
                h2 { "What was learned" }
                @for sentence in learned::sentences(self.results, self.figures, &headlines) {
                    p { (sentence) }
                }
                @match asserted(self.results, self.figures).as_slice() {
                    [] => (self.headline_table(&learned::listed(&headlines))),
                    claims => (asserted_table(claims)),
                }
                (self.kinds())
                @if let (true, Some(own)) = (claims, plan.foreign_size()) {
                    p class="note" {
                        "The study asks for size " b { (own) } ": at this one an SM may hold \
                         other numbers of blocks, and claims can come out otherwise. Experiments that \
                         give sizes of their own do not run."
                    }
                }
                (self.contents())
                @if !plan.missing.is_empty() {
                    details class="missing" {
                        summary {
                            (plan.missing.len()) " things the study names are not in this build"
                        }
                        ul {
                            @for line in &plan.missing {
                                li { (line) }
                            }
                        }
                    }
                }
            }
            "\n"
        }
    }

    /// The averages that matter: the paper's, ours, and how far repeats lie apart.
    fn headline_table(&self, headlines: &[&Headline]) -> Markup {
        let printed = headlines.iter().any(|h| h.paper.is_some());
        let repeated = headlines.iter().any(|h| h.spread().is_some());
        let behind = headlines.iter().any(|h| h.behind.is_some());
        let open = headlines.iter().any(|h| !h.ranges.is_empty());
        // The figure's title stands on the first of its lines.
        let begins = |i: usize| {
            let before = i.checked_sub(1).map(|b| headlines[b]);
            let here = headlines[i];
            before.is_none_or(|b| b.figure.id.value != here.figure.id.value || b.over != here.over)
        };
        html! {
            @if !headlines.is_empty() {
                div class="wide" {
                    table class="headlines" {
                        thead {
                            tr {
                                th {}
                                th {}
                                @if printed { th { "the paper" } }
                                th { "ours" }
                                @if behind { th { "median" } th { "worst workload" } }
                                @if repeated { th { "lowest to highest repeat" } }
                                @if open { th { "range over what the paper leaves open" } }
                            }
                        }
                        tbody {
                            @for (i, headline) in headlines.iter().enumerate() {
                                tr class=[begins(i).then_some("first")] {
                                    th {
                                        @if begins(i) {
                                            a href={ "#" (headline.figure.id.value) } {
                                                (learned::titled(headline.figure))
                                            }
                                            small { (headline.over) }
                                        }
                                    }
                                    th { (headline.title) }
                                    @if printed {
                                        td { @if let Some(paper) = headline.paper { (headline.text(paper)) } }
                                    }
                                    td { b { (headline.text(headline.ours.total())) } }
                                    @if behind {
                                        @let told = headline.behind.as_ref();
                                        td { @if let Some(told) = told { (told.median) } }
                                        td { @if let Some(told) = told { (told.worst) } }
                                    }
                                    @if repeated { td { (headline.spread().unwrap_or_default()) } }
                                    @if open { td { (headline.open().join("; ")) } }
                                }
                                "\n"
                            }
                        }
                    }
                }
            }
        }
    }

    /// Claims by kind and verdict.
    fn kinds(&self) -> Markup {
        let plan = self.results.plan();
        let kinds = Tally::by_kind(&plan.study, self.figures);
        let possible = Verdict::possible(plan.repeats);
        html! {
            @if !kinds.is_empty() && plan.too_small().is_none() {
                div class="wide" {
                    table class="kinds" {
                        thead {
                            tr { th { "claims" } @for verdict in &possible { th { (verdict.name()) } } }
                        }
                        tbody {
                            @for (kind, tally) in kinds {
                                tr {
                                    th { (kind.plural()) }
                                    @for verdict in &possible { td { (tally.of_verdict(*verdict)) } }
                                }
                                "\n"
                            }
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
                            (short(figures, figure))
                        }
                    }
                    @if self.figures.iter().any(|(_, j)| !j.is_empty()) {
                        a href="#claims" { "Claims" }
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

/// The claims that matter: the paper's value, ours, how far repeats lie apart, and why they differ.
fn asserted_table(asserted: &[Asserted]) -> Markup {
    let repeated = asserted.iter().any(|a| !a.spread().is_empty());
    let behind = asserted.iter().any(|a| !a.median().is_empty());
    html! {
        div class="wide" {
            table class="headlines" {
                thead {
                    tr {
                        th {}
                        th { "the paper" }
                        th { "ours" }
                        @if behind { th { "median" } th { "worst workload" } }
                        @if repeated { th { "lowest to highest repeat" } }
                        th {}
                        th class="text" { "why" }
                    }
                }
                tbody {
                    @for headline in asserted {
                        tr class="first" {
                            th { a href={ "#" (headline.figure.id.value) } { (headline.claim.text) } }
                            td { (headline.claim.paper.as_deref().unwrap_or_default()) }
                            td { b { (headline.ours()) } }
                            @if behind {
                                td { (headline.median()) }
                                td { (headline.worst()) }
                            }
                            @if repeated { td { (headline.spread()) } }
                            td { (headline.judged.verdict.name()) }
                            td class="text" { (headline.judged.cause.text().unwrap_or_default()) }
                        }
                        "\n"
                    }
                }
            }
        }
    }
}

/// What a figure is called in a link: its number, unless that says nothing of it.
fn short<'f>(all: &[Figure], figure: &'f Figure) -> &'f str {
    let alike = all.iter().filter(|f| f.number == figure.number).count();
    match figure.number.as_str() {
        "" => &figure.title,
        _ if alike > 1 => &figure.title,
        number => number,
    }
}
