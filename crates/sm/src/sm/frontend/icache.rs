//! The instruction cache that the fetch units of an SM share, and its ports.

use crate::config::{Machine, Refill};
use crate::memory::cache::mshr::Fetch;
use crate::memory::packet::{Reply, Request, RequestKind, Traffic};
use crate::replacement::Replacement;
use crate::sm::memory::{L1, Outcome, Port, TokenKind, token, untoken};
use crate::time::Cycle;

/// The cache.
#[derive(Debug)]
pub(super) struct ICache {
    sm: u16,
    cache: L1,
    /// A line that has come is the youngest of its set: those that have waited for it are still to read it.
    comes_young: bool,
    /// A line has come or a request waits to leave: kept here, so that cycles in which that is
    /// not so leave the cache alone.
    stirs: bool,
    /// The line that was read last, and nothing has happened in the cache since: to read it again would change
    /// nothing.
    last: Option<u64>,
    /// Lookups per cycle, and those left in this.
    ports: u32,
    left: u32,
}

impl ICache {
    pub fn new(machine: &Machine, sm: u16) -> ICache {
        ICache {
            sm,
            cache: L1::new(&machine.l1i),
            comes_young: machine.fetch.refill == Refill::Refetch,
            stirs: false,
            last: None,
            ports: machine.fetch.cache_ports,
            left: 0,
        }
    }

    /// Puts a replacement policy in place of the configured one, before anything is looked up.
    pub fn replace_policy(&mut self, make: &dyn Fn(usize, usize) -> Box<dyn Replacement>) {
        self.cache.replace_policy(make);
    }

    /// Takes a reply.
    pub fn take_reply(&mut self, reply: Reply) {
        if reply.last {
            self.cache.fill(reply.addr, Fetch(untoken(reply.token).1));
            if self.comes_young {
                self.cache.hit(reply.addr);
            }
            self.last = None;
            self.stirs = true;
        }
    }

    /// Whether a line has come or a request waits to leave.
    #[inline]
    pub fn stirs(&self) -> bool {
        self.stirs
    }

    /// A cycle begins: all ports are free.
    #[inline]
    pub fn open_ports(&mut self) {
        self.left = self.ports;
    }

    /// Whether a port is free.
    #[inline]
    pub fn has_port(&self) -> bool {
        self.left != 0
    }

    /// The next slot whose line has come.
    #[inline]
    pub fn next_ready(&mut self) -> Option<u16> {
        if self.stirs {
            self.cache.next_ready().map(|slot| slot as u16)
        } else {
            None
        }
    }

    /// Looks up an instruction for a slot, on a free port.
    #[inline(always)] // its one caller fetches
    pub fn look_up(&mut self, addr: u64, slot: u16) -> Outcome {
        self.left -= 1;
        let line = self.cache.line_of(addr);
        if self.last == Some(line) {
            return Outcome::Hit;
        }
        let outcome = self.read(addr, slot);
        let again = outcome == Outcome::Hit && !self.cache.policy_hears();
        self.last = again.then_some(line);
        outcome
    }

    #[inline(never)] // most often it is the line that was read last
    fn read(&mut self, addr: u64, slot: u16) -> Outcome {
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
        let outcome = self.cache.read(
            addr,
            || slot as u32,
            request,
            |evicted| request(evicted.addr, Fetch::default()),
        );
        self.stirs |= outcome != Outcome::Hit;
        outcome
    }

    /// Ends a cycle: one request leaves, if there is room.
    #[inline]
    pub fn send(&mut self, now: Cycle, port: &mut Port) {
        if self.stirs {
            self.send_first(now, port);
        }
    }

    #[inline(never)]
    fn send_first(&mut self, now: Cycle, port: &mut Port) {
        if let Some(request) = self.cache.first_request()
            && port.try_send(now, request)
        {
            self.cache.send();
        }
        self.stirs = self.cache.has_ready() || self.cache.has_request();
    }
}
