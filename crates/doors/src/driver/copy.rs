//! Copies: between the program and the GPU, within it, to and from arrays.

use super::context::current;
use crate::client::Result;
use crate::runtime::copy::transfer;
use crate::runtime::{Handle, Pointer, number as of, take};
use crate::wire::{Place, PlaceKind, WINDOW, status};
use std::ffi::c_void;

const NONE: Handle = std::ptr::null_mut();

/// A place of memory, wherever it lies: the driver goes by addresses.
fn place(address: u64) -> Place {
    let kind = match WINDOW.contains(&address) {
        true => PlaceKind::Device,
        false => PlaceKind::Host,
    };
    Place::plain(kind, address)
}

/// A place that has to be the GPU's.
fn device(address: u64) -> Result<Place> {
    match WINDOW.contains(&address) {
        true => Ok(place(address)),
        false => Err(status::INVALID_VALUE),
    }
}

/// A copy in one piece.
///
/// # Safety
/// What lies in the program at either place is as large as that.
unsafe fn plain(to: Place, from: Place, bytes: usize, stream: Handle) -> Result<()> {
    current()?;
    // SAFETY: as the caller says.
    unsafe { transfer(from, to, [bytes, 1, 1], of(stream)) }
}

/// A place in an array: bytes in x.
fn in_array(array: Handle, x: usize, y: usize, z: usize) -> Result<Place> {
    let coordinate = |n: usize| u32::try_from(n).map_err(|_| status::INVALID_VALUE);
    match of(array) {
        0 => Err(status::INVALID_HANDLE),
        array => Ok(Place::array(
            array,
            [coordinate(x)?, coordinate(y)?, coordinate(z)?],
        )),
    }
}

/// One end of a copy in rows, as far as both structures have it.
#[derive(Clone, Copy)]
struct End {
    first: [usize; 3],
    kind: u32,
    host: Pointer,
    device: u64,
    array: Handle,
    pitch: usize,
    rows: usize,
}

/// Kinds of memory, as the driver counts them.
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

impl End {
    fn place(&self, width: usize) -> Result<Place> {
        let [x, y, z] = self.first;
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let skipped = (z * self.rows + y) * pitch + x;
        let found = match self.kind {
            HOST => Place::plain(PlaceKind::Host, of(self.host)),
            DEVICE => device(self.device)?,
            UNIFIED => place(self.device),
            ARRAY => return in_array(self.array, x, y, z),
            _ => return Err(status::INVALID_VALUE),
        };
        Ok(Place {
            base: found.base.wrapping_add(skipped as u64),
            pitch: pitch as u64,
            rows: self.rows as u64,
            ..found
        })
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct End2D {
    x: usize,
    y: usize,
    kind: u32,
    host: Pointer,
    device: u64,
    array: Handle,
    pitch: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy2D {
    from: End2D,
    to: End2D,
    width: usize,
    height: usize,
}

impl End2D {
    fn end(&self) -> End {
        End {
            first: [self.x, self.y, 0],
            kind: self.kind,
            host: self.host,
            device: self.device,
            array: self.array,
            pitch: self.pitch,
            rows: 0,
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct End3D {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: u32,
    host: Pointer,
    device: u64,
    array: Handle,
    reserved: Pointer,
    pitch: usize,
    rows: usize,
}

impl End3D {
    fn end(&self) -> End {
        End {
            first: [self.x, self.y, self.z],
            kind: self.kind,
            host: self.host,
            device: self.device,
            array: self.array,
            pitch: self.pitch,
            rows: self.rows,
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3D {
    from: End3D,
    to: End3D,
    width: usize,
    height: usize,
    depth: usize,
}

impl Copy3D {
    /// The two ends, and bytes, rows and slices.
    pub fn read(&self) -> Result<(Place, Place, [usize; 3])> {
        let (from, to) = (self.from.end(), self.to.end());
        let extent = [self.width, self.height, self.depth];
        Ok((from.place(self.width)?, to.place(self.width)?, extent))
    }
}

/// # Safety
/// `how` is null or says such a copy; what lies in the program at either place is as large as that.
unsafe fn copy_2d(how: *const Copy2D, stream: Handle) -> Result<()> {
    current()?;
    // SAFETY: as the caller says.
    unsafe {
        let how = take(how)?;
        let (from, to) = (how.from.end(), how.to.end());
        let (from, to) = (from.place(how.width)?, to.place(how.width)?);
        transfer(from, to, [how.width, how.height, 1], of(stream))
    }
}

/// # Safety
/// As for [`copy_2d`].
unsafe fn copy_3d(how: *const Copy3D, stream: Handle) -> Result<()> {
    current()?;
    // SAFETY: as the caller says.
    unsafe {
        let (from, to, extent) = take(how)?.read()?;
        transfer(from, to, extent, of(stream))
    }
}

driver! {
    fn cuMemcpy(to: u64, from: u64, bytes: usize) {
        plain(place(to), place(from), bytes, NONE)
    }

    fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: Handle) {
        plain(place(to), place(from), bytes, stream)
    }

    fn cuMemcpyPeer(to: u64, _to_context: Handle, from: u64, _from_context: Handle, bytes: usize) {
        plain(place(to), place(from), bytes, NONE)
    }

    fn cuMemcpyPeerAsync(to: u64, _to_context: Handle, from: u64, _from_context: Handle, bytes: usize, stream: Handle) {
        plain(place(to), place(from), bytes, stream)
    }

    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) {
        plain(device(to)?, place(from as u64), bytes, NONE)
    }

    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: Handle) {
        plain(device(to)?, place(from as u64), bytes, stream)
    }

    fn cuMemcpyDtoH_v2(to: Pointer, from: u64, bytes: usize) {
        plain(place(of(to)), device(from)?, bytes, NONE)
    }

    fn cuMemcpyDtoHAsync_v2(to: Pointer, from: u64, bytes: usize, stream: Handle) {
        plain(place(of(to)), device(from)?, bytes, stream)
    }

    fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) {
        plain(device(to)?, device(from)?, bytes, NONE)
    }

    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        plain(device(to)?, device(from)?, bytes, stream)
    }

    fn cuMemcpyHtoA_v2(array: Handle, offset: usize, from: *const c_void, bytes: usize) {
        plain(in_array(array, offset, 0, 0)?, place(from as u64), bytes, NONE)
    }

    fn cuMemcpyAtoH_v2(to: Pointer, array: Handle, offset: usize, bytes: usize) {
        plain(place(of(to)), in_array(array, offset, 0, 0)?, bytes, NONE)
    }

    fn cuMemcpyDtoA_v2(array: Handle, offset: usize, from: u64, bytes: usize) {
        plain(in_array(array, offset, 0, 0)?, device(from)?, bytes, NONE)
    }

    fn cuMemcpyAtoD_v2(to: u64, array: Handle, offset: usize, bytes: usize) {
        plain(device(to)?, in_array(array, offset, 0, 0)?, bytes, NONE)
    }

    fn cuMemcpy2D_v2(how: *const Copy2D) {
        copy_2d(how, NONE)
    }

    fn cuMemcpy2DUnaligned_v2(how: *const Copy2D) {
        copy_2d(how, NONE)
    }

    fn cuMemcpy2DAsync_v2(how: *const Copy2D, stream: Handle) {
        copy_2d(how, stream)
    }

    fn cuMemcpy3D_v2(how: *const Copy3D) {
        copy_3d(how, NONE)
    }

    fn cuMemcpy3DAsync_v2(how: *const Copy3D, stream: Handle) {
        copy_3d(how, stream)
    }
}
