//! Where formed warps sit: the table from PC to the warp being filled, the slots, and a queue
//! for warps that are formed when no slot is free.
//!
//! A pool can hold as many warps as there are threads; a scheduler looks at no more than
//! [`SHARE`] of them. What is formed beyond waits in the order in which it was formed, can still
//! be filled, and takes the next slot that falls free. As long as a warp waits, a warp that has
//! completed its instruction goes to the end of the queue, so that no thread is shut out.

use crate::divergence::Groups;
use crate::divergence::pool::SHARE;
use crate::exec::state::{LANES, Lanes};
use crate::place::{Layout, Place};
use std::collections::VecDeque;
use warpsim_ptx::kernel::Pc;

/// No warp is being filled at a PC.
const NO_WARP: u32 = u32::MAX;
/// In a table entry: the warp is in the queue, and the rest is its number there.
const QUEUED: u32 = 1 << 31;
/// Numbers in the queue go round.
const NUMBERS: u32 = (1 << 30) - 1;

/// A warp outside all slots.
#[derive(Clone, Debug)]
pub struct Formed {
    /// Next instruction.
    pub pc: Pc,
    /// Its lanes.
    pub mask: u32,
    /// Its threads.
    pub lanes: Lanes,
    /// A static warp: no thread may join.
    pub fixed: bool,
    /// Comes from an opened barrier.
    pub urgent: bool,
}

/// Lanes of a width, with their own schedulers.
#[derive(Debug, Default)]
struct Slice {
    /// By PC: slot of the warp being filled, or its number in the queue.
    table: Vec<u32>,
    queue: VecDeque<Formed>,
    /// Number of the queue's first warp.
    first: u32,
    /// Released from barriers, to be placed before the queue.
    released: VecDeque<Formed>,
}

/// The slots and what waits for one.
#[derive(Debug)]
pub struct Window {
    layout: Layout,
    /// Free slots by domain.
    free: Vec<u64>,
    /// By slot: where the warp in it is pooled.
    at: Vec<Pc>,
    /// By slot: it holds a static warp.
    fixed: Vec<bool>,
    slices: Vec<Slice>,
}

impl Window {
    /// Slots for the warps of an SM.
    pub fn new(layout: Layout) -> Window {
        let domains = layout.domains();
        Window {
            layout,
            free: vec![!0; domains],
            at: vec![0; domains * SHARE],
            fixed: vec![false; domains * SHARE],
            slices: (0..layout.slices()).map(|_| Slice::default()).collect(),
        }
    }

    /// The slice a slot belongs to.
    pub fn slice_of(&self, slot: u16) -> usize {
        self.layout
            .slice_of(self.layout.place_of(slot).domain as usize)
    }

    /// Whether a slot holds a static warp.
    pub fn is_fixed(&self, slot: u16) -> bool {
        self.fixed[slot as usize]
    }

    /// The warp in a slot has issued: no thread joins it any more.
    pub fn issued(&mut self, slot: u16) {
        let (slice, pc) = (self.slice_of(slot), self.at[slot as usize] as usize);
        if let Some(entry) = self.slices[slice].table.get_mut(pc)
            && *entry == slot as u32
        {
            *entry = NO_WARP;
        }
    }

    /// Threads at `pc` join the warp being filled there, as far as their lanes are free; the
    /// lanes that are left.
    pub fn join(
        &mut self,
        slice: usize,
        pc: Pc,
        lanes: u32,
        homes: &[u16; LANES],
        groups: &mut Groups,
    ) -> u32 {
        let all = &mut self.slices[slice];
        let entry = all.table.get(pc as usize).copied().unwrap_or(NO_WARP);
        if entry == NO_WARP {
            return lanes;
        }
        if entry & QUEUED == 0 {
            let join = lanes & !groups.get(entry as u16).mask;
            if join != 0 {
                groups.join(entry as u16, join, homes);
            }
            return lanes & !join;
        }
        let warp = &mut all.queue[(entry.wrapping_sub(all.first) & NUMBERS) as usize];
        let join = lanes & !warp.mask;
        warp.mask |= join;
        groups.merge(&mut warp.lanes, join, homes);
        lanes & !join
    }

    /// Threads at `pc` start a new warp, which is the one being filled there from now on.
    pub fn form(
        &mut self,
        slice: usize,
        pc: Pc,
        lanes: u32,
        homes: &[u16; LANES],
        keep: &mut Option<u16>,
        groups: &mut Groups,
    ) {
        let warp = Formed {
            pc,
            mask: lanes,
            lanes: Lanes::Static(0),
            fixed: false,
            urgent: false,
        };
        let entry = self.place(slice, warp, homes, keep, groups);
        let table = &mut self.slices[slice].table;
        if table.len() <= pc as usize {
            table.resize(pc as usize + 1, NO_WARP);
        }
        table[pc as usize] = entry;
    }

