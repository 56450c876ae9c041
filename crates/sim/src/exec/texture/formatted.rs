//! Formatted accesses of surfaces: 32-bit values become components as the surface has them.

use half::f16;
use warpsim_ptx::isa::Type;

use crate::exec::grid::{TexelKind, Texture};

/// The bits of a component that a value is stored as: a float where the surface has floats or fractions, else
/// a whole number, which is brought into the component's range.
pub(super) fn component(texture: &Texture, value: u32) -> u32 {
    let bits = u32::from(texture.bits);
    let fraction = texture.read_normalized;
    match texture.kind {
        TexelKind::Float if bits == 16 => u32::from(f16::from_f32(f32::from_bits(value)).to_bits()),
        TexelKind::Float => value,
        TexelKind::Unsigned if fraction => {
            let most = f64::from(u32::MAX >> (32 - bits));
            // What is no number becomes 0.
            (f64::from(f32::from_bits(value)).clamp(0.0, 1.0) * most).round_ties_even() as u32
        }
        TexelKind::Signed if fraction => {
            let most = f64::from(i32::MAX >> (32 - bits));
            (f64::from(f32::from_bits(value)).clamp(-1.0, 1.0) * most).round_ties_even() as i32
                as u32
        }
        TexelKind::Unsigned => value.min(u32::MAX >> (32 - bits)),
        TexelKind::Signed => {
            let most = i32::MAX >> (32 - bits);
            (value as i32).clamp(-most - 1, most) as u32
        }
    }
}

/// What `sured.p` takes bits for.
pub(super) fn reduced(texture: &Texture, bits: Type) -> Type {
    match (texture.kind, bits.bytes()) {
        (TexelKind::Signed, 8) => Type::S64,
        (TexelKind::Signed, _) => Type::S32,
        (_, 8) => Type::U64,
        _ => Type::U32,
    }
}
