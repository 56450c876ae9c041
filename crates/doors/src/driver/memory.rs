//! Memory: given out, taken back, filled, described.

use super::context::{current, primary};
use crate::client::{Result, ask};
use crate::runtime::memory::{DEVICE, MANAGED, PINNED, allocate, free, look};
use crate::runtime::{Handle, Pointer, give, handle, number as of, offer};
use crate::wire::{Request, status};
use std::ffi::{c_int, c_void};

/// Memory of a kind; there is none of no bytes.
fn made(kind: u32, bytes: usize, stream: u64) -> Result<Pointer> {
    current()?;
    match bytes {
        0 => Err(status::INVALID_VALUE),
        _ => allocate(kind, bytes, stream),
    }
}

/// Gives back what is there.
fn gone(address: u64, stream: u64) -> Result<()> {
    current()?;
    free(handle(address), stream)
}

/// Bytes, or larger elements, in rows.
struct Filled {
    to: u64,
    pitch: usize,
    element: u32,
    value: u32,
    width: usize,
    height: usize,
    stream: Handle,
}

impl Filled {
    fn plain(to: u64, element: u32, value: u32, width: usize, stream: Handle) -> Filled {
        Filled {
            to,
            pitch: 0,
            element,
            value,
            width,
            height: 1,
            stream,
        }
    }

    fn fill(self) -> Result<()> {
        current()?;
        let request = Request::Fill {
            to: self.to,
            pitch: self.pitch as u64,
            element: self.element,
            value: self.value,
            width: self.width as u64,
            height: self.height as u64,
            stream: of(self.stream),
        };
        ask(&request, &[]).map(drop)
    }
}

const NONE: Handle = std::ptr::null_mut();

/// What kind of memory it is, as the driver counts: host, device.
fn memory_type(kind: u64) -> u32 {
    if kind == 1 { 1 } else { 2 }
}

/// Writes one attribute of a pointer; whether there is such a one.
///
/// # Safety
/// `to` has room for it.
unsafe fn describe(to: Pointer, attribute: u32, at: u64) -> Result<()> {
    let [kind, start, bytes] = look(handle(at))?;
    // What the GPU does not know has none but these.
    if kind == 0 && !matches!(attribute, 8 | 13) {
        return Err(status::INVALID_VALUE);
    }
    // SAFETY: as the caller says.
    unsafe {
        match attribute {
            1 => give(to.cast(), primary()),
            2 => give(to.cast(), memory_type(kind)),
            3 => give(to.cast(), at),
            4 if kind == 2 => Err(status::INVALID_VALUE),
            4 => give(to.cast(), at),
            6 => give(to.cast(), 0_u32),
            // Allocations do not meet: where one starts says which it is.
            7 | 20 => give(to.cast(), start),
            8 => give(to.cast(), u32::from(kind == 3)),
            9 => give(to.cast(), 0_i32),
            10 | 15 | 21 => give(to.cast(), 0_u32),
            11 | 19 => give(to.cast(), start),
            12 | 18 => give(to.cast(), bytes),
            13 => give(to.cast(), u32::from(kind != 0)),
            14 | 17 => give(to.cast(), 0_u64),
            16 => give(to.cast(), 3_u32),
            _ => Err(status::INVALID_VALUE),
        }
    }
}

