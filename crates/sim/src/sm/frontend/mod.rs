//! Fetch and decode. A fetch at cycle c is decoded at c+1 and can issue at c+2; it brings
//! consecutive instructions. A miss goes to L2, and when its line comes the warp that waited
//! takes that cycle's fetch. The scan for a warp to fetch for is also what notices that a warp
//! has finished ([`leaving`](super::warps::Domain::leaving)), so busy fetch delays retirement.

use super::launch::Launched;
use super::memory::{L1, Outcome, Port, TokenKind, token};
use super::residents::Residents;
use super::warps::WarpTable;
use crate::config::Machine;
use crate::fetch::{FetchPolicy, FetchView};
use crate::memory::packet::{Reply, Request, RequestKind, Traffic};
use crate::place::Place;
use crate::time::Cycle;
use warpsim_ptx::kernel::{INSTRUCTION_BYTES, Pc};

/// The front end of an SM.
pub struct FrontEnd {
    sm: u16,
    ports: u32,
    ideal: bool,
    wait_for_branch: bool,
    policy: Box<dyn FetchPolicy>,
    icache: L1,
    /// Fetched in the last cycle, to be decoded in this.
    fetched: Vec<(u16, Pc)>,
    /// A line has come or a request waits to leave: kept here, so that cycles in which that is
    /// not so leave the cache alone.
    cache_stirs: bool,
    /// Fetch had nothing to do in the last cycle that ran, so it has nothing in the next.
    rests: bool,
    eligible: Vec<u64>,
    at_barrier: Vec<u64>,
}

impl FrontEnd {
    /// An empty front end.
    pub fn new(machine: &Machine, sm: u16, domains: usize) -> FrontEnd {
        FrontEnd {
            sm,
            ports: machine.fetch.ports,
            ideal: machine.fetch.ideal,
            wait_for_branch: machine.fetch.wait_for_branch,
            policy: crate::fetch::make(machine, domains),
            icache: L1::new(&machine.l1i),
            fetched: Vec::new(),
            cache_stirs: false,
            rests: false,
            eligible: vec![0; domains],
            at_barrier: vec![0; domains],
        }
    }

    /// Whether it never fetches for warps at a barrier.
    pub fn skips_waiters(&self) -> bool {
        self.policy.skips_waiters()
    }

    /// Whether it waits for branches to leave the pipeline.
    #[inline]
    pub fn waits_for_branches(&self) -> bool {
        self.wait_for_branch
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
        !self.fetched.is_empty() || self.cache_stirs
    }

    /// The next cycle at or after `now` in which there is something to do if no warp changes.
    #[inline]
    pub fn next(&self, now: Cycle, warps: &WarpTable) -> Cycle {
        if self.is_busy() || !self.rests && concerned(warps) {
            now
        } else {
            Cycle::NEVER
        }
    }

    /// One cycle: what was fetched in the last is decoded, and more is fetched.
    pub fn step(
        &mut self,
        now: Cycle,
        residents: &mut Residents,
        port: &mut Port,
        launched: &Launched,
    ) {
        self.decode(residents, launched);
        if !self.stays_at_rest(&mut residents.warps) {
            self.fetch(now, residents, port, launched);
        }
    }

    /// Whether fetch has nothing to do in this cycle either.
    #[inline]
    fn stays_at_rest(&mut self, warps: &mut WarpTable) -> bool {
        if warps.take_fetch_stir() || !self.rests {
            self.rests = !concerned(warps);
        }
        self.rests &= !self.cache_stirs;
        self.rests
    }

    /// Puts what was fetched into the buffers.
    #[inline]
    fn decode(&mut self, residents: &mut Residents, launched: &Launched) {
        if !self.fetched.is_empty() {
            self.decode_all(residents, launched);
        }
    }

    fn decode_all(&mut self, residents: &mut Residents, launched: &Launched) {
        let Residents {
            warps,
            books,
            groups,
            ..
        } = residents;
        for (slot, pc) in self.fetched.drain(..) {
            // It may have gone elsewhere meanwhile.
            if warps.is_running(slot) && warps.warp(slot).buffer().fetch_pc() == pc {
                let next = groups.get(slot).pc;
                let mut edit = warps.edit(slot, books);
                edit.decode(pc, next, &launched.facts);
                edit.refresh_head(next, &launched.facts);
            }
        }
    }

