//! A fetch unit: for the warps of the whole SM, or of one slice.

use super::icache::ICache;
use super::l0::L0;
use crate::config::Machine;
use crate::fetch::{FetchPolicy, FetchView};
use crate::place::Place;
use crate::sm::launch::Launched;
use crate::sm::memory::Outcome;
use crate::sm::residents::Residents;
use crate::sm::warps::WarpTable;
use crate::time::Cycle;
use std::ops::Range;
use warpsim_ptx::kernel::{INSTRUCTION_BYTES, Pc};

/// The unit.
pub(super) struct FetchUnit {
    /// The domains whose warps it fetches for.
    domains: Range<usize>,
    /// Fetches per cycle, and those left in this.
    ports: u32,
    left: u32,
    ideal: bool,
    policy: Box<dyn FetchPolicy>,
    l0: Option<L0>,
    /// Fetched in the last cycle, to be decoded in this.
    fetched: Vec<(u16, Pc)>,
    /// Warps that wait for the same line as another, which is to be fetched for them together.
    together: Vec<(u16, u16)>,
    eligible: Vec<u64>,
    at_barrier: Vec<u64>,
}

impl FetchUnit {
    /// A unit for these domains of an SM with `all` domains.
    pub fn new(machine: &Machine, domains: Range<usize>, all: usize) -> FetchUnit {
        FetchUnit {
            domains,
            ports: machine.fetch.ports,
            left: 0,
            ideal: machine.fetch.ideal,
            policy: crate::fetch::make(machine, all),
            l0: L0::new(machine.fetch.l0_bytes),
            fetched: Vec::new(),
            together: Vec::new(),
            eligible: vec![0; all],
            at_barrier: vec![0; all],
        }
    }

    pub fn skips_waiters(&self) -> bool {
        self.policy.skips_waiters()
    }

    /// Whether it fetches for the warps of a domain.
    pub fn serves(&self, place: Place) -> bool {
        self.domains.contains(&(place.domain as usize))
    }

    /// Whether something is to be decoded.
    #[inline]
    pub fn has_fetched(&self) -> bool {
        !self.fetched.is_empty()
    }

    /// Puts what was fetched into the buffers.
    pub fn decode(&mut self, residents: &mut Residents, launched: &Launched) {
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

    /// The line that a warp waited for has come: it is fetched now.
    pub fn line_has_come(&mut self, slot: u16, residents: &mut Residents, launched: &Launched) {
        self.left -= 1;
        let warps = &mut residents.warps;
        let place = warps.place(slot);
        if !warps.set_missing(place, false) {
            return;
        }
        let pc = warps.warp(slot).buffer().fetch_pc();
        if let Some(l0) = &mut self.l0 {
            l0.fill(address(pc, launched));
        }
        residents.books.stats.counters.fetches += 1;
        take(&mut self.fetched, slot, pc, warps);
        let fetched = &mut self.fetched;
        self.together.retain(|&(first, other)| {
            if first == slot && warps.set_missing(warps.place(other), false) {
                take(fetched, other, pc, warps);
            }
            first != slot
        });
    }

    /// Fetches for as many warps as there are ports left, and notices finished warps.
    pub fn fetch(
        &mut self,
        now: Cycle,
        icache: &mut ICache,
        residents: &mut Residents,
        launched: &Launched,
    ) {
        while self.left != 0 {
            self.left -= 1;
            let found = if self.ideal {
                None
            } else {
                self.find(residents)
            };
            self.notice_finished(found, now, residents);
            let Some(place) = found else { break };
            if !self.fetch_for(place, icache, residents, launched) {
                break;
            }
        }
    }

    /// The warp to fetch for.
    fn find(&mut self, residents: &Residents) -> Option<Place> {
        let warps = &residents.warps;
        let mut any = 0;
        for d in self.domains.clone() {
            let domain = warps.domain(d);
            self.eligible[d] = domain.fetchable();
            self.at_barrier[d] = domain.barrier();
            any |= self.eligible[d];
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
        let mut domains = self.domains.clone();
        if domains.any(|d| residents.warps.domain(d).leaving() != 0) {
            self.retire_finished(found, now, residents);
        }
    }

    #[cold]
    fn retire_finished(&self, found: Option<Place>, now: Cycle, residents: &mut Residents) {
        for d in self.domains.clone() {
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

    /// Fetches for a warp, and for those that issue with it. Returns `false` if the instruction
    /// cache has no port left for that.
    fn fetch_for(
        &mut self,
        place: Place,
        icache: &mut ICache,
        residents: &mut Residents,
        launched: &Launched,
    ) -> bool {
        let warps = &mut residents.warps;
        let slot = warps.slot_at(place);
        let next = residents.groups.get(slot).pc;
        let pc = warps.fetch_from(slot, next, launched.facts.len() as Pc);
        let addr = address(pc, launched);
        let counters = &mut residents.books.stats.counters;
        let near = self.l0.as_mut().is_some_and(|l0| l0.hit(addr));
        if !near && !icache.has_port() {
            return false;
        }
        self.policy.fetched(place);
        let outcome = if near {
            Outcome::Hit
        } else {
            let outcome = icache.look_up(addr, slot);
            if outcome == Outcome::Stall {
                return true;
            }
            counters.l1i_accesses += 1;
            counters.l1i_misses += (outcome != Outcome::Hit) as u64;
            outcome
        };
        let hit = outcome == Outcome::Hit;
        if hit {
            if let Some(l0) = &mut self.l0 {
                l0.fill(addr);
            }
            counters.fetches += 1;
            take(&mut self.fetched, slot, pc, warps);
        } else {
            warps.set_missing(place, true);
        }
        if residents.books.plans() {
            self.fetch_for_gang(place, pc, hit, residents);
        }
        true
    }

    /// The warps that issue with the one at `place`, and need the same, get it too.
    #[cold]
    fn fetch_for_gang(&mut self, place: Place, pc: Pc, hit: bool, residents: &mut Residents) {
        let Residents { warps, books, .. } = residents;
        let Some(plan) = books.policy.plan() else {
            return;
        };
        for &other in plan.fetched_with(place).iter() {
            let slot = warps.slot_at(other);
            if other == place
                || warps.domain(other.domain as usize).fetchable() >> other.index & 1 == 0
                || warps.warp(slot).buffer().fetch_pc() != pc
            {
                continue;
            }
            if hit {
                take(&mut self.fetched, slot, pc, warps);
            } else {
                warps.set_missing(other, true);
                self.together.push((warps.slot_at(place), slot));
            }
        }
    }
}

/// What was fetched for a warp is decoded in the next cycle.
#[inline]
fn take(fetched: &mut Vec<(u16, Pc)>, slot: u16, pc: Pc, warps: &mut WarpTable) {
    fetched.push((slot, pc));
    warps.fetch_under_way(warps.place(slot));
}

/// Where an instruction lies.
fn address(pc: Pc, launched: &Launched) -> u64 {
    launched.code_base + pc as u64 * INSTRUCTION_BYTES
}
