//! Warps that wait at a barrier of their block, as they were formed. They keep their slots while
//! no other warp needs them.

use super::window::{Formed, Window};
use crate::divergence::Groups;
use crate::exec::state::{LANES, Lanes};
use warpsim_ptx::kernel::Pc;

/// A warp at a barrier.
#[derive(Clone, Debug)]
pub struct HeldWarp {
    /// Its block.
    pub block: u16,
    /// The barrier.
    pub id: u8,
    /// Where it goes on.
    pub pc: Pc,
    /// Its lanes.
    pub mask: u32,
    /// Where it is.
    pub place: HeldIn,
    /// A static warp.
    pub fixed: bool,
    slice: usize,
}

/// Where a warp waits.
#[derive(Clone, Debug)]
pub enum HeldIn {
    /// In a slot.
    Slot(u16),
    /// Outside, with its threads.
    Outside(Lanes),
}

/// All warps at barriers, in the order in which they came.
#[derive(Debug, Default)]
pub struct Held {
    warps: Vec<HeldWarp>,
}

impl Held {
    /// A warp has arrived and has nothing in flight any more.
    #[allow(clippy::too_many_arguments)]
    pub fn hold(
        &mut self,
        (block, id): (u16, u8),
        pc: Pc,
        mask: u32,
        homes: &[u16; LANES],
        keep: &mut Option<u16>,
        slice: usize,
        fixed: bool,
        window: &mut Window,
        groups: &mut Groups,
    ) {
        let slot = match keep.take() {
            Some(slot) if !window.is_crowded(slice) => {
                groups.narrow(slot, pc, pc + 1, mask);
                Some(slot)
            }
            kept => {
                *keep = kept;
                let free = window.take_free(slice);
                if let Some(slot) = free {
                    let lanes = groups.gather(mask, homes);
                    groups.start(slot, pc, pc + 1, mask, lanes);
                }
                free
            }
        };
        let place = match slot {
            Some(slot) => {
                groups.hold(slot);
                HeldIn::Slot(slot)
            }
            None => HeldIn::Outside(groups.gather(mask, homes)),
        };
        self.warps.push(HeldWarp {
            block,
            id,
            pc,
            mask,
            place,
            fixed,
            slice,
        });
    }

    /// A barrier has opened: its warps go on as they were formed.
    pub fn release(&mut self, block: u16, id: u8, window: &mut Window, groups: &mut Groups) {
        let mut at = 0;
        while at < self.warps.len() {
            if (self.warps[at].block, self.warps[at].id) != (block, id) {
                at += 1;
                continue;
            }
            let warp = self.warps.remove(at);
            let formed = |lanes| Formed {
                pc: warp.pc,
                mask: warp.mask,
                lanes,
                fixed: warp.fixed,
                urgent: true,
            };
            match warp.place {
                HeldIn::Slot(slot) => {
                    window.go_on(slot, warp.pc, warp.fixed, groups);
                    groups.urge(slot);
                }
                HeldIn::Outside(lanes) => window.admit(warp.slice, formed(lanes), groups),
            }
        }
    }

    /// Makes the warps that wait in slots of a crowded slice give them up.
    pub fn make_room(&mut self, slice: usize, window: &mut Window, groups: &mut Groups) {
        for warp in self.warps.iter_mut().filter(|w| w.slice == slice) {
            if !window.is_crowded(slice) {
                return;
            }
            if let HeldIn::Slot(slot) = warp.place {
                warp.place = HeldIn::Outside(window.evict(slot, groups));
            }
        }
    }

    /// The warps.
    pub fn iter(&self) -> impl Iterator<Item = &HeldWarp> {
        self.warps.iter()
    }
}
