//! From names, files and `--set` to a machine: [`load`] follows `extends` and lays files over one
//! another (`merge`), `set` reads overrides, `moved` knows older names of settings, and
//! [`presets`] come with warpsim.

pub mod load;
mod merge;
mod moved;
mod preset_tree;
pub mod presets;
pub(crate) mod set;
