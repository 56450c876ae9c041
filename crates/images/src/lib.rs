//! What CUDA compilers leave in programs: fat binaries, machine code (cubins), and the PTX in both.
//!
//! [`read`] takes any of them, or plain PTX, and says what is in it; [`Image::ptx_for`] chooses the PTX
//! for a device. Nothing here knows a simulator.

mod attributes;
mod bytes;
mod capability;
mod compression;
mod cubin;
mod error;
mod fatbin;
mod text;

pub use capability::{Capability, Variant};
pub use cubin::{Cubin, Kernel};
pub use error::Error;
pub use fatbin::{CONTAINER, WRAPPER, container_bytes};
pub use text::{Origin, Ptx};

/// All that an image has, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Its PTX texts.
    pub ptx: Vec<Ptx>,
    /// Its machine code.
    pub cubins: Vec<Cubin>,
    /// Entries of other kinds: intermediate code for a linker that optimises (`-dlto`).
    pub others: usize,
}

/// Reads a fat binary (several containers in a row), a cubin, or plain PTX.
pub fn read(bytes: &[u8]) -> Result<Image, Error> {
    let mut image = Image::default();
    if bytes.starts_with(&CONTAINER.to_le_bytes()) {
        fatbin::read(bytes, &mut image)?;
    } else if bytes.starts_with(b"\x7fELF") {
        cubin::read(bytes, 0, &mut image)?;
    } else {
        image.ptx.push(text::plain(bytes)?);
    }
    Ok(image)
}

impl Image {
    /// The PTX for a device: the one for the newest architecture that the device can execute, else the one that is
    /// nearest beyond it. An error where there is none: it says which machine code there is, and the flag that adds PTX.
    pub fn ptx_for(&self, device: Capability) -> Result<&Ptx, Error> {
        // What line information keeps has lost its lines.
        let has_lines = |ptx: &Ptx| ptx.origin != Origin::LineInformation;
        let runs = self.ptx.iter().filter(|ptx| ptx.capability.runs_on(device));
        let nearest = || {
            let all = self.ptx.iter();
            all.min_by_key(|ptx| (ptx.capability.distance(device), !has_lines(ptx)))
        };
        runs.max_by_key(|ptx| (ptx.capability, has_lines(ptx)))
            .or_else(nearest)
            .ok_or_else(|| Error::NoPtx {
                architectures: self.architectures(),
                device,
            })
    }

    /// The architectures that it has machine code for, each once, from old to new.
    pub fn architectures(&self) -> Vec<Capability> {
        let mut all: Vec<_> = self.cubins.iter().map(|c| c.capability).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

#[cfg(test)]
mod tests;
