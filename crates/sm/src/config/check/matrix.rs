//! Every choice there is, axis by axis, and which of them go together: found out by asking the
//! [rules](super::combination), so that what is shown is what is refused.

use super::combination::Why;
use crate::config::mechanisms::MECHANISMS;
use crate::config::read::load::Origin;
use crate::config::read::presets;
use crate::config::{Machine, power, warps};
use crate::{divergence, fetch, schedule};
use warpsim_machine::check::rule::first_broken;
use warpsim_machine::mechanism::{CacheName, Kind};
use warpsim_machine::read::load::load_anyhow;

/// Something to choose, with the choices.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What is chosen.
    pub name: &'static str,
    /// The choices.
    pub choices: Vec<Choice>,
}

/// A choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// The machine preset, if it is one.
    pub preset: Option<&'static str>,
    /// What it cannot do without and what others may choose otherwise.
    pub before: Vec<String>,
    /// What it sets, as `--set` takes it.
    pub settings: Vec<String>,
}

impl Choice {
    fn new(name: &str, settings: Vec<String>) -> Choice {
        Choice {
            name: name.to_string(),
            preset: None,
            before: Vec::new(),
            settings,
        }
    }
}

/// Every axis. Settings go in this order: what is named later goes over what a name before it chose.
pub fn axes() -> Vec<Axis> {
    let axis = |name, choices| Axis { name, choices };
    let named = |kind: Kind| {
        let names = MECHANISMS.of(kind).into_iter().map(|info| info.name);
        names.map(move |n| Choice::new(n, vec![format!("{}={n}", kind.key())]))
    };
    let preset = |name: &'static str| Choice {
        preset: Some(name),
        ..Choice::new(name, Vec::new())
    };
    let named_warps = warps::NAMES.iter().map(|n| {
        let name = n.example();
        Choice::new(&name, vec![format!("warps={name}")])
    });
    let gangs_of_8 = Choice::new("i-vws-8", vec!["warps=i-vws-8".to_string()]);
    let power = power::NAMES.iter().map(|n| {
        let settings = vec![format!("power={}", n.name)];
        Choice::new(n.name, settings)
    });
    let schedulers = named(Kind::Scheduler).map(|mut choice| {
        if schedule::needs_pool(&choice.name) {
            let pool = divergence::MODELS.iter().find(|m| m.pools);
            choice.before = pool
                .map(|m| format!("divergence={}", m.info.name))
                .into_iter()
                .collect();
        }
        choice
    });
    let fetch = named(Kind::Fetch).map(|mut choice| {
        let needs = fetch::needs(&choice.name).iter();
        choice.settings.extend(needs.map(|need| need.setting()));
        choice
    });
    let modes = ["software", "hardware"];
    let virtual_blocks = modes.map(|m| Choice::new(m, vec![format!("virtual.mode={m}")]));
    vec![
        axis("machine", presets::names().map(preset).collect()),
        axis("warps", named_warps.chain([gangs_of_8]).collect()),
        axis("power", power.collect()),
        axis("issue policy", schedulers.collect()),
        axis("fetch policy", fetch.collect()),
        axis("divergence", named(Kind::Divergence).collect()),
        axis(
            "L1D replacement",
            named(Kind::Replacement(CacheName::L1d)).collect(),
        ),
        axis("L1D prefetcher", named(Kind::Prefetch).collect()),
        axis("virtual blocks", virtual_blocks.to_vec()),
    ]
}

/// That choices do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule they break.
    pub about: &'static str,
    /// Why it is there.
    pub why: Why,
    /// What a user is told.
    pub sentence: String,
}

/// What names say of which the settings behind them contradict each other.
const NAMES: &str = "names that both choose the issue policy";

