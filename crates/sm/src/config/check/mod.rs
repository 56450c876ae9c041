//! Which machines make sense, with the rules of [`combination`] between mechanisms; [`matrix`] knows every choice and
//! asks which go together.

pub mod combination;
pub mod matrix;

/// The one place that says which machines make no sense.
pub mod validate {
    use crate::config::Machine;
    use crate::config::mechanisms::MECHANISMS;
    pub use warpsim_machine::check::validate::Problem;

    /// Checks a machine.
    pub fn validate(machine: &Machine) -> Result<(), Problem> {
        warpsim_machine::check::validate::validate(machine, &MECHANISMS)
    }
}
