//! A real GPU: the driver's interface (`api`, unsafe), a safe way to use it ([`driver`]), and
//! the device that workloads run on ([`device`]).

mod api;
mod array;
pub mod device;
pub mod driver;
pub(crate) mod surface;
pub(crate) mod texture;

pub use device::RealDevice;
pub use driver::Driver;
