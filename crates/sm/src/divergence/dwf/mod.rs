//! Dynamic warp formation (thread-block-compaction §2.3), and the same with warp barriers
//! (§2.4).
//!
//! There is no stack. A warp that issues leaves the pool; when its instruction is complete its
//! threads are split by their next PC, and each part looks up the warp that is being filled at
//! that PC: threads whose lane is free there join it, the others start a new warp, which is the
//! one being filled from then on. A warp stops after every instruction, so one is in flight.
//!
//! With warp barriers a static warp stays together until it diverges. Its threads then mix with
//! those of other warps that have, and each waits at the post-dominator of that branch until
//! the static warp is whole again.

mod held;
mod paths;
mod warp_barrier;
mod window;

use super::pool::{self, Parked, Waits, WarpPool};
use super::{BlockArrival, Branch, DivergenceModel, Group, Groups, Model, Path};
use crate::exec::state::{LANES, Lanes, Threads, each_home};
use crate::place::Layout;
use held::{Held, HeldIn};
use warp_barrier::{WarpBarriers, Whole};
use warpsim_machine::Machine;
use warpsim_machine::mechanism::Info;
use warpsim_ptx::kernel::{NO_PC, Pc};
use window::{Formed, Window};

/// As it is registered.
pub const MODEL: Model = Model {
    info: Info {
        name: "dwf",
        description: "dynamic warp formation: threads of an SM at the same PC are regrouped into new warps, lane by lane; goes with the scheduler majority",
        parameters: &[],
    },
    pools: true,
    keeps_threads: false,
    make: |_, machine, _| Box::new(Dwf::new(machine, false)),
};

/// With warp barriers.
pub const WITH_WARP_BARRIERS: Model = Model {
    info: Info {
        name: "dwf-wb",
        description: "dwf with warp barriers: static warps until they diverge, which meet again at that branch's immediate post-dominator",
        parameters: &[],
    },
    pools: true,
    keeps_threads: false,
    make: |_, machine, _| Box::new(Dwf::new(machine, true)),
};

/// What becomes of the threads of a slot when its instruction is complete.
#[derive(Clone, Debug)]
struct Pending {
    /// Next PCs and the lanes that go there; lanes may be none.
    sides: [(Pc, u32); 2],
    /// Where the sides meet, if there are two.
    meet: Pc,
    exited: u32,
    /// Parts that wait at barriers.
    barriers: Vec<BarrierPart>,
    /// Lanes that wait for threads that their `.sync` operation names.
    awaiting: u32,
    /// Has issued, and its threads have not been moved on.
    open: bool,
    /// Its instruction is complete.
    complete: bool,
}

#[derive(Clone, Copy, Debug)]
struct BarrierPart {
    block: u16,
    id: u8,
    lanes: u32,
    /// It opened before the instruction was complete.
    open: bool,
}

/// Threads that wait for others of their home warp.
#[derive(Clone, Copy, Debug)]
struct Awaiting {
    home: u16,
    lanes: u32,
    pc: Pc,
    slice: usize,
}

/// The model.
#[derive(Debug)]
pub struct Dwf {
    window: Window,
    held: Held,
    /// By slot.
    pending: Vec<Pending>,
    awaiting: Vec<Awaiting>,
    /// By home warp: its block.
    blocks: Vec<u16>,
    barriers: Option<WarpBarriers>,
    whole: Vec<Whole>,
}

impl Dwf {
    /// An empty pool for an SM of `machine`.
    pub fn new(machine: &Machine, warp_barriers: bool) -> Dwf {
        let layout = Layout::of(machine);
        let none = Pending {
            sides: [(0, 0); 2],
            meet: NO_PC,
            exited: 0,
            barriers: Vec::new(),
            awaiting: 0,
            open: false,
            complete: false,
        };
        Dwf {
            window: Window::new(layout),
            held: Held::default(),
            pending: vec![none; pool::slots(machine)],
            awaiting: Vec::new(),
            blocks: Vec::new(),
            barriers: warp_barriers.then(|| WarpBarriers::new(layout.slices() as usize)),
            whole: Vec::new(),
        }
    }

    /// The warp in a slot has issued; its threads go to `sides` when it is done.
    fn issued(&mut self, slot: u16, sides: [(Pc, u32); 2], groups: &mut Groups) {
        self.window.issued(slot);
        let pending = &mut self.pending[slot as usize];
        pending.sides = sides;
        pending.exited = 0;
        (pending.open, pending.complete) = (true, false);
        groups.stop(slot);
    }

    /// Threads of the home warps `homes` go on at `pc`.
    fn regroup(
        &mut self,
        slice: usize,
        pc: Pc,
        lanes: u32,
        homes: &[u16; LANES],
        keep: &mut Option<u16>,
        groups: &mut Groups,
    ) {
        let lanes = match &mut self.barriers {
            Some(barriers) => barriers.arrive(slice, pc, lanes, homes, &mut self.whole),
            None => lanes,
        };
        if lanes == 0 {
            return;
        }
        let rest = self.window.join(slice, pc, lanes, homes, groups);
        if rest != 0 {
            self.window.form(slice, pc, rest, homes, keep, groups);
        }
    }

