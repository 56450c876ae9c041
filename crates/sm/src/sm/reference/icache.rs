//! The instruction cache that the fetch units share, with its ports, and the small cache that each may have.

use crate::config::{Machine, Refill};
use crate::memory::cache::mshr::Fetch;
use crate::memory::packet::{Reply, Request, RequestKind, Traffic};
use crate::sm::memory::{L1, Outcome, Port, TokenKind, token, untoken};
use crate::time::Cycle;
use std::collections::VecDeque;

/// The instruction cache.
#[derive(Debug)]
pub(super) struct InstructionCache {
    sm: u16,
    pub cache: L1,
    /// A line that has come is the youngest of its set: warps that have waited for it are still to read it.
    comes_young: bool,
    /// Lookups per cycle, and those left in this.
    ports: u32,
    ports_left: u32,
}

impl InstructionCache {
    pub fn new(machine: &Machine, sm: u16) -> InstructionCache {
        InstructionCache {
            sm,
            cache: L1::new(&machine.l1i),
            comes_young: machine.fetch.refill == Refill::Refetch,
            ports: machine.fetch.cache_ports,
            ports_left: 0,
        }
    }

    /// Takes a reply of memory.
    pub fn take_reply(&mut self, reply: Reply) {
        if reply.last {
            self.cache.fill(reply.addr, Fetch(untoken(reply.token).1));
            if self.comes_young {
                self.cache.hit(reply.addr);
            }
        }
    }

    /// A cycle begins.
    pub fn open_ports(&mut self) {
        self.ports_left = self.ports;
    }

    pub fn has_port(&self) -> bool {
        self.ports_left > 0
    }

    /// The next warp whose line has come.
    pub fn next_ready(&mut self) -> Option<u16> {
        self.cache.next_ready().map(|slot| slot as u16)
    }

    /// Looks up an instruction for a warp, on a free port.
    pub fn look_up(&mut self, addr: u64, slot: u16) -> Outcome {
        self.ports_left -= 1;
        let (sm, bytes) = (self.sm, self.cache.line_bytes() as u16);
        let request = |addr, fetch: Fetch| Request {
            sm,
            kind: RequestKind::Read,
            traffic: Traffic::Instruction,
            addr,
            bytes,
            byte_mask: 0,
            token: token(TokenKind::Instruction, fetch.0),
        };
        let evict = |_| unreachable!("nothing is written to it");
        self.cache.read(addr, || slot.into(), request, evict)
    }

    /// Sends a request, if there is one and the network has room.
    pub fn send(&mut self, now: Cycle, port: &mut Port) {
        if let Some(request) = self.cache.first_request()
            && port.try_send(now, request)
        {
            self.cache.send();
        }
    }
}

/// Bytes of a line of a small cache: eight instructions.
const LINE: u64 = 64;

/// A small cache: the lines that were used last.
#[derive(Debug)]
pub(super) struct SmallCache {
    /// Their numbers, the one used last at the end.
    lines: VecDeque<u64>,
    capacity: usize,
}

impl SmallCache {
    /// A cache of so many bytes, if there are any.
    pub fn new(bytes: u32) -> Option<SmallCache> {
        let capacity = (u64::from(bytes) / LINE) as usize;
        (capacity > 0).then(|| SmallCache {
            lines: VecDeque::new(),
            capacity,
        })
    }

    /// Whether an instruction is here.
    pub fn has(&self, addr: u64) -> bool {
        self.lines.contains(&(addr / LINE))
    }

    /// Whether an instruction is here; its line has been used then.
    pub fn hit(&mut self, addr: u64) -> bool {
        let found = self.lines.iter().position(|line| *line == addr / LINE);
        if let Some(line) = found.and_then(|at| self.lines.remove(at)) {
            self.lines.push_back(line);
        }
        found.is_some()
    }

    /// A line comes, in place of the one that has not been used for longest.
    pub fn fill(&mut self, addr: u64) {
        if !self.hit(addr) {
            if self.lines.len() == self.capacity {
                self.lines.pop_front();
            }
            self.lines.push_back(addr / LINE);
        }
    }
}
