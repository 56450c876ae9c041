//! A fetch unit: for the warps of the whole SM, or of one slice.

use super::icache::ICache;
use super::l0::L0;
use crate::config::Machine;
use crate::fetch::{FetchPolicy, FetchView};
use crate::place::Place;
use crate::sm::launch::Launched;
use crate::sm::memory::Outcome;
use crate::sm::residents::Residents;
use crate::sm::warps::{Waiters, WarpTable};
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
    waiters: Waiters,
    l0: Option<L0>,
    /// Fetched in the last cycle, to be decoded in this.
    fetched: Vec<(u16, Pc)>,
    eligible: Vec<u64>,
}

impl FetchUnit {
    /// A unit for these domains of an SM with `all` domains.
    pub fn new(machine: &Machine, domains: Range<usize>, all: usize) -> FetchUnit {
        let policy = crate::fetch::make(machine, all);
        FetchUnit {
            waiters: Waiters::passed_over(policy.skips_waiters()),
            policy,
            domains,
            ports: machine.fetch.ports,
            left: 0,
            ideal: machine.fetch.ideal,
            l0: L0::new(machine.fetch.l0_bytes),
            fetched: Vec::new(),
            eligible: vec![0; all],
        }
    }

    /// Whether it passes over warps at a barrier.
    pub fn waiters(&self) -> Waiters {
        self.waiters
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
    #[inline]
    pub fn decode(&mut self, residents: &mut Residents, launched: &Launched) {
        if !self.fetched.is_empty() {
            decode(&mut self.fetched, residents, launched);
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
    }

    /// Fetches for as many warps as there are ports left, and notices finished warps. If a policy
    /// plans, somebody else fetches for the warps in `others`, by domain. Says whether any warp was to
    /// be fetched for or noticed.
    #[inline(always)] // into the step of the front end with one unit, which is the common one
    pub fn fetch<const PLANNED: bool>(
        &mut self,
        now: Cycle,
        icache: &mut ICache,
        residents: &mut Residents,
        launched: &Launched,
        others: &[u64],
    ) -> bool {
        let mut concerned = false;
        while self.left != 0 {
            self.left -= 1;
            let (found, any, any_finished) = self.find::<PLANNED>(residents, others);
            concerned |= any || any_finished;
            if any_finished {
                self.retire_finished(found, now, residents);
            }
            let Some(place) = found else { break };
            if !self.fetch_for(place, icache, residents, launched) {
                break;
            }
        }
        concerned
    }

    /// The warp to fetch for, whether there is any, and whether any has finished and has to be
    /// noticed.
    #[inline(always)]
    fn find<const PLANNED: bool>(
        &mut self,
        residents: &Residents,
        others: &[u64],
    ) -> (Option<Place>, bool, bool) {
        let warps = &residents.warps;
        let sets = warps.domains()[self.domains.clone()].iter();
        let eligible = self.eligible[self.domains.clone()].iter_mut();
        let (mut any, mut leaving) = (0, 0);
        for (domain, eligible) in sets.zip(eligible) {
            *eligible = domain.fetchable(self.waiters);
            any |= *eligible;
            leaving |= domain.leaving();
        }
        if PLANNED {
            any = 0;
            for d in self.domains.clone() {
                self.eligible[d] &= !others[d];
                any |= self.eligible[d];
            }
        }
        if any == 0 || self.ideal {
            return (None, any != 0, leaving != 0);
        }
        let found = self.policy.select(&FetchView {
            eligible: &self.eligible,
            at_barrier: &|d| warps.sets(d).barrier(),
            buffered: &|place| warps.warp(warps.slot_at(place)).buffer().len(),
            issue: &*residents.books.policy,
        });
        (found, true, leaving != 0)
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

    /// Fetches for a warp. Returns `false` if the instruction cache has no port left for that.
    #[inline(always)]
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
        if outcome == Outcome::Hit {
            if let Some(l0) = &mut self.l0 {
                l0.fill(addr);
            }
            counters.fetches += 1;
            take(&mut self.fetched, slot, pc, warps);
        } else {
            warps.set_missing(place, true);
        }
        true
    }
}

/// Puts what was fetched into the buffers.
pub(super) fn decode(fetched: &mut Vec<(u16, Pc)>, residents: &mut Residents, launched: &Launched) {
    let Residents {
        warps,
        books,
        groups,
        ..
    } = residents;
    for &(slot, pc) in fetched.iter() {
        // It may have gone elsewhere meanwhile.
        if warps.is_running(slot) && warps.warp(slot).buffer().fetch_pc() == pc {
            let next = groups.get(slot).pc;
            let mut edit = warps.edit(slot, books);
            edit.decode(pc, next, &launched.facts);
            edit.refresh_head(next, &launched.facts);
        }
    }
    fetched.clear();
}

/// What was fetched for a warp is decoded in the next cycle.
#[inline]
pub(super) fn take(fetched: &mut Vec<(u16, Pc)>, slot: u16, pc: Pc, warps: &mut WarpTable) {
    fetched.push((slot, pc));
    warps.fetch_under_way(warps.place(slot));
}

/// Where an instruction lies.
pub(super) fn address(pc: Pc, launched: &Launched) -> u64 {
    launched.code_base + pc as u64 * INSTRUCTION_BYTES
}
