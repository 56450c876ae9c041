//! What the driver's calls answer: its own numbers, where the runtime has others, and their names.

use crate::client::{self, Result};
use crate::runtime::give;
use crate::wire::status;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The driver's number of an error: those below 100 that only the runtime has are said otherwise.
fn drivers(code: u32) -> u32 {
    match code {
        status::INVALID_CONFIGURATION
        | status::INVALID_PITCH
        | status::INVALID_DEVICE_POINTER
        | status::INVALID_CHANNEL
        | status::INVALID_COPY_DIRECTION
        | status::MISSING_CONFIGURATION => status::INVALID_VALUE,
        status::INVALID_SYMBOL => status::NOT_FOUND,
        status::INVALID_FUNCTION | status::INVALID_TEXTURE => status::INVALID_HANDLE,
        code => code,
    }
}

/// A call of the API. Nothing here ends the program.
pub fn call(body: impl FnOnce() -> Result<()>) -> u32 {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(status::UNKNOWN));
    result.map_or_else(drivers, |()| status::SUCCESS)
}

/// A function of the API that is not there.
pub fn lacking(name: &'static str) -> u32 {
    call(|| Err(client::lacking(name)))
}

/// The driver's names of the errors that its calls answer with, which are not made of the runtime's as the others are.
const NAMES: [(u32, &str); 14] = [
    (status::SUCCESS, "CUDA_SUCCESS"),
    (status::OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"),
    (status::NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"),
    (status::UNLOADING, "CUDA_ERROR_DEINITIALIZED"),
    (status::INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"),
    (status::INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"),
    (status::NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU"),
    (status::INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"),
    (status::NOT_FOUND, "CUDA_ERROR_NOT_FOUND"),
    (status::LAUNCH_FAILURE, "CUDA_ERROR_LAUNCH_FAILED"),
    (
        status::COOPERATIVE_TOO_LARGE,
        "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
    ),
    (
        status::PEER_UNSUPPORTED,
        "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
    ),
    (
        status::OUT_OF_RESOURCES,
        "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
    ),
    (
        status::UPDATE_FAILURE,
        "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
    ),
];

/// `cudaErrorIllegalAddress` as the driver spells it: `CUDA_ERROR_ILLEGAL_ADDRESS`.
fn spelt(runtime: &str) -> String {
    let mut name = String::from("CUDA_ERROR");
    for letter in runtime.trim_start_matches("cudaError").chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

fn text(code: u32, wants_name: bool) -> Option<String> {
    let (runtime, said) = status::named(code)?;
    if !wants_name {
        return Some(said.to_string());
    }
    let own = NAMES.iter().find(|(number, _)| *number == code);
    Some(own.map_or_else(|| spelt(runtime), |(_, name)| name.to_string()))
}

thread_local! {
    static TEXTS: RefCell<HashMap<(u32, bool), CString>> = RefCell::default();
}

/// Hands out a text that lives as long as its thread.
///
/// # Safety
/// `to` is null or can be written.
unsafe fn hand_out(to: *mut *const c_char, code: u32, wants_name: bool) -> Result<()> {
    // SAFETY: as the caller says.
    unsafe { give(to, std::ptr::null())? };
    let text = text(code, wants_name).ok_or(status::INVALID_VALUE)?;
    let pointer = TEXTS.with_borrow_mut(|texts| {
        let kept = texts.entry((code, wants_name));
        kept.or_insert_with(|| CString::new(text).unwrap_or_default())
            .as_ptr()
    });
    // SAFETY: as the caller says.
    unsafe { give(to, pointer) }
}

driver! {
    fn cuGetErrorString(code: u32, to: *mut *const c_char) {
        hand_out(to, code, false)
    }

    fn cuGetErrorName(code: u32, to: *mut *const c_char) {
        hand_out(to, code, true)
    }
}

#[cfg(inside)]
macro_rules! driver_stubs {
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
    // Written by `build.rs`: the names of NVIDIA's library that no function here has.
    include!(env!("WARPSIM_DRIVER_STUBS"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_drivers_names() {
        let name = |code| text(code, true).unwrap_or_default();
        assert_eq!(name(0), "CUDA_SUCCESS");
        assert_eq!(name(1), "CUDA_ERROR_INVALID_VALUE");
        assert_eq!(name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
        assert_eq!(name(500), "CUDA_ERROR_NOT_FOUND");
        assert_eq!(name(801), "CUDA_ERROR_NOT_SUPPORTED");
        assert_eq!(text(2, false).as_deref(), Some("out of memory"));
        assert_eq!(text(12_345, true), None);
    }

    #[test]
    fn what_only_the_runtime_says_is_said_otherwise() {
        let said = |code| call(|| Err(code));
        assert_eq!(said(status::INVALID_CONFIGURATION), status::INVALID_VALUE);
        assert_eq!(said(status::INVALID_SYMBOL), status::NOT_FOUND);
        assert_eq!(said(status::ASSERT), status::ASSERT);
        assert_eq!(call(|| panic!("a mistake of ours")), status::UNKNOWN);
    }
}
