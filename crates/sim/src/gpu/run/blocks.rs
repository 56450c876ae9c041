//! The blocks of a launch: how many have ended, and where those go that are left.

use super::dispatch::{Dispatcher, Numbers};
use crate::sm::Sm;
use crate::time::Cycle;

/// The blocks.
pub(super) struct Blocks {
    pub dispatcher: Dispatcher,
    /// Who hands out logical blocks, where virtual ones ask for them.
    numbers: Option<Numbers>,
    /// Blocks of the launch, and how many of them have ended.
    pub total: u64,
    pub completed: u64,
    /// There may be room for blocks that have not been handed out.
    pub room: bool,
    /// Something is left to be handed out.
    pub left: bool,
    quantum: u64,
}

impl Blocks {
    /// The blocks of a launch whose first ones have been sent; `room`: SMs may have room for more.
    pub fn new(
        dispatcher: Dispatcher,
        numbers: Option<Numbers>,
        total: u64,
        room: bool,
        quantum: u64,
    ) -> Blocks {
        Blocks {
            dispatcher,
            numbers,
            total,
            completed: 0,
            room,
            left: true,
            quantum,
        }
    }

    /// Whether nothing comes up that has to be done in step: blocks for which there may be room, the end of the launch.
    pub fn may_go_on(&self) -> bool {
        !self.room && self.completed < self.total
    }

    /// Whether handing out blocks in cycle `at` leaves no room: an SM takes a block in every cycle of a quantum.
    pub fn leave_no_room(&self, at: Cycle) -> bool {
        !self.room && self.dispatcher.ended_by(at) < self.quantum
    }

    /// All SMs have come to cycle `at`: blocks go to where others have ended. Returns whether there may have been any.
    pub fn hand_out(&mut self, at: Cycle, send: impl FnMut(usize, Cycle, u64)) -> bool {
        let done = self.dispatcher.take_ended(at);
        self.completed += done;
        let any = self.dispatcher.has_more() && (self.room || done != 0);
        if any {
            let to = at + self.quantum;
            self.room = self.dispatcher.dispatch(at, to, send);
        }
        any
    }

    /// Logical blocks go to virtual ones that have asked for them before cycle `at`. Returns whether any have.
    pub fn hand_out_numbers(&mut self, at: Cycle, sms: &mut [Sm]) -> bool {
        let numbers = self.numbers.as_mut();
        numbers.is_some_and(|numbers| numbers.hand_out(at, sms))
    }

    /// Whether nothing is left to be handed out since this was asked last.
    pub fn are_all_out(&mut self) -> bool {
        let numbers_are_out = self.numbers.as_ref().is_none_or(Numbers::are_out);
        let out = self.left && !self.dispatcher.has_more() && numbers_are_out;
        if out {
            (self.left, self.room) = (false, false);
        }
        out
    }
}
