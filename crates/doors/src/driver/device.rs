//! The device, and initialisation.

use crate::client::process::runtime_used;
use crate::client::{Result, ask, number};
use crate::runtime::device::check;
use crate::runtime::give;
use crate::wire::{Request, status};
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering};

/// The version of the API that there is.
pub const VERSION: c_int = 13_000;

static INITIALISED: AtomicBool = AtomicBool::new(false);

/// That `cuInit` was called, as NVIDIA's library demands; the runtime does that, too.
pub fn initialised() -> Result<()> {
    match INITIALISED.load(Ordering::Relaxed) || runtime_used() {
        true => Ok(()),
        false => Err(status::NOT_INITIALIZED),
    }
}

fn attribute(attribute: u32) -> Result<u64> {
    number(&Request::DeviceAttribute { attribute }, &[])
}

/// # Safety
/// `uuid` is null or 16 bytes that can be written.
unsafe fn identity(uuid: *mut [u8; 16], device: c_int) -> Result<()> {
    check(device)?;
    // The same as the runtime's properties say.
    // SAFETY: as the caller says.
    unsafe { give(uuid, [0; 16]) }
}

driver! {
    fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(status::INVALID_VALUE);
        }
        // The first question shows whether there is a simulator.
        attribute(1)?;
        INITIALISED.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn cuDriverGetVersion(version: *mut c_int) {
        give(version, VERSION)
    }

    fn cuDeviceGetCount(count: *mut c_int) {
        initialised()?;
        give(count, 1)
    }

    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        initialised()?;
        check(ordinal)?;
        give(device, ordinal)
    }

    fn cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) {
        check(device)?;
        let length = usize::try_from(length).map_err(|_| status::INVALID_VALUE)?;
        if name.is_null() || length == 0 {
            return Err(status::INVALID_VALUE);
        }
        let mut text = ask(&Request::DeviceName {}, &[])?.payload;
        text.truncate(length - 1);
        text.push(0);
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len());
        Ok(())
    }

    fn cuDeviceGetUuid(uuid: *mut [u8; 16], device: c_int) {
        identity(uuid, device)
    }

    fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: c_int) {
        identity(uuid, device)
    }

    fn cuDeviceGetLuid(_luid: *mut c_char, _mask: *mut u32, _device: c_int) {
        // It is Windows that knows such numbers.
        Err(status::NOT_SUPPORTED)
    }

    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) {
        check(device)?;
        match ask(&Request::MemoryInfo {}, &[])?.words[..] {
            [_, all] => give(bytes, all as usize),
            _ => Err(status::UNKNOWN),
        }
    }

    fn cuDeviceGetAttribute(value: *mut c_int, which: u32, device: c_int) {
        initialised()?;
        check(device)?;
        give(value, attribute(which)? as u32 as c_int)
    }

    fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: c_int) {
        check(device)?;
        give(major, attribute(75)? as c_int)?;
        give(minor, attribute(76)? as c_int)
    }

    fn cuDeviceGetPCIBusId(id: *mut c_char, length: c_int, device: c_int) {
        match crate::runtime::device::cudaDeviceGetPCIBusId(id, length, device) {
            status::SUCCESS => Ok(()),
            code => Err(code),
        }
    }

    fn cuDeviceGetByPCIBusId(device: *mut c_int, id: *const c_char) {
        match crate::runtime::device::cudaDeviceGetByPCIBusId(device, id) {
            status::SUCCESS => Ok(()),
            code => Err(code),
        }
    }

    fn cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) {
        check(device)?;
        check(peer)?;
        give(can, 0)
    }

    fn cuProfilerStart() {
        Ok(())
    }

    fn cuProfilerStop() {
        Ok(())
    }
}
