//! Memory: given out, taken back, described.

use super::{Handle, Pointer, give, handle, number as of, offer};
use crate::client::{Result, ask, number};
use crate::wire::{Request, status};
use std::ffi::{c_int, c_void};

/// Kinds of `Request::Allocate`.
pub const DEVICE: u32 = 0;
pub const MANAGED: u32 = 1;
pub const PINNED: u32 = 2;

/// Rows of pitched memory begin at multiples of this.
const ROW: usize = 512;

/// Memory of a kind; none for no bytes.
pub fn allocate(kind: u32, bytes: usize, stream: u64) -> Result<Pointer> {
    if bytes == 0 {
        return Ok(std::ptr::null_mut());
    }
    let request = Request::Allocate {
        kind,
        bytes: bytes as u64,
        stream,
    };
    number(&request, &[]).map(handle)
}

/// Gives memory back; none is nothing.
pub fn free(pointer: Pointer, stream: u64) -> Result<()> {
    match of(pointer) {
        0 => Ok(()),
        address => ask(&Request::Free { address, stream }, &[]).map(drop),
    }
}

/// Kind (0 for what the GPU does not know), start and bytes of the allocation around an address.
pub fn look(pointer: *const c_void) -> Result<[u64; 3]> {
    let request = Request::Pointer {
        address: pointer as usize as u64,
    };
    match ask(&request, &[])?.words[..] {
        [kind, start, bytes] => Ok([kind, start, bytes]),
        _ => Err(status::UNKNOWN),
    }
}

/// A pitch that holds rows of so many bytes.
fn pitch(width: usize) -> usize {
    width.next_multiple_of(ROW)
}

