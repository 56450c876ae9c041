//! Figures: picture, what is measured, and the values as a table.

use super::Report;
use crate::evaluate::{Cell, Shown};
use crate::format::{Figure, Shape};
use crate::output::grid::Grid;
use crate::output::terminal::{
    behind_lines, cell_text, mean_cell, mean_text, mean_title, row_title,
};
use crate::plan::Layer;
use crate::words;
use maud::{Markup, PreEscaped, html};

impl Report<'_> {
    pub(super) fn figure_sections(&self) -> Markup {
        let figures = &self.results.plan().study.figures;
        html! {
            @for (index, (figure, picture)) in figures.iter().zip(self.pictures).enumerate() {
                @let (shown, _) = &self.figures[index];
                @let layers = self.results.plan().measures[index].layers.as_deref();
                (self.figure(figure, shown, picture.as_deref(), layers.unwrap_or_default()))
                "\n"
            }
        }
    }

    fn figure(
        &self,
        figure: &Figure,
        shown: &Shown,
        picture: Option<&str>,
        layers: &[Layer],
    ) -> Markup {
        if shown.unmeasured() {
            return unmeasured(figure, shown);
        }
        html! {
            section class="figure" id=(figure.id.value) {
                h2 {
                    @if !figure.number.is_empty() {
                        span class="number" { (figure.number) } " "
                    }
                    (figure.title)
                }
                @if let Some(picture) = picture {
                    div class="picture" { (PreEscaped(picture)) }
                }
                @if let Some(note) = &figure.note {
                    p class="note" { (note) }
                }
                (definitions(figure, layers))
                details {
                    summary { "values" }
                    div class="wide" {
                        @match figure.shape {
                            Shape::Bars { .. } => (self.bar_table(figure, shown)),
                            Shape::Stack { .. } => (self.stack_table(figure, shown)),
                        }
                    }
                    @if let Some(source) = &figure.paper.source {
                        p class="note" { "The paper's values: " (source) "." }
                    }
                }
            }
        }
    }

    fn bar_table(&self, figure: &Figure, shown: &Shown) -> Markup {
        let plan = self.results.plan();
        if let Some(grid) = Grid::of(plan, shown) {
            return self.grid_table(figure, shown, &grid);
        }
        html! {
            table {
                thead {
                    tr {
                        th {}
                        @for &setup in &shown.setups {
                            th { (plan.setups[setup].title) }
                        }
                    }
                }
                tbody {
                    @for row in shown.rows.iter().filter(|r| !r.empty()) {
                        tr {
                            th { (row_title(self.results, row.subject)) }
                            @for (cell, &setup) in row.cells.iter().zip(&shown.setups) {
                                (self.cell(figure, cell, row.subject, setup))
                            }
                        }
                        "\n"
                        (paper_row(figure, &row.paper))
                    }
                    @for mean in &shown.means {
                        tr class="mean" {
                            th { (mean_title(self.results, figure, mean)) }
                            @for cell in &mean.cells {
                                td { (mean_text(figure, cell)) }
                            }
                        }
                        "\n"
                        (paper_row(figure, &mean.paper))
                        @for line in &behind_lines(self.results, figure, mean) {
                            tr class="behind" {
                                th { (line[0].trim()) }
                                @for cell in &line[1..] { td { (cell) } }
                            }
                            "\n"
                        }
                    }
                }
            }
        }
    }

    /// A line for each choice of a grid, a column for each of its axes and each workload.
    fn grid_table(&self, figure: &Figure, shown: &Shown, grid: &Grid) -> Markup {
        let rows: Vec<_> = shown.rows.iter().filter(|r| !r.empty()).collect();
        html! {
            table class="grid" {
                thead {
                    tr {
                        @for axis in &grid.axes { th { (axis) } }
                        @for row in &rows { th { (row_title(self.results, row.subject)) } }
                        @for mean in &shown.means { th { (mean_title(self.results, figure, mean)) } }
                    }
                }
                tbody {
                    @for choice in &grid.rows {
                        tr {
                            @for value in &choice.values { th { (value) } }
                            @for row in &rows {
                                @let setup = shown.setups[choice.places[0]];
                                (self.cell(figure, &choice.cell(&row.cells), row.subject, setup))
                            }
                            @for mean in &shown.means {
                                td { b { (mean_text(figure, &choice.mean(&mean.cells))) } }
                            }
                        }
                        "\n"
                    }
                }
            }
        }
    }

    fn cell(&self, figure: &Figure, cell: &Cell, subject: usize, setup: usize) -> Markup {
        let text = cell_text(figure, cell);
        match cell {
            Cell::Failed(_) => {
                let failed = self.results.failed(subject, setup);
                let reason = failed.and_then(|(_, r)| r.reason.lines().next());
                let reason = reason.unwrap_or_default();
                html! { td class="bad" title=(reason) { (text) } }
            }
            Cell::Absent => html! { td class="absent" { "\u{2013}" } },
            _ => html! { td { (text) } },
        }
    }

    fn stack_table(&self, figure: &Figure, shown: &Shown) -> Markup {
        html! {
            table {
                thead {
                    tr {
                        th {}
                        th {}
                        @for title in shown.layers.iter().map(String::as_str).chain(["sum"]) {
                            th { (title) }
                        }
                    }
                }
                tbody {
                    @for row in shown.rows.iter().filter(|r| !r.empty()) {
                        @let title = row_title(self.results, row.subject);
                        @for (i, (cell, &setup)) in row.cells.iter().zip(&shown.setups).enumerate() {
                            tr { (self.stack_line(figure, shown, first(i, &title), setup, cell)) }
                            "\n"
                        }
                    }
                    @for mean in &shown.means {
                        @let title = mean_title(self.results, figure, mean);
                        @for (i, (cell, &setup)) in mean.cells.iter().zip(&shown.setups).enumerate() {
                            @let cell = mean_cell(cell);
                            tr class="mean" {
                                (self.stack_line(figure, shown, first(i, &title), setup, &cell))
                            }
                            "\n"
                        }
                    }
                }
            }
        }
    }

    fn stack_line(
        &self,
        figure: &Figure,
        shown: &Shown,
        title: &str,
        setup: usize,
        cell: &Cell,
    ) -> Markup {
        html! {
            th { (title) }
            th { (self.results.plan().setups[setup].title) }
            @match cell {
                Cell::Value(sample) => {
                    @for value in sample.layers() {
                        td { (words::value(figure.display, value)) }
                    }
                    td { (words::sample(figure.display, sample)) }
                }
                other => td colspan=(shown.layers.len() + 1) { (cell_text(figure, other)) },
            }
        }
    }
}

