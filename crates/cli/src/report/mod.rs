//! `run --report`: a run as one page that needs nothing else to open: what it came to, the roofline, the
//! machine and its warps over time, and the profile. Nothing of it is counted without the flag.

mod panels;
mod roofline;
mod series;

use crate::console::failure::Failure;
use crate::profile::{self, Collected};
use crate::summary::{Style, Summary, count, percent};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use roofline::Roof;
use serde_json::Value;
pub use series::{Recorder, Series};
use std::path::Path;
use warpsim_present::palette;
use warpsim_study::timeline::{self, Recording};
use warpsim_workloads::Outcome;
use warpsim_workloads::files::write_whole;

const CSS: &str = include_str!("report.css");

/// Whether a name is one for a page.
pub fn check(file: &Path) -> Result<(), Failure> {
    match file.extension().is_some_and(|e| e == "html") {
        true => Ok(()),
        false => Err(Failure::bad_input(format!(
            "--report {}: a report is a page: end its name in .html",
            file.display()
        ))),
    }
}

/// A run, with what was heard of it.
pub struct Run<'a> {
    /// What it came to.
    pub summary: &'a Summary<'a>,
    /// What each instruction did.
    pub collected: &'a Collected,
    /// The machine over time.
    pub series: &'a Series,
    /// The warps of an SM over time.
    pub timeline: &'a Value,
}

/// The SM whose warps are shown, and at most so many segments of them: a page with many more opens slowly.
const SM: u16 = 0;
const SEGMENTS: usize = 60_000;

/// Records the timeline.
pub fn timeline() -> Recording {
    Recording::new(SM, (0, u64::MAX), SEGMENTS)
}

/// Writes the page.
pub fn write(run: &Run, file: &Path) -> Result<(), Failure> {
    let text = page(run).into_string();
    write_whole(file, text.as_bytes())
        .map_err(|e| Failure::bad_input(format!("cannot write {}: {e}", file.display())))
}

fn page(run: &Run) -> Markup {
    let summary = run.summary;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (summary.what) }
                style {
                    (PreEscaped(palette::style())) (PreEscaped(profile::STYLE)) (PreEscaped(timeline::STYLE))
                    (PreEscaped(CSS))
                }
            }
            body {
                h1 { (summary.what) }
                (headline(summary))
                h2 { "Roofline" }
                (roof(summary))
                h2 { "Over time" }
                (panels::panels(run.series, summary.machine, summary.totals))
                h2 { "Warps" }
                (warps(run.timeline))
                h2 { "Code" }
                (PreEscaped(profile::sections(run.collected)))
                h2 { "Summary" }
                pre { (Summary { style: Style::Plain, what: summary.what.clone(), ..*summary }.text()) }
                script { (PreEscaped(profile::SCRIPT)) (PreEscaped(timeline::SCRIPT)) }
            }
        }
        "\n"
    }
}

/// What the warps of an SM did, as far as the recording goes.
fn warps(recorded: &Value) -> Markup {
    let there = recorded["tracks"].as_array().is_some_and(|t| !t.is_empty());
    html! {
        @if there {
            (timeline::viewer(&[(&format!("SM {SM}"), recorded)]))
        } @else {
            p class="note" { "SM " (SM) " had no warp that stays together from its launch to its end." }
        }
    }
}

/// What people look for first.
fn headline(summary: &Summary) -> Markup {
    let totals = summary.totals;
    let derived = |name: &str| totals.derived(name).unwrap_or(0.0);
    let machine = summary.machine;
    let tiles = [
        ("cycles", count(totals.cycles)),
        ("IPC", format!("{:.2}", derived("ipc"))),
        ("SIMD efficiency", percent(derived("simd_efficiency"))),
        ("occupancy", percent(derived("occupancy"))),
    ];
    html! {
        p {
            "on " b { (machine.name) } ": " (machine.gpu.sms) " SMs at " (machine.gpu.core_mhz) " MHz, issue "
            (machine.scheduler.name) ", fetch " (machine.fetch.policy.name) ", divergence "
            (machine.divergence.name) "; result: "
            @match summary.outcome {
                Outcome::Wrong(_) => strong class="wrong" { (summary.outcome) },
                _ => b { (summary.outcome) },
            }
        }
        div class="tiles" {
            @for (name, value) in tiles {
                div { b { (value) } " " span { (name) } }
            }
        }
    }
}

fn roof(summary: &Summary) -> Markup {
    let roof = Roof::of(summary.machine);
    let (points, others) = roofline::points(summary.launches, &roof);
    html! {
        p {
            "A point is a launch, in its kernel's colour. No machine of this kind can be above the line: to the left of its bend DRAM \
             delivers no more (" (format!("{:.0}", roof.dram)) " bytes per cycle), to the right schedulers issue \
             no more (" (format!("{:.0}", roof.issue)) " thread instructions per cycle)."
        }
        div class="roofline" {
            (PreEscaped(roofline::draw(&points, &roof)))
            ol {
                @for point in &points {
                    li {
                        i style={ "background:" (palette::series(point.kernel).paint()) } {}
                        (point.name) ": " (format!("{:.1}", point.speed)) " thread instructions per cycle, "
                        (percent(point.of_roof)) " of what is possible "
                        @match point.intensity {
                            Some(intensity) => { "at " (format!("{intensity:.2}")) " instructions per byte" }
                            None => "without DRAM traffic",
                        }
                    }
                }
            }
        }
        @if others > 0 {
            p class="note" { "The " (points.len()) " longest launches of " (points.len() + others) "." }
        }
    }
}
