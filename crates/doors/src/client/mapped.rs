//! Files of the session in the program's memory, where the simulator says.

use super::posix::{JUST_THERE, READ, SHARED, WRITE, mmap, munmap};
use crate::wire::WINDOW;
use std::ffi::{OsStr, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;

/// Maps a file at an address. False where that cannot be.
pub fn map(address: u64, bytes: u64, path: &[u8]) -> bool {
    let Ok(file) = File::options()
        .read(true)
        .write(true)
        .open(OsStr::from_bytes(path))
    else {
        return false;
    };
    if !WINDOW.contains(&address) || bytes > WINDOW.end - address {
        return false;
    }
    let at = address as usize as *mut c_void;
    // SAFETY: the address lies where nothing of the program does, and the kernel refuses it if something does.
    let got = unsafe {
        mmap(
            at,
            bytes as usize,
            READ | WRITE,
            SHARED | JUST_THERE,
            file.as_raw_fd(),
            0,
        )
    };
    if got == at {
        return true;
    }
    if got as isize != -1 {
        // SAFETY: an old kernel took the address as a hint; this is what it has just mapped.
        unsafe { munmap(got, bytes as usize) };
    }
    false
}

/// Takes a mapping away.
pub fn unmap(address: u64, bytes: u64) {
    if WINDOW.contains(&address) {
        // SAFETY: only `map` maps there.
        unsafe { munmap(address as usize as *mut c_void, bytes as usize) };
    }
}
