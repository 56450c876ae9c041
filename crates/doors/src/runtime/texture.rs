//! CUDA arrays, textures and surfaces.

use super::{Handle, Pointer, give, handle, memory::Extent, number as of, offer, registry, take};
use crate::client::{Result, ask, number};
use crate::wire::{Request, status};
use std::ffi::{c_int, c_void};

/// Bits of the components and their kind.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Channels {
    bits: [c_int; 4],
    kind: u32,
}

impl Channels {
    fn bits(&self) -> Result<[u32; 4]> {
        let all = self
            .bits
            .map(|bits| u32::try_from(bits).unwrap_or(u32::MAX));
        match all.iter().all(|bits| *bits <= 32) && all[0] > 0 {
            true => Ok(all),
            false => Err(status::INVALID_CHANNEL),
        }
    }
}

/// Size in x, y, z, bits of the components, kind, flags.
fn info(array: u64) -> Result<[u64; 9]> {
    let words = ask(&Request::ArrayInfo { array }, &[])?.words;
    words.try_into().map_err(|_| status::UNKNOWN)
}

/// Bytes of an array's elements.
pub fn element(array: u64) -> Result<usize> {
    let [_, _, _, bits @ .., _, _] = info(array)?;
    Ok(bits.iter().sum::<u64>() as usize / 8)
}

/// How so many bytes lie in an array from byte `x` of a row on: bytes of a row, and rows.
pub fn rows(array: u64, x: usize, bytes: usize) -> Result<[usize; 2]> {
    let row = info(array)?[0] as usize * element(array)?;
    match bytes {
        bytes if x + bytes <= row => Ok([bytes, 1]),
        bytes if x == 0 && row > 0 && bytes % row == 0 => Ok([row, bytes / row]),
        _ => Err(status::INVALID_VALUE),
    }
}

fn create(channels: &Channels, size: [usize; 3], flags: u32) -> Result<Handle> {
    let [x, y, z] = size.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let request = Request::CreateArray {
        size: [x, y, z],
        bits: channels.bits()?,
        kind: channels.kind,
        flags,
    };
    number(&request, &[]).map(handle)
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Resource {
    kind: u32,
    _pad: u32,
    /// An array's handle, or an address.
    what: Handle,
    channels: Channels,
    _pad_2: u32,
    /// Bytes of linear memory; elements of a row.
    width: usize,
    height: usize,
    pitch: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sampling {
    address: [u32; 3],
    filter: u32,
    read: u32,
    srgb: c_int,
    border: [f32; 4],
    normalized: c_int,
}

const ARRAY: u32 = 0;
const LINEAR: u32 = 2;
const PITCHED: u32 = 3;

/// A texture of what a resource says.
fn texture(resource: &Resource, sampling: &Sampling) -> Result<u64> {
    let [wrap, ..] = sampling.address;
    let elements = |bytes: usize, channels: &Channels| -> Result<u32> {
        let element = channels.bits()?.iter().sum::<u32>() as usize / 8;
        u32::try_from(bytes / element.max(1)).map_err(|_| status::INVALID_VALUE)
    };
    let side = |n: usize| u32::try_from(n).map_err(|_| status::INVALID_VALUE);
    let (array, address, size, pitch, channels) = match resource.kind {
        ARRAY => (of(resource.what), 0, [0; 3], 0, Channels::default()),
        LINEAR => {
            let texels = elements(resource.width, &resource.channels)?;
            (0, of(resource.what), [texels, 0, 0], 0, resource.channels)
        }
        PITCHED => {
            let size = [side(resource.width)?, side(resource.height)?, 0];
            (
                0,
                of(resource.what),
                size,
                resource.pitch as u64,
                resource.channels,
            )
        }
        _ => return Err(status::NOT_SUPPORTED),
    };
    let bits = if array == 0 { channels.bits()? } else { [0; 4] };
    let request = Request::CreateTexture {
        array,
        address,
        size,
        pitch,
        bits,
        kind: channels.kind,
        wrap,
        filter: sampling.filter,
        read: sampling.read,
        normalized: sampling.normalized as u32,
    };
    number(&request, &[])
}

/// A texture reference of old programs: how it is read, then of what.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Reference {
    normalized: c_int,
    filter: u32,
    address: [u32; 3],
    channels: Channels,
}

impl Reference {
    fn sampling(&self) -> Sampling {
        Sampling {
            address: self.address,
            filter: self.filter,
            // The compiler writes into the code how values are read: as floats where they are normalized.
            read: 0,
            srgb: 0,
            border: [0.0; 4],
            normalized: self.normalized,
        }
    }
}

/// Binds a reference to what a resource says.
///
/// # Safety
/// `reference` is null or one.
unsafe fn bind(reference: *const Reference, resource: &Resource) -> Result<()> {
    // SAFETY: as the caller says.
    let read = unsafe { take(reference)? };
    let made = texture(resource, &read.sampling())?;
    registry::bind_texture(reference.cast(), made)
}

fn resource(
    kind: u32,
    what: Handle,
    channels: Channels,
    [width, height, pitch]: [usize; 3],
) -> Resource {
    Resource {
        kind,
        _pad: 0,
        what,
        channels,
        _pad_2: 0,
        width,
        height,
        pitch,
    }
}

/// Structures by value that come in registers are written to where the caller says.
#[cfg_attr(inside, unsafe(no_mangle))]
pub extern "C" fn cudaCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    kind: u32,
) -> Channels {
    Channels {
        bits: [x, y, z, w],
        kind,
    }
}

