//! Kernels before they run: how they are compiled, what their names say, what counts registers, and virtual blocks.

pub mod lowering;
pub mod mangled;
pub mod registers;
pub mod virtual_blocks;
