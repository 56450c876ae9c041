//! Surfaces on a real GPU: arrays that kernels write.

use warpsim_sim::gpu::api::Texture;

use super::api::{ResourceDescription, ResourceUnion};
use super::array::{Array, Use};
use super::driver::Driver;

/// A surface object, given back when dropped.
pub(crate) struct Surface<'a> {
    driver: &'a Driver,
    array: Array<'a>,
    address: u64,
    object: u64,
}

impl<'a> Surface<'a> {
    /// A surface of the texels at the texture's address; its last dimension may be layers.
    pub(crate) fn new(
        driver: &'a Driver,
        texture: &Texture,
        layered: bool,
    ) -> Result<Surface<'a>, String> {
        let array = Array::new(driver, texture, Use::Surface { layered })?;
        array.write(texture.address)?;
        let mut resource = ResourceDescription {
            kind: 0,
            resource: ResourceUnion { reserved: [0; 32] },
            flags: 0,
        };
        resource.resource.array = array.handle;
        let mut object = 0;
        // SAFETY: both point to live variables of the driver's types.
        let status = unsafe { (driver.api.surface)(&mut object, &resource) };
        driver.check(status, "making a surface")?;
        Ok(Surface {
            driver,
            array,
            address: texture.address,
            object,
        })
    }

    /// What a kernel is given.
    pub(crate) fn handle(&self) -> u64 {
        self.object
    }

    /// Copies what kernels left in it to the memory it stands for.
    pub(crate) fn fetch(&self) -> Result<(), String> {
        self.array.read(self.address)
    }
}

impl Drop for Surface<'_> {
    fn drop(&mut self) {
        // SAFETY: it was made above and is given back once, before its array.
        unsafe { (self.driver.api.free_surface)(self.object) };
    }
}
