//! Configurations as machines.

use crate::error::StudyError;
use crate::format::{At, Configuration, Study};
use std::sync::Arc;
use warpsim_present::SourceError;
use warpsim_sim::config::Machine;
use warpsim_sim::config::load::{Origin, load_combination};

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
