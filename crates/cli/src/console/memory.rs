//! What happens when the host's memory is used up: the program says so and ends. Where a user's number
//! decides how much is asked for, it is tried first ([`warpsim_present::memory`]) and the message says
//! what it was for; this is for everything else.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use warpsim_present::memory::is_trying;

/// The system's allocator, with a message.
struct Telling;

/// Exit code of input that makes no sense: here it asks for too much.
const TOO_MUCH: i32 = 2;

impl Telling {
    /// `pointer`, unless it is null and the code that asks cannot do without it.
    fn checked(pointer: *mut u8, bytes: usize) -> *mut u8 {
        if !pointer.is_null() || is_trying() {
            return pointer;
        }
        // Nothing here may ask for memory: standard error has no buffer, and the text is written in
        // parts.
        let mut errors = std::io::stderr();
        let mut digits = [0u8; 20];
        let mut rest = bytes.div_ceil(1 << 20);
        let mut at = digits.len();
        while at > 0 && (rest > 0 || at == digits.len()) {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        let _ = errors.write_all(b"error: the host's memory is used up: ");
        let _ = errors.write_all(&digits[at..]);
        let _ = errors.write_all(b" MiB more were wanted; a smaller size takes less\n");
        std::process::exit(TOO_MUCH);
    }
}

// SAFETY: everything is handed to the system's allocator as it is, and what that answers is handed
// back; where it has no memory the process ends.
unsafe impl GlobalAlloc for Telling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this function, which is the same.
        Telling::checked(unsafe { System.alloc(layout) }, layout.size())
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; `pointer` came from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        Telling::checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above; `pointer` came from the system's allocator.
        Telling::checked(unsafe { System.realloc(pointer, layout, bytes) }, bytes)
    }
}

#[global_allocator]
static MEMORY: Telling = Telling;
