//! Workloads and launch files: what runs on the simulated GPU, with what input, and whether the
//! result is right.
//!
//! Nothing here knows how the GPU works: everything goes through [`device::Device`], which the
//! simulator implements and tests replace.

pub mod agreement;
pub mod args;
mod compare;
pub mod cuda;
pub mod device;
mod element;
pub mod export;
pub mod files;
pub mod folder;
mod graph;
pub mod launchfile;
pub mod lowering;
pub mod mangled;
pub mod micro;
pub mod npy;
mod random;
pub mod recorded;
pub mod registers;
mod session;
pub mod simulated;
pub mod suite;
pub mod template;
pub mod virtual_blocks;
pub mod vtw_kernels;

pub use compare::Outcome;
pub use device::{Category, Compiler, Device, DeviceError, ModuleId};
pub use session::{Session, Shape};
