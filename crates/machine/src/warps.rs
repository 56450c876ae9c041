//! Names for the ways to size warps that the paper on variable warp sizing compares: each is short
//! for settings, as in `--warps i-vws` or `--set warps=i-vws`.
//!
//! A name is that of a fixed size (`ws4`) or of gangs (`i-vws`, split for good, or `e-vws`, joined
//! again when parts meet), with what differs behind it, and perhaps the width of single warps:
//! `e-vws-sync50`, `i-vws-8`.

use crate::read::set::{self, Override};
use crate::{Machine, OpClass, Unit};
use warpsim_present::{SourceError, nearest};

/// The key that stands for the settings of a name.
pub const KEY: &str = "warps";

/// A name with what it means.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The name.
    pub name: &'static str,
    /// One line about it.
    pub description: &'static str,
    /// What differs from gangs that split at branches only and are never joined again.
    gangs: Option<&'static [&'static str]>,
    /// Width of warps, or of the single warps that gangs are made of.
    width: u32,
}

/// Where the number of cycles stands in a name.
const CYCLES: &str = "<N>";

const fn fixed(name: &'static str, description: &'static str, width: u32) -> Named {
    Named {
        name,
        description,
        gangs: None,
        width,
    }
}

const fn gangs(
    name: &'static str,
    description: &'static str,
    settings: &'static [&'static str],
) -> Named {
    Named {
        name,
        description,
        gangs: Some(settings),
        width: 4,
    }
}

/// Every name; those of gangs can be followed by `-8`, for single warps of 8 threads.
pub const NAMES: &[Named] = &[
    fixed("ws4", "warps of 4 threads, eight slices", 4),
    fixed("ws8", "warps of 8 threads, four slices", 8),
    fixed("ws16", "warps of 16 threads, two slices", 16),
    fixed("ws32", "warps of 32 threads", 32),
    gangs(
        "i-vws",
        "inelastic gangs: split at branches, never joined again",
        &[],
    ),
    gangs(
        "e-vws",
        "elastic gangs: parts that meet are joined again",
        &["scheduler.reform=opportunistic"],
    ),
    gangs(
        "i-vws-impatient",
        "inelastic; fall apart when memory answers some warps first",
        &["scheduler.memory_split=impatient"],
    ),
    gangs(
        "e-vws-impatient",
        "elastic; fall apart when memory answers some warps first",
        &[
            "scheduler.reform=opportunistic",
            "scheduler.memory_split=impatient",
        ],
    ),
    gangs(
        "i-vws-group",
        "inelastic; warps that memory answers together go on together",
        &["scheduler.memory_split=group"],
    ),
    gangs(
        "e-vws-sync<N>",
        "elastic; parts wait up to N cycles where branches meet",
        &["scheduler.reform=sync", "scheduler.sync_cycles=<N>"],
    ),
    gangs(
        "i-vws-gto",
        "inelastic; gangs issue greedy, then oldest",
        &["scheduler.order=gto"],
    ),
    gangs(
        "i-vws-lrr",
        "inelastic; gangs and single warps issue in turn",
        &["scheduler.order=lrr"],
    ),
    gangs(
        "i-vws-lpc",
        "inelastic; gangs and single warps with the lowest PC issue first",
        &["scheduler.order=lpc"],
    ),
    gangs(
        "i-vws-mwf",
        "inelastic; those of the block with most warps at a barrier issue first",
        &["scheduler.order=mwf"],
    ),
    gangs(
        "i-vws-saws",
        "inelastic; those of the block that has waited longest at a barrier issue first",
        &["scheduler.order=saws"],
    ),
    gangs(
        "i-vws-lgto",
        "inelastic; little gangs issue first",
        &["scheduler.order=lgto"],
    ),
];

