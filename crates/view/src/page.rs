//! The page itself: one file that opens without anything else.

use crate::format::{Run, View};
use warpsim_present::palette;

/// Bytes of a page that recordings may take, all together.
pub const BYTES: usize = 20_000_000;

const TEMPLATE: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/page.css");
macro_rules! scripts {
    ($($name:literal)*) => { &[$(($name, include_str!(concat!("../page/", $name)))),*] };
}

/// The scripts with their names, in the order in which they stand in the page.
const SCRIPTS: &[(&str, &str)] = scripts!(
    "records.js"
    "lines.js"
    "rows.js"
    "decode.js"
    "lanes.js"
    "waits.js"
    "look.js"
    "place.js"
    "ties.js"
    "moves.js"
    "parts.js"
    "colours.js"
    "frame.js"
    "columns.js"
    "cells.js"
    "raster.js"
    "map.js"
    "pointer.js"
    "hover.js"
    "panel-warp.js"
    "panel.js"
    "shares.js"
    "source.js"
    "legend.js"
    "view.js"
    "play.js"
    "link.js"
    "keys.js"
    "toolbar.js"
    "start.js"
);

/// A page about one run, or two beside each other.
pub fn page(runs: Vec<Run>) -> String {
    let title = runs.first().map_or(String::new(), |run| run.title.clone());
    let view = View { schema: 1, runs };
    let data = serde_json::to_string(&view).expect("numbers and texts");
    let scripts: String = SCRIPTS
        .iter()
        .map(|(_, text)| format!("{text}\n"))
        .collect();
    let parts = [
        ("{{title}}", escaped(&title)),
        ("{{palette}}", palette::style().to_string()),
        ("{{style}}", STYLE.to_string()),
        ("{{script}}", scripts),
        // A `<` inside JSON text could end the element: it is written as an escape.
        ("{{view}}", data.replace('<', "\\u003c")),
    ];
    let mut rest = TEMPLATE;
    let mut page =
        String::with_capacity(parts.iter().map(|p| p.1.len()).sum::<usize>() + rest.len());
    // Marks stand in the template in any order, each as often as it is needed.
    while let Some(at) = rest.find("{{") {
        let (before, behind) = rest.split_at(at);
        page.push_str(before);
        let known = parts.iter().find(|(mark, _)| behind.starts_with(mark));
        let (mark, text) = known.map_or(("{{", "{{"), |(mark, text)| (mark, text.as_str()));
        page.push_str(text);
        rest = &behind[mark.len()..];
    }
    page + rest
}

/// Text as HTML shows it.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_is_in_the_page() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/page");
        let entries = std::fs::read_dir(folder).expect("the folder of the page");
        let names = entries.map(|entry| entry.expect("a file").file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        let mut found: Vec<String> = names.filter(|name| name.ends_with(".js")).collect();
        let mut known: Vec<&str> = SCRIPTS.iter().map(|(name, _)| *name).collect();
        found.sort();
        known.sort_unstable();
        assert_eq!(known, found);
    }
}
