//! Memory pools. There is one, the runtime's default.

use super::memory;
use crate::client::Result;
use crate::runtime::pool as runtime;
use crate::runtime::{Handle, Pointer};
use crate::wire::status;
use std::ffi::c_int;

/// What a function of the runtime has answered.
fn answered(code: u32) -> Result<()> {
    match code {
        status::SUCCESS => Ok(()),
        code => Err(code),
    }
}

driver! {
    fn cuDeviceGetDefaultMemPool(pool: *mut Handle, device: c_int) {
        answered(runtime::cudaDeviceGetDefaultMemPool(pool, device))
    }

    fn cuDeviceGetMemPool(pool: *mut Handle, device: c_int) {
        answered(runtime::cudaDeviceGetMemPool(pool, device))
    }

    fn cuDeviceSetMemPool(device: c_int, pool: Handle) {
        answered(runtime::cudaDeviceSetMemPool(device, pool))
    }

    fn cuMemPoolSetAttribute(pool: Handle, attribute: u32, value: Pointer) {
        answered(runtime::cudaMemPoolSetAttribute(pool, attribute, value))
    }

    fn cuMemPoolGetAttribute(pool: Handle, attribute: u32, value: Pointer) {
        answered(runtime::cudaMemPoolGetAttribute(pool, attribute, value))
    }

    fn cuMemPoolTrimTo(pool: Handle, bytes: usize) {
        answered(runtime::cudaMemPoolTrimTo(pool, bytes))
    }

    fn cuMemPoolSetAccess(pool: Handle, descriptions: Pointer, count: usize) {
        answered(runtime::cudaMemPoolSetAccess(pool, descriptions, count))
    }

    fn cuMemAllocFromPoolAsync(pointer: *mut Pointer, bytes: usize, pool: Handle, stream: Handle) {
        let _ = pool;
        answered(memory::cuMemAllocAsync(pointer, bytes, stream))
    }
}
