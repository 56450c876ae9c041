//! Door 1: the runtime API of majors 11, 12 and 13.
//!
//! Functions are those of the toolkit's headers, and are documented there. `build.rs` finds them by `fn cuda...(` at the
//! beginning of a line within [`api!`]; names that NVIDIA's library has and that are not here answer "not supported". Names that end in
//! `_ptds` and `_ptsz`, for programs with a default stream per thread, are other names of the same functions.
#![allow(missing_docs, non_snake_case, clippy::missing_safety_doc)]

macro_rules! api {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            #[cfg_attr(inside, unsafe(no_mangle))]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
                // The block may use what the program has passed, which is why all of these are unsafe to call.
                #[allow(unused_unsafe)]
                $crate::runtime::error::call(|| unsafe { $body })
            }
        )*
    };
}

pub mod copy;
pub mod device;
pub mod error;
pub mod event;
pub mod function;
pub mod graph;
pub mod host;
pub mod launch;
pub mod library;
pub mod memory;
pub mod pool;
pub mod properties;
pub mod registry;
pub mod stream;
pub mod texture;

use crate::client::Result;
use crate::wire::status;
use std::ffi::{CStr, c_char, c_void};

/// A pointer of the program's, or of the GPU's.
pub type Pointer = *mut c_void;
/// A stream, an event, a graph: the simulator's number of it, as a pointer.
pub type Handle = *mut c_void;

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl Dim3 {
    pub fn all(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

/// The major version of the library that this is a part of.
pub fn major() -> u32 {
    #[cfg(inside)]
    {
        unsafe extern "C" {
            /// Another name of one of [`MAJORS`], which the linker gives it.
            static warpsim_major: u32;
        }
        // SAFETY: it is a number that nothing changes.
        unsafe { warpsim_major }
    }
    #[cfg(not(inside))]
    13
}

#[cfg(inside)]
mod majors {
    #[unsafe(no_mangle)]
    pub static warpsim_major_11: u32 = 11;
    #[unsafe(no_mangle)]
    pub static warpsim_major_12: u32 = 12;
    #[unsafe(no_mangle)]
    pub static warpsim_major_13: u32 = 13;
}

/// What the API is told to write somewhere.
///
/// # Safety
/// `to` is null or can be written.
pub unsafe fn give<T>(to: *mut T, value: T) -> Result<()> {
    if to.is_null() {
        return Err(status::INVALID_VALUE);
    }
    // SAFETY: as the caller says; structures of the program need not be aligned as ours.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// The same, where nothing is written for a null pointer.
///
/// # Safety
/// `to` is null or can be written.
pub unsafe fn offer<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: as the caller says.
        unsafe { to.write_unaligned(value) };
    }
}

/// What lies somewhere.
///
/// # Safety
/// `from` is null or can be read.
pub unsafe fn take<T: Copy>(from: *const T) -> Result<T> {
    if from.is_null() {
        return Err(status::INVALID_VALUE);
    }
    // SAFETY: as the caller says.
    Ok(unsafe { from.read_unaligned() })
}

/// A text of C.
///
/// # Safety
/// `text` is null or a text that ends in NUL.
pub unsafe fn bytes<'a>(text: *const c_char) -> Result<&'a [u8]> {
    if text.is_null() {
        return Err(status::INVALID_VALUE);
    }
    // SAFETY: as the caller says.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// A handle as a number.
pub fn number(handle: Handle) -> u64 {
    handle as usize as u64
}

/// A number as a handle.
pub fn handle(number: u64) -> Handle {
    number as usize as Handle
}
