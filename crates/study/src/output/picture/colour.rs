//! Colours, by what they stand for: the same in every picture, in light and in dark.

/// A colour of the palette: a custom property of the page's or the file's style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hue(pub &'static str);

impl Hue {
    /// As a paint.
    pub fn paint(self) -> String {
        format!("var(--{})", self.0)
    }
}

/// For things that are told apart by name.
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

/// From few active lanes to all of them.
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

/// The colour of the `index`-th of several things.
pub fn series_hue(index: usize) -> Hue {
    SERIES[index % SERIES.len()]
}

/// The colour of a state that warps or schedulers are in, by a word in its title.
pub fn state_hue(title: &str) -> Option<Hue> {
    const WORDS: [(&str, &str); 9] = [
        ("issued", "issued"),
        ("eligible", "eligible"),
        ("fetch", "fetch"),
        ("control", "control"),
        ("mem", "memory"),
        ("data", "data"),
        ("structural", "structural"),
        ("barrier", "barrier"),
        ("exit", "exit"),
    ];
    let title = title.to_lowercase();
    let found = WORDS.iter().find(|(word, _)| title.contains(word));
    found
        .map(|(_, name)| Hue(name))
        .or_else(|| title.contains("idle").then_some(Hue("exit")))
}

/// Colours of the layers of a stack: by state where their titles name states, a ramp for bins of
/// lanes (`W1-4`), else one after the other.
pub fn layer_hues(titles: &[String]) -> Vec<Hue> {
    let lanes = |t: &str| t.starts_with('W') && t.contains('-');
    let bins = titles.iter().filter(|t| lanes(t)).count().max(2);
    let mut bin = 0;
    let mut hues = Vec::new();
    for (index, title) in titles.iter().enumerate() {
        let hue = if lanes(title) {
            bin += 1;
            RAMP[(bin - 1) * (RAMP.len() - 1) / (bins - 1)]
        } else {
            state_hue(title).unwrap_or_else(|| series_hue(index))
        };
        hues.push(hue);
    }
    hues
}

/// Colour and strength of configurations: those that differ behind a `+` share a colour.
pub fn configuration_hues(names: &[&str]) -> Vec<(Hue, f64)> {
    let base = |name: &str| name.split('+').next().unwrap_or(name).to_string();
    let mut bases: Vec<String> = Vec::new();
    let mut hues = Vec::new();
    for name in names {
        let this = base(name);
        let index = bases.iter().position(|b| *b == this).unwrap_or_else(|| {
            bases.push(this.clone());
            bases.len() - 1
        });
        let family: Vec<&&str> = names.iter().filter(|n| base(n) == this).collect();
        let place = family.iter().position(|n| *n == name).unwrap_or(0);
        let strength = match family.len() {
            0 | 1 => 1.0,
            n => 0.5 + 0.5 * place as f64 / (n - 1) as f64,
        };
        hues.push((series_hue(index), strength));
    }
    hues
}

/// The palette as custom properties, for pages and for files.
pub const STYLE: &str = ":root{--page:#ffffff;--ink:#1d2433;--soft:#5b6577;--faint:#dfe3ea;\
--bad:#c9302c;--c0:#3f66cc;--c1:#d99a00;--c2:#e8604c;--c3:#3aa58e;--c4:#7c52c8;--c5:#d6669b;\
--c6:#3c9a45;--c7:#6f9fe8;--c8:#93694b;--c9:#878d99;--r0:#b2182b;--r1:#d6604d;--r2:#f0997a;\
--r3:#f5c9ae;--r4:#c6dbec;--r5:#8fbfdd;--r6:#4a93c3;--r7:#2166ac;--issued:#2f8f4e;\
--eligible:#a3d3a4;--fetch:#e0a100;--control:#d9714f;--memory:#3f66cc;--data:#6f9fe8;\
--structural:#8a5fc9;--barrier:#c8345e;--exit:#9aa1ad}\
@media (prefers-color-scheme:dark){:root{--page:#11151d;--ink:#e6e9ef;--soft:#9aa5b8;\
--faint:#2b3342;--bad:#ff6b66;--c0:#6f93f0;--c1:#efb93a;--c2:#ff8370;--c3:#5cc9b1;--c4:#a582ea;\
--c5:#f08fbd;--c6:#62c46b;--c7:#9cc0fa;--c8:#c0967a;--c9:#a3a9b5;--r0:#ef5d64;--r1:#ee7f6d;\
--r2:#eda68d;--r3:#e6c8b6;--r4:#c4d8e6;--r5:#93c4e2;--r6:#5ea9da;--r7:#4191d0;--issued:#57c27a;\
--eligible:#3f7a4c;--fetch:#efb93a;--control:#f0906f;--memory:#6f93f0;--data:#a5c4fb;\
--structural:#ad86ea;--barrier:#f2648a;--exit:#6d7585}}\
@media print{:root{--page:#fff;--ink:#111;--soft:#444;--faint:#ccc}}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_of_a_policy_share_its_colour() {
        let hues = configuration_hues(&["tls", "tls+cff", "gto"]);
        assert_eq!(hues, [(Hue("c0"), 0.5), (Hue("c0"), 1.0), (Hue("c1"), 1.0)]);
    }

    #[test]
    fn states_have_colours_of_their_own() {
        let titles = ["fetch", "W1-4", "W29-32", "W0 mem", "W0 idle", "mine"];
        let hues = layer_hues(&titles.map(String::from));
        let names: Vec<&str> = hues.iter().map(|h| h.0).collect();
        assert_eq!(names, ["fetch", "r0", "r7", "memory", "exit", "c5"]);
        for hue in hues {
            assert!(STYLE.contains(&format!("--{}:", hue.0)));
        }
    }
}