    /// Threads have exited and their instruction is complete.
    fn leave(&mut self, slice: usize, homes: &[u16; LANES], exited: u32, groups: &mut Groups) {
        let Dwf {
            blocks,
            barriers,
            whole,
            ..
        } = self;
        each_home(homes, exited, |home, part| {
            groups.leave(blocks[home as usize], part.count_ones());
            if let Some(barriers) = barriers {
                barriers.exited(home, slice, part, whole);
            }
        });
    }

    /// Static warps that are whole again go on as such.
    fn restore(&mut self, keep: &mut Option<u16>, groups: &mut Groups) {
        let mut whole = std::mem::take(&mut self.whole);
        for w in whole.drain(..) {
            let warp = Formed {
                pc: w.pc,
                mask: w.members,
                lanes: Lanes::Static(w.home),
                fixed: true,
                urgent: false,
            };
            self.window.place_static(w.slice, warp, keep, groups);
        }
        self.whole = whole;
    }

    /// What is left of a slot's threads has been placed.
    fn close(&mut self, slice: usize, keep: Option<u16>, groups: &mut Groups) {
        if let Some(slot) = keep {
            self.window.vacate(slot, groups);
        }
        if self.window.is_crowded(slice) {
            self.held.make_room(slice, &mut self.window, groups);
        }
    }

    /// The instruction of a slot is complete: its threads go where they go.
    fn move_on(&mut self, slot: u16, groups: &mut Groups) {
        let slice = self.window.slice_of(slot);
        let fixed = self.window.is_fixed(slot);
        let pending = &mut self.pending[slot as usize];
        if fixed && pending.awaiting != 0 {
            return; // a static warp waits as one
        }
        pending.open = false;
        let (mut sides, exited, awaiting) = (pending.sides, pending.exited, pending.awaiting);
        let meet = pending.meet;
        pending.awaiting = 0;
        let mut parts = std::mem::take(&mut pending.barriers);
        let homes = groups.get(slot).lanes.homes();
        let mut keep = Some(slot);
        if exited != 0 {
            self.leave(slice, &homes, exited, groups);
        }
        for part in parts.drain(..) {
            let pc = sides[0].0;
            sides[0].1 &= !part.lanes;
            if part.open {
                let warp = Formed {
                    pc,
                    mask: part.lanes,
                    lanes: Lanes::Static(0),
                    fixed,
                    urgent: true,
                };
                self.window.place(slice, warp, &homes, &mut keep, groups);
            } else {
                let barrier = (part.block, part.id);
                let (window, held) = (&mut self.window, &mut self.held);
                held.hold(
                    barrier, pc, part.lanes, &homes, &mut keep, slice, fixed, window, groups,
                );
            }
        }
        self.pending[slot as usize].barriers = parts;
        if awaiting != 0 {
            let pc = sides[0].0;
            sides[0].1 &= !awaiting;
            each_home(&homes, awaiting, |home, lanes| {
                self.awaiting.push(Awaiting {
                    home,
                    lanes,
                    pc,
                    slice,
                });
            });
        }
        let goes_two_ways = sides[0].1 != 0 && sides[1].1 != 0;
        if let (Some(barriers), true) = (&mut self.barriers, fixed && goes_two_ways) {
            barriers.part(homes[0], slice, meet);
        }
        for (pc, part) in sides.into_iter().filter(|side| side.1 != 0) {
            if fixed && !goes_two_ways {
                let warp = Formed {
                    pc,
                    mask: part,
                    lanes: Lanes::Static(0),
                    fixed,
                    urgent: false,
                };
                self.window.place(slice, warp, &homes, &mut keep, groups);
            } else {
                self.regroup(slice, pc, part, &homes, &mut keep, groups);
            }
        }
        self.restore(&mut keep, groups);
        self.close(slice, keep, groups);
    }
}

impl DivergenceModel for Dwf {
    /// A block starts as its static warps.
    fn launched(&mut self, block: &BlockArrival, threads: &Threads, groups: &mut Groups) {
        let width = LANES / block.layout.slices() as usize;
        for home in block.homes.clone() {
            if self.blocks.len() <= home as usize {
                self.blocks.resize(home as usize + 1, 0);
            }
            self.blocks[home as usize] = block.block;
            for slice in 0..block.layout.slices() as usize {
                let of_slice = (u32::MAX >> (LANES - width)) << (slice * width);
                let mask = threads.warps[home as usize].live & of_slice;
                if let Some(barriers) = &mut self.barriers {
                    barriers.launched(home, slice, mask);
                }
                if mask != 0 {
                    let warp = Formed {
                        pc: 0,
                        mask,
                        lanes: Lanes::Static(home),
                        fixed: self.barriers.is_some(),
                        urgent: false,
                    };
                    self.window.place_static(slice, warp, &mut None, groups);
                    self.close(slice, None, groups);
                }
            }
        }
    }