    /// Fetches for as many warps as there are ports, and notices finished warps.
    fn fetch(
        &mut self,
        now: Cycle,
        residents: &mut Residents,
        port: &mut Port,
        launched: &Launched,
    ) {
        for _ in 0..self.ports {
            if self.cache_stirs
                && let Some(waiter) = self.icache.next_ready()
            {
                self.line_has_come(waiter as u16, residents);
                continue;
            }
            let found = if self.ideal {
                None
            } else {
                self.find(residents)
            };
            self.notice_finished(found, now, residents);
            let Some(place) = found else { break };
            self.fetch_for(place, residents, launched);
        }
        if self.cache_stirs {
            if let Some(request) = self.icache.first_request()
                && port.try_send(now, request)
            {
                self.icache.send();
            }
            self.cache_stirs = self.icache.has_ready() || self.icache.has_request();
        }
    }

    /// The line that a warp waited for has come.
    fn line_has_come(&mut self, slot: u16, residents: &mut Residents) {
        let warps = &mut residents.warps;
        let place = warps.place(slot);
        if warps.set_missing(place, false) {
            self.fetched
                .push((slot, warps.warp(slot).buffer().fetch_pc()));
            warps.fetch_under_way(place);
            residents.books.stats.counters.fetches += 1;
        }
    }

    /// The warp to fetch for.
    fn find(&mut self, residents: &Residents) -> Option<Place> {
        let warps = &residents.warps;
        let mut any = 0;
        let sets = self.eligible.iter_mut().zip(&mut self.at_barrier);
        for (domain, (eligible, at_barrier)) in warps.domains().iter().zip(sets) {
            *eligible = domain.fetchable();
            *at_barrier = domain.barrier();
            any |= *eligible;
        }
        if any == 0 {
            return None;
        }
        self.policy.select(&FetchView {
            eligible: &self.eligible,
            at_barrier: &self.at_barrier,
            buffered: &|place| warps.warp(warps.slot_at(place)).buffer().len(),
            issue: &*residents.books.policy,
        })
    }

    #[inline]
    fn notice_finished(&self, found: Option<Place>, now: Cycle, residents: &mut Residents) {
        if residents.warps.domains().iter().any(|d| d.leaving() != 0) {
            self.retire_finished(found, now, residents);
        }
    }

    #[cold]
    fn retire_finished(&self, found: Option<Place>, now: Cycle, residents: &mut Residents) {
        for d in 0..residents.warps.domains().len() {
            let mut candidates = residents.warps.domain(d).leaving();
            while candidates != 0 {
                let place = Place {
                    domain: d as u8,
                    index: candidates.trailing_zeros() as u8,
                };
                candidates &= candidates - 1;
                if self.policy.passes(place, found) {
                    residents.retire(residents.warps.slot_at(place), now);
                }
            }
        }
    }

    fn fetch_for(&mut self, place: Place, residents: &mut Residents, launched: &Launched) {
        let warps = &mut residents.warps;
        let slot = warps.slot_at(place);
        let next = residents.groups.get(slot).pc;
        let pc = warps.fetch_from(slot, next, launched.facts.len() as Pc);
        let addr = launched.code_base + pc as u64 * INSTRUCTION_BYTES;
        self.policy.fetched(place);
        let outcome = self.look_up(addr, slot);
        let counters = &mut residents.books.stats.counters;
        match outcome {
            Outcome::Hit => {
                self.fetched.push((slot, pc));
                warps.fetch_under_way(place);
                counters.fetches += 1;
            }
            Outcome::Miss | Outcome::Merged => {
                warps.set_missing(place, true);
            }
            Outcome::Stall => return,
        }
        counters.l1i_accesses += 1;
        counters.l1i_misses += (outcome != Outcome::Hit) as u64;
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

/// Whether fetch would do something about any warp.
#[inline]
fn concerned(warps: &WarpTable) -> bool {
    warps.domains().iter().any(|d| d.concerns_fetch() != 0)
}
