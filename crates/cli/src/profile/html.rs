//! The profile as a page: source lines with their instructions beside them, no script needed.

use super::collect::Counts;
use super::rank::{Line, Ranked};
use std::fmt::Write;
use warpsim_sim::stats::WarpState;

const STYLE: &str = "
:root { color-scheme: light dark; font: 14px system-ui, sans-serif }
body { margin: 1rem; max-width: 100%; overflow-wrap: anywhere }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
.scroll { overflow-x: auto }
th, td { padding: .15rem .5rem; text-align: right; vertical-align: top; border-bottom: 1px solid #8884 }
th { position: sticky; top: 0; background: Canvas }
td.code, th.code { text-align: left; font-family: ui-monospace, monospace; white-space: pre-wrap; min-width: 16rem }
tr.line { background: #88f2 } tr.line td.code { font-weight: 600 }
.place { color: GrayText; font-size: .85em; font-weight: normal }
.bar { display: inline-block; height: .7em; background: #d55e00; vertical-align: baseline }
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
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n\
         <p>Warp-cycles that each source line and each of its instructions took, hottest line first. Time at a barrier, \
         after a branch and after the end counts for the instruction that was issued before, all other \
         waiting for the one that waits to issue.</p>\n"
    );
    for kernel in kernels {
        let _ = writeln!(
            out,
            "<h2>{}</h2>\n<p>{} launches, {} instructions issued, {} warp-cycles.</p>\n<div class=\"scroll\"><table>",
            escaped(&kernel.name),
            kernel.launches,
            kernel.total.issued,
            kernel.total.cycles()
        );
        out += "<tr><th>cycles</th><th></th><th>issued</th><th>lanes</th>";
        let states = shown_states(&kernel.total);
        for state in &states {
            let _ = write!(out, "<th>{}</th>", state.name().replace('_', " "));
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
    out += "</body></html>\n";
    out
}

/// The states that somebody was in.
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
        "<tr class=\"{class}\"><td>{share:.1}%</td><td><span class=\"bar\" style=\"width:{:.0}px\"></span></td><td>{}</td><td>{}</td>",
        share,
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
