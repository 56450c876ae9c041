//! Timelines on pages: what the warps of an SM did, with zoom and a text for what the pointer rests on. Reports
//! of studies and of runs show the same.

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

/// How it looks, on a page that has the palette as its first style.
pub const STYLE: &str = include_str!("timeline.css");

/// What draws it; comes after the [viewer].
pub const SCRIPT: &str = include_str!("timeline.js");

/// What the script draws timelines on, and their data: titles with what was recorded.
pub fn viewer(timelines: &[(&str, &Value)]) -> Markup {
    html! {
        p class="note screen" {
            "What each warp of an SM did. Drag to move, Ctrl and the wheel (or the buttons) to zoom, \
             rest on a warp to read about it; with the keyboard: arrows and + and -."
        }
        div class="timeline" {
            div class="bar" {
                select aria-label="timeline" {
                    @for (i, (title, _)) in timelines.iter().enumerate() {
                        option value=(i) { (title) }
                    }
                }
                span class="buttons" {
                    button data-zoom="in" title="zoom in" { "+" }
                    button data-zoom="out" title="zoom out" { "\u{2212}" }
                    button data-zoom="all" { "all" }
                }
                span class="range" {}
            }
            div class="legend" {}
            canvas tabindex="0" role="img" aria-label="warps over time" {}
            div class="sheets" {}
            div class="tip" hidden {}
        }
        @for (_, data) in timelines {
            // A `<` inside JSON text could end the element: it is written as an escape.
            script type="application/json" class="trace" {
                (PreEscaped(data.to_string().replace('<', "\\u003c")))
            }
            "\n"
        }
    }
}