    fn branch(&mut self, slot: u16, branch: &Branch, groups: &mut Groups) {
        let mask = groups.get(slot).mask;
        let next = branch.pc + 1;
        let (taken, stays) = (branch.taken, mask & !branch.taken);
        let sides = match branch.target {
            target if target == next => [(next, mask), (next, 0)],
            target if target < next => [(target, taken), (next, stays)],
            target => [(next, stays), (target, taken)],
        };
        self.pending[slot as usize].meet = branch.reconverge;
        self.issued(slot, sides, groups);
    }

    fn arrived(&mut self, slot: u16, groups: &mut Groups) {
        let group = groups.get(slot);
        let sides = [(group.pc, group.mask), (group.pc, 0)];
        self.issued(slot, sides, groups);
    }

    fn exited(&mut self, slot: u16, lanes: u32, next: Pc, groups: &mut Groups) {
        let rest = groups.get(slot).mask & !lanes;
        self.issued(slot, [(next, rest), (next, 0)], groups);
        self.pending[slot as usize].exited = lanes;
    }

    fn settled(&mut self, slot: u16, groups: &mut Groups) {
        if self.pending[slot as usize].open {
            self.pending[slot as usize].complete = true;
            self.move_on(slot, groups);
        }
    }

    /// Threads count by themselves.
    fn barrier_threads(&self, _: u16, group: &Group, _: &Threads) -> u32 {
        group.mask.count_ones()
    }

    fn pool(&mut self) -> Option<&mut dyn WarpPool> {
        Some(self)
    }

    fn paths(&self, slot: u16, groups: &Groups, out: &mut Vec<Path>) {
        self.pending[slot as usize].paths(groups.get(slot), out);
    }

    fn parked(&self, groups: &Groups) -> Vec<Parked> {
        let mut parked = Vec::new();
        let mut add = |lanes: &Lanes, mask: u32, pc: Pc, waits: Waits| {
            lanes.each_home(mask, |home, lanes| {
                parked.push(Parked {
                    home,
                    lanes,
                    pc,
                    waits,
                });
            });
        };
        for warp in self.held.iter() {
            let lanes = match &warp.place {
                HeldIn::Slot(slot) => &groups.get(*slot).lanes,
                HeldIn::Outside(lanes) => lanes,
            };
            add(lanes, warp.mask, warp.pc - 1, Waits::Barrier(warp.id));
        }
        for a in &self.awaiting {
            add(&Lanes::Static(a.home), a.lanes, a.pc - 1, Waits::Members);
        }
        for (home, lanes, pc) in self.barriers.iter().flat_map(WarpBarriers::waiting) {
            add(&Lanes::Static(home), lanes, pc, Waits::Reconvergence);
        }
        for warp in self.window.waiting() {
            add(&warp.lanes, warp.mask, warp.pc, Waits::Slot);
        }
        parked
    }
}

impl WarpPool for Dwf {
    /// A static warp arrives as one.
    fn barrier_lanes(&self, slot: u16, executed: u32, group: &Group) -> u32 {
        if self.window.is_fixed(slot) {
            group.mask
        } else {
            executed
        }
    }

    fn barrier(&mut self, slot: u16, block: u16, id: u8, lanes: u32) {
        self.pending[slot as usize].barriers.push(BarrierPart {
            block,
            id,
            lanes,
            open: false,
        });
    }

    fn released(&mut self, block: u16, id: u8, groups: &mut Groups) {
        for pending in self.pending.iter_mut().filter(|p| p.open) {
            for part in &mut pending.barriers {
                part.open |= (part.block, part.id) == (block, id);
            }
        }
        self.held.release(block, id, &mut self.window, groups);
        for slice in 0..self.window.slices() {
            self.close(slice, None, groups);
        }
    }

    fn awaits(&mut self, slot: u16, lanes: u32) {
        self.pending[slot as usize].awaiting |= lanes;
    }

    fn met(&mut self, home: u16, lanes: u32, groups: &mut Groups) {
        let mut left = lanes;
        for at in (0..self.awaiting.len()).rev() {
            let entry = &mut self.awaiting[at];
            let go = entry.lanes & left;
            if entry.home != home || go == 0 {
                continue;
            }
            left &= !go;
            entry.lanes &= !go;
            let Awaiting { pc, slice, .. } = *entry;
            if entry.lanes == 0 {
                self.awaiting.remove(at);
            }
            self.regroup(slice, pc, go, &[home; LANES], &mut None, groups);
            self.restore(&mut None, groups);
            self.close(slice, None, groups);
        }
        // The others' instruction is not complete, or they are part of a static warp.
        for slot in 0..self.pending.len() as u16 {
            let pending = &mut self.pending[slot as usize];
            if left == 0 || pending.awaiting & left == 0 {
                continue;
            }
            let mut here = 0;
            let of_home = |h: u16, part: u32| here |= if h == home { part } else { 0 };
            groups
                .get(slot)
                .lanes
                .each_home(pending.awaiting & left, of_home);
            pending.awaiting &= !here;
            left &= !here;
            if pending.awaiting == 0 && pending.open && pending.complete {
                self.move_on(slot, groups);
            }
        }
    }
}
