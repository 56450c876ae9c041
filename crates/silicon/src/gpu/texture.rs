//! Textures on a real GPU.
//!
//! The simulator's textures read plain memory; a GPU filters and wraps arrays only. So an
//! array is made for each and brought up to date before every launch.

use std::ptr::{null, null_mut};

use warpsim_sim::gpu::api::{TexelKind, Texture};

use super::api::{
    ArrayDescription, Copy3d, CopySide, Handle, LinearResource, ResourceDescription, ResourceUnion,
    TextureDescription,
};
use super::driver::Driver;

/// A texture object.
pub(crate) struct Bound<'a> {
    driver: &'a Driver,
    texture: Texture,
    array: Option<Handle>,
    object: u64,
}

/// `CUarray_format`.
fn format(texture: &Texture) -> Result<u32, String> {
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

fn texel_bytes(texture: &Texture) -> usize {
    usize::from(texture.channels) * usize::from(texture.bits) / 8
}

impl<'a> Bound<'a> {
    pub(crate) fn new(driver: &'a Driver, texture: Texture) -> Result<Bound<'a>, String> {
        let format = format(&texture)?;
        let channels = u32::from(texture.channels);
        let mut bound = Bound {
            driver,
            texture,
            array: None,
            object: 0,
        };
        let texture = &bound.texture;
        let mut resource = ResourceDescription {
            kind: 0,
            resource: ResourceUnion { reserved: [0; 32] },
            flags: 0,
        };
        if texture.linear_memory {
            resource.kind = 2;
            resource.resource.linear = LinearResource {
                address: texture.address,
                format,
                channels,
                bytes: texture.size[0] as usize * texel_bytes(texture),
            };
        } else {
            let dimensions = usize::from(texture.dimensions);
            let side = |i: usize| {
                if i < dimensions {
                    texture.size[i] as usize
                } else {
                    0
                }
            };
            let description = ArrayDescription {
                size: [side(0), side(1), side(2)],
                format,
                channels,
                flags: 0,
            };
            let mut array = null_mut();
            // SAFETY: both point to live variables of the driver's types.
            let status = unsafe { (driver.api.array)(&mut array, &description) };
            driver.check(status, "making a texture's array")?;
            bound.array = Some(array);
            resource.resource.array = array;
            bound.refresh()?;
        }
        let texture = &bound.texture;
        let integers = texture.kind != TexelKind::Float && !texture.read_normalized;
        let description = TextureDescription {
            address_mode: [if texture.wrap { 0 } else { 1 }; 3],
            filter_mode: u32::from(texture.filter_linear),
            flags: u32::from(integers) | u32::from(texture.normalized) << 1,
            ..TextureDescription::default()
        };
        let mut object = 0;
        // SAFETY: all point to live variables of the driver's types.
        let status = unsafe { (driver.api.texture)(&mut object, &resource, &description, null()) };
        driver.check(status, "making a texture")?;
        bound.object = object;
        Ok(bound)
    }

    /// What a kernel is given.
    pub(crate) fn handle(&self) -> u64 {
        self.object
    }

    /// Copies the memory it stands for into its array.
    pub(super) fn refresh(&self) -> Result<(), String> {
        let Some(array) = self.array else {
            return Ok(());
        };
        let row = self.texture.size[0] as usize * texel_bytes(&self.texture);
        let [_, rows, slices] = self.texture.size.map(|n| n.max(1) as usize);
        let side = |kind, device, array| CopySide {
            offset: [0; 4],
            kind,
            host: null_mut(),
            device,
            array,
            reserved: null_mut(),
            pitch: row,
            height: rows,
        };
        let copy = Copy3d {
            from: side(2, self.texture.address, null_mut()),
            to: side(3, 0, array),
            extent: [row, rows, slices],
        };
        // SAFETY: the description is live; the driver checks both ranges.
        let status = unsafe { (self.driver.api.copy)(&copy) };
        self.driver.check(status, "copying to a texture")
    }
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        // SAFETY: both were made above and are given back once.
        unsafe {
            if self.object != 0 {
                (self.driver.api.free_texture)(self.object);
            }
            if let Some(array) = self.array {
                (self.driver.api.free_array)(array);
            }
        }
    }
}
