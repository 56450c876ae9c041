//! Colours of a study's configurations and of the layers of stacks, from the one [palette].

use super::pattern::PATTERNS;
use crate::plan::Plan;
use std::collections::HashSet;
use warpsim_present::palette;
pub use warpsim_present::palette::Hue;

/// Colours of the layers of a stack: by state where their titles name states, a ramp for bins of
/// lanes (`W1-4`), else one after the other.
pub fn layer_hues(titles: &[String]) -> Vec<Hue> {
    let lanes = |t: &str| t.starts_with('W') && t.contains('-');
    let bins = titles.iter().filter(|t| lanes(t)).count();
    let mut bin = 0;
    let mut hues = Vec::new();
    for (index, title) in titles.iter().enumerate() {
        let hue = if lanes(title) {
            bin += 1;
            palette::ramp(bin - 1, bins)
        } else {
            palette::state(title).unwrap_or_else(|| palette::series(index))
        };
        hues.push(hue);
    }
    hues
}

/// How something is painted: colours alone do not tell the variants of a policy apart, nor anything in grey.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paint {
    /// Its colour.
    pub hue: Hue,
    /// The pattern of it; 0 is none.
    pub pattern: usize,
    /// Below 1 where there are more variants than patterns.
    pub strength: f64,
}

impl Paint {
    /// A colour as it is.
    pub fn plain(hue: Hue) -> Paint {
        Paint {
            hue,
            pattern: 0,
            strength: 1.0,
        }
    }
}

/// How every configuration of a study is painted: the same in all of its pictures.
pub struct Colours(Vec<Paint>);

impl Colours {
    /// Of a plan's configurations.
    pub fn of(plan: &Plan) -> Colours {
        let names: Vec<&str> = plan.setups.iter().map(|s| s.name.as_str()).collect();
        let together = plan.study.figures.iter().map(|figure| {
            let shown = figure.configurations.iter();
            let shown = shown.map(|c| names.iter().position(|n| *n == c.value));
            shown.flatten().collect()
        });
        let mut paints = paints(&names, &together.collect::<Vec<_>>());
        // With something changed, a configuration is still that configuration.
        for (i, setup) in plan.setups.iter().enumerate() {
            if let Some(base) = setup.base {
                paints[i] = paints[base];
            }
        }
        Colours(paints)
    }

    /// That of configuration number `setup`.
    pub fn get(&self, setup: usize) -> Paint {
        self.0[setup]
    }
}

/// A configuration's name without what follows a `+`: variants share a colour and differ in their patterns.
fn family(name: &str) -> &str {
    name.split('+').next().unwrap_or(name)
}

/// Paints by number of the configuration. Families take the palette's colours in turn; where a study has
/// more of them, those that a picture shows `together` differ as far as colours last.
fn paints(names: &[&str], together: &[Vec<usize>]) -> Vec<Paint> {
    let mut families: Vec<&str> = Vec::new();
    for name in names {
        if !families.contains(&family(name)) {
            families.push(family(name));
        }
    }
    let number = |name: &str| families.iter().position(|f| *f == family(name));
    let pictures: Vec<Vec<usize>> = together
        .iter()
        .map(|shown| shown.iter().filter_map(|&s| number(names[s])).collect())
        .collect();
    let mut colours: Vec<usize> = Vec::new();
    for this in 0..families.len() {
        let taken = |colour: usize| {
            let beside = pictures.iter().filter(|p| p.contains(&this));
            let mut beside = beside.flatten().filter(|other| **other < this);
            beside.any(|other| colours[*other] == colour)
        };
        let usual = this % palette::SERIES_COUNT;
        let free = (0..palette::SERIES_COUNT).find(|c| !taken(*c));
        colours.push(match taken(usual) {
            true => free.unwrap_or(usual),
            false => usual,
        });
    }
    // The pictures that each configuration is in.
    let mut shown: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    for (picture, configurations) in together.iter().enumerate() {
        configurations.iter().for_each(|&c| shown[c].push(picture));
    }
    let own: Vec<usize> = names.iter().filter_map(|name| number(name)).collect();
    let mut paints: Vec<Paint> = Vec::new();
    // Of each: how many patterns come before its own.
    let mut places: Vec<usize> = Vec::new();
    for this in 0..names.len() {
        let alike = |other: usize| {
            own[other] == own[this] || shown[other].iter().any(|p| shown[this].contains(p))
        };
        // Those of its colour that it is to be told apart from.
        let rivals = (0..this).filter(|o| colours[own[*o]] == colours[own[this]] && alike(*o));
        let taken: HashSet<usize> = rivals.map(|other| places[other]).collect();
        let place = (0..).find(|place| !taken.contains(place)).unwrap_or(0);
        places.push(place);
        paints.push(Paint {
            hue: palette::series(colours[own[this]]),
            pattern: place % PATTERNS,
            strength: 0.6f64.powi((place / PATTERNS) as i32),
        });
    }
    paints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_of_a_policy_share_its_colour_and_differ_in_their_patterns() {
        let paints = paints(&["mwf-gto", "mwf-gto+cff", "gto"], &[]);
        let plain = [Hue("c0"), Hue("c1")].map(Paint::plain);
        let variant = Paint {
            pattern: 1,
            ..plain[0]
        };
        assert_eq!(paints, [plain[0], variant, plain[1]]);
        let many: Vec<String> = (0..20).map(|i| format!("gto+{i}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let paints = super::paints(&many, &[]);
        for (i, paint) in paints.iter().enumerate() {
            assert!(!paints[..i].contains(paint), "{i}");
        }
    }

    #[test]
    fn what_is_shown_together_differs_even_in_large_studies() {
        let names: Vec<String> = (0..25).map(|i| format!("n{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        // By their numbers alone 0, 10 and 20 would be alike.
        let paints = paints(&names, &[vec![0, 10, 20], vec![1, 11]]);
        assert_eq!(paints[0].hue, Hue("c0"));
        assert_eq!([paints[10].hue, paints[20].hue], [Hue("c1"), Hue("c2")]);
        assert_ne!(paints[1], paints[11]);
        assert_eq!(paints[15].hue, Hue("c5"), "shown with no other");
        // All at once: colours are used again, with patterns.
        let paints = super::paints(&names, &[(0..25).collect()]);
        for (i, paint) in paints.iter().enumerate() {
            assert!(!paints[..i].contains(paint), "{i}");
        }
    }

    #[test]
    fn states_have_colours_of_their_own() {
        let titles = ["fetch", "W1-4", "W29-32", "W0 mem", "W0 idle", "mine"];
        let hues = layer_hues(&titles.map(String::from));
        let names: Vec<&str> = hues.iter().map(|h| h.0).collect();
        assert_eq!(names, ["fetch", "r0", "r7", "memory", "exit", "c5"]);
        for hue in hues {
            assert!(palette::style().contains(&format!("--{}:", hue.0)));
        }
    }
}