/// What a machine's units need so that each slice owns its lanes and all make one access: sets for
/// each slice, and one for memory that has it alone.
fn own_lanes(machine: &Machine) -> Vec<String> {
    let mut all = vec!["sm.gather_memory=true".to_string()];
    let computes = |u: &Unit| u.takes.iter().any(|class| *class != OpClass::Memory);
    for (name, unit) in machine.unit.iter().filter(|(_, u)| computes(u)) {
        all.push(format!("unit.{name}.per=slice"));
        if unit.takes.contains(&OpClass::Memory) {
            let others = unit.takes.iter().filter(|c| **c != OpClass::Memory);
            let words: Vec<String> = others.map(|c| format!("\"{}\"", c.word())).collect();
            all.push(format!("unit.{name}.takes=[{}]", words.join(", ")));
            all.push("unit.mem.takes=[\"memory\"]".to_string());
            all.push(format!("unit.mem.lanes={}", unit.lanes));
            all.push("unit.mem.ports=1".to_string());
        }
    }
    all
}

impl Named {
    /// The settings behind it on a machine, for single warps of so many threads and that many
    /// cycles.
    fn settings(&self, machine: &Machine, width: u32, cycles: &str) -> Vec<String> {
        let mut all = vec![
            format!("sm.warp_width={width}"),
            "fetch.per=slice".to_string(),
            format!("fetch.cache_ports={}", 32 / width),
        ];
        if width < 32 {
            all.extend(own_lanes(machine));
        }
        if let Some(gangs) = self.gangs {
            all.push("scheduler=gangs".to_string());
            all.extend(gangs.iter().map(|s| s.replace(CYCLES, cycles)));
        }
        all
    }

    /// Its name as it can be written, with a number of cycles where it takes one.
    pub fn example(&self) -> String {
        self.name.replace(CYCLES, "30")
    }

    /// The settings behind it on a machine as they are shown.
    pub fn shown(&self, machine: &Machine) -> Vec<String> {
        self.settings(machine, self.width, "N")
    }

    /// Whether a name, without the width behind it, is this one; if so, with how many cycles.
    fn matches<'a>(&self, name: &'a str) -> Option<&'a str> {
        let Some(stem) = self.name.strip_suffix(CYCLES) else {
            return (self.name == name).then_some("");
        };
        let cycles = name.strip_prefix(stem)?;
        let digits = !cycles.is_empty() && cycles.bytes().all(|b| b.is_ascii_digit());
        digits.then_some(cycles)
    }
}

/// The settings behind a name on a machine.
fn settings(name: &str, machine: &Machine) -> Option<Vec<String>> {
    let (core, width) = match name.strip_suffix("-8") {
        Some(core) => (core, Some(8)),
        None => (name, None),
    };
    let found = NAMES.iter().find_map(|n| Some((n, n.matches(core)?)));
    let (named, cycles) = found?;
    if width.is_some() && named.gangs.is_none() {
        return None;
    }
    Some(named.settings(machine, width.unwrap_or(named.width), cycles))
}

/// Whether a name stands for an issue policy, too.
pub(crate) fn chooses_scheduler(name: &str) -> bool {
    let core = name.strip_suffix("-8").unwrap_or(name);
    let named = NAMES.iter().find(|n| n.matches(core).is_some());
    named.is_some_and(|n| n.gangs.is_some())
}

/// Reads overrides, with the settings behind a name in its place. `machine` makes the machine that
/// they go over.
pub(crate) fn overrides(
    texts: &[String],
    machine: impl Fn() -> Result<Machine, SourceError>,
) -> Result<Vec<Override>, SourceError> {
    let mut all = Vec::new();
    for text in texts {
        let read = set::parse(text)?;
        if read.key != KEY {
            all.push(read);
            continue;
        }
        let name = read.raw.trim_matches('"');
        let Some(settings) = settings(name, &machine()?) else {
            let names = || NAMES.iter().map(|n| n.name);
            let hint = nearest(name, names())
                .map(|n| format!("did you mean `{n}`? "))
                .unwrap_or_default();
            let known: Vec<&str> = names().collect();
            let message = format!("`{name}` is no way to size warps");
            return Err(read
                .source
                .error(read.node.span.clone(), message)
                .with_help(format!(
                    "{hint}there are: {}; those of gangs with -8 behind them for single warps of \
                     8 threads",
                    known.join(", ")
                )));
        };
        for setting in &settings {
            all.push(set::parse(setting)?);
        }
    }
    Ok(all)
}