driver! {
    fn cuMemAlloc_v2(pointer: *mut Pointer, bytes: usize) {
        give(pointer, made(DEVICE, bytes, 0)?)
    }

    fn cuMemAllocAsync(pointer: *mut Pointer, bytes: usize, stream: Handle) {
        give(pointer, made(DEVICE, bytes, of(stream))?)
    }

    fn cuMemAllocManaged(pointer: *mut Pointer, bytes: usize, flags: u32) {
        if !(1..=2).contains(&flags) {
            return Err(status::INVALID_VALUE);
        }
        give(pointer, made(MANAGED, bytes, 0)?)
    }

    fn cuMemAllocHost_v2(pointer: *mut Pointer, bytes: usize) {
        give(pointer, made(PINNED, bytes, 0)?)
    }

    fn cuMemHostAlloc(pointer: *mut Pointer, bytes: usize, _flags: u32) {
        give(pointer, made(PINNED, bytes, 0)?)
    }

    fn cuMemAllocPitch_v2(pointer: *mut Pointer, pitch: *mut usize, width: usize, height: usize, _element: u32) {
        current()?;
        match crate::runtime::memory::cudaMallocPitch(pointer, pitch, width, height) {
            status::SUCCESS => Ok(()),
            code => Err(code),
        }
    }

    fn cuMemFree_v2(address: u64) {
        gone(address, 0)
    }

    fn cuMemFreeAsync(address: u64, stream: Handle) {
        gone(address, of(stream))
    }

    fn cuMemFreeHost(pointer: Pointer) {
        gone(of(pointer), 0)
    }

    fn cuMemHostGetDevicePointer_v2(device: *mut u64, host: Pointer, _flags: u32) {
        match look(host)?[0] {
            1 | 3 => give(device, of(host)),
            _ => Err(status::INVALID_VALUE),
        }
    }

    fn cuMemHostGetFlags(flags: *mut u32, host: Pointer) {
        match look(host)?[0] {
            1 => give(flags, 2),
            _ => Err(status::INVALID_VALUE),
        }
    }

    fn cuMemHostRegister_v2(pointer: Pointer, bytes: usize, _flags: u32) {
        crate::runtime::host::register(pointer, bytes)
    }

    fn cuMemHostUnregister(pointer: Pointer) {
        crate::runtime::host::unregister(pointer)
    }

    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        current()?;
        match ask(&Request::MemoryInfo {}, &[])?.words[..] {
            [is_free, all] => {
                offer(free, is_free as usize);
                offer(total, all as usize);
                Ok(())
            }
            _ => Err(status::UNKNOWN),
        }
    }

    fn cuMemGetAddressRange_v2(start: *mut u64, bytes: *mut usize, address: u64) {
        let [kind, begin, size] = look(handle(address))?;
        if kind == 0 {
            return Err(status::NOT_FOUND);
        }
        offer(start, begin);
        offer(bytes, size as usize);
        Ok(())
    }

    fn cuPointerGetAttribute(to: Pointer, attribute: u32, address: u64) {
        describe(to, attribute, address)
    }

    fn cuPointerGetAttributes(count: u32, attributes: *const u32, to: *const Pointer, address: u64) {
        for index in 0..count as usize {
            let (attribute, place) = (attributes.add(index).read(), to.add(index).read());
            // What is not known of a pointer is zero here, not a mistake.
            if describe(place, attribute, address).is_err() {
                let is_wide = matches!(attribute, 1 | 3 | 4 | 7 | 11 | 12 | 14 | 17..=20);
                std::ptr::write_bytes(place.cast::<u8>(), 0, if is_wide { 8 } else { 4 });
            }
        }
        Ok(())
    }

    /// Order among synchronous calls is as it is called: nothing changes.
    fn cuPointerSetAttribute(_value: *const c_void, attribute: u32, address: u64) {
        match (attribute, look(handle(address))?[0]) {
            (_, 0) => Err(status::INVALID_VALUE),
            (6, _) => Ok(()),
            _ => Err(status::INVALID_VALUE),
        }
    }

    /// Managed memory is where everybody sees it: advice changes nothing, and nothing is to be fetched.
    fn cuMemAdvise(address: u64, _bytes: usize, _advice: u32, _device: c_int) {
        managed(address)
    }

    fn cuMemPrefetchAsync(address: u64, _bytes: usize, _device: c_int, _stream: Handle) {
        managed(address)
    }

    fn cuMemAdvise_v2(address: u64, _bytes: usize, _advice: u32, _location: u64) {
        managed(address)
    }

    fn cuMemPrefetchAsync_v2(address: u64, _bytes: usize, _location: u64, _flags: u32, _stream: Handle) {
        managed(address)
    }

    fn cuMemsetD8_v2(to: u64, value: u8, count: usize) {
        Filled::plain(to, 1, value.into(), count, NONE).fill()
    }

    fn cuMemsetD16_v2(to: u64, value: u16, count: usize) {
        Filled::plain(to, 2, value.into(), count, NONE).fill()
    }

    fn cuMemsetD32_v2(to: u64, value: u32, count: usize) {
        Filled::plain(to, 4, value, count, NONE).fill()
    }

    fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: Handle) {
        Filled::plain(to, 1, value.into(), count, stream).fill()
    }

    fn cuMemsetD16Async(to: u64, value: u16, count: usize, stream: Handle) {
        Filled::plain(to, 2, value.into(), count, stream).fill()
    }

    fn cuMemsetD32Async(to: u64, value: u32, count: usize, stream: Handle) {
        Filled::plain(to, 4, value, count, stream).fill()
    }

    fn cuMemsetD2D8_v2(to: u64, pitch: usize, value: u8, width: usize, height: usize) {
        Filled { pitch, height, ..Filled::plain(to, 1, value.into(), width, NONE) }.fill()
    }

    fn cuMemsetD2D16_v2(to: u64, pitch: usize, value: u16, width: usize, height: usize) {
        Filled { pitch, height, ..Filled::plain(to, 2, value.into(), width, NONE) }.fill()
    }

    fn cuMemsetD2D32_v2(to: u64, pitch: usize, value: u32, width: usize, height: usize) {
        Filled { pitch, height, ..Filled::plain(to, 4, value, width, NONE) }.fill()
    }

    fn cuMemsetD2D8Async(to: u64, pitch: usize, value: u8, width: usize, height: usize, stream: Handle) {
        Filled { pitch, height, ..Filled::plain(to, 1, value.into(), width, stream) }.fill()
    }

    fn cuMemsetD2D16Async(to: u64, pitch: usize, value: u16, width: usize, height: usize, stream: Handle) {
        Filled { pitch, height, ..Filled::plain(to, 2, value.into(), width, stream) }.fill()
    }

    fn cuMemsetD2D32Async(to: u64, pitch: usize, value: u32, width: usize, height: usize, stream: Handle) {
        Filled { pitch, height, ..Filled::plain(to, 4, value, width, stream) }.fill()
    }
}

fn managed(address: u64) -> Result<()> {
    match look(handle(address))?[0] {
        3 => Ok(()),
        _ => Err(status::INVALID_VALUE),
    }
}
