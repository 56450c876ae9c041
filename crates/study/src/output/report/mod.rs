//! `report.html`: one file with everything, which needs nothing else to open.
//!
//! Written with `maud`, which escapes every text: only what was made as markup ([`PreEscaped`]: the
//! pictures, the style, the script and its data) goes in as it is.

mod claims;
mod figures;
mod machines;
mod summary;
mod trade_offs;
mod trust;

use crate::evaluate::{Results, Shown};
use crate::output::timeline;
use crate::values::sizes::KernelSize;
use crate::values::trade_off::Traded;
use crate::verdict::Judged;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;
use warpsim_present::palette;

/// What a report is made of.
pub struct Report<'a> {
    /// The results.
    pub results: &'a Results<'a>,
    /// Every figure with its claims judged.
    pub figures: &'a [(Shown, Vec<Judged>)],
    /// Waves and idle SMs of every workload's kernels.
    pub sizes: &'a [KernelSize],
    /// The picture of each figure, where there is one.
    pub pictures: &'a [Option<String>],
    /// Figures against each other: the number in the study, what came out, and its picture.
    pub trade_offs: &'a [(usize, Traded, String)],
    /// Recorded timelines.
    pub timelines: &'a [Recorded],
    /// How to make the report again.
    pub command: &'a str,
}

/// A timeline with its title.
pub struct Recorded {
    /// What it shows.
    pub title: String,
    /// The events, or why there are none.
    pub data: Result<Value, String>,
}

const CSS: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

impl Report<'_> {
    /// The whole file.
    pub fn html(&self) -> String {
        let study = &self.results.plan().study;
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (study.title) }
                    style {
                        "\n" (PreEscaped(palette::style())) "\n" (PreEscaped(CSS)) (PreEscaped(timeline::STYLE))
                    }
                }
                body {
                    (self.head())
                    main {
                        (self.summary())
                        (self.figure_sections())
                        (self.trade_off_sections())
                        (self.claim_section())
                        (self.trust_section())
                        (self.size_section())
                        (self.timeline_section())
                        (self.failed_section())
                        (self.machine_section())
                        (self.repeat_section())
                    }
                    script { "\n" (PreEscaped(SCRIPT)) (PreEscaped(timeline::SCRIPT)) }
                }
            }
        };
        page.into_string()
    }

    fn timeline_section(&self) -> Markup {
        let good: Vec<(&str, &Value)> = self
            .timelines
            .iter()
            .filter_map(|t| Some((t.title.as_str(), t.data.as_ref().ok()?)))
            .collect();
        html! {
            @if !self.timelines.is_empty() {
                section id="timelines" {
                    h2 { "Timelines" }
                    @if !good.is_empty() {
                        (timeline::viewer(&good))
                    }
                    @for t in self.timelines {
                        @if let Err(reason) = &t.data {
                            p class="note" {
                                (t.title) ": not recorded: "
                                (reason.lines().next().unwrap_or_default())
                            }
                        }
                    }
                }
                "\n"
            }
        }
    }
}
