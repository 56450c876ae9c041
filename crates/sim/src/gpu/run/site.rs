//! An SM where it stands in the machine: a component of the engine, with the SM's ends of the links.
//!
//! The SM runs from quantum to quantum for as long as it needs to hear from no other part. Its replies have come before it runs, and stores of other SMs
//! are not to be seen before the period ends. So it stops early only
//!
//! - where the network's buffer might be full: the SM waits for the request network, which says how much has left;
//! - where blocks wait for places and the SM has a place: it waits for the dispatcher;
//! - where it is idle and all blocks have ended: the launch may be over before the SM does something again, so the window ends there.

use super::blocks::{Board, Ended};
use super::world::World;
use crate::memory::system::{Replies, SmWires, Wires};
use crate::observe::Wants;
use crate::sm::{Quantum, Sm};
use crate::time::Cycle;
use std::sync::Arc;
use warpsim_engine::{Component, Ran};

/// The SM and its ends of the links.
pub struct Site {
    /// The SM.
    pub sm: Sm,
    /// What the observer wants to hear of it.
    pub wants: Wants,
    number: usize,
    /// The cycle to which it has come.
    at: Cycle,
    replies: Replies,
    /// Blocks that it holds, or that are on their way to it, and how many it can hold.
    held: u32,
    places: u32,
    /// The end of the quantum since which it is idle; never if it is not.
    idle_since: Cycle,
    wires: Arc<Wires>,
    board: Arc<Board>,
    /// Messages that have just come; empty between calls.
    blocks: Vec<(Cycle, u64)>,
    /// The components that it waits for.
    on: Others,
}

/// The numbers of components that SMs wait for.
#[derive(Clone, Copy)]
pub struct Others {
    pub dispatcher: usize,
    pub network: usize,
}

impl Site {
    /// An SM with this number.
    pub fn new(sm: Sm, number: usize, wires: &Arc<Wires>, board: &Arc<Board>, on: Others) -> Site {
        Site {
            sm,
            wants: Wants::Nothing,
            number,
            at: Cycle::ZERO,
            replies: Replies::default(),
            held: 0,
            places: 0,
            idle_since: Cycle::ZERO,
            wires: wires.clone(),
            board: board.clone(),
            blocks: Vec::new(),
            on,
        }
    }

    /// A launch begins with cycle `now`, in which the SM can hold so many blocks.
    pub fn begin(&mut self, now: Cycle, places: u32) {
        (self.at, self.idle_since) = (now, now);
        (self.held, self.places) = (0, places);
    }

    /// Nothing happens before cycle `now`.
    pub fn skip_to(&mut self, now: Cycle) {
        self.at = self.at.max(now);
    }

    /// A block is to come in cycle `at`.
    pub fn expect_block(&mut self, at: Cycle, block: u64) {
        self.held += 1;
        self.idle_since = Cycle::NEVER;
        self.sm.expect_block(at, block);
    }

    /// Takes in what has come.
    #[inline]
    pub fn receive(&mut self) {
        if self.replies.receive(&self.wires.sms[self.number]) {
            self.idle_since = Cycle::NEVER;
        }
        let blocks = &self.board.coming[self.number];
        if !blocks.is_empty() {
            let mut coming = std::mem::take(&mut self.blocks);
            blocks.receive(&mut coming);
            for (at, block) in coming.drain(..) {
                self.expect_block(at, block);
            }
            self.blocks = coming;
        }
    }

