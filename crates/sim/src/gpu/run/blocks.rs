//! The blocks of a launch as a component of the engine: it may run as far as all SMs have, and says where blocks go that are left.

use super::dispatch::{Dispatcher, Numbers};
use super::site::Site;
use super::world::World;
use crate::time::Cycle;
use std::sync::Arc;
use warpsim_engine::{Component, Link, Ran, Signal};

/// The links between the dispatcher and the SMs.
#[derive(Default)]
pub struct Board {
    /// By SM: blocks with the cycles in which they come.
    pub coming: Vec<Link<(Cycle, u64)>>,
    /// Blocks that have ended.
    pub ended: Link<Ended>,
    /// The cycle to which the dispatcher has come: blocks that could be handed out at a quantum's end up to this one have been.
    pub clock: Signal,
    /// Blocks that have not been handed out, and blocks that have not ended.
    pub left: Signal,
    pub unfinished: Signal,
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
            coming: (0..sms).map(|_| Link::default()).collect(),
            ..Board::default()
        }
    }
}

/// The blocks.
pub(super) struct Blocks {
    pub dispatcher: Dispatcher,
    /// Hands out logical blocks, where virtual ones ask for them.
    numbers: Option<Numbers>,
    /// There may be room for blocks that have not been handed out.
    room: bool,
    /// Something is left to be handed out.
    pub left: bool,
    quantum: u64,
    /// Blocks have been handed out for every end of a quantum up to this cycle.
    now: Cycle,
    board: Arc<Board>,
    /// Blocks that have ended on SMs that are ahead of the others: their places are not free yet.
    ended: Vec<Ended>,
}

impl Blocks {
    /// The blocks of a launch that begins with cycle `start`, the first of them on their way.
    pub fn new(
        dispatcher: Dispatcher,
        numbers: Option<Numbers>,
        start: Cycle,
        quantum: u64,
        board: &Arc<Board>,
    ) -> Blocks {
        let mut blocks = Blocks {
            dispatcher,
            numbers,
            room: true,
            left: true,
            quantum,
            now: start,
            board: board.clone(),
            ended: Vec::new(),
        };
        // A block dispatched in a cycle is first fetched for in the next.
        blocks.hand_out(start + 1);
        blocks.skip_to(start);
        blocks
    }

    /// Nothing happens before cycle `now`.
    pub fn skip_to(&mut self, now: Cycle) {
        self.now = now;
        let Dispatcher {
            total, sent, ended, ..
        } = self.dispatcher;
        self.board.left.publish(total - sent);
        self.board.unfinished.publish(total - ended);
        self.board.clock.publish(now.get());
    }

    /// All SMs have come to cycle `at`: blocks go to where others have ended by then.
    fn hand_out(&mut self, at: Cycle) {
        let (dispatcher, room) = (&mut self.dispatcher, &mut self.room);
        self.ended.retain(|ended| {
            let is_over = ended.at <= at;
            if is_over {
                dispatcher.ended(ended.sm, ended.blocks);
                *room = true;
            }
            !is_over
        });
        if self.room {
            let coming = &self.board.coming;
            let send = |sm: usize, at, block| coming[sm].send_one((at, block));
            self.room = self.dispatcher.dispatch(at, at + self.quantum, send);
        }
    }

    /// When blocks are to be handed out next: if there is room, at the end of every quantum, else where a block has ended.
    fn next(&self) -> Cycle {
        match self.room && self.dispatcher.has_more() {
            true => self.now + self.quantum,
            false => {
                let ended = self.ended.iter().map(|ended| ended.at);
                ended.fold(Cycle::NEVER, Cycle::min)
            }
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
        self.left &= !out;
        out
    }
}

impl Component<World<'_>> for Blocks {
    fn clock(&self) -> u64 {
        self.now.get()
    }

    fn run(&mut self, to: u64, _: &World) -> Ran {
        let end = Cycle::new(to);
        self.board.ended.receive(&mut self.ended);
        loop {
            let at = self.next();
            if at > end {
                break;
            }
            self.hand_out(at);
            self.now = at;
        }
        self.skip_to(end);
        Ran::On
    }
}
