//! The one palette: every picture and every page takes its colours from here, by what they stand for, so
//! that a state or a configuration looks the same wherever it is shown, in light, in dark and on paper.

use std::fmt::Write;
use std::sync::OnceLock;

/// Name, colour on a light page, colour on a dark one.
const COLOURS: &[(&str, &str, &str)] = &[
    // The page, what is written on it, what is beside the point, lines, what went wrong.
    ("page", "#ffffff", "#11151d"),
    ("ink", "#1d2433", "#e6e9ef"),
    ("soft", "#5b6577", "#9aa5b8"),
    ("faint", "#dfe3ea", "#2b3342"),
    ("bad", "#c9302c", "#ff6b66"),
    // Things that are told apart by name.
    ("c0", "#3f66cc", "#6f93f0"),
    ("c1", "#d99a00", "#efb93a"),
    ("c2", "#e8604c", "#ff8370"),
    ("c3", "#3aa58e", "#5cc9b1"),
    ("c4", "#7c52c8", "#a582ea"),
    ("c5", "#d6669b", "#f08fbd"),
    ("c6", "#3c9a45", "#62c46b"),
    ("c7", "#6f9fe8", "#9cc0fa"),
    ("c8", "#93694b", "#c0967a"),
    ("c9", "#878d99", "#a3a9b5"),
    // From few to many: lanes at work, warps in a gang.
    ("r0", "#b2182b", "#ef5d64"),
    ("r1", "#d6604d", "#ee7f6d"),
    ("r2", "#f0997a", "#eda68d"),
    ("r3", "#f5c9ae", "#e6c8b6"),
    ("r4", "#c6dbec", "#c4d8e6"),
    ("r5", "#8fbfdd", "#93c4e2"),
    ("r6", "#4a93c3", "#5ea9da"),
    ("r7", "#2166ac", "#4191d0"),
    // What warps and schedulers do: told apart by people who see fewer colours, too.
    ("issued", "#167920", "#68d084"),
    ("eligible", "#a3d3a4", "#3b774e"),
    ("fetch", "#e0a100", "#efb93a"),
    ("control", "#d9714f", "#e88053"),
    ("memory", "#4170dc", "#7298f9"),
    ("data", "#6f9fe8", "#a5c4fb"),
    ("structural", "#7d49a2", "#9466ba"),
    ("barrier", "#c8345e", "#ff8db0"),
    ("exit", "#9aa1ad", "#6b7181"),
];

/// A colour of the palette, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hue(pub &'static str);

impl Hue {
    /// As a paint of a page or file that has the [style].
    pub fn paint(self) -> String {
        format!("var(--{})", self.0)
    }

    /// On a light page, and on a dark one.
    fn colours(self) -> [&'static str; 2] {
        let found = COLOURS.iter().find(|(name, ..)| *name == self.0);
        found.map_or(["#000000", "#ffffff"], |(_, light, dark)| [light, dark])
    }
}

const SERIES: [Hue; 10] = [
    Hue("c0"),
    Hue("c1"),
    Hue("c2"),
    Hue("c3"),
    Hue("c4"),
    Hue("c5"),
    Hue("c6"),
    Hue("c7"),
    Hue("c8"),
    Hue("c9"),
];

const RAMP: [Hue; 8] = [
    Hue("r0"),
    Hue("r1"),
    Hue("r2"),
    Hue("r3"),
    Hue("r4"),
    Hue("r5"),
    Hue("r6"),
    Hue("r7"),
];

/// So many things can be told apart by colour alone.
pub const SERIES_COUNT: usize = SERIES.len();

/// The colour of the `index`-th of several things.
pub fn series(index: usize) -> Hue {
    SERIES[index % SERIES.len()]
}

/// The colour of step `index` of `count` from few to many.
pub fn ramp(index: usize, count: usize) -> Hue {
    let last = RAMP.len() - 1;
    RAMP[(index * last / count.max(2).saturating_sub(1)).min(last)]
}

/// The colour of a state that warps or schedulers are in, by a word in its name or title.
pub fn state(title: &str) -> Option<Hue> {
    const WORDS: [(&str, &str); 10] = [
        ("issued", "issued"),
        ("eligible", "eligible"),
        ("fetch", "fetch"),
        ("control", "control"),
        ("mem", "memory"),
        ("data", "data"),
        ("structural", "structural"),
        ("barrier", "barrier"),
        ("exit", "exit"),
        ("idle", "exit"),
    ];
    let title = title.to_lowercase();
    let found = WORDS.iter().find(|(word, _)| title.contains(word));
    found.map(|(_, name)| Hue(name))
}

/// What a dark screen is told by: paper is always white.
pub const DARK: &str = "@media screen and (prefers-color-scheme:dark)";

/// The palette as custom properties, for pages and for files that browsers open.
pub fn style() -> &'static str {
    static STYLE: OnceLock<String> = OnceLock::new();
    STYLE.get_or_init(|| {
        let list = |dark: bool| {
            let value = |(name, light, night): &(&str, &str, &str)| {
                format!("--{name}:{}", if dark { night } else { light })
            };
            COLOURS.iter().map(value).collect::<Vec<_>>().join(";")
        };
        format!(
            ":root{{{}}}{DARK}{{:root{{{}}}}}\
             @media print{{:root{{--ink:#111;--soft:#444;--faint:#ccc}}}}",
            list(false),
            list(true)
        )
    })
}

/// Rules that give classes a colour of the palette, for pictures that other programs than browsers open
/// too: those know classes but no custom properties. Each is a selector, a property and its colour.
pub fn rules(rules: &[(&str, &str, Hue)]) -> String {
    let mut out = String::new();
    let mut write = |mode: usize| {
        for (selector, property, hue) in rules {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{selector} {{ {property}: {} }}", hue.colours()[mode]);
        }
        if mode == 0 {
            let _ = writeln!(out, "{DARK} {{");
        } else {
            out.push_str("}\n");
        }
    };
    write(0);
    write(1);
    out
}

#[cfg(test)]
#[path = "palette_vision_tests.rs"]
mod vision;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hue_has_a_colour_of_its_own_group() {
        let states = ["issued", "eligible", "fetch", "control", "data_memory"];
        let states = states
            .into_iter()
            .chain(["data_alu", "structural", "barrier", "exit"]);
        let states: Vec<Hue> = states.map(|s| state(s).expect("a state")).collect();
        for group in [&SERIES[..], &RAMP[..], &states] {
            for (i, hue) in group.iter().enumerate() {
                assert!(style().contains(&format!("--{}:", hue.0)), "{hue:?}");
                let mut others = group[i + 1..].iter();
                assert!(others.all(|o| o.colours() != hue.colours()), "{hue:?}");
            }
        }
        assert_eq!(state("my own"), None);
        assert_eq!(ramp(0, 4), Hue("r0"));
        assert_eq!(ramp(3, 4), Hue("r7"));
        assert_eq!(ramp(0, 1), Hue("r0"));
    }

    #[test]
    fn rules_are_for_light_and_dark() {
        let css = rules(&[(".a", "fill", Hue("page"))]);
        assert_eq!(
            css,
            format!(".a {{ fill: #ffffff }}\n{DARK} {{\n.a {{ fill: #11151d }}\n}}\n")
        );
    }
}
