//! Texture fetches by whole coordinates.

use super::args::Args;
use super::memory::trouble;
use super::state::{Dst, Row, Trouble};
use super::{Action, Entry, entry};
use warpsim_exec::fault::FaultKind;
use warpsim_exec::machine_code::linear_texel;
use warpsim_exec::state::lanes_of;
use warpsim_ptx::isa::Space;

pub const OPS: &[Entry] = &[entry("TLD", "a texel by its whole coordinate", fetch)];

fn fetch(args: &mut Args<'_>) -> Result<Action, String> {
    // There is one level.
    args.without_effect(&["LZ"]);
    // The first components go to the second destination.
    let (second, first) = (args.dst()?, args.dst()?);
    let (coordinate, handle) = (args.integer()?, args.integer()?);
    if args.number()? != 0 {
        return Err("TLD with an offset of its handle is not known".into());
    }
    match args.word()? {
        "1D" => {}
        other => return Err(format!("TLD of a texture of {other} is not known")),
    }
    let wanted = if args.left() == 0 {
        0xf
    } else {
        args.number()?
    };
    let mut places = [first, first.next(), second, second.next()].into_iter();
    let components: Vec<(usize, Dst)> = (0..4)
        .filter(|component| wanted >> component & 1 != 0)
        .zip(places.by_ref())
        .collect();
    Action::access(move |r| {
        let (coordinate, handle) = (coordinate.integer(r), handle.integer(r));
        let mut rows = [Row::all(0); 4];
        for lane in lanes_of(r.mask) {
            let number = handle.0[lane];
            let textures = &r.around.grid.texture_objects;
            let found = number
                .checked_sub(1)
                .and_then(|n| textures.get(n as usize)?.as_ref());
            let Some(texture) = found else {
                let text = format!("{number:#x} is not the handle of a texture");
                let kind = FaultKind::Other(text);
                return Err(Trouble { lane, kind });
            };
            let texel = linear_texel(texture, coordinate.0[lane], r.memory).map_err(|cause| {
                let bytes = usize::from(texture.bits / 8 * texture.channels);
                trouble(lane, Space::Tex, texture.address, bytes, false, cause)
            })?;
            for (row, value) in rows.iter_mut().zip(texel) {
                row.0[lane] = value;
            }
        }
        for &(component, dst) in &components {
            r.set(dst, &rows[component]);
        }
        Ok(())
    })
}
