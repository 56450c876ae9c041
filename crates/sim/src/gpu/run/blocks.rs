//! The blocks of a launch: how many have ended, and where those go that are left. A component of the engine: it may run as far as all SMs have.

use super::board::{Board, Ended};
use super::dispatch::{Dispatcher, Numbers};
use super::site::Site;
use super::world::World;
use crate::time::Cycle;
use std::sync::Arc;
use warpsim_engine::{Component, Ran};

/// The blocks.
pub(super) struct Blocks {
    pub dispatcher: Dispatcher,
    /// Hands out logical blocks, where virtual ones ask for them.
    numbers: Option<Numbers>,
    /// Blocks of the launch, and how many of them have ended.
    pub total: u64,
    pub completed: u64,
    /// There may be room for blocks that have not been handed out.
    room: bool,
    /// Something is left to be handed out.
    pub left: bool,
    quantum: u64,
    /// Blocks have been handed out for every end of a quantum up to this cycle.
    now: Cycle,
    board: Arc<Board>,
    /// Messages that have just come; empty between calls.
    ended: Vec<Ended>,
}

impl Blocks {
    /// The blocks of a launch that begins with cycle `start`, the first of them on their way.
    pub fn new(
        mut dispatcher: Dispatcher,
        numbers: Option<Numbers>,
        start: Cycle,
        quantum: u64,
        board: &Arc<Board>,
    ) -> Blocks {
        // A block dispatched in a cycle is first fetched for in the next.
        let room = dispatcher.dispatch(start + 1, start + 1 + quantum, |sm, at, block| {
            board.blocks[sm].send_one((at, block));
        });
        let blocks = Blocks {
            total: dispatcher.total(),
            dispatcher,
            numbers,
            completed: 0,
            room,
            left: true,
            quantum,
            now: start,
            board: board.clone(),
            ended: Vec::new(),
        };
        blocks.publish();
        blocks
    }

    /// Nothing happens before cycle `now`.
    pub fn skip_to(&mut self, now: Cycle) {
        self.now = now;
        self.publish();
    }

    fn publish(&self) {
        let all_have_ended = self.completed == self.total;
        self.board
            .publish(self.now, self.dispatcher.has_more(), all_have_ended);
    }

    /// All SMs have come to cycle `at`: blocks go to where others have ended.
    fn hand_out(&mut self, at: Cycle) {
        let done = self.dispatcher.take_ended(at);
        self.completed += done;
        if self.dispatcher.has_more() && (self.room || done != 0) {
            let board = &self.board;
            let to = at + self.quantum;
            self.room = self.dispatcher.dispatch(at, to, |sm, at, block| {
                board.blocks[sm].send_one((at, block));
            });
        }
    }

    /// When blocks are to be handed out next: if there is room, at the end of every quantum, else where a block has ended.
    fn next(&self) -> Cycle {
        match self.room && self.dispatcher.has_more() {
            true => self.now + self.quantum,
            false => self.dispatcher.first_ended(),
        }
    }

    /// Logical blocks go to virtual ones that have asked for them before cycle `at`.
    pub fn hand_out_numbers(&mut self, at: Cycle, sites: &mut [Site]) {
        if let Some(numbers) = &mut self.numbers {
            numbers.hand_out(at, sites);
        }
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

impl Component<World<'_>> for Blocks {
    fn run(&mut self, to: u64, _: &World) -> Ran {
        let end = Cycle::new(to);
        self.board.ended.receive(&mut self.ended);
        for ended in self.ended.drain(..) {
            self.dispatcher.ended(ended.at, ended.sm, ended.blocks);
        }
        loop {
            let at = self.next();
            if at > end {
                break;
            }
            self.hand_out(at);
            self.now = at;
        }
        self.now = end;
        self.publish();
        Ran::To { at: to }
    }
}
