//! Copies: between the program and the GPU, within it, to and from variables and arrays.

use super::memory::{Extent, PitchedPointer};
use super::{Handle, Pointer, number as of, registry, take};
use crate::client::{Result, ask};
use crate::wire::{Place, PlaceKind, Request, WINDOW, status};
use std::ffi::{c_int, c_void};

/// What a copy's direction says of its ends, source first: `None` for "find out".
fn ends(direction: c_int) -> Result<[Option<PlaceKind>; 2]> {
    use PlaceKind::{Device, Host};
    Ok(match direction {
        0 => [Some(Host), Some(Host)],
        1 => [Some(Host), Some(Device)],
        2 => [Some(Device), Some(Host)],
        3 => [Some(Device), Some(Device)],
        4 => [None, None],
        _ => return Err(status::INVALID_COPY_DIRECTION),
    })
}

/// A place of memory. What lies where the GPU's memory does is the GPU's; the simulator refuses what does not fit.
fn place(address: u64, said: Option<PlaceKind>, pitch: u64, rows: u64) -> Result<Place> {
    let kind = match (said, WINDOW.contains(&address)) {
        (Some(PlaceKind::Device), false) => return Err(status::INVALID_VALUE),
        (Some(kind), _) => kind,
        (None, true) => PlaceKind::Device,
        (None, false) => PlaceKind::Host,
    };
    Ok(Place {
        rows,
        ..Place::pitched(kind, address, pitch)
    })
}

/// Whether the bytes of a place are the program's own, which the simulator cannot reach.
fn is_own(place: &Place) -> bool {
    place.kind == PlaceKind::Host && !WINDOW.contains(&place.base)
}

/// A copy of `extent` bytes, rows and slices.
///
/// # Safety
/// What lies in the program at either place is as large as that.
pub unsafe fn transfer(from: Place, to: Place, extent: [usize; 3], stream: u64) -> Result<()> {
    let [width, height, depth] = extent;
    let bytes = width.checked_mul(height).and_then(|b| b.checked_mul(depth));
    let bytes = bytes.ok_or(status::INVALID_VALUE)?;
    if bytes == 0 {
        return Ok(());
    }
    for end in [&from, &to] {
        if end.base == 0 || height > 1 && end.kind != PlaceKind::Array && end.pitch < width as u64 {
            return Err(if end.base == 0 {
                status::INVALID_VALUE
            } else {
                status::INVALID_PITCH
            });
        }
    }
    let request = Request::Transfer {
        from,
        to,
        width: width as u64,
        height: height as u64,
        depth: depth as u64,
        stream,
    };
    let is_one_piece = height == 1 && depth == 1;
    let gathered;
    let payload: &[u8] = match is_own(&from) {
        false => &[],
        // SAFETY: as the caller says.
        true if is_one_piece => unsafe {
            std::slice::from_raw_parts(from.base as *const u8, bytes)
        },
        true => {
            gathered = rows(&from, extent)
                // SAFETY: as the caller says.
                .flat_map(|at| unsafe { std::slice::from_raw_parts(at as *const u8, width) })
                .copied()
                .collect::<Vec<u8>>();
            &gathered
        }
    };
    let answer = ask(&request, payload)?;
    let is_captured = answer.words.first() == Some(&1);
    if is_own(&to) && !is_captured {
        if answer.payload.len() != bytes {
            return Err(status::UNKNOWN);
        }
        for (at, row) in rows(&to, extent).zip(answer.payload.chunks_exact(width)) {
            // SAFETY: as the caller says.
            unsafe { std::ptr::copy_nonoverlapping(row.as_ptr(), at as *mut u8, width) };
        }
    }
    Ok(())
}

/// The addresses of a place's rows.
fn rows(place: &Place, [_, height, depth]: [usize; 3]) -> impl Iterator<Item = u64> {
    let Place {
        base, pitch, rows, ..
    } = *place;
    let row = move |z: u64, y: u64| base + (z * rows + y) * pitch;
    (0..depth as u64).flat_map(move |z| (0..height as u64).map(move |y| row(z, y)))
}

/// A copy of bytes in one piece.
///
/// # Safety
/// As for [`transfer`].
unsafe fn plain(
    to: Pointer,
    from: *const c_void,
    bytes: usize,
    direction: c_int,
    stream: u64,
) -> Result<()> {
    let [source, target] = ends(direction)?;
    if bytes == 0 {
        return Ok(());
    }
    if to.is_null() || from.is_null() {
        return Err(status::INVALID_VALUE);
    }
    let from = place(from as u64, source, 0, 0)?;
    let to = place(to as u64, target, 0, 0)?;
    // SAFETY: as the caller says.
    unsafe { transfer(from, to, [bytes, 1, 1], stream) }
}

