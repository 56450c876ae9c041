//! Which texture or surface a thread means.

use crate::fault::{Fault, FaultKind};
use crate::grid::Texture;
use crate::op::{Decoded, Regs, World};
use warpsim_ptx::kernel::{Operand, TEXREF_HANDLES, TexBase};

/// The texture (or surface) that the thread on `lane` names.
pub(super) fn texture_on<'g>(
    d: &Decoded,
    r: &Regs<'_>,
    w: &World<'g, '_>,
    lane: usize,
) -> Result<&'g Texture, Fault> {
    let grid = w.grid;
    let handle = r.lane::<u64>(d.src[0], lane);
    let by_name = matches!(w.cold.instr.src[0], Operand::Texture(TexBase::Texref(_)));
    let number = if by_name {
        Some(handle)
    } else {
        handle.checked_sub(TEXREF_HANDLES)
    };
    let texture = match number {
        Some(number) => grid.texrefs.get(number as usize),
        None => handle
            .checked_sub(1)
            .and_then(|n| grid.texture_objects.get(n as usize)),
    };
    match (texture, number) {
        (Some(Some(texture)), _) => Ok(texture),
        (_, number) => {
            let text = match number {
                Some(number) => format!("texture reference {number} is not bound"),
                None => format!("{handle:#x} is not the handle of a texture"),
            };
            Err(Fault::new(FaultKind::Other(text), lane, w.lanes.home(lane)))
        }
    }
}
