//! Memory that the program and the simulated GPU both see: a file that both have mapped.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::{NonNull, slice_from_raw_parts_mut};
use warpsim_sim::exec::memory::bytes::Lend;

/// A mapped file.
pub struct Mapping(NonNull<[u8]>);

// SAFETY: the mapping is this value's alone in this process.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

// SAFETY: the pages are mapped until the value is dropped, and nothing else in this process has them. The program changes them between launches
// alone: it waits for an answer while one runs.
unsafe impl Lend for Mapping {
    fn bytes(&self) -> NonNull<[u8]> {
        self.0
    }
}

impl Mapping {
    /// Makes a file of so many bytes, and maps it.
    pub fn create(path: &Path, bytes: u64) -> io::Result<Mapping> {
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)?;
        file.set_len(bytes)?;
        let length = usize::try_from(bytes).map_err(io::Error::other)?;
        // SAFETY: a new mapping of a file that is as long as this.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        let start = if start == libc::MAP_FAILED {
            None
        } else {
            NonNull::new(start.cast::<u8>())
        };
        let start = start.ok_or_else(io::Error::last_os_error)?;
        NonNull::new(slice_from_raw_parts_mut(start.as_ptr(), length))
            .map(Mapping)
            .ok_or_else(io::Error::last_os_error)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is what `create` has mapped.
        unsafe { libc::munmap(self.0.as_ptr().cast(), self.0.len()) };
    }
}

/// Bytes of a page.
pub fn page() -> u64 {
    // SAFETY: it takes a number and gives one.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
}
