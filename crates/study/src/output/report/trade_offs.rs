//! Figures against each other: the picture, and the values as a table.

use super::Report;
use crate::values::trade_off::Traded;
use crate::words;
use maud::{Markup, PreEscaped, html};

impl Report<'_> {
    pub(super) fn trade_off_sections(&self) -> Markup {
        let all = &self.results.plan().study.trade_offs;
        let once = self.results.plan().repeats == 1;
        html! {
            @for (index, traded, picture) in self.trade_offs {
                @let trade_off = &all[*index];
                section class="figure" id=(trade_off.id.value) {
                    h2 { (trade_off.title) }
                    div class="picture" { (PreEscaped(picture)) }
                    p class="note" {
                        "A point is a configuration's average"
                        @if !once { ", with the lowest and the highest repeat both ways" }
                        "; the line joins those that no other beats."
                    }
                    @if let Some(note) = &trade_off.note {
                        p class="note" { (note) }
                    }
                    details {
                        summary { "values" }
                        div class="wide" { (table(traded)) }
                    }
                }
                "\n"
            }
        }
    }
}

fn table(traded: &Traded) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th {}
                    th {}
                    @for (title, _) in &traded.axes { th { (title) } }
                    th { "no other beats it" }
                }
            }
            tbody {
                @for panel in &traded.panels {
                    @for (i, point) in panel.points.iter().enumerate() {
                        tr {
                            th { @if i == 0 { (panel.title) } }
                            th { (traded.titles[point.configuration]) }
                            @for d in 0..2 {
                                td { (words::value(traded.axes[d].1, point.at[d])) }
                            }
                            td { @if point.best { "yes" } }
                        }
                        "\n"
                    }
                }
            }
        }
    }
}
