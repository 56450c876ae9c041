//! Memory instructions under way, from issue to their last returned access.

use super::coalesce::Access;
use crate::exec::state::{Atomic, LANES, Lanes};
use crate::sm::fixed_list::FixedList;

/// Hardware warps, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// The first.
    pub first: u16,
    /// How many there are.
    pub count: u16,
}

impl Slots {
    /// One warp.
    #[inline]
    pub fn one(slot: u16) -> Slots {
        Slots {
            first: slot,
            count: 1,
        }
    }

    /// All of them.
    #[inline]
    pub fn iter(self) -> std::ops::Range<u16> {
        self.first..self.first + self.count
    }
}

/// A hardware warp that waits for a memory instruction: a gang has several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// Hardware warp.
    pub slot: u16,
    /// Its instruction: warps whose accesses are gathered may be at different ones.
    pub pc: u32,
    /// Its lanes.
    pub lanes: u32,
    /// Accesses that serve one of its lanes and have not returned.
    pub pending: u16,
}

/// How a memory instruction travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Shared memory.
    Shared,
    /// Through the L1 data cache.
    Cached,
    /// Past the L1: `.cg` loads and atomics.
    Uncached,
    /// Through the constant cache.
    Constant,
    /// Through the texture cache.
    Texture,
}

/// A memory instruction under way. In this order, what an instruction of one warp needs is in one line of the
/// host's cache: between its visits many others come and go.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct MemOp {
    /// Instruction; that of the first warp if there are several.
    pub pc: u32,
    /// Its way.
    pub path: Path,
    /// Store (else load or atomic).
    pub store: bool,
    /// Local memory.
    pub local: bool,
    /// Atomic data is valid.
    pub is_atomic: bool,
    /// An atomic on shared memory, which has been performed.
    pub shared_atomic: bool,
    /// Warps that its one owner is, itself the first, if all of its accesses are for each of them. One if
    /// there are several owners.
    pub warps: u8,
    /// How many of its accesses have not been sent.
    pub unsent: u16,
    /// Cycles the load/store unit still has to spend beyond the accesses.
    pub busy: u32,
    /// Parts that hold on to this record: the pipeline, and each access that will return.
    pub holds: u32,
    /// There are owners without an access: all their lanes were masked off.
    pub bystanders: bool,
    /// A prefetch: no warp waits for what its accesses bring.
    pub prefetch: bool,
    /// Its accesses; the last goes first.
    pub accesses: Vec<Access>,
    /// The warps that wait for it.
    pub owners: FixedList<Owner, 8>,
    /// Values of an atomic.
    pub atomic: Option<Box<AtomicData>>,
}

const _: () = assert!(std::mem::offset_of!(MemOp, owners) + 4 + size_of::<Owner>() <= 64);

impl MemOp {
    /// One of no warp, which makes no accesses.
    fn new(pc: u32, path: Path) -> MemOp {
        MemOp {
            pc,
            path,
            store: false,
            local: false,
            is_atomic: false,
            shared_atomic: false,
            warps: 1,
            owners: FixedList::default(),
            accesses: Vec::new(),
            unsent: 0,
            busy: 0,
            atomic: None,
            holds: 0,
            bystanders: false,
            prefetch: false,
        }
    }

    /// Cycles of the load/store unit that it takes if nothing is in its way.
    pub fn work(&self) -> u32 {
        self.busy.max(1) - 1 + u32::from(self.unsent).max(1)
    }

    /// The access that is sent next.
    #[inline]
    pub fn next_access(&self) -> Option<&Access> {
        self.accesses.get(usize::from(self.unsent).wrapping_sub(1))
    }

    /// The warps that an owner is.
    #[inline]
    pub fn slots(&self, owner: &Owner) -> Slots {
        Slots {
            first: owner.slot,
            count: u16::from(self.warps),
        }
    }

    /// Makes owners of these warps: one, if they wait for the same.
    #[inline]
    pub fn own(&mut self, warps: &[Owner], accesses: &[Access]) {
        if let [one] = warps {
            return self.add_owner(one, one.lanes, accesses.len()); // all are for its lanes
        }
        if let Some(lanes) = lanes_as_one(warps, accesses) {
            self.warps = warps.len() as u8;
            return self.add_owner(&warps[0], lanes, accesses.len());
        }
        for warp in warps {
            let its = accesses.iter().filter(|a| a.lanes & warp.lanes != 0);
            self.add_owner(warp, warp.lanes, its.count());
        }
    }