const LAYERED: u32 = 1;
const CUBE: u32 = 4;

api! {
    fn cudaMallocArray(array: *mut Handle, channels: *const Channels, width: usize, height: usize, flags: u32) {
        let made = create(&take(channels)?, [width, height, 0], flags)?;
        give(array, made)
    }

    fn cudaMalloc3DArray(array: *mut Handle, channels: *const Channels, extent: Extent, flags: u32) {
        if flags & CUBE != 0 {
            return Err(status::NOT_SUPPORTED);
        }
        let made = create(&take(channels)?, [extent.width, extent.height, extent.depth], flags & !LAYERED)?;
        give(array, made)
    }

    fn cudaFreeArray(array: Handle) {
        match of(array) {
            0 => Ok(()),
            array => ask(&Request::DestroyArray { array }, &[]).map(drop),
        }
    }

    fn cudaArrayGetInfo(channels: *mut Channels, extent: *mut Extent, flags: *mut u32, array: Handle) {
        let [x, y, z, bits @ .., kind, options] = info(of(array))?;
        offer(channels, Channels { bits: bits.map(|b: u64| b as c_int), kind: kind as u32 });
        offer(extent, Extent { width: x as usize, height: y as usize, depth: z as usize });
        offer(flags, options as u32);
        Ok(())
    }

    fn cudaGetChannelDesc(channels: *mut Channels, array: Handle) {
        let [_, _, _, bits @ .., kind, _] = info(of(array))?;
        give(channels, Channels { bits: bits.map(|b: u64| b as c_int), kind: kind as u32 })
    }

    fn cudaCreateTextureObject(object: *mut u64, what: *const Resource, how: *const Sampling, _view: *const c_void) {
        give(object, texture(&take(what)?, &take(how)?)?)
    }

    fn cudaDestroyTextureObject(texture: u64) {
        ask(&Request::DestroyTexture { texture }, &[]).map(drop)
    }

    fn cudaCreateSurfaceObject(object: *mut u64, what: *const Resource) {
        let what = take(what)?;
        if what.kind != ARRAY {
            return Err(status::INVALID_VALUE);
        }
        give(object, number(&Request::CreateSurface { array: of(what.what) }, &[])?)
    }

    fn cudaDestroySurfaceObject(texture: u64) {
        ask(&Request::DestroyTexture { texture }, &[]).map(drop)
    }

    fn cudaBindTexture(offset: *mut usize, reference: *const Reference, memory: Pointer, channels: *const Channels, bytes: usize) {
        offer(offset, 0);
        bind(reference, &resource(LINEAR, memory, take(channels)?, [bytes, 0, 0]))
    }

    fn cudaBindTexture2D(offset: *mut usize, reference: *const Reference, memory: Pointer, channels: *const Channels, width: usize, height: usize, pitch: usize) {
        offer(offset, 0);
        bind(reference, &resource(PITCHED, memory, take(channels)?, [width, height, pitch]))
    }

    fn cudaBindTextureToArray(reference: *const Reference, array: Handle, _channels: *const Channels) {
        bind(reference, &resource(ARRAY, array, Channels::default(), [0; 3]))
    }

    fn cudaUnbindTexture(_reference: *const Reference) {
        Ok(())
    }
}