/// A figure of which nothing was measured: a line, which opens to what the study says of it.
fn unmeasured(figure: &Figure, shown: &Shown) -> Markup {
    html! {
        section class="figure unmeasured" id=(figure.id.value) {
            details {
                summary {
                    @if !figure.number.is_empty() { b { (figure.number) } " " }
                    (figure.title) ": not measured; "
                    @match &shown.lacking {
                        Some(name) => { "this build has no statistic " code { (name) } }
                        None => "none of its runs are among those of this report",
                    }
                }
                @if let Some(note) = &figure.note {
                    p class="note" { (note) }
                }
            }
        }
    }
}

/// The title, on the first of several lines that it is for.
fn first(line: usize, title: &str) -> &str {
    if line == 0 { title } else { "" }
}

fn paper_row(figure: &Figure, values: &[Option<f64>]) -> Markup {
    html! {
        @if values.iter().any(Option::is_some) {
            tr class="paper" {
                th { "the paper" }
                @for value in values {
                    td { @if let Some(value) = value { (words::value(figure.display, *value)) } }
                }
            }
            "\n"
        }
    }
}

/// What is measured, in the paper's words and in ours.
fn definitions(figure: &Figure, layers: &[Layer]) -> Markup {
    html! {
        @if !layers.is_empty() {
            details class="definitions" open[layers.len() == 1] {
                summary { "what is measured" }
                dl {
                    @for layer in layers {
                        @let means = &layer.definition;
                        dt { (layer.title) }
                        dd {
                            @if let Some(text) = &means.paper { p { b { "The paper:" } " " (text) } }
                            @if let Some(text) = &means.ours { p { b { "Here:" } " " (text) } }
                            p {
                                @let plain = means.statistics.iter().any(|(n, _)| *n == means.formula);
                                @if !plain { code { (means.formula) } }
                                @for (name, text) in &means.statistics {
                                    @if !plain { "; " }
                                    code { (name) } " is " (text)
                                }
                                @let base = figure.normalise.as_ref().map(|b| &b.value);
                                @let bases = figure.bases.as_ref().map(|b| &b.title);
                                @if let Some(base) = bases.or(base) {
                                    "; over that of " code { (base) }
                                    ", workload by workload and repeat by repeat"
                                }
                                "."
                            }
                        }
                    }
                }
            }
        }
    }
}
