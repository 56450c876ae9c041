//! Options that choose a machine, as they were typed: mistakes are shown in them, with what to type.

use warpsim_present::{Source, SourceError};
use warpsim_sim::config::read::presets;
use warpsim_sim::config::{Machine, ReadMachine, power, warps};
use warpsim_sim::mechanism::{Kind, MECHANISMS};

/// An option with its value, and the override that it is short for.
#[derive(Clone)]
pub struct Typed {
    option: &'static str,
    value: String,
    text: String,
}

impl Typed {
    /// `--set KEY=VALUE`.
    pub fn set(text: &str) -> Typed {
        Typed {
            option: "--set",
            value: text.to_string(),
            text: text.to_string(),
        }
    }

    /// An option that is short for `--set KEY=VALUE`.
    pub fn short(option: &'static str, key: &str, value: &str) -> Typed {
        Typed {
            option,
            value: value.to_string(),
            text: format!("{key}={value}"),
        }
    }

    /// The same option with another value.
    fn with(&self, value: &str) -> Typed {
        let key = self.text.split('=').next().unwrap_or_default();
        Typed::short(self.option, key, value)
    }

    /// What else the option can be given.
    fn others(&self) -> Vec<&'static str> {
        let of = |kind: Kind| MECHANISMS.of(kind).iter().map(|i| i.name).collect();
        match self.option {
            "--scheduler" => of(Kind::Scheduler),
            "--fetch" => of(Kind::Fetch),
            "--divergence" => of(Kind::Divergence),
            "--warps" => warps::NAMES.iter().map(|n| n.name).collect(),
            "--power" => power::NAMES.iter().map(|n| n.name).collect(),
            "--virtualize" => vec!["software", "hardware"],
            _ => Vec::new(),
        }
    }
}

/// The machine that these options choose.
pub fn resolve(machine: &str, typed: &[Typed]) -> Result<Machine, SourceError> {
    built(machine, typed).map_err(|error| as_typed(error, machine, typed))
}

fn built(machine: &str, typed: &[Typed]) -> Result<Machine, SourceError> {
    let overrides: Vec<String> = typed.iter().map(|t| t.text.clone()).collect();
    Machine::resolve(machine, &overrides)
}

/// The error in the words of the command line, and what to type instead.
fn as_typed(mut error: SourceError, machine: &str, typed: &[Typed]) -> SourceError {
    let shown = error.source.clone();
    if &*shown.name == "--set" {
        let own = typed.iter().find(|t| *t.text == *shown.text);
        // What was not typed itself stands behind a name for several settings.
        let named = || {
            typed
                .iter()
                .find(|t| matches!(t.option, "--warps" | "--power"))
        };
        if let Some(typed) = own.or_else(named).filter(|t| t.option != "--set") {
            let value = &typed.value;
            let before = typed.text.len() - value.len();
            let end = value.len();
            let inside = |span: std::ops::Range<usize>| match own.is_some() && span.start >= before
            {
                true => (span.start - before).min(end)..(span.end - before).min(end),
                false => 0..end,
            };
            error.span = error.span.map(inside);
            error.source = Source::new(typed.option, value);
        }
    }
    let mut help: Vec<String> = error.help.take().into_iter().collect();
    let works = instead(machine, typed);
    // What is shown is a line of a machine's, with which what was typed does not go.
    if !error.source.name.starts_with("--") && !works.is_empty() {
        help.push(format!("typed: {}", written(typed)));
    }
    help.extend(works.iter().map(|w| format!("type: {w}")));
    if help.is_empty() && error.message.starts_with("unknown key") {
        help.push("`warpsim list settings` lists the keys".to_string());
    }
    error.help = (!help.is_empty()).then(|| help.join("\n"));
    error
}

/// Options that work: with one of those that were typed changed to what is most like it and goes with the
/// others, or, where none does, left out.
fn instead(machine: &str, typed: &[Typed]) -> Vec<String> {
    let machine = match presets::text(machine) {
        None if !machine.ends_with(".toml") => return another_machine(machine),
        _ => machine,
    };
    let mut found = Vec::new();
    for (i, option) in typed.iter().enumerate() {
        let mut others = option.others();
        let likeness = |name: &&str| warpsim_present::likeness(&option.value, name);
        others.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
        let changed = others.into_iter().find_map(|value| {
            let mut all = typed.to_vec();
            all[i] = option.with(value);
            built(machine, &all).is_ok().then(|| written(&all))
        });
        found.extend(changed);
    }
    if found.is_empty() {
        for i in 0..typed.len() {
            let mut all = typed.to_vec();
            // A setting that is a mistake is not to be left out, but mended.
            if all.remove(i).option == "--set" {
                continue;
            }
            if !all.is_empty() && built(machine, &all).is_ok() {
                found.push(written(&all));
            }
        }
    }
    found
}

/// Options as they are typed.
fn written(options: &[Typed]) -> String {
    let words = options.iter().map(|t| format!("{} {}", t.option, t.value));
    words.collect::<Vec<_>>().join(" ")
}

fn another_machine(name: &str) -> Vec<String> {
    let near = warpsim_present::nearest(name, presets::names());
    near.map(|n| format!("--machine {n}")).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(machine: &str, typed: &[Typed]) -> String {
        resolve(machine, typed)
            .map(|_| ())
            .expect_err("no machine")
            .to_string()
    }

    #[test]
    fn a_mistake_is_shown_in_what_was_typed() {
        let typed = [Typed::short("--scheduler", "scheduler", "grr")];
        let text = said("gtx480", &typed);
        assert!(
            text.contains("--> --scheduler:1:1\n  |\n1 | grr\n  | ^^^"),
            "{text}"
        );
        assert!(text.contains("type: --scheduler "), "{text}");
        assert!(!text.contains("--set"), "{text}");
        let text = said("gtx480", &[Typed::set("scheduler=grr")]);
        assert!(text.contains("--> --set:1:11"), "{text}");
        let text = said("gtx408", &[]);
        assert!(text.ends_with("type: --machine gtx480"), "{text}");
    }

    #[test]
    fn what_does_not_go_together_ends_with_what_does() {
        let typed = [
            Typed::short("--warps", "warps", "i-vws"),
            Typed::short("--divergence", "divergence", "dwf"),
        ];
        let text = said("vws", &typed);
        let all: Vec<&str> = text
            .lines()
            .filter_map(|l| l.split_once("type: "))
            .map(|l| l.1)
            .collect();
        assert!(!all.is_empty(), "{text}");
        for line in all {
            let words: Vec<&str> = line.split(' ').collect();
            let typed: Vec<Typed> = words
                .chunks(2)
                .map(|pair| match pair[0] {
                    "--warps" => Typed::short("--warps", "warps", pair[1]),
                    _ => Typed::short("--divergence", "divergence", pair[1]),
                })
                .collect();
            assert!(built("vws", &typed).is_ok(), "{line}");
        }
    }
}
