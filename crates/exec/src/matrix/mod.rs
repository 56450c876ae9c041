//! Matrix instructions: a warp holds the matrices together, each thread a part.

pub(crate) mod accumulate;
pub(crate) mod multiply;
pub(crate) mod quarters;
pub(crate) mod transport;

use crate::op::{Regs, World};
use crate::state::{EffectKind, lanes_of};

/// The lanes of each home warp, all of whose threads must be there; else says that it awaits them.
fn whole_warps(r: &Regs<'_>, w: &mut World<'_, '_>) -> Option<Vec<u32>> {
    let mut sets = Vec::new();
    let mut all_here = true;
    w.lanes.each_home(r.mask, |home, here| {
        let awaited = w.threads.warps[usize::from(home)].awaited();
        all_here &= awaited & !here == 0;
        sets.push(here);
    });
    if all_here {
        return Some(sets);
    }
    for lane in lanes_of(r.mask) {
        w.effect.operands[0][lane] = u64::from(u32::MAX);
    }
    w.effect.kind = EffectKind::Awaits;
    None
}
