//! The device, of which there is one: number 0.

use super::{Pointer, bytes, error, give, offer};
use crate::client::{Result, ask, number};
use crate::wire::{Request, status};
use std::ffi::{c_char, c_int};

/// That there is such a device.
pub fn check(device: c_int) -> Result<()> {
    if device == 0 {
        Ok(())
    } else {
        Err(status::INVALID_DEVICE)
    }
}

/// The version that programs are told they link: the newest of each major.
fn version() -> c_int {
    match super::major() {
        11 => 11_080,
        12 => 12_090,
        _ => 13_000,
    }
}

/// What the API calls the only bus the device can be on.
const BUS: &[u8] = b"0000:01:00.0\0";

api! {
    fn cudaGetDeviceCount(count: *mut c_int) {
        give(count, 1)
    }

    fn cudaGetDevice(device: *mut c_int) {
        give(device, 0)
    }

    fn cudaSetDevice(device: c_int) {
        check(device)
    }

    fn cudaInitDevice(device: c_int, _device_flags: u32, _flags: u32) {
        check(device)
    }

    fn cudaSetValidDevices(devices: *mut c_int, count: c_int) {
        for index in 0..count.max(0) as usize {
            check(super::take(devices.add(index))?)?;
        }
        Ok(())
    }

    fn cudaChooseDevice(device: *mut c_int, _properties: Pointer) {
        give(device, 0)
    }

    fn cudaSetDeviceFlags(_flags: u32) {
        Ok(())
    }

    fn cudaGetDeviceFlags(flags: *mut u32) {
        give(flags, 0)
    }

    fn cudaDeviceSynchronize() {
        ask(&Request::Synchronize {}, &[]).map(drop)
    }

    fn cudaThreadSynchronize() {
        ask(&Request::Synchronize {}, &[]).map(drop)
    }

    fn cudaDeviceReset() {
        reset()
    }

    fn cudaThreadExit() {
        reset()
    }

    fn cudaDeviceGetAttribute(value: *mut c_int, attribute: u32, device: c_int) {
        check(device)?;
        give(value, number(&Request::DeviceAttribute { attribute }, &[])? as u32 as c_int)
    }

    fn cudaDeviceGetLimit(value: *mut usize, limit: u32) {
        give(value, number(&Request::Limit { limit }, &[])? as usize)
    }

    fn cudaDeviceSetLimit(limit: u32, value: usize) {
        ask(&Request::SetLimit { limit, value: value as u64 }, &[]).map(drop)
    }

    fn cudaDeviceGetCacheConfig(config: *mut u32) {
        give(config, 0)
    }

    /// A hint, which the machine's own settings stand for.
    fn cudaDeviceSetCacheConfig(_config: u32) {
        Ok(())
    }

    fn cudaDeviceGetSharedMemConfig(config: *mut u32) {
        give(config, 1)
    }

    fn cudaDeviceSetSharedMemConfig(_config: u32) {
        Ok(())
    }

    /// Priorities are all the same.
    fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        offer(least, 0);
        offer(greatest, 0);
        Ok(())
    }

    fn cudaDeviceGetPCIBusId(id: *mut c_char, length: c_int, device: c_int) {
        check(device)?;
        if id.is_null() || (length as usize) < BUS.len() {
            return Err(status::INVALID_VALUE);
        }
        std::ptr::copy_nonoverlapping(BUS.as_ptr().cast(), id, BUS.len());
        Ok(())
    }

    fn cudaDeviceGetByPCIBusId(device: *mut c_int, id: *const c_char) {
        let same = bytes(id)?.eq_ignore_ascii_case(&BUS[..BUS.len() - 1]);
        if same { give(device, 0) } else { Err(status::INVALID_DEVICE) }
    }

    fn cudaDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) {
        check(device)?;
        check(peer)?;
        give(can, 0)
    }

    fn cudaDeviceEnablePeerAccess(_peer: c_int, _flags: u32) {
        Err(status::INVALID_DEVICE)
    }

    fn cudaDeviceDisablePeerAccess(_peer: c_int) {
        Err(status::PEER_NOT_ENABLED)
    }

    fn cudaDeviceGetP2PAttribute(_value: *mut c_int, _attribute: u32, _from: c_int, _to: c_int) {
        Err(status::INVALID_DEVICE)
    }

    fn cudaDriverGetVersion(to: *mut c_int) {
        give(to, 13_000)
    }

    fn cudaRuntimeGetVersion(to: *mut c_int) {
        give(to, version())
    }

    fn cudaProfilerStart() {
        Ok(())
    }

    fn cudaProfilerStop() {
        Ok(())
    }

    fn cudaDeviceFlushGPUDirectRDMAWrites(_target: u32, _scope: u32) {
        Ok(())
    }

    fn cudaCtxResetPersistingL2Cache() {
        Ok(())
    }
}

fn reset() -> Result<()> {
    ask(&Request::Reset {}, &[])?;
    error::forget();
    Ok(())
}
