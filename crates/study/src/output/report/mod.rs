//! `report.html`: one file with everything, which needs nothing else to open.

mod figures;
mod machines;
mod summary;

use crate::evaluate::{Results, Shown};
use crate::output::picture::{STYLE, escaped};
use crate::verdict::Judged;
use serde_json::Value;

/// What a report is made of.
pub struct Report<'a> {
    /// The results.
    pub results: &'a Results<'a>,
    /// Every figure with its claims judged.
    pub figures: &'a [(Shown, Vec<Judged>)],
    /// The picture of each figure, where there is one.
    pub pictures: &'a [Option<String>],
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
        let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n");
        out += "<meta charset=\"utf-8\">\n";
        out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
        out += "<meta name=\"color-scheme\" content=\"light dark\">\n";
        out += &format!("<title>{}</title>\n", escaped(&study.title));
        out += &format!("<style>\n{STYLE}\n{CSS}</style>\n</head>\n<body>\n");
        out += &self.head();
        out += "<main>\n";
        out += &self.summary();
        out += &self.figure_sections();
        out += &self.timeline_section();
        out += &self.failed_section();
        out += &self.machine_section();
        out += &self.repeat_section();
        out += "</main>\n";
        out += &format!("<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
        out
    }

    fn timeline_section(&self) -> String {
        if self.timelines.is_empty() {
            return String::new();
        }
        let mut out = String::from("<section id=\"timelines\"><h2>Timelines</h2>\n");
        let good: Vec<(&str, &Value)> = self
            .timelines
            .iter()
            .filter_map(|t| Some((t.title.as_str(), t.data.as_ref().ok()?)))
            .collect();
        if !good.is_empty() {
            out += "<p class=\"note screen\">What each warp of an SM did. Drag to move, Ctrl and the wheel \
                    (or the buttons) to zoom, rest on a warp to read about it; with the keyboard: \
                    arrows and + and -.</p>\n";
            out += "<div class=\"timeline\"><div class=\"bar\"><select aria-label=\"timeline\">";
            for (i, (title, _)) in good.iter().enumerate() {
                out += &format!("<option value=\"{i}\">{}</option>", escaped(title));
            }
            out += "</select><span class=\"buttons\"><button data-zoom=\"in\" title=\"zoom in\">+\
                    </button><button data-zoom=\"out\" title=\"zoom out\">&minus;</button>\
                    <button data-zoom=\"all\">all</button></span>\
                    <b class=\"chosen\"></b><span class=\"range\"></span></div>\
                    <div class=\"legend\"></div><canvas tabindex=\"0\" role=\"img\" \
                    aria-label=\"warps over time\"></canvas><div class=\"tip\" hidden></div></div>\n";
            for (_, data) in &good {
                // A `<` inside JSON text could end the element: it is written as an escape.
                let text = data.to_string().replace('<', "\\u003c");
                out +=
                    &format!("<script type=\"application/json\" class=\"trace\">{text}</script>\n");
            }
        }
        for t in self.timelines {
            if let Err(reason) = &t.data {
                let reason = reason.lines().next().unwrap_or_default();
                let (title, reason) = (escaped(&t.title), escaped(reason));
                out += &format!("<p class=\"note\">{title}: not recorded: {reason}</p>\n");
            }
        }
        out + "</section>\n"
    }
}
