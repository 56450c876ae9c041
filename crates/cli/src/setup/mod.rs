//! What a run is made of before it begins: kernels from files, the device, who counts registers, observers.

pub mod cuda;
pub mod device;
pub mod observers;
pub mod registers;
