//! Blocks that go to where others have ended, while SMs drift apart.
//!
//! Which block goes to an SM depends on how many have ended before, anywhere. So it waits until all others have come to the cycle in which one has
//! ended on it ([`has_passed`](super::lane::Lane::has_passed)), and then goes on at once: for the exchange, and for the end of the step, it waits only where
//! something else asks for that.

use super::lane::{Lane, lock};
use super::steps::BySteps;
use crate::gpu::run::blocks::Blocks;
use crate::time::Cycle;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The blocks of the launch, for the thread that finds that some can be handed out.
#[repr(align(128))]
pub struct Places<'a> {
    blocks: Mutex<&'a mut Blocks>,
    /// Some are left that wait for a place.
    are_wanted: AtomicBool,
    /// SMs that wait in each step until others are as far.
    waiting: BySteps<AtomicU64>,
}

/// What has become of an SM's wish for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Others are not as far.
    Waits,
    /// The SM has got a block, if any was left.
    Granted,
    /// There is more to hand out than can be in one quantum: all have to know of it.
    Refused,
}

impl<'a> Places<'a> {
    pub fn new(blocks: &'a mut Blocks) -> Places<'a> {
        Places {
            are_wanted: AtomicBool::new(blocks.dispatcher.has_more()),
            blocks: Mutex::new(blocks),
            waiting: Default::default(),
        }
    }

    /// Whether blocks wait for a place.
    pub fn are_wanted(&self) -> bool {
        self.are_wanted.load(Ordering::Relaxed)
    }

    /// Blocks have ended on an SM in the quantum before cycle `at`. To be said before it says that it has passed that cycle.
    pub fn ended(&self, at: Cycle, sm: usize, blocks: u32) {
        lock(&self.blocks).dispatcher.ended(at, sm, blocks);
    }

    /// All SMs have come to cycle `at`, and the exchange with them: hands out blocks. Returns whether all can go on from there by themselves.
    pub fn hand_out(&self, at: Cycle, lanes: &[Lane]) -> bool {
        let mut blocks = lock(&self.blocks);
        self.send(&mut blocks, at, lanes);
        blocks.may_go_on()
    }

    /// The same for an SM on which one has ended before cycle `at`, if all others have come there.
    pub fn ask(&self, at: Cycle, lanes: &[Lane]) -> Wish {
        if !lanes.iter().all(|lane| lane.has_passed(at)) {
            return Wish::Waits;
        }
        let mut blocks = lock(&self.blocks);
        if !blocks.leave_no_room(at) {
            return Wish::Refused;
        }
        self.send(&mut blocks, at, lanes);
        Wish::Granted
    }

    fn send(&self, blocks: &mut Blocks, at: Cycle, lanes: &[Lane]) {
        blocks.hand_out(at, |sm, cycle, block| {
            lanes[sm].letter().blocks.push((cycle, block));
        });
        if blocks.are_all_out() {
            self.are_wanted.store(false, Ordering::Relaxed);
        }
    }

    /// An SM waits in a step until others are as far.
    pub fn wait(&self, step: u64) {
        self.waiting.of(step).fetch_add(1, Ordering::AcqRel);
    }

    /// An SM no longer waits in a step.
    pub fn wait_no_more(&self, step: u64) {
        self.waiting.of(step).fetch_sub(1, Ordering::AcqRel);
    }

    /// How many do.
    pub fn waiting(&self, step: u64) -> u64 {
        self.waiting.of(step).load(Ordering::Acquire)
    }
}