/// One end of a copy in rows.
#[derive(Clone, Copy)]
struct Rows(u64, usize);

/// A copy of rows.
///
/// # Safety
/// As for [`transfer`].
unsafe fn pitched(
    to: Rows,
    from: Rows,
    [width, height]: [usize; 2],
    direction: c_int,
    stream: u64,
) -> Result<()> {
    let [source, target] = ends(direction)?;
    if width == 0 || height == 0 {
        return Ok(());
    }
    let from = place(from.0, source, from.1 as u64, 0)?;
    let to = place(to.0, target, to.1 as u64, 0)?;
    // SAFETY: as the caller says.
    unsafe { transfer(from, to, [width, height, 1], stream) }
}

/// A place within a variable; it has to lie inside.
fn within(symbol: *const c_void, bytes: usize, offset: usize) -> Result<Place> {
    let (address, size) = registry::variable(symbol)?;
    let end = offset.checked_add(bytes).ok_or(status::INVALID_VALUE)?;
    match end as u64 <= size {
        true => Ok(Place::plain(PlaceKind::Device, address + offset as u64)),
        false => Err(status::INVALID_VALUE),
    }
}

/// A copy to a variable.
///
/// # Safety
/// As for [`transfer`].
unsafe fn to_symbol(
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    direction: c_int,
    stream: u64,
) -> Result<()> {
    let [source, _] = ends(direction)?;
    let from = place(from as u64, source, 0, 0)?;
    // SAFETY: as the caller says.
    unsafe { transfer(from, within(symbol, bytes, offset)?, [bytes, 1, 1], stream) }
}

