//! Studies: many workloads under many machines and policies, compared with each other and with
//! what a paper reports.
//!
//! A study is data ([`format`]); [`plan`] finds the runs it needs, [`runner`] runs them side by
//! side and keeps each result in a [`store`], [`evaluate`] and [`verdict`] turn results into
//! figures and judged claims, [`output`] writes tables, files and the report. A [`Shard`] is a part
//! of a study that one of several machines runs, and [`merge`] puts them together. [`compare`] says
//! which statistics moved between runs.
//!
//! Nothing here knows how the machine works: runs go through the interface that the command line
//! uses, and statistics are read by their declared names.

mod average;
pub mod compare;
pub mod embedded;
mod error;
pub mod evaluate;
mod execute;
pub mod format;
mod key;
pub mod merge;
mod metric;
mod output;
pub mod plan;
pub mod record;
mod recordings;
mod request;
pub mod runner;
pub mod sample;
mod seal;
mod sensitivity;
mod shard;
pub mod sizes;
pub mod store;
mod subject;
mod timeline;
mod trade_off;
pub mod verdict;
pub mod words;

mod conduct;

pub use conduct::{Conclusion, Failure, Tally, conduct};
pub use error::StudyError;
pub use execute::execute_alone;
pub use plan::{Choices, Plan};
pub use request::Request;
pub use shard::{Shard, conduct_shard};
