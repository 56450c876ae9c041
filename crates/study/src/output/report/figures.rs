//! Figures: picture, claims, and the values as a table.

use super::Report;
use super::summary::class;
use crate::evaluate::{Cell, Shown};
use crate::format::{Figure, Shape};
use crate::output::picture::escaped;
use crate::output::terminal::{cell_text, mean_title, row_title};
use crate::verdict::{Judged, Verdict};
use crate::words;

impl Report<'_> {
    pub(super) fn figure_sections(&self) -> String {
        let figures = &self.results.plan().study.figures;
        let mut out = String::new();
        for (index, (shown, judged)) in self.figures.iter().enumerate() {
            out += &self.figure(
                &figures[index],
                shown,
                judged,
                self.pictures[index].as_deref(),
            );
        }
        out
    }

    fn figure(
        &self,
        figure: &Figure,
        shown: &Shown,
        judged: &[Judged],
        picture: Option<&str>,
    ) -> String {
        let id = escaped(&figure.id.value);
        let mut out = format!("<section class=\"figure\" id=\"{id}\">\n<h2>");
        if !figure.number.is_empty() {
            out += &format!("<span class=\"number\">{}</span> ", escaped(&figure.number));
        }
        out += &format!("{}</h2>\n", escaped(&figure.title));
        if let Some(name) = &shown.lacking {
            let name = escaped(name);
            out += &format!(
                "<p class=\"note\">Not measured: this build has no statistic <code>{name}</code>.</p>\n"
            );
        }
        if let Some(picture) = picture {
            out += &format!("<div class=\"picture\">{picture}</div>\n");
        }
        if let Some(note) = &figure.note {
            out += &format!("<p class=\"note\">{}</p>\n", escaped(note));
        }
        let found = words::found_at(self.results.plan().foreign_size());
        out += &claims(figure, judged, &found);
        if let Some(reason) = &figure.reason {
            out += &format!(
                "<p class=\"reason\"><b>Where ours differs{found}.</b> {}</p>\n",
                escaped(reason)
            );
        }
        if shown.lacking.is_none() {
            let table = match figure.shape {
                Shape::Bars { .. } => self.bar_table(figure, shown),
                Shape::Stack { .. } => self.stack_table(figure, shown),
            };
            out += &format!("<details><summary>values</summary><div class=\"wide\">{table}</div>");
            if let Some(source) = &figure.paper.source {
                let source = escaped(source);
                out += &format!("<p class=\"note\">The paper's values: {source}.</p>");
            }
            out += "</details>\n";
        }
        out + "</section>\n"
    }

    fn bar_table(&self, figure: &Figure, shown: &Shown) -> String {
        let plan = self.results.plan();
        let mut out = String::from("<table><thead><tr><th></th>");
        for &setup in &shown.setups {
            out += &format!("<th>{}</th>", escaped(&plan.setups[setup].title));
        }
        out += "</tr></thead><tbody>\n";
        for row in shown.rows.iter().filter(|r| !r.empty()) {
            let title = escaped(&row_title(self.results, row.subject));
            out += &format!("<tr><th>{title}</th>");
            for (cell, &setup) in row.cells.iter().zip(&shown.setups) {
                out += &self.cell(figure, cell, row.subject, setup);
            }
            out += "</tr>\n";
            out += &paper_row(figure, &row.paper);
        }
        for mean in &shown.means {
            let title = escaped(&mean_title(self.results, figure, mean));
            out += &format!("<tr class=\"mean\"><th>{title}</th>");
            for cell in &mean.cells {
                let text = cell.as_ref().map_or("\u{2013}".into(), |(layers, _)| {
                    words::value(figure.display, layers.iter().sum())
                });
                out += &format!("<td>{text}</td>");
            }
            out += "</tr>\n";
            out += &paper_row(figure, &mean.paper);
        }
        out + "</tbody></table>"
    }

    fn cell(&self, figure: &Figure, cell: &Cell, subject: usize, setup: usize) -> String {
        let text = cell_text(figure, cell);
        match cell {
            Cell::Failed(_) => {
                let record = self.results.record(subject, setup);
                let reason = record.map_or("", |r| r.reason.lines().next().unwrap_or_default());
                format!(
                    "<td class=\"bad\" title=\"{}\">{text}</td>",
                    escaped(reason)
                )
            }
            Cell::Absent => "<td class=\"absent\">\u{2013}</td>".to_string(),
            _ => format!("<td>{text}</td>"),
        }
    }

    fn stack_table(&self, figure: &Figure, shown: &Shown) -> String {
        let plan = self.results.plan();
        let mut out = String::from("<table><thead><tr><th></th><th></th>");
        for title in shown.layers.iter().map(String::as_str).chain(["sum"]) {
            out += &format!("<th>{}</th>", escaped(title));
        }
        out += "</tr></thead><tbody>\n";
        let mut line = |class: &str, title: &str, setup: usize, cell: &Cell| {
            let setup = escaped(&plan.setups[setup].title);
            out += &format!("<tr{class}><th>{}</th><th>{setup}</th>", escaped(title));
            match cell {
                Cell::Value(layers) => {
                    for value in layers.iter().copied().chain([layers.iter().sum()]) {
                        out += &format!("<td>{}</td>", words::value(figure.display, value));
                    }
                }
                other => {
                    let text = cell_text(figure, other);
                    out += &format!("<td colspan=\"{}\">{text}</td>", shown.layers.len() + 1);
                }
            }
            out += "</tr>\n";
        };
        for row in shown.rows.iter().filter(|r| !r.empty()) {
            for (i, (cell, &setup)) in row.cells.iter().zip(&shown.setups).enumerate() {
                let title = row_title(self.results, row.subject);
                line("", if i == 0 { &title } else { "" }, setup, cell);
            }
        }
        for mean in &shown.means {
            for (i, (cell, &setup)) in mean.cells.iter().zip(&shown.setups).enumerate() {
                let title = mean_title(self.results, figure, mean);
                let cell = cell
                    .as_ref()
                    .map_or(Cell::Absent, |(l, _)| Cell::Value(l.clone()));
                let title = if i == 0 { &title } else { "" };
                line(" class=\"mean\"", title, setup, &cell);
            }
        }
        out + "</tbody></table>"
    }
}

fn paper_row(figure: &Figure, values: &[Option<f64>]) -> String {
    if values.iter().all(Option::is_none) {
        return String::new();
    }
    let mut out = String::from("<tr class=\"paper\"><th>the paper</th>");
    for value in values {
        let text = value.map_or(String::new(), |v| words::value(figure.display, v));
        out += &format!("<td>{text}</td>");
    }
    out + "</tr>\n"
}

fn claims(figure: &Figure, judged: &[Judged], found: &str) -> String {
    if judged.is_empty() {
        return String::new();
    }
    let mut out = String::from("<ul class=\"claims\">\n");
    for (claim, judged) in figure.claims.iter().zip(judged) {
        out += &format!(
            "<li class=\"{}\"><span>{} <i>{}</i><small>{}</small>",
            class(judged.verdict),
            escaped(&claim.text),
            judged.verdict.name(),
            escaped(&judged.detail)
        );
        if let (Verdict::Fails, Some(reason)) = (judged.verdict, &claim.reason) {
            out += &format!("<small><b>Why{found}:</b> {}</small>", escaped(reason));
        }
        out += "</span></li>\n";
    }
    out + "</ul>\n"
}
