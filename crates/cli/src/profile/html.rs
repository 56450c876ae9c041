//! The profile as a page: a row for each instruction, the code first, in any order that a reader asks for.

use super::collect::Counts;
use super::rank::{Instruction, Line, Ranked};
use crate::summary::count;
use std::cmp::Reverse;
use std::fmt::Write;
use warpsim_present::palette::{self, Hue};
use warpsim_sim::stats::WarpState;

/// How the tables look, on a page that has the palette.
pub const STYLE: &str = include_str!("profile.css");

/// What sorts them.
pub const SCRIPT: &str = include_str!("sort.js");

/// Text as HTML shows it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c => out.push(c),
        }
    }
    out
}

/// The page.
pub fn page(kernels: &[Ranked], what: &str) -> String {
    let title = escaped(&format!("Profile of {what}"));
    let palette = palette::style();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>{title}</title><style>{palette}{STYLE}</style></head><body>\n<h1>{title}</h1>\n{}\
         <script>{SCRIPT}</script></body></html>\n",
        sections(kernels)
    )
}

/// What the page says of each kernel.
pub fn sections(kernels: &[Ranked]) -> String {
    let mut out = String::from(
        "<p>Warp-cycles that each instruction took, hottest first; a click on a column's title sorts by it. Time at a \
         barrier, after a branch and after the end counts for the instruction that was issued before, all other \
         waiting for the one that waits to issue.</p>\n",
    );
    for kernel in kernels {
        let launches = match kernel.launches {
            1 => "1 launch".to_string(),
            n => format!("{n} launches"),
        };
        let _ = writeln!(
            out,
            "<h3>{}</h3>\n<p>{launches}, {} instructions issued, {} warp-cycles.</p>\n\
             <div class=\"scroll\"><table class=\"profile\">",
            escaped(&kernel.name),
            count(kernel.total.issued),
            count(kernel.total.cycles())
        );
        let states = shown_states(&kernel.total);
        head(&mut out, &states);
        out += "<tbody>\n";
        let rows = kernel.lines.iter();
        let rows = rows.flat_map(|line| line.instructions.iter().map(move |i| (line, i)));
        let mut rows: Vec<(&Line, &Instruction)> = rows.collect();
        rows.sort_by_key(|(_, i)| (Reverse(i.counts.cycles()), i.pc));
        let most = rows.first().map_or(0, |(_, i)| i.counts.cycles());
        for (line, instruction) in rows {
            row(
                &mut out,
                line,
                instruction,
                [kernel.total.cycles(), most],
                &states,
            );
        }
        out += "</tbody></table></div>\n";
    }
    out
}

/// Titles of the columns: buttons, so that a keyboard reaches them too.
fn head(out: &mut String, states: &[WarpState]) {
    out.push_str("<thead><tr>");
    let mut column = |class: &str, sorted: &str, key: &str, title: &str| {
        let _ = write!(
            out,
            "<th scope=\"col\"{class} aria-sort=\"{sorted}\"><button type=\"button\">{key}{title}</button></th>"
        );
    };
    column(" class=\"code\"", "none", "", "code");
    column(" class=\"code\"", "none", "", "line");
    column("", "descending", "", "cycles");
    column("", "none", &key(WarpState::Issued), "issued");
    column("", "none", "", "lanes");
    for state in states {
        column("", "none", &key(*state), &state.name().replace('_', " "));
    }
    for title in ["accesses per request", "bank cycles per request", "L1 hits"] {
        column("", "none", "", title);
    }
    out.push_str("</tr></thead>\n");
}

/// A state's colour, the same as in every picture.
fn hue(state: WarpState) -> String {
    palette::state(state.name()).unwrap_or(Hue("soft")).paint()
}

fn key(state: WarpState) -> String {
    format!("<i style=\"background:{}\"></i>", hue(state))
}

/// Warp-cycles as a bar, in parts by state; the hottest instruction's is full.
fn bar(c: &Counts, most: u64, states: &[WarpState]) -> String {
    let mut out = String::from("<span class=\"bar\">");
    for state in [WarpState::Issued].iter().chain(states) {
        let width = Counts::per(c.state(*state) * 100, most).unwrap_or(0.0);
        if width >= 0.5 {
            let colour = hue(*state);
            let _ = write!(
                out,
                "<i style=\"width:{width:.0}px;background:{colour}\"></i>"
            );
        }
    }
    out + "</span>"
}

/// The states that a warp was in.
fn shown_states(total: &Counts) -> Vec<WarpState> {
    let waiting = WarpState::ALL.iter().copied();
    let waiting = waiting.filter(|s| *s != WarpState::Issued && total.state(*s) > 0);
    waiting.collect()
}

/// An instruction. Cells say in `data-by` what they are sorted by; an empty one comes last.
fn row(
    out: &mut String,
    line: &Line,
    i: &Instruction,
    [all, most]: [u64; 2],
    states: &[WarpState],
) {
    let c = &i.counts;
    let _ = write!(
        out,
        "<tr><td class=\"code\" data-by=\"{}\">{}",
        i.pc,
        escaped(&i.text)
    );
    if !line.text.is_empty() {
        let _ = write!(out, "<span class=\"source\">{}</span>", escaped(&line.text));
    }
    let _ = write!(
        out,
        "</td><td class=\"code place\" data-by=\"{}\" title=\"{}, PTX line {}\">{}</td>",
        line.number.unwrap_or(i.ptx_line),
        escaped(&line.place),
        i.ptx_line,
        escaped(line.place.rsplit('/').next().unwrap_or_default())
    );
    let share = Counts::per(c.cycles() * 100, all).unwrap_or(0.0);
    let _ = write!(
        out,
        "<td data-by=\"{}\">{share:.1}%{}</td>",
        c.cycles(),
        bar(c, most, states)
    );
    let mut cell = |value: Option<f64>, text: String| {
        let _ = match value {
            Some(value) => write!(out, "<td data-by=\"{value}\">{text}</td>"),
            None => write!(out, "<td></td>"),
        };
    };
    cell(Some(c.issued as f64), count(c.issued));
    let tenths = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.1}"));
    let lanes = Counts::per(c.lanes, c.issued);
    cell(lanes, tenths(lanes));
    for state in states {
        let cycles = c.state(*state);
        cell((cycles > 0).then_some(cycles as f64), count(cycles));
    }
    let accesses = Counts::per(c.transactions, c.requests).filter(|_| c.transactions > 0);
    cell(accesses, tenths(accesses));
    let banks = Counts::per(c.bank_cycles, c.shared);
    cell(banks, tenths(banks));
    let hits = Counts::per(c.hits * 100, c.lookups);
    cell(hits, hits.map_or(String::new(), |v| format!("{v:.0}%")));
    out.push_str("</tr>\n");
}
