//! Configurations as machines.

use crate::error::StudyError;
use crate::format::{At, Configuration, Study};
use std::sync::Arc;
use warpsim_present::SourceError;
use warpsim_sim::config::Machine;
use warpsim_sim::config::read::load::{Origin, load_combination};

/// A configuration, resolved.
pub struct Setup {
    /// Name in the study.
    pub name: String,
    /// Name in a report.
    pub title: String,
    /// The machine; none when this build lacks something it needs.
    pub machine: Option<Arc<Machine>>,
    /// The machine of each repeat, for workloads whose repeats differ in it. The first is
    /// `machine`.
    pub repeats: Vec<Varied>,
    /// The configuration that this one is with something changed, if it is run beside the
    /// figures.
    pub base: Option<usize>,
}

/// A repeat's machine.
#[derive(Clone)]
pub struct Varied {
    /// The machine.
    pub machine: Arc<Machine>,
    /// What differs from the configuration's: `l2.latency=121`.
    pub settings: Vec<String>,
}

/// Resolves every configuration, with the machines of `repeats` repeats.
pub fn resolve(
    study: &Study,
    repeats: usize,
    missing: &mut Vec<String>,
) -> Result<Vec<Setup>, StudyError> {
    let configurations = study.configurations.iter();
    configurations
        .map(|c| one(study, c, repeats, missing))
        .collect()
}

/// Resolves a configuration.
pub fn one(
    study: &Study,
    configuration: &Configuration,
    repeats: usize,
    missing: &mut Vec<String>,
) -> Result<Setup, StudyError> {
    let machine = machine(study, configuration)?;
    if let Err(lacking) = &machine {
        let name = &configuration.name.value;
        missing.push(format!(
            "configuration `{name}`: this build has no `{lacking}`"
        ));
    }
    let machine = machine.ok().map(Arc::new);
    let mut varied = Vec::new();
    if let Some(machine) = &machine {
        varied.push(Varied {
            machine: machine.clone(),
            settings: Vec::new(),
        });
        for repeat in 1..repeats {
            varied.push(perturbed(study, configuration, machine, repeat)?);
        }
    }
    Ok(Setup {
        name: configuration.name.value.clone(),
        title: configuration.title.clone(),
        machine,
        repeats: varied,
        base: None,
    })
}

/// What repeats change when a study does not say.
const USUAL: &str = "l2.latency";

/// The machine of a repeat: the configuration's, a little different.
fn perturbed(
    study: &Study,
    configuration: &Configuration,
    machine: &Arc<Machine>,
    repeat: usize,
) -> Result<Varied, StudyError> {
    let values = serde_json::to_value(machine.as_ref()).unwrap_or_default();
    let now = |key: &str| key.split('.').try_fold(&values, |v, k| v.get(k))?.as_i64();
    let (offsets, place) = match &study.repeats.perturb {
        Some(all) => match all.value.get(repeat - 1) {
            Some(offsets) => (offsets.value.clone(), Some(offsets.place.clone())),
            // Repeats of workloads that a seed varies go on.
            None => (Vec::new(), None),
        },
        None => {
            // Up and down by turns; a latency too short for that only goes up.
            let step = repeat.div_ceil(2) as i64;
            let down = repeat.is_multiple_of(2) && now(USUAL).is_some_and(|v| v >= step);
            let up = if now(USUAL).is_some_and(|v| v >= step) {
                step
            } else {
                repeat as i64
            };
            let offset = if down { -step } else { up };
            (vec![(USUAL.to_string(), offset)], None)
        }
    };
    let mut settings = Vec::new();
    for (key, offset) in &offsets {
        let Some(value) = now(key) else {
            let message = format!("`{key}` is no setting with a whole number to add to");
            let place = place.clone().unwrap_or(configuration.name.place.clone());
            let error = study.source.error(place, message);
            return Err(error
                .with_help("`warpsim list settings` shows all, for example `l2.latency`")
                .into());
        };
        let sum = value.saturating_add(*offset);
        if sum < 0 {
            let (name, repeat) = (&configuration.name.value, repeat + 1);
            let message =
                format!("configuration `{name}`, repeat {repeat}: `{key}` would be {sum}");
            let place = place.clone().unwrap_or(configuration.name.place.clone());
            let error = study.source.error(place, message);
            return Err(error
                .with_help(format!("it is {value}: take away less"))
                .into());
        }
        settings.push(format!("{key}={sum}"));
    }
    let name = configuration.machine.as_ref().unwrap_or(&study.machine);
    let origin = Origin::parse(&name.value, study.directory.as_deref());
    let said = configuration.settings.iter().map(|s| &s.value);
    // A setting is said once.
    let again = |s: &&String| {
        offsets
            .iter()
            .any(|(key, _)| s.split('=').next() == Some(key))
    };
    let kept = said.filter(|s| !again(s));
    let overrides: Vec<String> = kept.chain(&settings).cloned().collect();
    let machine = load_combination(&origin, &overrides).map_err(|error| {
        let place = place.clone().unwrap_or(configuration.name.place.clone());
        let what = &configuration.name.value;
        let message = format!(
            "configuration `{what}`, repeat {}: {}",
            repeat + 1,
            error.message
        );
        study
            .source
            .error(place, message)
            .with_optional_help(error.help)
    })?;
    Ok(Varied {
        machine: Arc::new(machine),
        settings,
    })
}

