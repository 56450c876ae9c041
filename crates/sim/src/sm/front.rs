//! Fetch and decode. A fetch at cycle c is decoded at c+1 and can issue at c+2; it brings
//! consecutive instructions. A miss goes to L2, and when its line comes the warp that waited
//! takes that cycle's fetch. The scan for a warp to fetch for is also what notices that a warp
//! has finished ([`leaving`](super::domain::Domain::leaving)), so busy fetch delays retirement.

use super::cache::{L1, Outcome};
use super::domain::assign;
use super::port::{TokenKind, token};
use super::{Launched, Sm};
use crate::config::Machine;
use crate::fetch::FetchView;
use crate::memory::packet::{Reply, Request, RequestKind, Traffic};
use crate::schedule::Place;
use warpsim_ptx::kernel::{INSTRUCTION_BYTES, Pc};

/// Fetch state of an SM.
#[derive(Debug)]
pub struct Front {
    sm: u16,
    icache: L1,
    /// Fetched in the last cycle, to be decoded in this.
    fetched: Vec<(u16, Pc)>,
    /// A line has come or a request waits to leave: kept here, so that cycles in which that is
    /// not so leave the cache alone.
    cache_stirs: bool,
}

impl Front {
    /// An empty front end.
    pub fn new(machine: &Machine, sm: u16) -> Front {
        Front {
            sm,
            icache: L1::new(&machine.l1i),
            fetched: Vec::new(),
            cache_stirs: false,
        }
    }

    /// Takes a reply for the instruction cache.
    pub fn take_reply(&mut self, reply: Reply) {
        if reply.last {
            self.icache.fill(reply.addr);
            self.cache_stirs = true;
        }
    }

    /// Whether the next cycle has something to do whatever else happens.
    #[inline]
    pub fn is_busy(&self) -> bool {
        !self.fetched.is_empty() || self.wants_cycle()
    }

    /// Whether a line has come or a request waits to leave.
    #[inline]
    pub fn wants_cycle(&self) -> bool {
        self.cache_stirs
    }

    fn look_up(&mut self, addr: u64, slot: u16) -> Outcome {
        let (sm, bytes) = (self.sm, self.icache.line_bytes() as u16);
        let request = |addr| Request {
            sm,
            kind: RequestKind::Read,
            traffic: Traffic::Instruction,
            addr,
            bytes,
            byte_mask: 0,
            token: token(TokenKind::Instruction, 0),
        };
        let outcome = self
            .icache
            .read(addr, slot as u32, request, |evicted| request(evicted.addr));
        self.cache_stirs |= outcome != Outcome::Hit;
        outcome
    }
}

impl Sm {
    /// Puts what was fetched into the buffers.
    pub(super) fn decode(&mut self, launched: &Launched) {
        if self.front.fetched.is_empty() {
            return;
        }
        for i in 0..self.front.fetched.len() {
            let (slot, pc) = self.front.fetched[i];
            let place = self.place(slot);
            let running = self.domains[place.domain as usize].running >> place.index & 1 != 0;
            if !running || self.slots[slot as usize].buffer.fetch_pc() != pc {
                continue;
            }
            self.touch(place.domain); // before `unresolved` changes, not after
            let buffer = &mut self.slots[slot as usize].buffer;
            // With `eligible = "room"` there may be room for less than a fetch brings.
            let entries = self.machine.fetch.buffer;
            let mut count = self.machine.fetch.width.min(entries - buffer.len() as u32);
            if self.machine.fetch.wait_for_branch {
                let ahead = launched.infos[pc as usize..].iter().take(count as usize);
                if let Some(at) = ahead.map(|i| i.control).position(|c| c) {
                    count = at as u32 + 1;
                    self.domains[place.domain as usize].unresolved |= 1 << place.index;
                }
            }
            buffer.fill(pc, count, launched.infos.len() as Pc, entries);
            if buffer.head().is_none() {
                // The wrong path ran off the end of the code.
                buffer.flush(self.groups.get(slot).pc);
            }
            self.refresh_head(slot, place, launched);
        }
        self.front.fetched.clear();
    }

    /// A branch has left the pipeline: fetch goes on where it leads.
    pub(super) fn resolve(&mut self, slot: u16) {
        let place = self.place(slot);
        self.touch(place.domain);
        let domain = &mut self.domains[place.domain as usize];
        domain.unresolved &= !(1 << place.index);
        let pc = self.groups.get(slot).pc;
        let buffer = &mut self.slots[slot as usize].buffer;
        if buffer.head() != Some(pc) {
            buffer.flush(pc);
            domain.head &= !(1 << place.index);
            domain.wants_fetch |= 1 << place.index; // it is empty
        }
    }

