//! Textures on a real GPU.
//!
//! The simulator's textures read plain memory; a GPU filters and wraps arrays only. So an
//! array is made for each and brought up to date before every launch.

use std::ptr::null;

use warpsim_sim::gpu::api::{TexelKind, Texture};

use super::api::{LinearResource, ResourceDescription, ResourceUnion, TextureDescription};
use super::array::{Array, Use, format, texel_bytes};
use super::driver::Driver;

/// A texture object.
pub(crate) struct Bound<'a> {
    driver: &'a Driver,
    texture: Texture,
    array: Option<Array<'a>>,
    object: u64,
}

impl<'a> Bound<'a> {
    pub(crate) fn new(driver: &'a Driver, texture: Texture) -> Result<Bound<'a>, String> {
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
                format: format(texture)?,
                channels: u32::from(texture.channels),
                bytes: texture.size[0] as usize * texel_bytes(texture),
            };
        } else {
            let array = Array::new(driver, texture, Use::Texture)?;
            resource.resource.array = array.handle;
            bound.array = Some(array);
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
        match &self.array {
            Some(array) => array.write(self.texture.address),
            None => Ok(()),
        }
    }
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        if self.object != 0 {
            // SAFETY: it was made above and is given back once, before its array.
            unsafe { (self.driver.api.free_texture)(self.object) };
        }
    }
}
