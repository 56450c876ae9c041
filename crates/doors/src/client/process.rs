//! What the libraries of one process know of each other, in the one that is preloaded.

use super::posix::dlsym;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Whether the runtime was called. With that, a thread has the primary context.
#[cfg_attr(inside, unsafe(no_mangle))]
#[allow(non_upper_case_globals)] // a name for C
pub static warpsim_runtime_used: AtomicU32 = AtomicU32::new(0);

/// The one that all libraries share.
fn shared() -> &'static AtomicU32 {
    static FOUND: OnceLock<usize> = OnceLock::new();
    let found = *FOUND.get_or_init(|| {
        // SAFETY: null stands for all that is loaded; the name is a text.
        unsafe { dlsym(std::ptr::null_mut(), c"warpsim_runtime_used".as_ptr()) as usize }
    });
    match found {
        0 => &warpsim_runtime_used,
        // SAFETY: the preloaded library is never unloaded, and has such a number of that name.
        found => unsafe { &*(found as *const AtomicU32) },
    }
}

/// The runtime is called.
pub fn use_runtime() {
    shared().store(1, Ordering::Relaxed);
}

/// Whether it was.
pub fn runtime_used() -> bool {
    shared().load(Ordering::Relaxed) != 0
}
