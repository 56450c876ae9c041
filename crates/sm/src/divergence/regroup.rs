//! Putting threads together that come from several home warps, and taking groups apart.

use super::{GroupState, Groups};
use crate::exec::state::{LANES, Lanes};
use warpsim_ptx::kernel::{NO_PC, Pc};

/// Boxes kept for later; a pool has little more than a hundred warps.
const SPARE: usize = 256;

impl Groups {
    /// The threads on the lanes of `mask`, whose home warps are `homes`.
    pub fn gather(&mut self, mask: u32, homes: &[u16; LANES]) -> Lanes {
        let first = homes[mask.trailing_zeros() as usize % LANES];
        if one_home(mask, homes, first) {
            return Lanes::Static(first);
        }
        let mut boxed = self.spare.pop().unwrap_or_else(|| Box::new([0; LANES]));
        *boxed = *homes;
        Lanes::Gathered(boxed)
    }

    /// Adds the threads on the lanes of `add`, free in `lanes` so far.
    pub fn merge(&mut self, lanes: &mut Lanes, add: u32, homes: &[u16; LANES]) {
        if let Lanes::Static(home) = *lanes {
            if one_home(add, homes, home) {
                return;
            }
            let mut boxed = self.spare.pop().unwrap_or_else(|| Box::new([0; LANES]));
            *boxed = [home; LANES];
            *lanes = Lanes::Gathered(boxed);
        }
        if let Lanes::Gathered(all) = lanes {
            for lane in (0..LANES).filter(|l| add >> l & 1 != 0) {
                all[lane] = homes[lane];
            }
        }
    }

    /// Threads on free lanes of a group join it.
    pub fn join(&mut self, slot: u16, add: u32, homes: &[u16; LANES]) {
        let group = &mut self.slots[slot as usize];
        debug_assert!(group.mask & add == 0, "a lane holds one thread");
        group.mask |= add;
        let mut lanes = std::mem::replace(&mut group.lanes, Lanes::Static(0));
        self.merge(&mut lanes, add, homes);
        self.slots[slot as usize].lanes = lanes;
        self.note(slot);
    }

    /// Some threads of a group go on in its slot; the others are elsewhere.
    pub fn narrow(&mut self, slot: u16, pc: Pc, watch: Pc, mask: u32) {
        let group = &self.slots[slot as usize];
        if group.mask != mask
            && let Lanes::Gathered(homes) = &group.lanes
        {
            let first = homes[mask.trailing_zeros() as usize % LANES];
            if one_home(mask, homes, first) {
                let group = &mut self.slots[slot as usize];
                let lanes = std::mem::replace(&mut group.lanes, Lanes::Static(first));
                self.recycle(lanes);
            }
        }
        self.redirect(slot, pc, watch, mask);
    }

    /// The group in a slot is told apart from others as coming from an opened barrier.
    pub fn urge(&mut self, slot: u16) {
        self.slots[slot as usize].urgent = true;
        self.note(slot);
    }

    /// The group in a slot, which has nothing in flight, waits at a barrier.
    pub fn hold(&mut self, slot: u16) {
        self.slots[slot as usize].state = GroupState::Held;
        self.note(slot);
    }

    /// Takes the threads out of a slot.
    pub fn take_lanes(&mut self, slot: u16) -> Lanes {
        std::mem::replace(&mut self.slots[slot as usize].lanes, Lanes::Static(0))
    }

    /// Empties a slot whose threads have gone elsewhere.
    pub fn dissolve(&mut self, slot: u16) {
        let lanes = self.take_lanes(slot);
        self.recycle(lanes);
        let group = &mut self.slots[slot as usize];
        (group.mask, group.watch, group.state) = (0, NO_PC, GroupState::Free);
        self.note(slot);
    }

    /// Threads of a block have exited and are in no warp any more.
    pub fn leave(&mut self, block: u16, threads: u32) {
        self.gone.push((block, threads));
    }

    /// Takes one entry of those that [left](Groups::leave).
    pub fn next_gone(&mut self) -> Option<(u16, u32)> {
        self.gone.pop()
    }

    /// The pipeline has seen the group; whether it was new.
    pub fn seen(&mut self, slot: u16) -> bool {
        std::mem::take(&mut self.slots[slot as usize].fresh)
    }

    /// Keeps a box for later.
    pub(super) fn recycle(&mut self, lanes: Lanes) {
        if let Lanes::Gathered(boxed) = lanes
            && self.spare.len() < SPARE
        {
            self.spare.push(boxed);
        }
    }
}

/// Whether the lanes of `mask` all belong to `home`.
fn one_home(mask: u32, homes: &[u16; LANES], home: u16) -> bool {
    let mut left = mask;
    while left != 0 {
        if homes[left.trailing_zeros() as usize] != home {
            return false;
        }
        left &= left - 1;
    }
    true
}
