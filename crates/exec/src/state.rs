//! Architectural state of the threads on one SM, and what one executed instruction did.
//!
//! A thread has a *home*: a static warp (32 threads by linear id) and a lane, which own its
//! registers. What executes is a set of lanes, each naming the home warp of the thread that
//! sits there; a thread never leaves its home lane.

use super::iterations::Results;
use super::memory::local::LocalMemory;
use super::rows::Rows;
use warpsim_ptx::isa::{AtomOp, BoolOp, Space, Type};
use warpsim_ptx::kernel::RegId;

/// Threads in an architectural warp, whatever the hardware's width.
pub const LANES: usize = 32;

/// All threads resident on one SM.
#[derive(Debug, Default)]
pub struct Threads {
    /// Home warps by slot. A slot is reused when its block has finished.
    pub warps: Vec<HomeWarp>,
    /// Resident blocks by slot.
    pub blocks: Vec<HomeBlock>,
    /// Where the registers of gathered groups are brought together; for no other use.
    pub scratch: Scratch,
}

impl Threads {
    /// The shared memory of the block that all lanes are known to belong to, and the local memory of
    /// their warp, else nothing.
    pub(super) fn own_memory(
        &mut self,
        lanes: &Lanes,
    ) -> (&mut [u8], Option<&mut LocalMemory<LANES>>) {
        match lanes {
            Lanes::Static(home) => {
                let warp = &mut self.warps[usize::from(*home)];
                let block = &mut self.blocks[usize::from(warp.block)];
                (&mut block.shared, Some(&mut warp.local))
            }
            Lanes::Gathered(_) => (&mut [], None),
        }
    }
}

/// Register rows of a gathered group while it executes an instruction.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(super) rows: Rows,
    pub(super) predicates: Vec<u32>,
    pub(super) temps: Rows,
}

/// The registers and local memory of 32 threads. In this order, what most instructions need of
/// it is in one line of the host's cache.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct HomeWarp {
    /// Slot of its block in [`Threads::blocks`].
    pub block: u16,
    /// Number of the warp within its block.
    pub index: u16,
    /// Threads that exist and have not exited, by lane.
    pub live: u32,
    /// Register rows: `rows[slot * 32 + lane]`; a 64-bit register takes 64 words from its
    /// slot, as 32 little-endian `u64` (low word first).
    pub rows: Rows,
    /// Predicate registers: one bit per lane.
    pub predicates: Vec<u32>,
    /// The carry flag (`.cc`): one bit per lane.
    pub carry: u32,
    /// Number of the warp whose thread indices it has, which is another only in virtual blocks.
    pub runs_as: u16,
    /// Threads that are through with their virtual block's iteration, as far as that has been asked: like threads that
    /// have exited they are waited for by none.
    pub done: u32,
    /// Thread index in its block: x, y, z by lane.
    pub tid: [[u32; LANES]; 3],
    /// Local memory.
    pub local: LocalMemory<LANES>,
}

impl HomeWarp {
    /// Threads that a `.sync` operation waits for where it names them.
    #[inline]
    pub fn awaited(&self) -> u32 {
        self.live & !self.done
    }
}

/// What the threads of a block share.
#[derive(Clone, Debug, Default)]
pub struct HomeBlock {
    /// Block index in the grid.
    pub ctaid: [u32; 3],
    /// Shared memory, static and dynamic.
    pub shared: Vec<u8>,
}

/// Which threads stand on the lanes of an issued group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Lane i holds thread i of this home warp: the fast path.
    Static(u16),
    /// Lane i holds thread i of home warp `0[i]`: formed and compacted warps.
    Gathered(Box<[u16; LANES]>),
}

impl Lanes {
    /// Home warps by lane.
    #[inline]
    pub fn homes(&self) -> [u16; LANES] {
        match self {
            Lanes::Static(home) => [*home; LANES],
            Lanes::Gathered(homes) => **homes,
        }
    }

    /// Calls `f` with each home warp that has threads on the lanes of `mask`, and those lanes.
    #[inline]
    pub fn each_home(&self, mask: u32, mut f: impl FnMut(u16, u32)) {
        match self {
            Lanes::Static(home) if mask != 0 => f(*home, mask),
            Lanes::Static(_) => {}
            Lanes::Gathered(homes) => each_home(homes, mask, f),
        }
    }

    /// The home warp of the thread on `lane`.
    #[inline]
    pub fn home(&self, lane: usize) -> u16 {
        match self {
            Lanes::Static(w) => *w,
            Lanes::Gathered(homes) => homes[lane],
        }
    }
}

/// Calls `f` with each home warp that has threads on the lanes of `mask`, and those lanes.
#[inline]
pub fn each_home(homes: &[u16; LANES], mask: u32, mut f: impl FnMut(u16, u32)) {
    let mut left = mask;
    while left != 0 {
        let home = homes[left.trailing_zeros() as usize];
        let of_home = lanes_of(left)
            .filter(|&lane| homes[lane] == home)
            .fold(0, |all, lane| all | 1u32 << lane);
        f(home, of_home);
        left &= !of_home;
    }
}

