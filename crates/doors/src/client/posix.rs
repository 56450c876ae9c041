//! What is used of C's library.

use std::ffi::{c_char, c_int, c_long, c_void};

#[allow(missing_docs)]
pub type Word = c_long;

unsafe extern "C" {
    static stdout: *mut c_void;
    static stderr: *mut c_void;
    fn fwrite(from: *const c_void, size: usize, count: usize, to: *mut c_void) -> usize;
    fn fflush(file: *mut c_void) -> c_int;
    pub(crate) fn mmap(
        address: *mut c_void,
        bytes: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    pub(crate) fn munmap(address: *mut c_void, bytes: usize) -> c_int;
    pub(crate) fn mprotect(address: *mut c_void, bytes: usize, protection: c_int) -> c_int;
    pub(crate) fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    pub(crate) fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Pages can be read.
pub const READ: c_int = 1;
/// Pages can be written.
pub const WRITE: c_int = 2;
/// Pages can be executed.
pub const EXECUTE: c_int = 4;
/// Changes are seen by all who have the file mapped.
pub const SHARED: c_int = 1;
/// No other process sees changes.
pub const PRIVATE: c_int = 2;
/// At just this address, if nothing is there.
pub const JUST_THERE: c_int = 0x10_0000;
/// All of a library's references are resolved when it is loaded.
pub const NOW: c_int = 2;

/// Prints the way the program does, so that its output and ours keep their order.
pub fn print(to: u32, bytes: &[u8]) {
    // SAFETY: C's streams are there from the start of a program to its end; the bytes are those of a slice.
    unsafe {
        let file = if to == 2 { stderr } else { stdout };
        fwrite(bytes.as_ptr().cast(), 1, bytes.len(), file);
        if to == 2 {
            fflush(file);
        }
    }
}
