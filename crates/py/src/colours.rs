//! The colours of the HTML reports, for what the package draws.

use pyo3::prelude::*;
use std::collections::BTreeMap;
use warpsim_present::palette::{self, Hue};
use warpsim_sim::stats::WarpState;

/// The colour of each state of a warp on a light page.
#[pyfunction]
pub fn state_colours() -> BTreeMap<&'static str, &'static str> {
    let colour = |state: &WarpState| {
        let name = state.name();
        let hue = palette::state(name).unwrap_or(Hue("soft"));
        Some((name, on_a_light_page(hue)?))
    };
    WarpState::ALL.iter().filter_map(colour).collect()
}

/// The first of a colour's values in the style of pages: that of light ones.
fn on_a_light_page(hue: Hue) -> Option<&'static str> {
    let (_, rest) = palette::style().split_once(&format!("--{}:", hue.0))?;
    rest.split([';', '}']).next()
}