    /// Puts a warp of the threads of `homes` into the slot that they leave, `keep`, or into
    /// another, or at the end of the queue. What a table entry for it would be.
    pub fn place(
        &mut self,
        slice: usize,
        mut warp: Formed,
        homes: &[u16; LANES],
        keep: &mut Option<u16>,
        groups: &mut Groups,
    ) -> u32 {
        if !self.is_crowded(slice) {
            if let Some(slot) = keep.take() {
                self.at[slot as usize] = warp.pc;
                self.fixed[slot as usize] = warp.fixed;
                groups.narrow(slot, warp.pc, warp.pc + 1, warp.mask);
                if warp.urgent {
                    groups.urge(slot);
                }
                return slot as u32;
            }
            if let Some(slot) = self.take_free(slice) {
                warp.lanes = groups.gather(warp.mask, homes);
                self.start(slot, warp, groups);
                return slot as u32;
            }
        }
        warp.lanes = groups.gather(warp.mask, homes);
        self.enqueue(slice, warp)
    }

    /// Puts a static warp into a slot or at the end of the queue.
    pub fn place_static(
        &mut self,
        slice: usize,
        warp: Formed,
        keep: &mut Option<u16>,
        groups: &mut Groups,
    ) {
        let Some(slot) = keep.take_if(|_| !self.is_crowded(slice)) else {
            return self.admit(slice, warp, groups);
        };
        self.start(slot, warp, groups);
    }

    /// Slices of the lanes.
    pub fn slices(&self) -> usize {
        self.slices.len()
    }

    /// Puts a warp into a free slot or at the end of its queue.
    pub fn admit(&mut self, slice: usize, warp: Formed, groups: &mut Groups) {
        match self.take_free(slice) {
            Some(slot) => self.start(slot, warp, groups),
            None => drop(self.enqueue(slice, warp)),
        }
    }

    fn enqueue(&mut self, slice: usize, warp: Formed) -> u32 {
        let all = &mut self.slices[slice];
        if warp.urgent {
            all.released.push_back(warp);
            return NO_WARP;
        }
        let number = (all.first + all.queue.len() as u32) & NUMBERS;
        all.queue.push_back(warp);
        number | QUEUED
    }

    /// Whether warps wait for a slot.
    pub fn is_crowded(&self, slice: usize) -> bool {
        !self.slices[slice].queue.is_empty() || !self.slices[slice].released.is_empty()
    }

    /// Takes a free slot, of the scheduler that has most. There is none while warps wait.
    pub fn take_free(&mut self, slice: usize) -> Option<u16> {
        let domain = self
            .layout
            .domains_of(slice)
            .rev()
            .max_by_key(|&d| self.free[d].count_ones())
            .filter(|&d| self.free[d] != 0)?;
        let index = self.free[domain].trailing_zeros() as usize;
        self.free[domain] &= !(1 << index);
        Some(self.layout.slot_at(Place {
            domain: domain as u8,
            index: index as u8,
        }))
    }

    /// Starts a warp in a slot.
    pub fn start(&mut self, slot: u16, warp: Formed, groups: &mut Groups) {
        self.at[slot as usize] = warp.pc;
        self.fixed[slot as usize] = warp.fixed;
        groups.start(slot, warp.pc, warp.pc + 1, warp.mask, warp.lanes);
        if warp.urgent {
            groups.urge(slot);
        }
    }

    /// A slot's threads are elsewhere: it goes to the next in the queue, or is free.
    pub fn vacate(&mut self, slot: u16, groups: &mut Groups) {
        let slice = self.slice_of(slot);
        let all = &mut self.slices[slice];
        if let Some(warp) = all.released.pop_front() {
            return self.start(slot, warp, groups);
        }
        let Some(warp) = all.queue.pop_front() else {
            let domains = self.free.len();
            self.free[slot as usize % domains] |= 1 << (slot as usize / domains);
            return groups.dissolve(slot);
        };
        let number = all.first | QUEUED;
        all.first = (all.first + 1) & NUMBERS;
        if let Some(entry) = all.table.get_mut(warp.pc as usize)
            && *entry == number
        {
            *entry = slot as u32;
        }
        self.start(slot, warp, groups);
    }

    /// The warp in a slot goes on at `pc`.
    pub fn go_on(&mut self, slot: u16, pc: Pc, fixed: bool, groups: &mut Groups) {
        self.at[slot as usize] = pc;
        self.fixed[slot as usize] = fixed;
        let mask = groups.get(slot).mask;
        groups.redirect(slot, pc, pc + 1, mask);
    }

    /// Takes the warp out of a slot that goes to another.
    pub fn evict(&mut self, slot: u16, groups: &mut Groups) -> Lanes {
        let lanes = groups.take_lanes(slot);
        self.vacate(slot, groups);
        lanes
    }

    /// Warps that wait for a slot.
    pub fn waiting(&self) -> impl Iterator<Item = &Formed> {
        self.slices
            .iter()
            .flat_map(|s| s.released.iter().chain(&s.queue))
    }
}
