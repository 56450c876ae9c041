//! How mechanisms describe themselves, and the list of all.

pub use crate::config::mechanisms::MECHANISMS;
pub use warpsim_machine::mechanism::*;