/// The machine, or the awaited name that this build does not have.
type Found = Result<Machine, String>;

fn machine(study: &Study, configuration: &Configuration) -> Result<Found, StudyError> {
    let awaited = |name: &str| study.awaited.iter().any(|a| a == name);
    let overrides: Vec<String> = configuration
        .settings
        .iter()
        .map(|s| s.value.clone())
        .collect();
    let name = configuration.machine.as_ref().unwrap_or(&study.machine);
    let origin = Origin::parse(&name.value, study.directory.as_deref());
    let error = match load_combination(&origin, &overrides) {
        Ok(machine) => return Ok(Ok(machine)),
        Err(error) => error,
    };
    let settings = configuration.settings.iter();
    let keys = settings.filter_map(|s| s.value.split_once('='));
    let mut said = keys.flat_map(|(k, v)| [k.to_string(), v.to_string()]);
    let lacking = said.find(|n| awaited(n));
    // A machine file may name what is awaited, too: then the error points at that name.
    match lacking.or_else(|| Some(pointed_at(&error)).filter(|n| awaited(n))) {
        Some(lacking) => Ok(Err(lacking)),
        None => Err(placed(study, configuration, name, error).into()),
    }
}

/// The word that an error underlines.
fn pointed_at(error: &SourceError) -> String {
    let span = error.span.clone().unwrap_or_default();
    let word = error.source.text.get(span).unwrap_or_default();
    word.trim_matches('"').to_string()
}

/// A machine file's own errors show that file; those of a setting are shown where it is written.
fn placed(
    study: &Study,
    configuration: &Configuration,
    name: &At<String>,
    error: SourceError,
) -> SourceError {
    let setting = configuration
        .settings
        .iter()
        .find(|s| *error.source.name == *"--set" && error.source.text.trim() == s.value.trim());
    let place = match (&*error.source.name, setting) {
        ("--set", Some(setting)) => setting.place.clone(),
        ("--machine", _) => name.place.clone(),
        ("--set", None) => configuration.name.place.clone(),
        // Settings that contradict what the preset says: the preset is not what is wrong.
        (file, _) if file.starts_with("preset ") && !configuration.settings.is_empty() => {
            configuration.settings[0].place.clone()
        }
        _ => return error,
    };
    let message = format!(
        "configuration `{}`: {}",
        configuration.name.value, error.message
    );
    study
        .source
        .error(place, message)
        .with_optional_help(error.help)
}
