//! How far to trust this: repeats, sizes, what was changed after the fact, and how averages move with
//! settings.

use super::Report;
use super::claims::{class, meaning};
use crate::format::Vary;
use crate::output::beside::{SIZE_TITLES, sensitivity_label, sensitivity_title, size_line};
use crate::values::sensitivity;
use crate::values::sizes::{ENOUGH_WAVES, KernelSize, MATTERS, MOST_IDLE};
use crate::verdict::Verdict;
use crate::words;
use maud::{Markup, html};
use warpsim_present::mangled::shown;

impl Report<'_> {
    pub(super) fn trust_section(&self) -> Markup {
        html! {
            section id="trust" {
                h2 { "How far to trust this" }
                (self.repeats_told())
                (self.sizes_told())
                (self.changes_told())
                (self.sensitivity_tables())
            }
            "\n"
        }
    }

    /// What differs between repeats.
    fn repeats_told(&self) -> Markup {
        let plan = self.results.plan();
        let n = plan.repeats;
        let count = |vary: Vary| {
            let all = 0..plan.subjects.len();
            let there = all.filter(|s| plan.subjects.program(*s).is_some());
            there.filter(|s| plan.vary(*s) == vary).count()
        };
        let kinds = [
            (
                Vary::Both,
                "the seed of the input and a setting of the machine",
            ),
            (Vary::Seed, "the seed of the input"),
            (Vary::Machine, "a setting of the machine"),
        ];
        let kinds: Vec<(usize, &str)> = kinds
            .into_iter()
            .map(|(vary, text)| (count(vary), text))
            .filter(|(count, _)| *count > 0)
            .collect();
        let varied = self.example();
        html! {
            @if n == 1 {
                p {
                    "Everything ran once: nothing here says how much is scatter. "
                    code { "--repeats 3" } " does."
                }
            } @else {
                p {
                    "Everything ran " (n) " times, each time with another "
                    @for (i, (count, text)) in kinds.iter().enumerate() {
                        @if i > 0 { "; " }
                        (text.trim_start_matches("the ").trim_start_matches("a "))
                        " (" (count) @if *count == 1 { " workload)" } @else { " workloads)" }
                    }
                    @if !varied.is_empty() {
                        ": " @for (i, text) in varied.iter().enumerate() {
                            @if i > 0 { ", " }
                            @if text.is_empty() { "as it is" } @else { code { (text) } }
                        }
                    }
                    ". Values are averages over the repeats, normalised and averaged over workloads \
                     repeat by repeat. The mark on a bar goes from the lowest to the highest repeat; "
                    "\u{b1} is the distance to the farther of them."
                }
            }
            @if self.figures.iter().any(|(_, judged)| !judged.is_empty()) {
                dl class="verdicts" {
                    @for verdict in Verdict::possible(n) {
                        dt class=(class(verdict)) { (verdict.name()) }
                        dd { (meaning(verdict)) }
                    }
                }
            }
        }
    }

    /// What the repeats of the first workload change.
    fn example(&self) -> Vec<&str> {
        let plan = self.results.plan();
        let first = plan.pairs().into_iter().next();
        let runs = first.into_iter().flat_map(|(w, c)| plan.repeats(w, c));
        runs.map(|r| r.varied.as_str()).collect()
    }

    fn sizes_told(&self) -> Markup {
        let small: Vec<&KernelSize> = self.sizes.iter().filter(|s| s.too_small()).collect();
        let waived: Vec<&KernelSize> = self.sizes.iter().filter(|s| s.waived.is_some()).collect();
        let name = |s: &KernelSize| {
            let subjects = &self.results.plan().subjects;
            subjects.workload_label(s.subject).to_string()
        };
        let mut names: Vec<String> = small.iter().map(|s| name(s)).collect();
        names.dedup();
        html! {
            @if !self.sizes.is_empty() {
                p {
                    "With fewer than " (ENOUGH_WAVES) " waves of blocks, or more than "
                    (MOST_IDLE * 100.0) "% of SM-cycles without a resident warp, the last blocks \
                     decide how long a launch takes. "
                    @if names.is_empty() {
                        "Every kernel with " (MATTERS * 100.0) "% or more of its workload's cycles \
                         is above that"
                    } @else {
                        "That is so of " (names.join(", "))
                    }
                    " (" a href="#sizes" { "sizes" } ")."
                }
                @if !waived.is_empty() {
                    ul {
                        @for size in waived {
                            li {
                                (name(size)) ", " code { (shown(&size.kernel)) } ", has few blocks as the \
                                 paper's: " (size.waived.as_deref().unwrap_or_default())
                            }
                        }
                    }
                }
            }
        }
    }

    fn changes_told(&self) -> Markup {
        let study = &self.results.plan().study;
        let claims = study.figures.iter().flat_map(|f| &f.claims);
        let claims: Vec<(&str, &str)> = claims
            .flat_map(|c| c.changed.iter().map(|t| (c.text.as_str(), t.as_str())))
            .collect();
        html! {
            @if !study.changed.is_empty() || !claims.is_empty() {
                h3 { "Changed after results were seen" }
                ul class="changes" {
                    @for text in &study.changed {
                        li { (text) }
                    }
                    @for (claim, text) in claims {
                        li { (text) small { " (" (claim) ")" } }
                    }
                }
            }
        }
    }

    fn sensitivity_tables(&self) -> Markup {
        let plan = self.results.plan();
        html! {
            @for (table, wanted) in plan.sensitivities.iter().zip(&plan.study.sensitivities) {
                @let figure = &plan.study.figures[table.figure];
                h3 { "Sensitivity of " (sensitivity_title(self.results, figure, &table.group)) }
                div class="wide" {
                    table class="sensitivity" {
                        thead {
                            tr {
                                th {}
                                @for &setup in &table.setups {
                                    th { (plan.setups[setup].title) }
                                }
                            }
                        }
                        tbody {
                            @for line in sensitivity::lines(self.results, table) {
                                tr {
                                    th { (sensitivity_label(&line)) }
                                    @for mean in &line.means {
                                        td {
                                            @match mean {
                                                Some(sample) => (words::sample(figure.display, sample)),
                                                None => "\u{2013}",
                                            }
                                        }
                                    }
                                }
                                "\n"
                            }
                        }
                    }
                }
                @if let Some(note) = &wanted.note {
                    p class="note" { (note) }
                }
            }
        }
    }

    /// Waves of blocks and idle SMs of every kernel.
    pub(super) fn size_section(&self) -> Markup {
        html! {
            @if !self.sizes.is_empty() {
                section id="sizes" {
                    h2 { "Sizes" }
                    p class="note" {
                        "Under the first configuration, first repeat. Waves: blocks over what all SMs \
                         hold at once. Idle: SM-cycles without a resident warp."
                    }
                    div class="wide" {
                        table {
                            thead { tr { @for title in SIZE_TITLES { th { (title) } } } }
                            tbody {
                                @for size in self.sizes {
                                    @let [title, kernel, cells @ ..] = size_line(self.results, size);
                                    tr class=[size.too_small().then_some("small")] {
                                        th { (title) }
                                        th { (kernel) }
                                        @for cell in cells { td { (cell) } }
                                    }
                                    "\n"
                                }
                            }
                        }
                    }
                }
                "\n"
            }
        }
    }
}
