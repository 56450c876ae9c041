//! The profile as a page: source lines with their instructions beside them, no script needed.

use super::collect::Counts;
use super::rank::{Line, Ranked};
use std::fmt::Write;
use warpsim_present::palette::{self, Hue};
use warpsim_sim::stats::WarpState;

/// How the tables look, on a page that has the palette.
pub const STYLE: &str = "
body { margin: 1rem; max-width: 100%; overflow-wrap: anywhere; background: var(--page); color: var(--ink); \
font: 14px/1.5 system-ui, sans-serif }
.profile { border-collapse: collapse; font-variant-numeric: tabular-nums }
.scroll { overflow-x: auto }
.profile th, .profile td { padding: .15rem .5rem; text-align: right; vertical-align: top; \
border-bottom: 1px solid var(--faint) }
.profile th, .profile td { overflow-wrap: normal; white-space: nowrap }
.profile th { position: sticky; white-space: normal; top: 0; background: var(--page); font-weight: 500 }
.profile td.code, .profile th.code { text-align: left; font-family: ui-monospace, monospace; \
white-space: pre-wrap; min-width: 16rem }
.profile tr.line { background: color-mix(in srgb, var(--c0) 12%, transparent) }
.profile tr.line td.code { font-weight: 600 }
.profile .place { color: var(--soft); font-size: .85em; font-weight: normal }
.profile .bar { display: inline-flex; height: .7em; vertical-align: baseline }
.profile .bar i { display: block; height: 100% }
.profile th i { display: inline-block; width: .7em; height: .7em; border-radius: 2px; margin-right: .3em }
";

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
         <title>{title}</title><style>{palette}{STYLE}</style></head><body>\n<h1>{title}</h1>\n{}</body></html>\n",
        sections(kernels)
    )
}

/// What the page says of each kernel.
pub fn sections(kernels: &[Ranked]) -> String {
    let mut out = String::from(
        "<p>Warp-cycles that each source line and each of its instructions took, hottest line first. Time at a barrier, \
         after a branch and after the end counts for the instruction that was issued before, all other \
         waiting for the one that waits to issue.</p>\n",
    );
    for kernel in kernels {
        let _ = writeln!(
            out,
            "<h3>{}</h3>\n<p>{} launches, {} instructions issued, {} warp-cycles.</p>\n\
             <div class=\"scroll\"><table class=\"profile\">",
            escaped(&kernel.name),
            kernel.launches,
            kernel.total.issued,
            kernel.total.cycles()
        );
        out += "<tr><th>cycles</th><th></th>";
        let states = shown_states(&kernel.total);
        let _ = write!(
            out,
            "<th>{}issued</th><th>lanes</th>",
            key(WarpState::Issued)
        );
        for state in &states {
            let name = state.name().replace('_', " ");
            let _ = write!(out, "<th>{}{name}</th>", key(*state));
        }
        out += "<th>accesses per request</th><th>bank cycles per request</th><th>L1 hits</th><th class=\"code\">code</th></tr>\n";
        for line in &kernel.lines {
            let all = kernel.total.cycles();
            let text = match line.text.is_empty() {
                true => String::new(),
                false => format!("{} ", escaped(&line.text)),
            };
            let code = format!(
                "{text}<span class=\"place\">{}</span>",
                escaped(&line.place)
            );
            row(&mut out, "line", &line.counts, all, &states, &code);
            instructions(&mut out, line, all, &states);
        }
        out += "</table></div>\n";
    }
    out
}

/// A state's colour, the same as in every picture.
fn hue(state: WarpState) -> String {
    palette::state(state.name()).unwrap_or(Hue("soft")).paint()
}

fn key(state: WarpState) -> String {
    format!("<i style=\"background:{}\"></i>", hue(state))
}

/// Warp-cycles as a bar, in parts by state.
fn bar(c: &Counts, all: u64, states: &[WarpState]) -> String {
    let mut out = String::from("<span class=\"bar\">");
    for state in [WarpState::Issued].iter().chain(states) {
        // A hundred pixels are all of the kernel's time.
        let width = Counts::per(c.state(*state) * 100, all).unwrap_or(0.0);
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

fn instructions(out: &mut String, line: &Line, all: u64, states: &[WarpState]) {
    for i in &line.instructions {
        let code = format!(
            "  {} <span class=\"place\">PTX line {}</span>",
            escaped(&i.text),
            i.ptx_line
        );
        row(out, "instruction", &i.counts, all, states, &code);
    }
}

fn row(out: &mut String, class: &str, c: &Counts, all: u64, states: &[WarpState], code: &str) {
    let share = Counts::per(c.cycles() * 100, all).unwrap_or(0.0);
    let shown = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.1}"));
    let _ = write!(
        out,
        "<tr class=\"{class}\"><td>{share:.1}%</td><td>{}</td><td>{}</td><td>{}</td>",
        bar(c, all, states),
        c.issued,
        shown(Counts::per(c.lanes, c.issued))
    );
    for state in states {
        let cycles = c.state(*state);
        let cell = if cycles == 0 {
            String::new()
        } else {
            cycles.to_string()
        };
        let _ = write!(out, "<td>{cell}</td>");
    }
    let hits = Counts::per(c.hits * 100, c.lookups).map_or(String::new(), |v| format!("{v:.0}%"));
    let _ = writeln!(
        out,
        "<td>{}</td><td>{}</td><td>{hits}</td><td class=\"code\">{code}</td></tr>",
        shown(Counts::per(c.transactions, c.requests).filter(|_| c.transactions > 0)),
        shown(Counts::per(c.bank_cycles, c.shared))
    );
}