/// Iterates over the lanes of a mask.
#[inline]
pub fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        Some(lane)
    })
}

/// Simulated time and place, for `%clock` and the like.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// Core cycle (in functional runs: warp instructions executed).
    pub cycle: u64,
    /// Core clock in MHz: what turns cycles into time.
    pub core_mhz: u32,
    /// SM executing.
    pub sm: u32,
}

impl Moment {
    /// Nanoseconds of simulated time.
    pub fn nanoseconds(&self) -> u64 {
        self.cycle * 1000 / u64::from(self.core_mhz.max(1))
    }
}

/// What executing an instruction did, as far as timing and control care. Reused from
/// instruction to instruction.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Lanes whose guard was true: those that executed.
    pub executed: u32,
    /// What happened.
    pub kind: EffectKind,
    /// Addresses by lane in their space (shared: offset in the block's shared memory; local:
    /// offset in the thread's; otherwise a global address). Valid for memory accesses on
    /// executed lanes.
    pub address: [u64; LANES],
    /// Operands of an atomic by lane: value, and the second value of `cas`. Of an operation
    /// that [awaits](EffectKind::Awaits) threads: the member masks.
    pub operands: [[u64; LANES]; 2],
}

/// The kind of an [`Effect`].
#[derive(Clone, Debug, PartialEq)]
pub enum EffectKind {
    /// Registers changed, nothing else.
    Alu,
    /// A branch: the lanes (of the group's active ones) that take it.
    Branch {
        /// Lanes that go to the target; the rest fall through.
        taken: u32,
    },
    /// Executed lanes have finished (`live` is already cleared).
    Exit,
    /// A load or store; loads have already written their registers.
    Access(Access),
    /// An access that moves nothing but lines of caches.
    Prefetch(Access),
    /// A global atomic that waits to be performed: [`Effect::operands`] holds its values.
    Atomic(Atomic),
    /// A barrier of the block.
    Barrier(Barrier),
    /// A `.sync` operation among the threads of a home warp that names live threads which do
    /// not execute it here. Nothing has happened; [`Effect::operands`] holds the member mask of
    /// each executed lane. Executed again with all of them, it will.
    Awaits,
    /// `membar`, `fence`.
    Fence,
    /// Something about the copies that the threads have started.
    Copies(Copies),
    /// `vtw.next_tb`: the warp waits for its next logical block, whose number goes to these
    /// registers (and whether there is one).
    NextBlock(Results),
    /// `nanosleep`: the longest request of the executed lanes.
    Sleep {
        /// Nanoseconds.
        nanoseconds: u32,
    },
}

/// What threads say about the copies that they start and do not wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// Some are under way.
    Started,
    /// Those since the last time are a group.
    Commit,
    /// They wait until all but the last so many groups are complete.
    WaitGroups {
        #[allow(missing_docs)]
        groups: u32,
    },
    /// They wait for groups as above, and for those that are in no group yet.
    Wait {
        #[allow(missing_docs)]
        groups: u32,
    },
}

/// A memory access. Lanes are split by space, since generic addresses may differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Store (else load).
    pub store: bool,
    /// A shared-memory atomic (already performed).
    pub shared_atomic: bool,
    /// Bytes of one element.
    pub element: u8,
    /// Elements a lane: 1, 2, 4.
    pub count: u8,
    /// Lanes that touch shared memory.
    pub shared: u32,
    /// Lanes that touch global memory.
    pub global: u32,
    /// Lanes that touch local memory.
    pub local: u32,
    /// Space for what is none of these: `Const`, `Param`, `Tex`; else `Generic`.
    pub other: Space,
    /// Where all lanes take part and it was found out: by how many bytes each lane of the first and of the second
    /// half of the warp is behind the one before it, if it is the same for all of the half.
    pub steps: Option<[u16; 2]>,
}

/// A global atomic or reduction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atomic {
    /// Operation.
    pub op: AtomOp,
    /// Operand type.
    pub ty: Type,
    /// Where the old value goes; `None` for `red` or `_`.
    pub dst: Option<RegId>,
}

/// A block-wide barrier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Barrier {
    /// Barrier number, 0 to 15.
    pub id: u8,
    /// Threads expected (a multiple of 32); `None` for all of the block.
    pub count: Option<u32>,
    /// `bar.arrive`: does not wait.
    pub arrive: bool,
    /// `bar.red`: operator, executed lanes whose predicate is true, destination.
    pub reduction: Option<(BoolOp, u32, RegId)>,
}

impl Default for Effect {
    fn default() -> Self {
        Effect {
            executed: 0,
            kind: EffectKind::Alu,
            address: [0; LANES],
            operands: [[0; LANES]; 2],
        }
    }
}
