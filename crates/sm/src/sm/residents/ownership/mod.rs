//! Who owns the hardware warps: the blocks that they came with, or the SM, which forms them from
//! threads of all blocks.

mod pooled_warps;
pub mod static_warps;

use crate::divergence::BlockArrival;
use crate::exec::state::Barrier;
use crate::sm::launch::Launched;
use crate::sm::observe::StuckWarp;
use crate::sm::residents::Residents;
use crate::sm::residents::blocks::barrier::Release;
use crate::time::Cycle;
use pooled_warps::PooledWarps;
use static_warps::StaticWarps;
use warpsim_ptx::kernel::Pc;

/// What differs between warps that belong to a block and warps of a pool. Implementations have
/// no state of their own: it is all in [`Residents`].
pub trait Ownership: Sync {
    /// A block has come, and the model has made groups of its threads.
    fn start(&self, r: &mut Residents, arrival: BlockArrival, number: u64, now: Cycle);

    /// Brings a slot in line with what the divergence model put there.
    fn follow(&self, r: &mut Residents, slot: u16, launched: &Launched);

    /// Threads of the group in `slot`, on lanes `executed`, have exited.
    fn exited(&self, r: &mut Residents, slot: u16, executed: u32, now: Cycle, launched: &Launched);

    /// Lanes `executed` of the group in `slot` have executed a barrier instruction.
    fn arrive(
        &self,
        r: &mut Residents,
        slot: u16,
        executed: u32,
        at: BarrierAt,
        launched: &Launched,
    );

    /// A barrier has opened.
    fn release(&self, r: &mut Residents, block: u16, release: &Release, now: Cycle);

    /// The group in `slot` has joined meeting number `meeting`, at which some are missing.
    fn joined(&self, r: &mut Residents, slot: u16, meeting: usize);

    /// Lanes of the group in `slot` wait for threads that their `.sync` operation names.
    fn wait_for_members(&self, r: &mut Residents, slot: u16, lanes: u32);

    /// Threads of a home warp that waited for others have met them.
    fn met(&self, r: &mut Residents, home: u16, lanes: u32);

    /// Whether any warp is resident.
    fn is_active(&self, r: &Residents) -> bool;

    /// Every warp that has not finished; `id` is the SM's, `memory` says what is under way in
    /// its load/store unit.
    fn stuck(&self, r: &Residents, id: u16, memory: &str, launched: &Launched) -> Vec<StuckWarp>;
}

/// A barrier instruction that has executed.
#[derive(Clone, Copy)]
pub struct BarrierAt {
    /// What it says.
    pub barrier: Barrier,
    /// Where it stands.
    pub pc: Pc,
    /// When it was.
    pub now: Cycle,
}

/// The kind that a divergence model needs.
pub fn of(pools: bool) -> &'static dyn Ownership {
    if pools { &PooledWarps } else { &StaticWarps }
}