/// A copy from a variable.
///
/// # Safety
/// As for [`transfer`].
unsafe fn from_symbol(
    to: Pointer,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    direction: c_int,
    stream: u64,
) -> Result<()> {
    let [_, target] = ends(direction)?;
    let to = place(to as u64, target, 0, 0)?;
    // SAFETY: as the caller says.
    unsafe { transfer(within(symbol, bytes, offset)?, to, [bytes, 1, 1], stream) }
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Position {
    x: usize,
    y: usize,
    z: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3D {
    from_array: Handle,
    from_position: Position,
    from: PitchedPointer,
    to_array: Handle,
    to_position: Position,
    to: PitchedPointer,
    extent: Extent,
    direction: c_int,
}

impl Copy3D {
    /// A copy of bytes in one piece.
    pub fn plain(to: Pointer, from: *const c_void, bytes: usize, direction: c_int) -> Copy3D {
        let memory = |pointer| PitchedPointer {
            pointer,
            pitch: bytes,
            width: bytes,
            height: 1,
        };
        let start = Position { x: 0, y: 0, z: 0 };
        Copy3D {
            from_array: std::ptr::null_mut(),
            from_position: start,
            from: memory(from.cast_mut()),
            to_array: std::ptr::null_mut(),
            to_position: start,
            to: memory(to),
            extent: Extent {
                width: bytes,
                height: 1,
                depth: 1,
            },
            direction,
        }
    }

    /// The two ends, and bytes, rows and slices.
    pub fn read(&self) -> Result<(Place, Place, [usize; 3])> {
        let [source, target] = ends(self.direction)?;
        let mut width = self.extent.width;
        // Widths and positions of a copy with an array count its elements.
        let element = match [self.from_array, self.to_array].map(of) {
            [0, 0] => 1,
            [0, array] | [array, _] => super::texture::element(array)?,
        };
        width = width.checked_mul(element).ok_or(status::INVALID_VALUE)?;
        let end = |array: Handle, at: Position, memory: PitchedPointer, said| match of(array) {
            0 => {
                let base = memory.pointer as u64
                    + (at.z * memory.height + at.y) as u64 * memory.pitch as u64
                    + at.x as u64;
                place(base, said, memory.pitch as u64, memory.height as u64)
            }
            _ => in_array(array, at.x * element, at.y, at.z),
        };
        let from = end(self.from_array, self.from_position, self.from, source)?;
        let to = end(self.to_array, self.to_position, self.to, target)?;
        Ok((from, to, [width, self.extent.height, self.extent.depth]))
    }
}

/// A copy in three dimensions.
///
/// # Safety
/// As for [`transfer`]; `how` is null or says such a copy.
unsafe fn copy_3d(how: *const Copy3D, stream: u64) -> Result<()> {
    // SAFETY: as the caller says.
    unsafe {
        let (from, to, extent) = take(how)?.read()?;
        transfer(from, to, extent, stream)
    }
}

api! {
    fn cudaMemcpy(to: Pointer, from: *const c_void, bytes: usize, direction: c_int) {
        plain(to, from, bytes, direction, 0)
    }

    fn cudaMemcpyAsync(to: Pointer, from: *const c_void, bytes: usize, direction: c_int, stream: Handle) {
        plain(to, from, bytes, direction, of(stream))
    }

    fn cudaMemcpyPeer(to: Pointer, _to_device: c_int, from: *const c_void, _from_device: c_int, bytes: usize) {
        plain(to, from, bytes, 3, 0)
    }

    fn cudaMemcpyPeerAsync(to: Pointer, _to_device: c_int, from: *const c_void, _from_device: c_int, bytes: usize, stream: Handle) {
        plain(to, from, bytes, 3, of(stream))
    }

    fn cudaMemcpy2D(to: Pointer, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, direction: c_int) {
        pitched(Rows(to as u64, to_pitch), Rows(from as u64, from_pitch), [width, height], direction, 0)
    }

    fn cudaMemcpy2DAsync(to: Pointer, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, direction: c_int, stream: Handle) {
        pitched(Rows(to as u64, to_pitch), Rows(from as u64, from_pitch), [width, height], direction, of(stream))
    }

    fn cudaMemcpyToSymbol(symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, direction: c_int) {
        to_symbol(symbol, from, bytes, offset, direction, 0)
    }

    fn cudaMemcpyToSymbolAsync(symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, direction: c_int, stream: Handle) {
        to_symbol(symbol, from, bytes, offset, direction, of(stream))
    }

    fn cudaMemcpyFromSymbol(to: Pointer, symbol: *const c_void, bytes: usize, offset: usize, direction: c_int) {
        from_symbol(to, symbol, bytes, offset, direction, 0)
    }

    fn cudaMemcpyFromSymbolAsync(to: Pointer, symbol: *const c_void, bytes: usize, offset: usize, direction: c_int, stream: Handle) {
        from_symbol(to, symbol, bytes, offset, direction, of(stream))
    }

    fn cudaMemcpy2DToArray(array: Handle, x: usize, y: usize, from: *const c_void, pitch: usize, width: usize, height: usize, direction: c_int) {
        let [source, _] = ends(direction)?;
        transfer(place(from as u64, source, pitch as u64, 0)?, in_array(array, x, y, 0)?, [width, height, 1], 0)
    }

    fn cudaMemcpy2DToArrayAsync(array: Handle, x: usize, y: usize, from: *const c_void, pitch: usize, width: usize, height: usize, direction: c_int, stream: Handle) {
        let [source, _] = ends(direction)?;
        transfer(place(from as u64, source, pitch as u64, 0)?, in_array(array, x, y, 0)?, [width, height, 1], of(stream))
    }

    fn cudaMemcpy2DFromArray(to: Pointer, pitch: usize, array: Handle, x: usize, y: usize, width: usize, height: usize, direction: c_int) {
        let [_, target] = ends(direction)?;
        transfer(in_array(array, x, y, 0)?, place(to as u64, target, pitch as u64, 0)?, [width, height, 1], 0)
    }

    fn cudaMemcpy2DFromArrayAsync(to: Pointer, pitch: usize, array: Handle, x: usize, y: usize, width: usize, height: usize, direction: c_int, stream: Handle) {
        let [_, target] = ends(direction)?;
        transfer(in_array(array, x, y, 0)?, place(to as u64, target, pitch as u64, 0)?, [width, height, 1], of(stream))
    }

    fn cudaMemcpyToArray(array: Handle, x: usize, y: usize, from: *const c_void, bytes: usize, direction: c_int) {
        let [source, _] = ends(direction)?;
        let rows = super::texture::rows(of(array), x, bytes)?;
        transfer(place(from as u64, source, rows[0] as u64, 0)?, in_array(array, x, y, 0)?, [rows[0], rows[1], 1], 0)
    }

    fn cudaMemcpyFromArray(to: Pointer, array: Handle, x: usize, y: usize, bytes: usize, direction: c_int) {
        let [_, target] = ends(direction)?;
        let rows = super::texture::rows(of(array), x, bytes)?;
        transfer(in_array(array, x, y, 0)?, place(to as u64, target, rows[0] as u64, 0)?, [rows[0], rows[1], 1], 0)
    }

    fn cudaMemcpy2DArrayToArray(to: Handle, to_x: usize, to_y: usize, from: Handle, from_x: usize, from_y: usize, width: usize, height: usize, _direction: c_int) {
        transfer(in_array(from, from_x, from_y, 0)?, in_array(to, to_x, to_y, 0)?, [width, height, 1], 0)
    }

    fn cudaMemcpy3D(how: *const Copy3D) {
        copy_3d(how, 0)
    }

    fn cudaMemcpy3DAsync(how: *const Copy3D, stream: Handle) {
        copy_3d(how, of(stream))
    }
}
