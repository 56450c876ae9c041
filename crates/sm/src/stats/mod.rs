//! Statistics: every counter is declared once, with unit and description, next to the field
//! that counts it.

mod decl;
mod energy;
mod memory;
mod power;
mod report;
mod sm;

pub use decl::{StatInfo, Visit};
pub use energy::{EnergyCounters, WorkCounters};
pub use memory::MemoryCounters;
pub use power::PipeCounters;
pub use report::{HostStats, LaunchReport, Totals, all_statistics};
pub use sm::{SchedulerState, SchedulerStates, SmCounters, SmStats, WarpState, WarpStates};
