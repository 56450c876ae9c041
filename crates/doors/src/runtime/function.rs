//! Attributes of kernels, and how many of their blocks an SM holds.

use super::{Pointer, bytes, give, handle, registry};
use crate::client::{Result, ask, number};
use crate::wire::{Request, status};
use std::ffi::{c_char, c_int, c_void};

/// The beginning of the structure, which all majors have.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Attributes {
    shared: usize,
    constant: usize,
    local: usize,
    threads: c_int,
    registers: c_int,
    ptx_version: c_int,
    binary_version: c_int,
    cache_mode: c_int,
    dynamic_shared: c_int,
    carveout: c_int,
}

/// Bytes behind it from 12 on: nothing about clusters.
const REST: usize = 144 - std::mem::size_of::<Attributes>();

fn attributes(function: *const c_void) -> Result<Attributes> {
    let function = registry::function(function)?.handle;
    match ask(&Request::FunctionAttributes { function }, &[])?.words[..] {
        [
            threads,
            shared,
            constant,
            local,
            registers,
            ptx,
            binary,
            cache,
            dynamic,
            carveout,
        ] => Ok(Attributes {
            shared: shared as usize,
            constant: constant as usize,
            local: local as usize,
            threads: threads as c_int,
            registers: registers as c_int,
            ptx_version: ptx as c_int,
            binary_version: binary as c_int,
            cache_mode: cache as c_int,
            dynamic_shared: dynamic as c_int,
            carveout: carveout as u32 as c_int,
        }),
        _ => Err(status::UNKNOWN),
    }
}

fn set(function: *const c_void, attribute: u32, value: c_int) -> Result<()> {
    let function = registry::function(function)?.handle;
    let request = Request::SetFunctionAttribute {
        function,
        attribute,
        value,
    };
    ask(&request, &[]).map(drop)
}

fn occupancy(function: *const c_void, threads: c_int, shared: usize) -> Result<c_int> {
    let function = registry::function(function)?.handle;
    let threads = u32::try_from(threads).map_err(|_| status::INVALID_VALUE)?;
    let request = Request::Occupancy {
        function,
        threads,
        shared: shared as u64,
    };
    Ok(number(&request, &[])? as c_int)
}

/// What an SM has of one of the numbered attributes.
fn device(attribute: u32) -> Result<usize> {
    Ok(number(&Request::DeviceAttribute { attribute }, &[])? as usize)
}

api! {
    fn cudaFuncGetAttributes(to: *mut Attributes, function: *const c_void) {
        let found = attributes(function)?;
        give(to, found)?;
        if super::major() > 11 {
            std::ptr::write_bytes(to.add(1).cast::<u8>(), 0, REST);
        }
        Ok(())
    }

    fn cudaFuncSetAttribute(function: *const c_void, attribute: u32, value: c_int) {
        set(function, attribute, value)
    }

    fn cudaKernelSetAttributeForDevice(kernel: *const c_void, attribute: u32, value: c_int, device: c_int) {
        super::device::check(device)?;
        set(kernel, attribute, value)
    }

    fn cudaFuncSetCacheConfig(function: *const c_void, _config: u32) {
        registry::function(function).map(drop)
    }

    fn cudaFuncSetSharedMemConfig(function: *const c_void, _config: u32) {
        registry::function(function).map(drop)
    }

    fn cudaFuncGetName(name: *mut *const c_char, function: *const c_void) {
        let function = registry::function(function)?.handle;
        let mut text = ask(&Request::FunctionName { function }, &[])?.payload;
        text.push(0);
        // It lives as long as the program: asked for once or twice.
        give(name, Box::leak(text.into_boxed_slice()).as_ptr().cast())
    }

    fn cudaFuncGetParamInfo(function: *const c_void, index: usize, offset: *mut usize, size: *mut usize) {
        let function = registry::function(function)?;
        let (at, bytes) = *function.parameters.get(index).ok_or(status::INVALID_VALUE)?;
        give(offset, at)?;
        super::offer(size, bytes);
        Ok(())
    }

    fn cudaFuncGetParamCount(function: *const c_void, count: *mut usize) {
        give(count, registry::function(function)?.parameters.len())
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut c_int, function: *const c_void, threads: c_int, shared: usize) {
        give(blocks, occupancy(function, threads, shared)?)
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks: *mut c_int, function: *const c_void, threads: c_int, shared: usize, _flags: u32) {
        give(blocks, occupancy(function, threads, shared)?)
    }

    fn cudaOccupancyAvailableDynamicSMemPerBlock(shared: *mut usize, function: *const c_void, blocks: c_int, threads: c_int) {
        let (of_sm, used) = (device(81)?, attributes(function)?.shared);
        if blocks <= 0 || occupancy(function, threads, 0)? < blocks {
            return give(shared, 0);
        }
        give(shared, (of_sm / blocks as usize).saturating_sub(used).min(device(97)?))
    }

    fn cudaGetDriverEntryPoint(name: *const c_char, to: *mut Pointer, _flags: u64, found: *mut c_int) {
        entry_point(name, to, found)
    }

    fn cudaGetDriverEntryPointByVersion(name: *const c_char, to: *mut Pointer, _version: u32, _flags: u64, found: *mut c_int) {
        entry_point(name, to, found)
    }
}

/// A function of the driver's library, where that is there.
///
/// # Safety
/// `name` is a text; `to` and `found` are null or can be written.
unsafe fn entry_point(name: *const c_char, to: *mut Pointer, found: *mut c_int) -> Result<()> {
    use crate::client::posix::{NOW, dlopen, dlsym};
    // SAFETY: as the caller says.
    unsafe {
        bytes(name)?;
        let library = dlopen(c"libcuda.so.1".as_ptr(), NOW);
        let symbol = match library.is_null() {
            true => handle(0),
            false => dlsym(library, name),
        };
        give(to, symbol)?;
        super::offer(found, c_int::from(symbol.is_null()));
        match symbol.is_null() {
            true => Err(status::NOT_FOUND),
            false => Ok(()),
        }
    }
}
