//! CUDA arrays: what textures and surfaces of a real GPU lie in, its own order of texels.

use std::ptr::null_mut;

use warpsim_sim::gpu::api::{TexelKind, Texture};

use super::api::{ArrayDescription, Copy3d, CopySide, Handle};
use super::driver::Driver;

/// `CUDA_ARRAY3D_LAYERED`.
const LAYERED: u32 = 0x01;
/// `CUDA_ARRAY3D_SURFACE_LDST`.
const SURFACE: u32 = 0x02;

/// What an array is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It is read by a texture.
    Texture,
    /// It is read and written by a surface, whose last dimension may be layers.
    Surface {
        /// It has layers.
        layered: bool,
    },
}

/// An array for the texels of a texture or surface, given back when dropped.
pub(super) struct Array<'a> {
    driver: &'a Driver,
    pub(super) handle: Handle,
    /// Bytes of a line, lines, slices.
    extent: [usize; 3],
}

/// `CUarray_format`.
pub(super) fn format(texture: &Texture) -> Result<u32, String> {
    Ok(match (texture.kind, texture.bits) {
        (TexelKind::Unsigned, 8) => 0x01,
        (TexelKind::Unsigned, 16) => 0x02,
        (TexelKind::Unsigned, 32) => 0x03,
        (TexelKind::Signed, 8) => 0x08,
        (TexelKind::Signed, 16) => 0x09,
        (TexelKind::Signed, 32) => 0x0a,
        (TexelKind::Float, 16) => 0x10,
        (TexelKind::Float, 32) => 0x20,
        (kind, bits) => return Err(format!("no texture has {kind:?} texels of {bits} bits")),
    })
}

/// The driver's number of a surface's format. Whether whole numbers are fractions is a matter of its array; a
/// texture's array leaves it to the texture.
fn surface_format(texture: &Texture) -> Result<u32, String> {
    if !texture.read_normalized || texture.kind == TexelKind::Float {
        return format(texture);
    }
    let first = match (texture.kind, texture.bits) {
        (TexelKind::Unsigned, 8) => 0xc0,
        (TexelKind::Unsigned, 16) => 0xc3,
        (TexelKind::Signed, 8) => 0xc6,
        (TexelKind::Signed, 16) => 0xc9,
        (kind, bits) => return Err(format!("no surface has {kind:?} fractions of {bits} bits")),
    };
    Ok(first + u32::from(texture.channels).ilog2())
}

pub(super) fn texel_bytes(texture: &Texture) -> usize {
    usize::from(texture.channels) * usize::from(texture.bits) / 8
}

impl<'a> Array<'a> {
    /// An array that the texels at `texture`'s address fit in, with nothing in it yet.
    pub(super) fn new(
        driver: &'a Driver,
        texture: &Texture,
        usage: Use,
    ) -> Result<Array<'a>, String> {
        let dimensions = usize::from(texture.dimensions);
        let layered = usage == Use::Surface { layered: true };
        let mut size = [0; 3];
        for (axis, side) in size.iter_mut().enumerate().take(dimensions) {
            *side = texture.size[axis] as usize;
        }
        if layered {
            // Layers are a depth to the driver, also those of lines.
            size.swap(dimensions - 1, 2);
        }
        let description = ArrayDescription {
            size,
            format: match usage {
                Use::Texture => format(texture)?,
                Use::Surface { .. } => surface_format(texture)?,
            },
            channels: u32::from(texture.channels),
            flags: match usage {
                Use::Texture => 0,
                Use::Surface { .. } => SURFACE | if layered { LAYERED } else { 0 },
            },
        };
        let mut handle = null_mut();
        // SAFETY: both point to live variables of the driver's types.
        let status = unsafe { (driver.api.array)(&mut handle, &description) };
        driver.check(status, "making an array")?;
        let [width, lines, slices] = size.map(|n| n.max(1));
        Ok(Array {
            driver,
            handle,
            extent: [width * texel_bytes(texture), lines, slices],
        })
    }

    /// Copies texels in memory, line after line, into the array.
    pub(super) fn write(&self, from: u64) -> Result<(), String> {
        self.copy(self.memory(from), self.itself(), "copying to an array")
    }

    /// Copies the array into memory.
    pub(super) fn read(&self, to: u64) -> Result<(), String> {
        self.copy(self.itself(), self.memory(to), "copying from an array")
    }

    fn memory(&self, device: u64) -> CopySide {
        CopySide {
            offset: [0; 4],
            kind: 2,
            host: null_mut(),
            device,
            array: null_mut(),
            reserved: null_mut(),
            pitch: self.extent[0],
            height: self.extent[1],
        }
    }

    fn itself(&self) -> CopySide {
        CopySide {
            kind: 3,
            array: self.handle,
            ..self.memory(0)
        }
    }

    fn copy(&self, from: CopySide, to: CopySide, doing: &str) -> Result<(), String> {
        let copy = Copy3d {
            from,
            to,
            extent: self.extent,
        };
        // SAFETY: the description is live; the driver checks both ranges.
        let status = unsafe { (self.driver.api.copy)(&copy) };
        self.driver.check(status, doing)
    }
}

impl Drop for Array<'_> {
    fn drop(&mut self) {
        // SAFETY: it was made above and is given back once.
        unsafe { (self.driver.api.free_array)(self.handle) };
    }
}
