//! A page in which the warps of a run can be stepped through, cycle by cycle.
//!
//! A [`Recorder`] listens to one SM and keeps a [`track`] for each warp. [`page`] writes what it recorded into one HTML file
//! with the scripts of `page/`, which need nothing else. [`format`](mod@format) says what the scripts read. Data flow one way:
//! events, tracks, page.

mod code;
mod events;
pub mod format;
mod gates;
mod issue_rate;
pub mod page;
mod recorder;
mod states;
mod track;
mod window;

use warpsim_sim::config::Machine;

pub use recorder::Recorder;
pub use window::{Window, WindowError};

/// A run's machine and mechanisms in a line, with a scheduler that may be another than the machine's own.
pub fn how(machine: &Machine, scheduler: &str) -> String {
    let (fetch, divergence) = (&machine.fetch.policy.name, &machine.divergence.name);
    let name = &machine.name;
    format!("{name}, scheduler {scheduler}, fetch {fetch}, divergence {divergence}")
}
