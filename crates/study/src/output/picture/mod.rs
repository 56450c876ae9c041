//! Figures as pictures (SVG).

mod axis;
mod chart;
mod colour;
mod draw;
mod layout;
mod legend;
mod pattern;
mod quantity;
mod scatter;

use crate::values::trade_off::Traded;
pub use chart::chart;
pub use colour::Colours;
use layout::{BROAD, NARROW};
use warpsim_present::palette;

/// The style of a picture that stands alone.
fn own_style() -> String {
    let style = palette::style();
    format!("{style}svg{{background:var(--page);max-width:100%;height:auto}}")
}

/// A figure's picture as a file: with its own colours.
pub fn standalone(chart: &chart::Chart) -> String {
    draw::draw(chart, &BROAD, Some(&own_style()))
}

/// A figure's picture as a part of a page that has the palette: drawn for screens and paper, and once more
/// for telephones; the page's style shows one of them.
pub fn inline(chart: &chart::Chart) -> String {
    let both = [&BROAD, &NARROW].map(|layout| draw::draw(chart, layout, None));
    both.concat()
}

/// A trade-off's pictures, as a file and as a part of a page.
pub fn trade_off(title: &str, traded: &Traded, colours: &Colours) -> [String; 2] {
    let style = own_style();
    let alone = scatter::draw(title, traded, colours, &BROAD, Some(&style));
    let both = [&BROAD, &NARROW].map(|l| scatter::draw(title, traded, colours, l, None));
    [alone, both.concat()]
}
