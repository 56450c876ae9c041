//! CUDA's API on the simulated GPU: what a program's calls come to.
//!
//! Calls arrive as [requests](warpsim_doors::wire) from the library inside of a program. A [`session::Session`] is the API's state for one
//! process; the [`server`] has one for each that uses a GPU. Errors are CUDA's numbers; what explains them is a text beside them.

pub mod choice;
pub mod refused;
#[cfg(target_os = "linux")]
pub mod server;
pub mod session;
#[cfg(target_os = "linux")]
mod shared;
pub mod why;