    /// Fetches for as many warps as there are ports, and notices finished warps.
    pub(super) fn fetch(&mut self, now: u64, launched: &Launched) {
        for _ in 0..self.machine.fetch.ports {
            if self.front.cache_stirs
                && let Some(waiter) = self.front.icache.next_ready()
            {
                self.fetch_returned(waiter as u16);
                continue;
            }
            let found = if self.machine.fetch.ideal {
                None
            } else {
                self.find_fetch()
            };
            self.notice_finished(found, now);
            let Some(place) = found else { break };
            self.fetch_for(place, launched);
        }
        if self.front.cache_stirs {
            let icache = &mut self.front.icache;
            if let Some(request) = icache.first_request()
                && self.port.try_send(now, request)
            {
                icache.send();
            }
            self.front.cache_stirs = icache.has_ready() || icache.has_request();
        }
    }

    /// The line that a warp waited for has come.
    fn fetch_returned(&mut self, slot: u16) {
        let place = self.place(slot);
        let domain = &mut self.domains[place.domain as usize];
        if domain.missing >> place.index & 1 != 0 {
            domain.missing &= !(1 << place.index);
            let pc = self.slots[slot as usize].buffer.fetch_pc();
            self.front.fetched.push((slot, pc));
            assign(&mut domain.wants_fetch, place.index, false);
            self.stats.counters.fetches += 1;
        }
    }

    fn find_fetch(&mut self) -> Option<Place> {
        let mut any = 0;
        let sets = self.eligible.iter_mut().zip(&mut self.at_barrier);
        for (domain, (eligible, at_barrier)) in self.domains.iter().zip(sets) {
            *eligible = domain.fetchable();
            *at_barrier = domain.barrier;
            any |= *eligible;
        }
        if any == 0 {
            return None;
        }
        let domains = self.domains.len();
        let slots = &self.slots;
        self.fetch_policy.select(&FetchView {
            eligible: &self.eligible,
            at_barrier: &self.at_barrier,
            buffered: &|p: Place| {
                let slot = p.index as usize * domains + p.domain as usize;
                slots[slot].buffer.len()
            },
            issue: &*self.policy,
        })
    }

    #[inline]
    fn notice_finished(&mut self, found: Option<Place>, now: u64) {
        if self.domains.iter().any(|d| d.leaving != 0) {
            self.retire_finished(found, now);
        }
    }

    #[cold]
    fn retire_finished(&mut self, found: Option<Place>, now: u64) {
        for d in 0..self.domains.len() {
            let mut candidates = self.domains[d].leaving;
            while candidates != 0 {
                let place = Place {
                    domain: d as u8,
                    index: candidates.trailing_zeros() as u8,
                };
                candidates &= candidates - 1;
                debug_assert!(self.slots[self.slot_at(place) as usize].is_settled());
                if self.fetch_policy.passes(place, found) {
                    self.retire(self.slot_at(place), now);
                }
            }
        }
    }

    fn fetch_for(&mut self, place: Place, launched: &Launched) {
        let slot = self.slot_at(place);
        let buffer = &mut self.slots[slot as usize].buffer;
        if buffer.head().is_none() && buffer.fetch_pc() as usize >= launched.infos.len() {
            // Behind the last instruction there is nothing to fetch; the warp goes elsewhere.
            buffer.flush(self.groups.get(slot).pc);
        }
        let pc = buffer.fetch_pc();
        let addr = launched.code_base + pc as u64 * INSTRUCTION_BYTES;
        self.fetch_policy.fetched(place);
        let outcome = self.front.look_up(addr, slot);
        let domain = &mut self.domains[place.domain as usize];
        match outcome {
            Outcome::Hit => {
                self.front.fetched.push((slot, pc));
                // Until it is decoded, no other port fetches the same again.
                assign(&mut domain.wants_fetch, place.index, false);
                self.stats.counters.fetches += 1;
            }
            Outcome::Miss | Outcome::Merged => domain.missing |= 1 << place.index,
            Outcome::Stall => return,
        }
        self.stats.counters.l1i_accesses += 1;
        self.stats.counters.l1i_misses += (outcome != Outcome::Hit) as u64;
    }
}
