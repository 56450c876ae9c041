//! Configurations as machines.

use crate::error::StudyError;
use crate::format::{At, Configuration, Study};
use std::sync::Arc;
use warpsim_present::{SourceError, nearest};
use warpsim_sim::config::Machine;
use warpsim_sim::config::load::{Origin, load};
use warpsim_sim::policy::PolicyInfo;

/// A configuration, resolved.
pub struct Setup {
    /// Name in the study.
    pub name: String,
    /// Name in a report.
    pub title: String,
    /// The machine; none when this build lacks something it needs.
    pub machine: Option<Arc<Machine>>,
}

/// Resolves every configuration.
pub fn resolve(study: &Study, missing: &mut Vec<String>) -> Result<Vec<Setup>, StudyError> {
    let mut setups = Vec::new();
    for configuration in &study.configurations {
        let machine = machine(study, configuration)?;
        if let Err(lacking) = &machine {
            let name = &configuration.name.value;
            missing.push(format!(
                "configuration `{name}`: this build has no `{lacking}`"
            ));
        }
        setups.push(Setup {
            name: configuration.name.value.clone(),
            title: configuration.title.clone(),
            machine: machine.ok().map(Arc::new),
        });
    }
    Ok(setups)
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
    let machine = match load(&origin, &overrides) {
        Ok(machine) => machine,
        Err(error) => {
            let settings = configuration.settings.iter();
            let keys = settings.filter_map(|s| s.value.split_once('='));
            let lacking = keys.flat_map(|(k, v)| [k, v]).find(|n| awaited(n));
            if let Some(lacking) = lacking {
                return Ok(Err(lacking.to_string()));
            }
            return Err(placed(study, configuration, name, error).into());
        }
    };
    for (kind, key, value, known) in policies(&machine) {
        if known.iter().any(|p| p.name == value) {
            continue;
        }
        if awaited(value) {
            return Ok(Err(value.to_string()));
        }
        let at = configuration
            .settings
            .iter()
            .find(|s| s.value.starts_with(&format!("{key}=")));
        let place = at.map_or(name.place.clone(), |s| s.place.clone());
        return Err(unknown(study, kind, value, known, place).into());
    }
    Ok(Ok(machine))
}

/// What a machine names, and what there is to name.
fn policies(machine: &Machine) -> [(&'static str, &'static str, &str, &'static [PolicyInfo]); 3] {
    [
        (
            "scheduler",
            "sm.scheduler",
            &machine.sm.scheduler,
            warpsim_sim::schedule::POLICIES,
        ),
        (
            "fetch policy",
            "fetch.policy",
            &machine.fetch.policy,
            warpsim_sim::fetch::POLICIES,
        ),
        (
            "divergence model",
            "sm.divergence",
            &machine.sm.divergence,
            warpsim_sim::divergence::MODELS,
        ),
    ]
}

fn unknown(
    study: &Study,
    kind: &str,
    value: &str,
    known: &[PolicyInfo],
    place: std::ops::Range<usize>,
) -> SourceError {
    let names = || known.iter().map(|p| p.name);
    let hint = nearest(value, names())
        .map(|n| format!("did you mean `{n}`? "))
        .unwrap_or_default();
    let all = names().collect::<Vec<_>>().join(", ");
    study
        .source
        .error(place, format!("no {kind} is called `{value}`"))
        .with_help(format!("{hint}there are: {all}"))
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
