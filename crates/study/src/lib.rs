//! Studies: many workloads under many machines and policies, compared with each other and with
//! what a paper reports.
//!
//! A study is data ([`format`](mod@format)); [`plan`] finds the runs it needs, [`runner`] runs them side by
//! side and keeps each result in a [`store`], [`evaluate`] and [`verdict`] turn results into
//! figures and judged claims, `output` writes tables, files and the report. A [`Shard`] is a part
//! of a study that one of several machines runs, and [`merge`] puts them together. [`compare`] says
//! which statistics moved between runs.
//!
//! Nothing here knows how the machine works: runs go through the interface that the command line
//! uses, and statistics are read by their declared names.

pub mod compare;
mod conduct;
pub mod embedded;
mod error;
pub mod evaluate;
pub mod format;
pub mod numbers;
mod output;
pub mod plan;
mod results;
mod running;
mod values;
pub mod verdict;
pub mod words;

/// Timelines of warps: recorded while something runs, and shown on pages.
pub mod timeline {
    pub use crate::output::timeline::{SCRIPT, STYLE, viewer};
    pub use crate::running::timeline::Recording;
}

pub use conduct::{Conclusion, Failure, conduct};
pub use error::StudyError;
pub use plan::{Choices, Plan};
pub use results::{merge, record, store};
pub use running::execute::execute_alone;
pub use running::request::Request;
pub use running::runner;
pub use running::shard::{Shard, conduct_shard};
pub use values::{behind, sample, sensitivity, sizes};
pub use verdict::Tally;
