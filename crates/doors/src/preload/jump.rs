//! A function's first bytes made a jump to another function.

use crate::client::posix::{EXECUTE, READ, WRITE, mprotect};

/// Smallest pages of any host: what is made writable are whole pages of the real size, which is a multiple.
fn page() -> usize {
    unsafe extern "C" {
        fn getpagesize() -> std::ffi::c_int;
    }
    // SAFETY: it takes nothing and cannot fail.
    unsafe { getpagesize() as usize }
}

/// The bytes of a jump to an address.
#[cfg(target_arch = "x86_64")]
pub fn jump(to: usize) -> [u8; 14] {
    let mut code = [0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    code[6..].copy_from_slice(&(to as u64).to_le_bytes());
    code
}

/// The bytes of a jump to an address: `ldr x16, #8; br x16`, and the address.
#[cfg(target_arch = "aarch64")]
pub fn jump(to: usize) -> [u8; 16] {
    let mut code = [0; 16];
    code[..4].copy_from_slice(&0x5800_0050u32.to_le_bytes());
    code[4..8].copy_from_slice(&0xd61f_0200u32.to_le_bytes());
    code[8..].copy_from_slice(&(to as u64).to_le_bytes());
    code
}

/// Writes jumps: from where, to where, and how many bytes there are before something else begins. None where the code cannot be
/// written; one that has no room is left out.
pub fn write(jumps: &[(usize, usize, usize)]) -> Option<()> {
    let page = page();
    let (first, last) = (
        jumps.iter().map(|j| j.0).min()?,
        jumps.iter().map(|j| j.0).max()?,
    );
    let start = first / page * page;
    let bytes = (last + 16).next_multiple_of(page) - start;
    // SAFETY: these are pages of the program's code, on which nothing runs yet.
    unsafe {
        if mprotect(start as *mut _, bytes, READ | WRITE | EXECUTE) != 0 {
            return None;
        }
        for &(from, to, room) in jumps {
            let code = jump(to);
            if code.len() <= room {
                std::ptr::copy_nonoverlapping(code.as_ptr(), from as *mut u8, code.len());
            }
        }
        mprotect(start as *mut _, bytes, READ | EXECUTE);
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the range was written just now.
    unsafe {
        unsafe extern "C" {
            fn __clear_cache(start: *mut std::ffi::c_char, end: *mut std::ffi::c_char);
        }
        __clear_cache(start as *mut _, (start + bytes) as *mut _);
    }
    Some(())
}
