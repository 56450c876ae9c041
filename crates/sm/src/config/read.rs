//! Machines, read with all mechanisms that there are.

pub use warpsim_machine::read::presets;

/// From a preset's name or a file to a checked machine.
pub mod load {
    use crate::config::Machine;
    use crate::config::mechanisms::MECHANISMS;
    use warpsim_machine::read::load;
    use warpsim_present::{Source, SourceError};

    pub use warpsim_machine::read::load::{Explained, Origin};

    /// Loads a machine and applies `key=value` overrides.
    pub fn load(origin: &Origin, overrides: &[String]) -> Result<Machine, SourceError> {
        load::load(origin, overrides, &MECHANISMS)
    }

    /// Loads a machine whose mechanisms may not go together: of the combinations of a sweep some do
    /// not, and are not to keep the others from running.
    pub fn load_combination(origin: &Origin, overrides: &[String]) -> Result<Machine, SourceError> {
        load::load_combination(origin, overrides, &MECHANISMS)
    }

    /// Every value that files and overrides set for a machine, which must be a sensible one.
    pub fn explain(origin: &Origin, overrides: &[String]) -> Result<Vec<Explained>, SourceError> {
        load::explain(origin, overrides, &MECHANISMS)
    }

    /// A machine from a text that may extend a preset, but no file; then the overrides.
    pub fn from_source(source: &Source, overrides: &[String]) -> Result<Machine, SourceError> {
        load::from_source(source, overrides, &MECHANISMS)
    }
}
