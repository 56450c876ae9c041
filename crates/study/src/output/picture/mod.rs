//! Figures as pictures (SVG).

mod axis;
mod chart;
mod colour;
mod draw;
mod scatter;

use crate::trade_off::Traded;
pub use chart::chart;
pub use colour::STYLE;

/// A figure's picture as a file: with its own colours.
pub fn standalone(chart: &chart::Chart) -> String {
    draw::draw(
        chart,
        Some(&format!("{STYLE}svg{{background:var(--page)}}")),
    )
}

/// A trade-off's pictures, as a file and as a part of a page.
pub fn trade_off(title: &str, traded: &Traded) -> [String; 2] {
    let style = format!("{STYLE}svg{{background:var(--page)}}");
    let alone = scatter::draw(title, traded, Some(&style));
    [alone, scatter::draw(title, traded, None)]
}

/// A figure's picture as a part of a page that has the [colours](STYLE).
pub fn inline(chart: &chart::Chart) -> String {
    draw::draw(chart, None)
}
