//! Errors of calls: a thread's last one, names and texts.

use crate::client::{self, Result};
use crate::wire::status;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

thread_local! {
    static LAST: Cell<u32> = const { Cell::new(status::SUCCESS) };
    static TEXTS: RefCell<HashMap<(u32, bool), CString>> = RefCell::default();
}

/// The error that a kernel has left behind, which every call answers with from then on.
static STICKY: AtomicU32 = AtomicU32::new(status::SUCCESS);

/// Whether nothing can be done after this error.
fn is_sticky(status: u32) -> bool {
    matches!(
        status,
        status::ILLEGAL_ADDRESS
            | status::LAUNCH_TIMEOUT
            | status::ASSERT
            | status::MISALIGNED
            | status::LAUNCH_FAILURE
    )
}

/// A call of the API: what it comes to is the thread's last error, unless it is none. Nothing here ends the program.
pub fn call(body: impl FnOnce() -> Result<()>) -> u32 {
    client::process::use_runtime();
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(status::UNKNOWN));
    match result {
        Ok(()) => status::SUCCESS,
        Err(code) => {
            note(code);
            code
        }
    }
}

/// A call whose error is not kept: it is an answer rather than a mistake.
pub fn answer(body: impl FnOnce() -> Result<()>) -> u32 {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(status::UNKNOWN));
    result.err().unwrap_or(status::SUCCESS)
}

fn note(code: u32) {
    if code == status::NOT_READY {
        return;
    }
    if is_sticky(code) {
        STICKY.store(code, Ordering::Relaxed);
    }
    LAST.set(code);
}

/// A kernel's error has gone with everything else.
pub(super) fn forget() {
    STICKY.store(status::SUCCESS, Ordering::Relaxed);
    LAST.set(status::SUCCESS);
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub extern "C" fn cudaGetLastError() -> u32 {
    let last = cudaPeekAtLastError();
    LAST.set(status::SUCCESS);
    last
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub extern "C" fn cudaPeekAtLastError() -> u32 {
    match STICKY.load(Ordering::Relaxed) {
        status::SUCCESS => LAST.get(),
        sticky => sticky,
    }
}

/// A text that lives as long as its thread.
fn text(code: u32, name: bool) -> *const c_char {
    let known = status::named(code);
    let known = known.map(|(n, said)| if name { n } else { said });
    // NVIDIA's library calls one that it does not know the same in both.
    let known = known.unwrap_or("unrecognized error code");
    TEXTS.with_borrow_mut(|texts| {
        let kept = texts.entry((code, name));
        kept.or_insert_with(|| CString::new(known).unwrap_or_default())
            .as_ptr()
    })
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub extern "C" fn cudaGetErrorString(code: u32) -> *const c_char {
    text(code, false)
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub extern "C" fn cudaGetErrorName(code: u32) -> *const c_char {
    text(code, true)
}

/// A function of the API that is not there.
pub fn lacking(name: &'static str) -> u32 {
    call(|| Err(client::lacking(name)))
}

#[cfg(inside)]
macro_rules! stubs {
    ($($name:ident)*) => {
        $(
            /// Not there. What it is called with is for the caller to take away.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> u32 {
                lacking(stringify!($name))
            }
        )*
    };
}

#[cfg(inside)]
mod stubs {
    use super::lacking;
    // Written by `build.rs`: the names of NVIDIA's libraries that no function here has.
    include!(env!("WARPSIM_STUBS"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn the_last_error_is_kept_until_it_is_asked_for() {
        assert_eq!(call(|| Err(status::INVALID_VALUE)), status::INVALID_VALUE);
        assert_eq!(call(|| Ok(())), status::SUCCESS);
        assert_eq!(cudaPeekAtLastError(), status::INVALID_VALUE);
        assert_eq!(cudaGetLastError(), status::INVALID_VALUE);
        assert_eq!(cudaGetLastError(), status::SUCCESS);
        // "Not ready" is an answer.
        assert_eq!(call(|| Err(status::NOT_READY)), status::NOT_READY);
        assert_eq!(cudaGetLastError(), status::SUCCESS);
    }

    #[test]
    fn a_panic_is_an_error_of_the_api() {
        assert_eq!(call(|| panic!("a mistake of ours")), status::UNKNOWN);
        assert_eq!(cudaGetLastError(), status::UNKNOWN);
    }

    #[test]
    fn errors_have_names() {
        let text = |p: *const c_char| unsafe { CStr::from_ptr(p) }.to_str().expect("text");
        assert_eq!(text(cudaGetErrorName(1)), "cudaErrorInvalidValue");
        assert_eq!(
            text(cudaGetErrorString(700)),
            "an illegal memory access was encountered"
        );
        assert_eq!(text(cudaGetErrorString(12345)), "unrecognized error code");
    }
}
