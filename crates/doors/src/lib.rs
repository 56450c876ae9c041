//! The doors of `warpsim exec`: what stands in for CUDA's libraries inside of a program.
//!
//! The functions here know no GPU. Each turns a call of the API into a [request](wire) to the simulator, which is another
//! process, and the answer into the API's result. `build.rs` makes libraries of this crate, one for each name that programs
//! ask for; [`libraries`] has them as bytes.

#[cfg(not(inside))]
pub mod libraries;
pub mod wire;

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub mod client;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub mod driver;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub mod preload;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub mod runtime;
