//! Which machines make sense: [`validate`] is the one place that says which do not, with the rules
//! of [`combination`] between mechanisms and what `tables` take of the host's memory; [`matrix`]
//! knows every choice and asks which go together.

pub mod combination;
pub mod matrix;
pub(crate) mod tables;
pub mod validate;
