//! CUDA arrays, textures and surfaces.

use super::{Reply, Session};
use crate::refused::{Answer, Refused};
use warpsim_doors::wire::status;
use warpsim_sim::gpu::api::{TexelKind, Texture};

/// An array: texels one after the other, row after row.
#[derive(Clone, Debug)]
pub struct Array {
    pub address: u64,
    /// Texels in x, y, z; 0 for dimensions that it has not.
    size: [u32; 3],
    bits: [u32; 4],
    kind: u32,
    flags: u32,
    /// Its texture, which copies of its kind are made of.
    texture: Texture,
}

impl Array {
    /// Bytes of a row, rows of a slice, slices.
    pub fn lengths(&self) -> [u64; 3] {
        let texel = u64::from(self.bits.iter().sum::<u32>() / 8);
        let [x, y, z] = self.size.map(|n| u64::from(n.max(1)));
        [x * texel, y, z]
    }
}

/// What a texture is of: an array, or memory.
pub struct Source {
    pub array: u64,
    pub address: u64,
    pub size: [u32; 3],
    pub pitch: u64,
    pub bits: [u32; 4],
    pub kind: u32,
}

/// How it is read, by CUDA's numbers.
pub struct Sampling {
    pub wrap: u32,
    pub filter: u32,
    pub read: u32,
    pub normalized: bool,
}

/// A texture that is read as it lies.
fn plain(address: u64, size: [u32; 3], bits: [u32; 4], kind: u32) -> Answer<Texture> {
    let channels = bits.iter().take_while(|b| **b > 0).count();
    let even =
        bits[..channels].iter().all(|b| *b == bits[0]) && bits[channels..].iter().all(|b| *b == 0);
    let kind = match kind {
        0 => TexelKind::Signed,
        1 => TexelKind::Unsigned,
        2 => TexelKind::Float,
        _ => return Err(status::INVALID_CHANNEL.into()),
    };
    if !even || ![1, 2, 4].contains(&channels) || ![8, 16, 32].contains(&bits[0]) || size[0] == 0 {
        return Err(status::INVALID_CHANNEL.into());
    }
    Ok(Texture {
        address,
        size: size.map(|n| n.max(1)),
        dimensions: 1 + u8::from(size[1] > 0) + u8::from(size[2] > 0),
        channels: channels as u8,
        bits: bits[0] as u8,
        kind,
        linear_memory: false,
        filter_linear: false,
        wrap: false,
        normalized: false,
        read_normalized: false,
    })
}

impl Session {
    pub(super) fn create_array(
        &mut self,
        size: [u32; 3],
        bits: [u32; 4],
        kind: u32,
        flags: u32,
    ) -> Answer<u64> {
        let texture = plain(0, size, bits, kind)?;
        let texel = u64::from(bits.iter().sum::<u32>() / 8);
        let texels = size
            .iter()
            .try_fold(1u64, |all, n| all.checked_mul(u64::from((*n).max(1))));
        let bytes = texels
            .and_then(|t| t.checked_mul(texel))
            .ok_or(status::OUT_OF_MEMORY)?;
        if bytes > super::memory::TOTAL {
            return Err(status::OUT_OF_MEMORY.into());
        }
        let label = format!("array of {size:?} texels");
        let address = self
            .device
            .gpu
            .alloc(bytes, &label)
            .ok_or(status::OUT_OF_MEMORY)?;
        let handle = self.handle();
        let texture = Texture { address, ..texture };
        self.arrays.insert(
            handle,
            Array {
                address,
                size,
                bits,
                kind,
                flags,
                texture,
            },
        );
        Ok(handle)
    }

    pub(super) fn destroy_array(&mut self, array: u64) -> Answer<Reply> {
        let gone = self.arrays.remove(&array).ok_or(status::INVALID_HANDLE)?;
        let _ = self.device.gpu.free(gone.address);
        Ok(Reply::default())
    }

    pub(super) fn array_info(&self, array: u64) -> Answer<Reply> {
        let found = self.arrays.get(&array).ok_or(status::INVALID_HANDLE)?;
        let numbers = found
            .size
            .iter()
            .chain(&found.bits)
            .chain([&found.kind, &found.flags]);
        Ok(Reply::words(numbers.map(|n| u64::from(*n)).collect()))
    }

    pub(super) fn create_texture(&mut self, source: Source, sampling: Sampling) -> Answer<u64> {
        let unsupported = |what: &str| {
            Err(Refused::told(
                status::NOT_SUPPORTED,
                format!("textures {what} are not simulated"),
            ))
        };
        let texture = if source.array != 0 {
            self.arrays
                .get(&source.array)
                .ok_or(status::INVALID_HANDLE)?
                .texture
                .clone()
        } else {
            let texture = plain(source.address, source.size, source.bits, source.kind)?;
            let row = u64::from(source.size[0]) * u64::from(source.bits.iter().sum::<u32>() / 8);
            let is_linear = source.size[1] == 0;
            if !is_linear && source.pitch != row {
                return unsupported(
                    "of memory whose rows do not follow one another (a pitch beyond the width)",
                );
            }
            let last = texture.size[1..]
                .iter()
                .map(|n| u64::from(*n))
                .product::<u64>();
            self.device
                .gpu
                .look(source.address, row * last)
                .map_err(|_| Refused::from(status::INVALID_VALUE))?;
            Texture {
                linear_memory: is_linear,
                ..texture
            }
        };
        if sampling.normalized && sampling.wrap == 2 {
            return unsupported("that are mirrored beyond their borders");
        }
        if sampling.wrap == 3 {
            return unsupported("with a colour beyond their borders");
        }
        let texture = Texture {
            // Coordinates that are not normalized are clamped, whatever is asked for.
            wrap: sampling.wrap == 0 && sampling.normalized,
            filter_linear: sampling.filter == 1,
            normalized: sampling.normalized,
            read_normalized: sampling.read == 1 && texture.kind != TexelKind::Float,
            ..texture
        };
        Ok(self.keep_texture(texture))
    }

    pub(super) fn create_surface(&mut self, array: u64) -> Answer<u64> {
        let texture = self
            .arrays
            .get(&array)
            .ok_or(status::INVALID_HANDLE)?
            .texture
            .clone();
        Ok(self.keep_texture(texture))
    }

    fn keep_texture(&mut self, texture: Texture) -> u64 {
        let handle = self.device.gpu.make_texture(texture);
        self.textures.insert(handle);
        handle
    }

    /// A texture object's texture.
    pub(super) fn texture(&self, handle: u64) -> Answer<Texture> {
        self.device
            .gpu
            .texture(handle)
            .cloned()
            .ok_or(status::INVALID_VALUE.into())
    }

    pub(super) fn destroy_texture(&mut self, texture: u64) -> Answer<Reply> {
        match self.textures.remove(&texture) && self.device.gpu.drop_texture(texture) {
            true => Ok(Reply::default()),
            false => Err(status::INVALID_VALUE.into()),
        }
    }
}
