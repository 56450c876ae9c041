//! Answers to what the simulator asks.

use super::{CALLED, mapped, posix};
use crate::wire::{Question, status};
use std::ffi::c_void;

/// A function that is called with data.
type WithData = unsafe extern "C" fn(*mut c_void);
/// A function that is called with a stream, its status and data.
type WithStream = unsafe extern "C" fn(*mut c_void, u32, *mut c_void);

/// The answer's status and bytes.
pub fn answer(question: &Question, payload: &[u8]) -> (u32, Vec<u8>) {
    match *question {
        Question::Print { to } => posix::print(to, payload),
        Question::ReadHost { address, bytes } => {
            // SAFETY: the program gave this range to the API to be read.
            let from = unsafe { std::slice::from_raw_parts(address as *const u8, bytes as usize) };
            return (status::SUCCESS, from.to_vec());
        }
        Question::WriteHost { address } => {
            // SAFETY: the program gave this range to the API to be written.
            unsafe { std::ptr::copy(payload.as_ptr(), address as *mut u8, payload.len()) };
        }
        Question::Call {
            function,
            data,
            kind,
            stream,
            status,
        } => {
            CALLED.set(true);
            // SAFETY: the program gave this function to the API to be called so.
            unsafe { call(function, data, kind, stream, status) };
            CALLED.set(false);
        }
        Question::Map { address, bytes } => {
            if !mapped::map(address, bytes, payload) {
                return (status::OUT_OF_MEMORY, Vec::new());
            }
        }
        Question::Unmap { address, bytes } => mapped::unmap(address, bytes),
    }
    (status::SUCCESS, Vec::new())
}

/// Calls a function of the program.
///
/// # Safety
/// It is one of its kind.
unsafe fn call(function: u64, data: u64, kind: u32, stream: u64, status: u32) {
    let (function, data) = (function as *const c_void, data as *mut c_void);
    if function.is_null() {
        return;
    }
    // SAFETY: as the caller says.
    unsafe {
        match kind {
            0 => std::mem::transmute::<*const c_void, WithData>(function)(data),
            _ => std::mem::transmute::<*const c_void, WithStream>(function)(
                stream as *mut c_void,
                status,
                data,
            ),
        }
    }
}
