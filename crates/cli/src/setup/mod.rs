//! What a run is made of before it begins: kernels from files, the machine, the device, what counts registers,
//! observers.

pub mod cuda;
pub mod device;
pub mod isa;
pub mod machine;
pub mod registers;
pub mod typed;
