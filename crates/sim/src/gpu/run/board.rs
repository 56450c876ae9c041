//! What the dispatcher and the SMs tell each other.

use crate::time::Cycle;
use warpsim_engine::{Link, Signal};

/// The links between the dispatcher and the SMs.
pub struct Board {
    /// By SM: blocks with the cycles in which they come.
    pub blocks: Vec<Link<(Cycle, u64)>>,
    /// Blocks that have ended.
    pub ended: Link<Ended>,
    /// The cycle to which the dispatcher has come: blocks that could be handed out at a quantum's end up to this one have been.
    clock: Signal,
    /// Whether blocks are left to be handed out, and whether all of the launch have ended.
    left: Signal,
    over: Signal,
}

/// Blocks have ended on an SM in the quantum before cycle `at`.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub at: Cycle,
    pub sm: usize,
    pub blocks: u32,
}

impl Board {
    pub fn new(sms: usize) -> Board {
        Board {
            blocks: (0..sms).map(|_| Link::default()).collect(),
            ended: Link::default(),
            clock: Signal::default(),
            left: Signal::default(),
            over: Signal::default(),
        }
    }

    /// The dispatcher has come to this cycle.
    pub fn publish(&self, clock: Cycle, are_left: bool, all_have_ended: bool) {
        self.left.publish(u64::from(are_left));
        self.over.publish(u64::from(all_have_ended));
        self.clock.publish(clock.get());
    }

    /// The cycle to which the dispatcher has come.
    #[inline]
    pub fn clock(&self) -> Cycle {
        Cycle::new(self.clock.read())
    }

    /// Whether blocks may be left to be handed out. Once they are not, they never are again.
    #[inline]
    pub fn are_left(&self) -> bool {
        self.left.read() != 0
    }

    /// Whether all blocks of the launch have ended.
    #[inline]
    pub fn all_have_ended(&self) -> bool {
        self.over.read() != 0
    }
}