/// The machine that choices make on a preset.
pub fn machine(preset: &str, choices: &[&Choice]) -> Result<Machine, Refusal> {
    let before = choices.iter().flat_map(|c| &c.before);
    let settings = choices.iter().flat_map(|c| &c.settings);
    let set: Vec<String> = before.chain(settings).cloned().collect();
    let loaded = load_anyhow(&Origin::Preset(preset.to_string()), &set, &MECHANISMS);
    let machine = loaded.map_err(|error| Refusal {
        about: NAMES,
        why: Why::NoSense,
        sentence: error.message.clone(),
    })?;
    match first_broken(&machine, &MECHANISMS) {
        None => Ok(machine),
        Some((rule, problem)) => Err(Refusal {
            about: rule.about,
            why: rule.why,
            sentence: problem.message,
        }),
    }
}

/// The presets on which a choice goes by itself.
pub fn alone(choice: &Choice) -> Vec<&'static str> {
    let all = presets::names();
    all.filter(|p| machine(p, &[choice]).is_ok()).collect()
}

/// Whether two choices of different axes, in the order of [`axes`], go together: on the preset that
/// one of them is, or on any. `on` has the presets on which each goes by itself: what is in the way
/// elsewhere is the preset's.
pub fn pair([a, b]: [&Choice; 2], on: [&[&'static str]; 2]) -> Result<(), Refusal> {
    if let Some(preset) = a.preset.or(b.preset) {
        return machine(preset, &[a, b]).map(|_| ());
    }
    let mut both = on[0].iter().filter(|p| on[1].contains(p));
    let first = both.next().unwrap_or(&presets::BASE);
    let result = machine(first, &[a, b]).map(|_| ());
    match result.is_err() && both.any(|p| machine(p, &[a, b]).is_ok()) {
        true => Ok(()),
        false => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two choices by their names.
    fn named(a: &str, b: &str) -> Result<(), Refusal> {
        let axes = axes();
        let find = |name: &str| {
            let all = axes.iter().flat_map(|axis| &axis.choices);
            all.into_iter()
                .find(|c| c.name == name)
                .expect(name)
                .clone()
        };
        let (a, b) = (find(a), find(b));
        pair([&a, &b], [&alone(&a), &alone(&b)])
    }

    #[test]
    fn every_choice_goes_with_some_machine() {
        for axis in axes().iter().skip(1) {
            for choice in &axis.choices {
                assert!(!alone(choice).is_empty(), "{} {}", axis.name, choice.name);
            }
        }
    }

    #[test]
    fn what_goes_together_does_and_what_does_not_says_why() {
        for (a, b) in [
            ("vws", "i-vws"),
            ("ws8", "tbc"),
            ("ws8", "folding"),
            ("i-vws", "conventional"),
            ("conventional", "saws"),
            ("majority", "dwf"),
            ("mwf-gto", "hardware"),
            ("i-vws", "cff"),
            ("tbc", "software"),
            ("dwf", "software"),
            ("i-vws-mwf", "software"),
            ("e-vws", "tbc"),
        ] {
            assert_eq!(named(a, b), Ok(()), "{a} {b}");
        }
        for (a, b, about, why) in [
            ("gtx480", "ws8", "several schedulers", Why::NoSense),
            ("i-vws", "origami", NAMES, Why::NoSense),
            ("i-vws", "gto", NAMES, Why::NoSense),
            ("majority", "pdom", "without a pool", Why::NoSense),
            ("saws", "dwf", "mix blocks", Why::NoSense),
            ("tbc", "hardware", "compaction", Why::NoSense),
            ("dwf", "hardware", "formation", Why::NotBuilt),
            ("dwf-wb", "software", "warp barriers", Why::NotBuilt),
            ("ws4", "hardware", "narrow warps", Why::NotBuilt),
            ("i-vws", "dwf", "gangs of warps", Why::NotBuilt),
        ] {
            let refusal = named(a, b).expect_err(about);
            assert!(refusal.about.contains(about), "{a} {b}: {refusal:?}");
            assert_eq!(refusal.why, why, "{a} {b}");
            assert!(!refusal.sentence.is_empty() && !refusal.sentence.contains('\n'));
        }
    }
}
