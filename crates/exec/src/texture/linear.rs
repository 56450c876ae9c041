//! A texel of a texture that is plain memory, by its number.

use super::filter;
use crate::grid::Texture;
use crate::memory::image::AccessError;
use crate::memory::store_buffer::GlobalView;

/// The components of texel `number`; zeros for those it does not have, outside the texture, and where the texture is no
/// plain memory.
pub fn linear_texel(
    texture: &Texture,
    number: u32,
    memory: &mut GlobalView<'_>,
) -> Result<[u32; 4], AccessError> {
    let mut out = [0; 4];
    if !texture.linear_memory || number >= texture.size[0].min(i32::MAX as u32) {
        return Ok(out);
    }
    let bytes = usize::from(texture.bits) / 8;
    let texel = (bytes * usize::from(texture.channels)).min(16);
    let mut data = [0; 16];
    let address = texture.address + u64::from(number) * texel as u64;
    memory.load(address, &mut data[..texel])?;
    for (out, raw) in out.iter_mut().zip(data[..texel].chunks_exact(bytes.max(1))) {
        let mut word = [0; 4];
        word[..bytes].copy_from_slice(raw);
        *out = filter::component(texture, u32::from_le_bytes(word));
    }
    Ok(out)
}
