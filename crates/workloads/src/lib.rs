//! Workloads and launch files: what runs on the simulated GPU, with what input, and whether the
//! result is right.
//!
//! Nothing here knows how the GPU works: everything goes through [`device::Device`], which the
//! simulator implements and tests replace.

pub mod agreement;
mod compile;
pub mod cuda;
pub mod export;
pub mod files;
pub mod folder;
mod host;
mod host_code;
mod input;
pub mod launchfile;
pub mod micro;
pub mod recorded;
pub mod suite;
pub mod template;
pub mod vtw_kernels;

pub use compile::{lowering, mangled, registers, virtual_blocks};
pub use host::compare::{Mismatch, Outcome};
pub use host::device::{Category, Compiler, Device, DeviceError, ModuleId};
pub use host::session::{Session, Shape};
pub use host::{args, device, machine_code, simulated};
pub use input::npy;
