//! The blocks of an SM: those that are here ([`ResidentBlock`], their barriers in [`barrier`]), those on
//! their way, and how those that have left have run.

pub mod barrier;
mod block;
pub mod control;
mod phase;
mod turns;
mod unevenness;

use super::Request;
use crate::config::Machine;
use crate::time::Cycle;
pub use block::ResidentBlock;
use control::{BlockControl, RunOnce};
use std::collections::VecDeque;
use turns::Turns;
pub use unevenness::{Ended, summarise};

/// The blocks of an SM.
pub struct Blocks {
    pub(super) slots: Vec<Option<ResidentBlock>>,
    pub(super) control: Box<dyn BlockControl>,
    /// What is on its way, by cycle of arrival.
    arrivals: VecDeque<(Cycle, Coming)>,
    /// When the first of it comes.
    next: Cycle,
    /// Logical blocks that virtual ones have asked for.
    pub requests: Vec<Request>,
    /// Blocks of this launch that have ended, in order.
    pub(super) ended: Vec<Ended>,
    /// Blocks completed since the dispatcher last looked.
    pub(super) completed: u32,
    pub(super) last_retired: Cycle,
    /// First cycle that is not accounted for as one with or without resident warps.
    pub(super) active_from: Cycle,
    pub(super) next_age: u64,
    /// Which scheduler goes first.
    pub turns: Turns,
}

/// What comes to an SM from the dispatcher of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coming {
    /// A block, with its number in the grid.
    Block(u64),
    /// The answer to a [`Request`].
    Answer {
        /// Slot of the virtual block.
        block: u16,
        /// The logical block, if one was left.
        number: Option<u64>,
    },
    /// The news that no block is left to be handed out.
    LastBlock,
}

impl Blocks {
    /// None.
    pub fn new(machine: &Machine) -> Blocks {
        Blocks {
            slots: (0..machine.sm.max_blocks).map(|_| None).collect(),
            control: Box::new(RunOnce),
            arrivals: VecDeque::new(),
            next: Cycle::NEVER,
            requests: Vec::new(),
            ended: Vec::new(),
            completed: 0,
            last_retired: Cycle::ZERO,
            active_from: Cycle::ZERO,
            turns: Turns::new(machine.sm.turns_rest),
            next_age: 0,
        }
    }

    /// The block in a slot.
    pub fn get(&self, block: u16) -> Option<&ResidentBlock> {
        self.slots[block as usize].as_ref()
    }

    /// Whether no block is here.
    pub fn none(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }

    /// Whether any is resident, or on its way.
    #[inline]
    pub fn any(&self) -> bool {
        let is_block = |coming: &(Cycle, Coming)| matches!(coming.1, Coming::Block(_));
        self.slots.iter().any(Option::is_some) || self.arrivals.iter().any(is_block)
    }

    /// Something is to come, behind what comes in the same cycle.
    pub fn expect(&mut self, at: Cycle, what: Coming) {
        let behind = self.arrivals.partition_point(|(other, _)| *other <= at);
        self.arrivals.insert(behind, (at, what));
        self.next = self.next.min(at);
    }

    /// When the next block comes.
    #[inline]
    pub fn next_arrival(&self) -> Cycle {
        self.next
    }

    /// The next of what has come by cycle `now`.
    pub(super) fn take_arrival(&mut self, now: Cycle) -> Option<Coming> {
        if self.next > now {
            return None;
        }
        let (_, what) = self.arrivals.pop_front()?;
        self.next = self.arrivals.front().map_or(Cycle::NEVER, |&(at, _)| at);
        Some(what)
    }

    /// Blocks completed that have not been taken notice of.
    #[inline]
    pub fn completed(&self) -> u32 {
        self.completed
    }

    /// Takes the number of blocks completed since this was asked last.
    pub fn take_completed(&mut self) -> u32 {
        std::mem::take(&mut self.completed)
    }

    /// Blocks of this launch that have ended, in order.
    pub fn ended(&self) -> &[Ended] {
        &self.ended
    }

    /// Cycle in which a warp retired last.
    pub fn last_retired(&self) -> Cycle {
        self.last_retired
    }
}
