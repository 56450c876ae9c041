//! Memory pools. There is one, the default; what it gives out is memory as `cudaMalloc` gives it.

use super::memory::{DEVICE, allocate};
use super::{Handle, Pointer, device, give, handle, number as of};
use crate::client::Result;
use crate::wire::status;
use std::ffi::c_int;
use std::sync::Mutex;

/// The default pool's handle.
const POOL: u64 = 0x10;
/// Attributes of a pool and of memory in graphs, by number.
const ATTRIBUTES: usize = 16;
/// The first of those that are counts of bytes rather than switches.
const COUNTS: usize = 4;

static VALUES: Mutex<[u64; ATTRIBUTES]> = Mutex::new([1; ATTRIBUTES]);

fn check(pool: Handle) -> Result<()> {
    if of(pool) == POOL {
        Ok(())
    } else {
        Err(status::INVALID_VALUE)
    }
}

fn with<T>(attribute: u32, body: impl FnOnce(&mut u64) -> T) -> Result<T> {
    let mut values = VALUES
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let value = values.get_mut(attribute as usize);
    value.map(body).ok_or(status::INVALID_VALUE)
}

api! {
    fn cudaDeviceGetDefaultMemPool(pool: *mut Handle, number: c_int) {
        device::check(number)?;
        give(pool, handle(POOL))
    }

    fn cudaDeviceGetMemPool(pool: *mut Handle, number: c_int) {
        device::check(number)?;
        give(pool, handle(POOL))
    }

    fn cudaDeviceSetMemPool(number: c_int, pool: Handle) {
        device::check(number)?;
        check(pool)
    }

    fn cudaMemPoolSetAttribute(pool: Handle, attribute: u32, value: Pointer) {
        check(pool)?;
        // Switches are ints, the threshold and the rest 64 bits.
        let given = match (attribute as usize) < COUNTS {
            true => u64::from(super::take(value.cast::<u32>())?),
            false => super::take(value.cast::<u64>())?,
        };
        with(attribute, |kept| *kept = given)
    }

    fn cudaMemPoolGetAttribute(pool: Handle, attribute: u32, value: Pointer) {
        check(pool)?;
        let kept = with(attribute, |kept| *kept)?;
        match attribute as usize {
            0..COUNTS => give(value.cast::<u32>(), kept as u32),
            COUNTS => give(value.cast::<u64>(), if kept == 1 { 0 } else { kept }),
            // What it holds and uses: nothing is held back.
            _ => give(value.cast::<u64>(), 0),
        }
    }

    fn cudaMemPoolTrimTo(pool: Handle, _bytes: usize) {
        check(pool)
    }

    fn cudaMemPoolSetAccess(pool: Handle, _descriptions: Pointer, _count: usize) {
        check(pool)
    }

    fn cudaMallocFromPoolAsync(pointer: *mut Pointer, bytes: usize, pool: Handle, stream: Handle) {
        check(pool)?;
        give(pointer, allocate(DEVICE, bytes, of(stream))?)
    }

    fn cudaDeviceGetGraphMemAttribute(number: c_int, _attribute: u32, value: Pointer) {
        device::check(number)?;
        give(value.cast::<u64>(), 0)
    }

    fn cudaDeviceSetGraphMemAttribute(number: c_int, _attribute: u32, _value: Pointer) {
        device::check(number)
    }

    fn cudaDeviceGraphMemTrim(number: c_int) {
        device::check(number)
    }
}
