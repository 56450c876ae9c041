//! Attributes of kernels, and how many of their blocks an SM holds.

use super::context::current;
use crate::client::{Result, ask, number};
use crate::runtime::{Handle, give, offer, registry};
use crate::wire::{Request, status};
use std::ffi::c_int;

/// Warps are filled with blocks of these many threads.
const WARP: c_int = 32;

fn attribute(function: Handle, which: u32) -> Result<c_int> {
    let function = registry::function(function)?.handle;
    // Its numbers are those of the answer's words.
    let words = ask(&Request::FunctionAttributes { function }, &[])?.words;
    let value = words.get(which as usize).ok_or(status::INVALID_VALUE)?;
    Ok(*value as u32 as c_int)
}

fn set(function: Handle, attribute: u32, value: c_int) -> Result<()> {
    let function = registry::function(function)?.handle;
    let request = Request::SetFunctionAttribute {
        function,
        attribute,
        value,
    };
    ask(&request, &[]).map(drop)
}

fn blocks(function: Handle, threads: c_int, shared: usize) -> Result<c_int> {
    let function = registry::function(function)?.handle;
    let threads = u32::try_from(threads).map_err(|_| status::INVALID_VALUE)?;
    let request = Request::Occupancy {
        function,
        threads,
        shared: shared as u64,
    };
    Ok(number(&request, &[])? as c_int)
}

fn device(attribute: u32) -> Result<c_int> {
    Ok(number(&Request::DeviceAttribute { attribute }, &[])? as c_int)
}

/// How much dynamic shared memory a block of so many threads takes.
type SharedOf = unsafe extern "C" fn(c_int) -> usize;

/// The size of blocks with which most threads are on an SM; of equal ones the largest.
///
/// # Safety
/// `grid` and `block` are null or can be written, the function may be called.
unsafe fn best(
    grid: *mut c_int,
    block: *mut c_int,
    function: Handle,
    shared_of: Option<SharedOf>,
    shared: usize,
    limit: c_int,
) -> Result<()> {
    let mut most = attribute(function, 0)?;
    if limit > 0 {
        most = most.min(limit);
    }
    let (mut found, mut threads_there) = ((0, 0), 0);
    let mut threads = (most / WARP * WARP).max(most.min(WARP));
    while threads > 0 {
        // SAFETY: as the caller says.
        let shared = shared_of.map_or(shared, |of| unsafe { of(threads) });
        let there = blocks(function, threads, shared)?;
        if there * threads > threads_there {
            threads_there = there * threads;
            found = (there, threads);
        }
        threads -= WARP;
    }
    // SAFETY: as the caller says.
    unsafe {
        offer(grid, found.0 * device(16)?);
        offer(block, found.1);
    }
    Ok(())
}

driver! {
    fn cuFuncGetAttribute(value: *mut c_int, which: u32, function: Handle) {
        give(value, attribute(function, which)?)
    }

    fn cuFuncSetAttribute(function: Handle, attribute: u32, value: c_int) {
        set(function, attribute, value)
    }

    fn cuFuncSetCacheConfig(function: Handle, _config: u32) {
        registry::function(function).map(drop)
    }

    fn cuFuncSetSharedMemConfig(function: Handle, _config: u32) {
        registry::function(function).map(drop)
    }

    fn cuKernelGetAttribute(value: *mut c_int, which: u32, kernel: Handle, number: c_int) {
        crate::runtime::device::check(number)?;
        give(value, attribute(kernel, which)?)
    }

    fn cuKernelSetAttribute(attribute: u32, value: c_int, kernel: Handle, number: c_int) {
        crate::runtime::device::check(number)?;
        set(kernel, attribute, value)
    }

    fn cuKernelSetCacheConfig(kernel: Handle, _config: u32, _device: c_int) {
        registry::function(kernel).map(drop)
    }

    fn cuFuncGetParamInfo(function: Handle, index: usize, offset: *mut usize, size: *mut usize) {
        let function = registry::function(function)?;
        let (at, bytes) = *function.parameters.get(index).ok_or(status::INVALID_VALUE)?;
        give(offset, at)?;
        offer(size, bytes);
        Ok(())
    }

    fn cuKernelGetParamInfo(kernel: Handle, index: usize, offset: *mut usize, size: *mut usize) {
        let function = registry::function(kernel)?;
        let (at, bytes) = *function.parameters.get(index).ok_or(status::INVALID_VALUE)?;
        give(offset, at)?;
        offer(size, bytes);
        Ok(())
    }

    fn cuFuncGetParamCount(function: Handle, count: *mut usize) {
        give(count, registry::function(function)?.parameters.len())
    }

    fn cuKernelGetParamCount(kernel: Handle, count: *mut usize) {
        give(count, registry::function(kernel)?.parameters.len())
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(to: *mut c_int, function: Handle, threads: c_int, shared: usize) {
        current()?;
        give(to, blocks(function, threads, shared)?)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to: *mut c_int, function: Handle, threads: c_int, shared: usize, _flags: u32) {
        current()?;
        give(to, blocks(function, threads, shared)?)
    }

    fn cuOccupancyMaxPotentialBlockSize(grid: *mut c_int, block: *mut c_int, function: Handle, shared_of: Option<SharedOf>, shared: usize, limit: c_int) {
        current()?;
        best(grid, block, function, shared_of, shared, limit)
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(grid: *mut c_int, block: *mut c_int, function: Handle, shared_of: Option<SharedOf>, shared: usize, limit: c_int, _flags: u32) {
        current()?;
        best(grid, block, function, shared_of, shared, limit)
    }
}