fn product(factors: &[usize]) -> Result<usize> {
    let all = factors
        .iter()
        .try_fold(1usize, |all, f| all.checked_mul(*f));
    all.ok_or(status::OUT_OF_MEMORY)
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PitchedPointer {
    pub pointer: Pointer,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

#[repr(C)]
pub struct PointerAttributes {
    kind: c_int,
    device: c_int,
    device_pointer: Pointer,
    host_pointer: Pointer,
}

/// A place of memory, as `cudaMemAdvise` and `cudaMemPrefetchAsync` of 13 take it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    kind: c_int,
    id: c_int,
}

/// That a range is managed memory, which advice is for.
fn managed(pointer: *const c_void, bytes: usize) -> Result<()> {
    let [kind, start, size] = look(pointer)?;
    let end = (pointer as u64).checked_add(bytes as u64);
    match kind == 3 && end.is_some_and(|end| end <= start + size) {
        true => Ok(()),
        false => Err(status::INVALID_VALUE),
    }
}

api! {
    fn cudaMalloc(pointer: *mut Pointer, bytes: usize) {
        give(pointer, allocate(DEVICE, bytes, 0)?)
    }

    fn cudaMallocAsync(pointer: *mut Pointer, bytes: usize, stream: Handle) {
        give(pointer, allocate(DEVICE, bytes, of(stream))?)
    }

    fn cudaMallocManaged(pointer: *mut Pointer, bytes: usize, flags: u32) {
        if bytes == 0 || !(1..=2).contains(&flags) {
            return Err(status::INVALID_VALUE);
        }
        give(pointer, allocate(MANAGED, bytes, 0)?)
    }

    fn cudaMallocHost(pointer: *mut Pointer, bytes: usize) {
        give(pointer, allocate(PINNED, bytes, 0)?)
    }

    fn cudaHostAlloc(pointer: *mut Pointer, bytes: usize, _flags: u32) {
        give(pointer, allocate(PINNED, bytes, 0)?)
    }

    fn cudaHostGetDevicePointer(device: *mut Pointer, host: Pointer, _flags: u32) {
        match look(host)?[0] {
            1 | 3 => give(device, host),
            _ => Err(status::INVALID_VALUE),
        }
    }

    fn cudaHostGetFlags(flags: *mut u32, host: Pointer) {
        match look(host)?[0] {
            1 => give(flags, 2),
            _ => Err(status::INVALID_VALUE),
        }
    }

    /// Copies from and to the range are as before; the GPU does not see it, and `cudaHostGetDevicePointer` says so.
    fn cudaHostRegister(pointer: Pointer, bytes: usize, _flags: u32) {
        super::host::register(pointer, bytes)
    }

    fn cudaHostUnregister(pointer: Pointer) {
        super::host::unregister(pointer)
    }

    fn cudaFree(pointer: Pointer) {
        free(pointer, 0)
    }

    fn cudaFreeAsync(pointer: Pointer, stream: Handle) {
        free(pointer, of(stream))
    }

    fn cudaFreeHost(pointer: Pointer) {
        free(pointer, 0)
    }

    fn cudaMallocPitch(pointer: *mut Pointer, into: *mut usize, width: usize, height: usize) {
        let bytes = product(&[pitch(width), height])?;
        give(into, pitch(width))?;
        give(pointer, allocate(DEVICE, bytes, 0)?)
    }

    fn cudaMalloc3D(pointer: *mut PitchedPointer, extent: Extent) {
        let pitch = pitch(extent.width);
        let bytes = product(&[pitch, extent.height, extent.depth])?;
        let memory = allocate(DEVICE, bytes, 0)?;
        give(pointer, PitchedPointer { pointer: memory, pitch, width: extent.width, height: extent.height })
    }

    fn cudaMemGetInfo(free: *mut usize, total: *mut usize) {
        match ask(&Request::MemoryInfo {}, &[])?.words[..] {
            [is_free, all] => {
                offer(free, is_free as usize);
                offer(total, all as usize);
                Ok(())
            }
            _ => Err(status::UNKNOWN),
        }
    }

    fn cudaPointerGetAttributes(attributes: *mut PointerAttributes, pointer: *const c_void) {
        let kind = look(pointer)?[0];
        let here = pointer.cast_mut();
        let null = std::ptr::null_mut();
        give(attributes, PointerAttributes {
            kind: kind as c_int,
            device: if kind == 0 { -2 } else { 0 },
            device_pointer: if kind == 0 { null } else { here },
            host_pointer: if kind == 1 || kind == 3 { here } else { null },
        })?;
        if super::major() == 13 {
            // It has room for more there, which is zero.
            std::ptr::write_bytes(attributes.add(1).cast::<u8>(), 0, 64);
        }
        Ok(())
    }

    /// Managed memory is where everybody sees it: advice changes nothing, and nothing is to be fetched.
    fn cudaMemAdvise(pointer: *const c_void, bytes: usize, _advice: u32, _location: u64) {
        managed(pointer, bytes)
    }

    fn cudaMemAdvise_v2(pointer: *const c_void, bytes: usize, _advice: u32, _location: Location) {
        managed(pointer, bytes)
    }

    fn cudaMemPrefetchAsync(pointer: *const c_void, bytes: usize, _location: u64, _flags_or_stream: u64, _stream: Handle) {
        managed(pointer, bytes)
    }

    fn cudaMemPrefetchAsync_v2(pointer: *const c_void, bytes: usize, _location: Location, _flags: u32, _stream: Handle) {
        managed(pointer, bytes)
    }

    fn cudaGetSymbolAddress(pointer: *mut Pointer, symbol: *const c_void) {
        give(pointer, handle(super::registry::variable(symbol)?.0))
    }

    fn cudaGetSymbolSize(bytes: *mut usize, symbol: *const c_void) {
        give(bytes, super::registry::variable(symbol)?.1 as usize)
    }

    fn cudaMemset(pointer: Pointer, value: c_int, bytes: usize) {
        fill(pointer, 0, value, [bytes, 1], 0)
    }

    fn cudaMemsetAsync(pointer: Pointer, value: c_int, bytes: usize, stream: Handle) {
        fill(pointer, 0, value, [bytes, 1], of(stream))
    }

    fn cudaMemset2D(pointer: Pointer, pitch: usize, value: c_int, width: usize, height: usize) {
        fill(pointer, pitch, value, [width, height], 0)
    }

    fn cudaMemset2DAsync(pointer: Pointer, pitch: usize, value: c_int, width: usize, height: usize, stream: Handle) {
        fill(pointer, pitch, value, [width, height], of(stream))
    }

    fn cudaMemset3D(pointer: PitchedPointer, value: c_int, extent: Extent) {
        fill_slices(pointer, value, extent, 0)
    }

    fn cudaMemset3DAsync(pointer: PitchedPointer, value: c_int, extent: Extent, stream: Handle) {
        fill_slices(pointer, value, extent, of(stream))
    }
}

fn fill(
    pointer: Pointer,
    pitch: usize,
    value: c_int,
    [width, height]: [usize; 2],
    stream: u64,
) -> Result<()> {
    let request = Request::Fill {
        to: of(pointer),
        pitch: pitch as u64,
        element: 1,
        value: value as u32 & 0xff,
        width: width as u64,
        height: height as u64,
        stream,
    };
    ask(&request, &[]).map(drop)
}

fn fill_slices(at: PitchedPointer, value: c_int, extent: Extent, stream: u64) -> Result<()> {
    for slice in 0..extent.depth {
        let offset = product(&[slice, at.pitch, at.height])?;
        let begin = at.pointer.cast::<u8>().wrapping_add(offset).cast();
        fill(
            begin,
            at.pitch,
            value,
            [extent.width, extent.height],
            stream,
        )?;
    }
    Ok(())
}
