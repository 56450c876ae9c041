//! Figures as pictures (SVG).

mod axis;
mod chart;
mod colour;
mod draw;

pub use chart::chart;
pub use colour::{Hue, STYLE, state_hue};

/// A figure's picture as a file: with its own colours.
pub fn standalone(chart: &chart::Chart) -> String {
    draw::draw(
        chart,
        Some(&format!("{STYLE}svg{{background:var(--page)}}")),
    )
}

/// A figure's picture as a part of a page that has the [colours](STYLE).
pub fn inline(chart: &chart::Chart) -> String {
    draw::draw(chart, None)
}