    #[inline]
    fn add_owner(&mut self, owner: &Owner, lanes: u32, pending: usize) {
        // Of what was gathered by generic addresses, some may be in shared memory and some not:
        // a warp without an access of its own has nothing to wait for.
        let lanes = if pending == 0 { 0 } else { lanes };
        self.bystanders |= lanes == 0;
        self.owners.push(Owner {
            pending: pending as u16,
            lanes,
            ..*owner
        });
    }

    /// The first warp that an access for these lanes is for.
    #[inline]
    pub fn slot_for(&self, lanes: u32) -> u16 {
        let [one] = &self.owners[..] else {
            let its = self.owners.iter().find(|o| o.lanes & lanes != 0);
            return its.map_or(0, |o| o.slot);
        };
        one.slot
    }
}

/// The lanes of warps that sit one behind the other and execute the same instruction, if each has a lane
/// that all of these accesses are for.
#[inline]
fn lanes_as_one(warps: &[Owner], accesses: &[Access]) -> Option<u32> {
    let first = warps.first()?;
    let in_all = accesses.iter().fold(!0, |lanes, a| lanes & a.lanes);
    let mut lanes = 0;
    for (slot, its) in (first.slot..).zip(warps) {
        if its.slot != slot || its.pc != first.pc || its.lanes & in_all == 0 {
            return None;
        }
        lanes |= its.lanes;
    }
    Some(lanes)
}

/// The lanes of an atomic until the L2 has performed it.
#[derive(Debug)]
pub struct AtomicData {
    /// What to do.
    pub what: Atomic,
    /// Threads it is for.
    pub lanes: Lanes,
    /// Addresses by lane.
    pub address: [u64; LANES],
    /// Operands by lane.
    pub operands: [[u64; LANES]; 2],
    /// Old values by lane, once performed.
    pub old: [u64; LANES],
}

/// An access that will return.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flight {
    /// Instruction it belongs to.
    pub op: u16,
    /// Lanes it serves.
    pub lanes: u32,
}

/// All memory instructions of an SM: records are reused, so that issuing allocates nothing.
#[derive(Debug, Default)]
pub struct MemOps {
    ops: Vec<MemOp>,
    free_ops: Vec<u16>,
    flights: Vec<Flight>,
    free_flights: Vec<u32>,
}

impl MemOps {
    /// A record for a new instruction, held once (by the pipeline).
    pub fn open(&mut self, pc: u32, path: Path) -> u16 {
        let index = self.free_ops.pop().unwrap_or_else(|| {
            self.ops.push(MemOp::new(pc, path));
            (self.ops.len() - 1) as u16
        });
        let op = &mut self.ops[index as usize];
        (op.pc, op.path, op.holds) = (pc, path, 1);
        (op.store, op.local, op.is_atomic, op.busy) = (false, false, false, 0);
        (op.shared_atomic, op.warps, op.bystanders) = (false, 1, false);
        op.prefetch = false;
        op.owners.clear();
        op.accesses.clear();
        index
    }

    /// Hands a record over to a part that keeps it itself.
    pub fn hand_over(&mut self, op: u16) -> MemOp {
        self.free_ops.push(op);
        std::mem::replace(&mut self.ops[op as usize], MemOp::new(0, Path::Shared))
    }

    /// A record.
    #[inline]
    pub fn get(&self, op: u16) -> &MemOp {
        &self.ops[op as usize]
    }

    /// A record, to change.
    #[inline]
    pub fn get_mut(&mut self, op: u16) -> &mut MemOp {
        &mut self.ops[op as usize]
    }

    /// Lets go of a record; it is reused when no part of the unit holds it.
    #[inline]
    pub fn release(&mut self, op: u16) {
        let record = &mut self.ops[op as usize];
        record.holds -= 1;
        if record.holds == 0 {
            self.free_ops.push(op);
        }
    }

    /// Registers an access that will return.
    pub fn fly(&mut self, op: u16, lanes: u32) -> u32 {
        self.ops[op as usize].holds += 1;
        let flight = Flight { op, lanes };
        match self.free_flights.pop() {
            Some(index) => {
                self.flights[index as usize] = flight;
                index
            }
            None => {
                self.flights.push(flight);
                (self.flights.len() - 1) as u32
            }
        }
    }

    /// An access that is under way.
    pub fn flight(&self, index: u32) -> Flight {
        self.flights[index as usize]
    }

    /// Ends a flight; its instruction stays held until the caller releases it.
    pub fn land(&mut self, index: u32) -> Flight {
        self.free_flights.push(index);
        self.flights[index as usize]
    }

    /// Whether no instruction is under way.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.free_ops.len() == self.ops.len()
    }
}
