//! What is seen of a program when it starts.

/// It carries fat binaries.
pub const FAT_BINARY: u32 = 1;
/// It needs the runtime as a library.
pub const SHARED_RUNTIME: u32 = 2;
/// It needs the driver's library.
pub const DRIVER: u32 = 4;
/// It has a runtime of its own, with symbols.
pub const OWN_RUNTIME: u32 = 8;
/// That jumps to ours.
pub const REDIRECTED: u32 = 16;
/// It has no symbols.
pub const STRIPPED: u32 = 32;