    /// When it has something to do next, room in the network aside.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.sm.next().min(self.replies.inbox.next())
    }

    /// When a stepped run has something to do next, as of cycle `now`.
    pub fn ask_all(&self, now: Cycle) -> Cycle {
        self.sm.ask_all(now).min(self.replies.inbox.next())
    }

    /// If it is idle: since when.
    pub fn idle_since(&self) -> Option<Cycle> {
        self.is_idle().then_some(self.idle_since)
    }

    /// Whether nothing is resident, on its way or waiting.
    #[inline]
    fn is_idle(&self) -> bool {
        self.sm.is_idle() && self.replies.inbox.next() == Cycle::NEVER
    }

    fn wires(&self) -> &SmWires {
        &self.wires.sms[self.number]
    }

    /// Hears how much of what it has sent has left. Returns whether the network has come as far as the SM, so that this is all there is to know; else the
    /// SM has to know by itself that there is [room](crate::sm::Port::knows_room).
    #[inline]
    fn hear_network(&mut self) -> bool {
        let sent = self.sm.port.sent_flits();
        if self.wires.network_clock() >= self.at {
            let backlog = self.wires().backlog(sent);
            self.sm.port.hear_backlog(backlog, self.at);
            return true;
        }
        if self.sm.port.knows_room() {
            let flits = self.wires().flits(sent);
            self.sm.port.hear_at_most(flits);
        }
        false
    }

    /// Runs quanta from where it is up to cycle `to`.
    fn run_quanta(&mut self, to: Cycle, world: &World) -> Ran {
        let start = self.at;
        let knows_network = self.hear_network();
        let mut idle = self.is_idle();
        loop {
            let at = self.at;
            let knows_room = at == start && knows_network || self.sm.port.knows_room();
            if self.sm.port.awaits_room() && !knows_room {
                return Ran::Waits(self.on.network);
            }
            let next = match world.skip {
                true => self.next_quantum(at, to, world),
                false => at,
            };
            if next >= to {
                return self.come_to(to);
            }
            self.at = next;
            if idle && next > world.from {
                if self.board.clock.read() < next.get() {
                    return Ran::Waits(self.on.dispatcher);
                }
                if self.board.unfinished.read() == 0 {
                    return Ran::Ends;
                }
            }
            let knows_room = next == start && knows_network || self.sm.port.knows_room();
            if !knows_room {
                return Ran::Waits(self.on.network);
            }
            if let Some(ran) = self.run_some(to, world) {
                return ran;
            }
            let was_idle = std::mem::replace(&mut idle, self.is_idle());
            match (was_idle, idle) {
                (false, true) => self.idle_since = self.at,
                (_, false) => self.idle_since = Cycle::NEVER,
                _ => {}
            }
            if self.sm.has_completed() && self.tell_ended() {
                return Ran::Waits(self.on.dispatcher);
            }
        }
    }

    /// Runs a quantum, or as many as it can without looking up. Returns how the run ends if it does.
    #[inline]
    fn run_some(&mut self, to: Cycle, world: &World) -> Option<Ran> {
        let at = self.at;
        self.sm.refill_port(at);
        let until = at + self.for_itself(at, to, world.quantum);
        self.replies.inbox.show(until);
        let mut quantum = Quantum {
            launched: world.launched,
            image: world.image,
            inbox: &mut self.replies.inbox,
            observed: world.observed || self.wants >= Wants::Warps,
            details: self.wants == Wants::Details,
            skip: world.skip,
            cycles: world.quantum,
        };
        let result = self.sm.run(until, &mut quantum);
        self.at = self.sm.ran_to();
        if let Err(fault) = result {
            // SMs that fail in the same quantum are noted, too.
            self.at = self.at.round_down(world.quantum) + world.quantum;
            world.failed(self.at, self.number, fault);
            return Some(Ran::Ends);
        }
        None
    }

    /// Tells the dispatcher that blocks have ended. Returns whether others wait for their places.
    #[cold]
    fn tell_ended(&mut self) -> bool {
        let blocks = self.sm.take_completed();
        self.held -= blocks;
        self.board.ended.send_one(Ended {
            at: self.at,
            sm: self.number,
            blocks,
        });
        self.board.left.read() > 0
    }

    /// It has come to cycle `to`, up to which it has nothing to do.
    fn come_to(&mut self, to: Cycle) -> Ran {
        self.at = to;
        Ran::On
    }

    /// Cycles, in whole quanta, that an SM can run from the beginning of a quantum `at` on without
    /// looking up, but to see that a block has ended or that there is no room for a request.
    #[inline]
    fn for_itself(&self, at: Cycle, to: Cycle, quantum: u64) -> u64 {
        let left = to - at;
        if left == quantum || !self.sm.has_blocks() {
            return quantum;
        }
        let known = self.sm.port.known_for(quantum);
        left.min(known) / quantum * quantum
    }

    /// The beginning of the first quantum from `at` on in which the SM has something to do, as far as
    /// it knows, or in which only the network can tell.
    #[inline]
    fn next_quantum(&self, at: Cycle, to: Cycle, world: &World) -> Cycle {
        let next = self.next().round_down(world.quantum).max(at);
        match self.sm.port.awaits_room() {
            true => self.room_at(at, next.min(to), world.quantum),
            false => next,
        }
    }

    /// The beginning of the first quantum from `at` on, but not after `next`, in which there may be room
    /// for a request that was refused.
    fn room_at(&self, from: Cycle, next: Cycle, quantum: u64) -> Cycle {
        let mut at = from;
        while at < next {
            let last = at + (quantum - 1);
            if self.sm.port.has_room_for_refused(last) || at > from && !self.sm.port.knows_room() {
                break;
            }
            at += quantum;
        }
        at
    }
}

impl Component<World<'_>> for Site {
    fn clock(&self) -> u64 {
        self.at.get()
    }

    fn run(&mut self, to: u64, world: &World) -> Ran {
        let mut to = Cycle::new(to);
        // What the dispatcher has sent by then is received below.
        let has_met = self.board.clock.read() >= self.at.get();
        self.receive();
        if self.held < self.places && self.board.left.read() > 0 {
            if !has_met {
                return Ran::Waits(self.on.dispatcher);
            }
            to = to.min(self.at + world.quantum);
        }
        if self.next() >= to && world.skip && !self.sm.port.awaits_room() {
            return self.come_to(to); // nothing happens
        }
        self.sm.leavings.stores.go_on();
        let ran = self.run_quanta(to, world);
        let wires = &self.wires.sms[self.number];
        wires.requests.send(&mut self.sm.port.sent);
        self.replies.publish(wires);
        ran
    }
}
