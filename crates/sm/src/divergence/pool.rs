//! Models whose warps belong to the SM rather than to a block: warps are formed from threads of
//! all resident blocks, and a slot holds whatever warp was put there.

use super::{Group, Groups};
use crate::place::Layout;
use warpsim_machine::Machine;
use warpsim_ptx::kernel::Pc;

/// Slots of each scheduler's share of a pool: as many as its bit sets have bits.
pub const SHARE: usize = 64;

/// Domains of a machine's SM: one for each scheduler of each slice.
pub fn domains(machine: &Machine) -> usize {
    Layout::of(machine).domains()
}

/// Slots of a pool.
pub fn slots(machine: &Machine) -> usize {
    domains(machine) * SHARE
}

/// What a model keeps threads waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// At a barrier of their block, with this number.
    Barrier(u8),
    /// For threads that their `.sync` operation names.
    Members,
    /// For the rest of their static warp, at the post-dominator of the branch where it parted.
    Reconvergence,
    /// For a slot.
    Slot,
    /// For the threads of their block on another path, which run first.
    OtherPath,
}

/// Threads of a home warp that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parked {
    /// Their home warp.
    pub home: u16,
    /// Their lanes.
    pub lanes: u32,
    /// The instruction at which they wait.
    pub pc: Pc,
    /// What for.
    pub waits: Waits,
}

/// A model with a pool of warps.
///
/// # Contract
///
/// A slot is resident while it holds a group, whichever threads these are; a block is done when all
/// its threads have [gone](Groups::leave). The pipeline counts which threads have arrived at a barrier and
/// which threads a `.sync` operation waits for; the pool keeps those threads, each by itself,
/// until it is told that they may go on. Both are told in the cycle in which the instruction
/// issues, after [`arrived`](super::DivergenceModel::arrived).
pub trait WarpPool {
    /// The lanes that an arrival at a barrier stands for, when `executed` have executed it.
    fn barrier_lanes(&self, slot: u16, executed: u32, group: &Group) -> u32 {
        let _ = (slot, group);
        executed
    }

    /// Lanes of a group, all of `block`, wait at its barrier `id` from now on.
    fn barrier(&mut self, slot: u16, block: u16, id: u8, lanes: u32);

    /// A barrier has opened.
    fn released(&mut self, block: u16, id: u8, groups: &mut Groups);

    /// Lanes of a group wait for threads that their `.sync` operation names.
    fn awaits(&mut self, slot: u16, lanes: u32);

    /// Threads of a home warp that waited for others have met them.
    fn met(&mut self, home: u16, lanes: u32, groups: &mut Groups);
}
