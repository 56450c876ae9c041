//! Which machines make sense: [`validate`] says which do not, with the [rules](rule) between mechanisms
//! that are passed to it.

pub mod rule;
pub mod validate;
