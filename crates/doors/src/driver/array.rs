//! CUDA arrays, textures and surfaces.

use super::context::current;
use crate::client::{Result, ask, number};
use crate::runtime::{Handle, give, handle, number as of, take};
use crate::wire::{Request, status};
use std::ffi::c_void;

/// What one texel is: bits of the components, and their kind as the runtime counts (signed, unsigned, float).
fn texel(format: u32, channels: u32) -> Result<([u32; 4], u32)> {
    let (bits, kind) = match format {
        0x01 => (8, 1),
        0x02 => (16, 1),
        0x03 => (32, 1),
        0x08 => (8, 0),
        0x09 => (16, 0),
        0x0a => (32, 0),
        0x10 => (16, 2),
        0x20 => (32, 2),
        _ => return Err(status::NOT_SUPPORTED),
    };
    if !matches!(channels, 1 | 2 | 4) {
        return Err(status::INVALID_VALUE);
    }
    let mut all = [0; 4];
    all[..channels as usize].fill(bits);
    Ok((all, kind))
}

/// The driver's format of components.
fn format(bits: u64, kind: u64) -> u32 {
    let size = match bits {
        8 => 0,
        16 => 1,
        _ => 2,
    };
    match kind {
        0 => 0x08 + size,
        1 => 0x01 + size,
        _ if bits == 16 => 0x10,
        _ => 0x20,
    }
}

fn create(size: [usize; 3], format: u32, channels: u32, flags: u32) -> Result<Handle> {
    current()?;
    let (bits, kind) = texel(format, channels)?;
    let [x, y, z] = size.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let request = Request::CreateArray {
        size: [x, y, z],
        bits,
        kind,
        flags,
    };
    number(&request, &[]).map(handle)
}

/// Size, bits, kind and flags.
fn info(array: Handle) -> Result<[u64; 9]> {
    let words = ask(&Request::ArrayInfo { array: of(array) }, &[])?.words;
    words.try_into().map_err(|_| status::UNKNOWN)
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Description {
    width: usize,
    height: usize,
    format: u32,
    channels: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Description3D {
    width: usize,
    height: usize,
    depth: usize,
    format: u32,
    channels: u32,
    flags: u32,
}

const LAYERED: u32 = 1;
const CUBE: u32 = 4;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Resource {
    kind: u32,
    _pad: u32,
    /// An array's handle, or an address.
    what: u64,
    format: u32,
    channels: u32,
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
    flags: u32,
}

/// Flags of a texture: integers stay integers; coordinates from 0 to 1.
const AS_INTEGERS: u32 = 1;
const NORMALIZED: u32 = 2;

const ARRAY: u32 = 0;
const LINEAR: u32 = 2;
const PITCHED: u32 = 3;

fn texture(resource: &Resource, sampling: &Sampling) -> Result<u64> {
    current()?;
    let side = |n: usize| u32::try_from(n).map_err(|_| status::INVALID_VALUE);
    let (array, address, pitch) = match resource.kind {
        ARRAY => (resource.what, 0, 0),
        LINEAR => (0, resource.what, 0),
        PITCHED => (0, resource.what, resource.pitch as u64),
        _ => return Err(status::NOT_SUPPORTED),
    };
    let (bits, kind) = match array {
        0 => texel(resource.format, resource.channels)?,
        _ => ([0; 4], 0),
    };
    let size = match resource.kind {
        LINEAR => {
            let element = bits.iter().sum::<u32>() as usize / 8;
            [side(resource.width / element.max(1))?, 0, 0]
        }
        PITCHED => [side(resource.width)?, side(resource.height)?, 0],
        _ => [0; 3],
    };
    let is_float = match array {
        0 => kind == 2,
        array => info(handle(array))?[7] == 2,
    };
    let request = Request::CreateTexture {
        array,
        address,
        size,
        pitch,
        bits,
        kind,
        wrap: sampling.address[0],
        filter: sampling.filter,
        read: u32::from(sampling.flags & AS_INTEGERS == 0 && !is_float),
        normalized: u32::from(sampling.flags & NORMALIZED != 0),
    };
    number(&request, &[])
}

driver! {
    fn cuArrayCreate_v2(array: *mut Handle, what: *const Description) {
        let what = take(what)?;
        give(array, create([what.width, what.height, 0], what.format, what.channels, 0)?)
    }

    fn cuArray3DCreate_v2(array: *mut Handle, what: *const Description3D) {
        let what = take(what)?;
        if what.flags & CUBE != 0 {
            return Err(status::NOT_SUPPORTED);
        }
        let size = [what.width, what.height, what.depth];
        give(array, create(size, what.format, what.channels, what.flags & !LAYERED)?)
    }

    fn cuArrayGetDescriptor_v2(to: *mut Description, array: Handle) {
        let [x, y, _, bits @ .., kind, _] = info(array)?;
        let channels = bits.iter().filter(|b| **b > 0).count() as u32;
        give(to, Description { width: x as usize, height: y as usize, format: format(bits[0], kind), channels })
    }

    fn cuArray3DGetDescriptor_v2(to: *mut Description3D, array: Handle) {
        let [x, y, z, bits @ .., kind, flags] = info(array)?;
        let channels = bits.iter().filter(|b| **b > 0).count() as u32;
        give(to, Description3D { width: x as usize, height: y as usize, depth: z as usize, format: format(bits[0], kind), channels, flags: flags as u32 })
    }

    fn cuArrayDestroy(array: Handle) {
        ask(&Request::DestroyArray { array: of(array) }, &[]).map(drop)
    }

    fn cuTexObjectCreate(object: *mut u64, what: *const Resource, how: *const Sampling, _view: *const c_void) {
        give(object, texture(&take(what)?, &take(how)?)?)
    }

    fn cuTexObjectDestroy(texture: u64) {
        ask(&Request::DestroyTexture { texture }, &[]).map(drop)
    }

    fn cuSurfObjectCreate(object: *mut u64, what: *const Resource) {
        let what = take(what)?;
        if what.kind != ARRAY {
            return Err(status::INVALID_VALUE);
        }
        give(object, number(&Request::CreateSurface { array: what.what }, &[])?)
    }

    fn cuSurfObjectDestroy(texture: u64) {
        ask(&Request::DestroyTexture { texture }, &[]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_back_as_they_were_given() {
        for given in [0x01, 0x02, 0x03, 0x08, 0x09, 0x0a, 0x10, 0x20] {
            let (bits, kind) = texel(given, 2).expect("known");
            assert_eq!(format(u64::from(bits[0]), u64::from(kind)), given);
            assert_eq!(bits[1..], [bits[0], 0, 0]);
        }
        assert_eq!(texel(0x20, 3), Err(status::INVALID_VALUE));
        assert_eq!(texel(0xb0, 1), Err(status::NOT_SUPPORTED));
    }
}
