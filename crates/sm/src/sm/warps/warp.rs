//! What the pipeline keeps for each hardware warp beside its bit sets: the instruction buffer
//! and what is in flight.

use super::buffer::Buffer;
use crate::schedule::Place;
use crate::schedule::WarpInfo;
use crate::sm::facts::Through;
use crate::time::Cycle;
use warpsim_ptx::isa::Pipe;

/// State of a hardware warp.
#[derive(Clone, Debug)]
pub struct Warp {
    /// Where it sits; the same for whatever warp is here.
    pub place: Place,
    /// Decoded instructions.
    pub(super) buffer: Buffer,
    /// What the first of them goes through, where a policy looks at that.
    pub(super) through: Through,
    /// Active lanes.
    pub lanes: u32,
    /// Instructions issued.
    pub(super) instructions: u64,
    /// Of those, the ones before it began to stand for others of its gang, see [`together`](super::together).
    /// Of one that another stands for, both count only together with what that has issued since.
    pub(super) stands_since: u64,
    /// Of all, the ones of iterations before the one under way.
    pub(super) iteration_began: u64,
    /// When it came, as a number that grows with every warp that comes.
    pub(super) age: u64,
    /// Slot of its block.
    pub block: u16,
    /// Instructions issued and not complete.
    pub(super) in_flight: u16,
    /// Of those, the ones that access memory.
    pub(super) memory_in_flight: u16,
    /// Stores not acknowledged.
    pub stores: u32,
    /// Siblings are in the iteration before its own: see [`WarpTable::set_ahead`](super::WarpTable::set_ahead).
    pub(super) ahead: bool,
    /// When it finished its iteration.
    pub finished_at: Cycle,
    /// Sets of threads that its `.sync` operation still waits for.
    pub awaits: u16,
    /// When it came, or the last barrier that it waited at opened.
    pub phase_began: Cycle,
    /// When it came to the barrier that it waits at, or exited.
    pub phase_ended: Cycle,
    /// All its threads have exited.
    pub exited: bool,
}

impl Warp {
    /// A warp that has just come.
    pub fn new(place: Place, block: u16, now: Cycle) -> Warp {
        Warp {
            place,
            buffer: Buffer::default(),
            through: Through {
                pipe: Pipe::Control,
                side: None,
            },
            lanes: 0,
            instructions: 0,
            stands_since: 0,
            iteration_began: 0,
            ahead: false,
            finished_at: Cycle::ZERO,
            age: now.get(),
            block,
            in_flight: 0,
            memory_in_flight: 0,
            stores: 0,
            awaits: 0,
            phase_began: now,
            phase_ended: Cycle::ZERO,
            exited: false,
        }
    }

    /// Decoded instructions. Of a gang that is kept as one, those of the first warp.
    #[inline]
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// When it came, as a number that grows with every warp that comes.
    pub fn age(&self) -> u64 {
        self.age
    }

    /// The warp goes on to its next logical block.
    pub fn begin_iteration(&mut self) {
        self.iteration_began = self.instructions;
    }

    /// Instructions issued since it came, or since it went on to its logical block.
    pub fn progress(&self) -> u64 {
        self.instructions - self.iteration_began
    }

    /// An instruction is no longer in flight.
    #[inline]
    pub(super) fn landed(&mut self, memory: bool) {
        self.in_flight -= 1;
        self.memory_in_flight -= memory as u16;
    }

    /// Instructions that it has issued for the others that it stands for.
    #[inline]
    pub(super) fn issued_for_others(&self) -> u64 {
        self.instructions.wrapping_sub(self.stands_since)
    }

    /// What policies may see.
    pub(super) fn info(&self) -> WarpInfo {
        WarpInfo {
            next: self.buffer.head().map(|pc| (pc, self.through.pipe)),
            side: self.through.side.filter(|_| self.buffer.head().is_some()),
            lanes: self.lanes,
            instructions: self.instructions,
        }
    }

    /// Whether nothing is in flight, nor owed otherwise.
    #[inline]
    pub(super) fn is_owed_nothing(&self) -> bool {
        self.in_flight == 0 && !self.ahead
    }

    /// Whether something is in flight, and whether any of that accesses memory.
    #[inline]
    pub(super) fn settling(&self) -> (bool, bool) {
        (self.in_flight != 0, self.memory_in_flight != 0)
    }
}
