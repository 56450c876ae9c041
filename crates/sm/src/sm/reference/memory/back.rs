//! What comes back: replies of memory, and the port through which results are written to registers.

use super::{Event, Flight, LoadStore, banks_take};
use crate::memory::cache::mshr::Fetch;
use crate::sm::facts::OpFacts;
use crate::sm::memory::{TokenKind, untoken};
use crate::sm::reference::operands::Collectors;
use crate::time::Cycle;

/// Parts that compete for the writeback port, in the order of their turns.
const CLIENTS: [Client; 5] = [
    Client::Shared,
    Client::Textures,
    Client::Constants,
    Client::Uncached,
    Client::Data,
];

#[derive(Clone, Copy, Debug)]
enum Client {
    Shared,
    Textures,
    Constants,
    /// What comes past the caches.
    Uncached,
    Data,
}

/// The writeback port.
#[derive(Debug, Default)]
pub(super) struct WritebackPort {
    /// What is written next.
    held: Option<Result>,
    /// A flight that has come back past the caches.
    uncached: Option<u32>,
    /// Whose turn is next.
    turn: usize,
}

#[derive(Clone, Copy, Debug)]
enum Result {
    Shared { op: u32 },
    Flight(u32),
}

impl LoadStore {
    /// The first half of a cycle: what has the port is written, if its banks are free, and another client gets the port.
    pub fn write_back(&mut self, now: Cycle, collectors: &mut Collectors, code: &[OpFacts]) {
        if let Some(result) = self.port.held {
            let op = match result {
                Result::Shared { op } => op,
                Result::Flight(flight) => self.flights.get(flight).op,
            };
            if !banks_take(self.ops.get(op), collectors, code) {
                return;
            }
            self.port.held = None;
            match result {
                Result::Shared { op } => self.complete_shared(op),
                Result::Flight(flight) => {
                    let Flight { op, lanes } = self.flights.remove(flight);
                    self.returned(op, lanes);
                }
            }
        }
        for i in 0..CLIENTS.len() {
            let client = (self.port.turn + i) % CLIENTS.len();
            if let Some(result) = self.result_of(CLIENTS[client], now) {
                self.port.held = Some(result);
                self.port.turn = (client + 1) % CLIENTS.len(); // it passes only when a client had it
                return;
            }
        }
    }

    /// What a client wants to write in cycle `now`.
    fn result_of(&mut self, client: Client, now: Cycle) -> Option<Result> {
        let flight = match client {
            Client::Shared => {
                let (_, op) = *self.shared.front().filter(|(at, _)| *at <= now)?;
                self.shared.pop_front();
                if self.ops.get(op).shared_atomic {
                    self.events.push(Event::SharedAtomicDone { op });
                }
                return Some(Result::Shared { op });
            }
            Client::Textures => self.textures.next_ready()?,
            Client::Constants => self.constants.next_ready()?,
            Client::Data => self.data.next_ready()?,
            Client::Uncached => {
                let flight = self.port.uncached.take()?;
                let Flight { op, lanes } = *self.flights.get(flight);
                if self.ops.get(op).is_atomic {
                    self.events.push(Event::AtomicBack { op, lanes });
                }
                flight
            }
        };
        Some(Result::Flight(flight))
    }

    fn complete_shared(&mut self, op: u32) {
        let record = self.ops.get(op);
        for owner in record.owners.iter() {
            let loaded = |slot| Event::Loaded { slot, pc: owner.pc };
            self.events.extend(record.slots(owner).iter().map(loaded));
        }
        self.release(op);
    }

    /// An access of a load is back, and lets go of its instruction.
    pub(super) fn returned(&mut self, op: u32, lanes: u32) {
        self.served(op, lanes);
        self.release(op);
    }

    /// An access of a load has its data: warps that wait for no other access of it have their registers.
    pub(super) fn served(&mut self, op: u32, lanes: u32) {
        let record = self.ops.get_mut(op);
        let mut complete = Vec::new();
        for owner in record
            .owners
            .iter_mut()
            .filter(|owner| owner.lanes & lanes != 0)
        {
            owner.pending -= 1;
            if owner.pending == 0 {
                complete.push(*owner);
            }
        }
        for owner in complete {
            let loaded = |slot| Event::Loaded { slot, pc: owner.pc };
            self.events.extend(record.slots(&owner).iter().map(loaded));
        }
    }

    /// Takes one of the replies that have come.
    pub(super) fn take_reply_in(&mut self) {
        let Some(&reply) = self.replies.front() else {
            return;
        };
        let (kind, number) = untoken(reply.token);
        match kind {
            TokenKind::Data if reply.last => {
                self.data.fill(reply.addr, Fetch(number));
                self.tell_fill(reply.addr);
            }
            TokenKind::Constant if reply.last => self.constants.fill(reply.addr, Fetch(number)),
            TokenKind::Texture if reply.last => self.textures.fill(reply.addr, Fetch(number)),
            TokenKind::Store | TokenKind::JointStore => self.acknowledge(reply.token),
            TokenKind::Uncached if reply.last => {
                if self.port.uncached.is_some() {
                    return; // it waits for the writeback port
                }
                self.port.uncached = Some(number);
            }
            _ => {} // a part of a line whose rest is still to come
        }
        self.replies.pop_front();
    }
}
