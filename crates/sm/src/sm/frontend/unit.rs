//! A fetch unit: for the warps of the whole SM, or of one slice.

use super::icache::ICache;
use super::l0::L0;
use crate::config::Machine;
use crate::divergence::Groups;
use crate::fetch::{FetchPolicy, FetchView, Found, Round};
use crate::place::Place;
use crate::sm::facts::OpFacts;
use crate::sm::launch::Launched;
use crate::sm::limits::MOST_DOMAINS;
use crate::sm::memory::Outcome;
use crate::sm::observe::Books;
use crate::sm::residents::Residents;
use crate::sm::warps::{Waiters, WarpTable};
use crate::stats::SmCounters;
use crate::time::Cycle;
use std::ops::Range;
use warpsim_ptx::kernel::{INSTRUCTION_BYTES, Pc};

/// What has become of an attempt to fetch for a warp.
enum Fetched {
    /// Its instructions have come, or are on their way: it is not to be fetched for again before.
    Taken,
    /// The instruction cache could not take the miss.
    Stalled,
    /// The instruction cache has no port left.
    NoPort,
}

/// How the unit chooses the warp to fetch for.
pub(super) enum Choice {
    /// Round robin.
    Round(Round),
    /// A policy says.
    Policy {
        policy: Box<dyn FetchPolicy>,
        /// There is no choice where one warp is eligible.
        takes_only_one: bool,
    },
}

impl Choice {
    fn of(policy: Box<dyn FetchPolicy>) -> Choice {
        match crate::fetch::round_of(&*policy) {
            Some(round) => Choice::Round(round),
            None => Choice::Policy {
                takes_only_one: policy.takes_only_one(),
                policy,
            },
        }
    }
}

/// What a look at the warps has found.
struct Look {
    /// The warp to fetch for.
    found: Option<Place>,
    /// How many there are.
    wanting: u32,
    /// Some have finished, and have to be noticed.
    finished: bool,
}

/// The unit.
pub(super) struct FetchUnit {
    /// The domains whose warps it fetches for.
    pub(super) domains: Range<usize>,
    /// Fetches per cycle, and how many are left in this one.
    ports: u32,
    left: u32,
    ideal: bool,
    pub(super) choice: Choice,
    waiters: Waiters,
    pub(super) l0: Option<L0>,
    /// Fetched in the last cycle, to be decoded in this.
    fetched: Vec<(u16, Pc)>,
    /// By domain, of all of the SM, the warps that it may fetch for, where a policy is asked. There is room for
    /// the most that an SM may have, so that finding the warps of one takes no check.
    eligible: [u64; MOST_DOMAINS],
    pub(super) all: usize,
}

impl FetchUnit {
    /// A unit for these domains of an SM with `all` domains.
    pub fn new(machine: &Machine, domains: Range<usize>, all: usize) -> FetchUnit {
        let policy = crate::fetch::make(machine, all);
        FetchUnit {
            waiters: Waiters::passed_over(policy.skips_waiters()),
            choice: Choice::of(policy),
            domains,
            ports: machine.fetch.ports,
            left: 0,
            ideal: machine.fetch.ideal,
            l0: L0::new(machine.fetch.l0_bytes),
            fetched: Vec::new(),
            eligible: [0; MOST_DOMAINS],
            all,
        }
    }

    /// Puts another policy in place of the configured one, before anything runs.
    pub fn replace_policy(&mut self, policy: Box<dyn FetchPolicy>) {
        self.waiters = Waiters::passed_over(policy.skips_waiters());
        self.choice = Choice::of(policy);
    }

    /// Whether it passes over warps at a barrier.
    pub fn waiters(&self) -> Waiters {
        self.waiters
    }

    /// Whether it fetches for the warps of a domain.
    pub fn serves(&self, domain: usize) -> bool {
        self.domains.contains(&domain)
    }

    /// Whether something is to be decoded.
    #[inline]
    pub fn has_fetched(&self) -> bool {
        !self.fetched.is_empty()
    }

    /// Puts what was fetched into the buffers.
    #[inline]
    pub fn decode(
        &mut self,
        warps: &mut WarpTable,
        books: &mut Books,
        groups: &Groups,
        code: &[OpFacts],
    ) {
        if !self.fetched.is_empty() {
            decode(&mut self.fetched, warps, books, groups, code);
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
    pub fn line_has_come(
        &mut self,
        slot: u16,
        warps: &mut WarpTable,
        counters: &mut SmCounters,
        launched: &Launched,
    ) {
        self.left -= 1;
        let place = warps.place(slot);
        if !warps.set_missing(place, false) {
            return;
        }
        let pc = warps.warp(slot).buffer().fetch_pc();
        if let Some(l0) = &mut self.l0 {
            l0.fill(address(pc, launched));
        }
        counters.fetches += 1;
        take(&mut self.fetched, slot, pc, warps);
    }

    /// Fetches for as many warps as there are ports left, and notices finished warps. If a policy
    /// plans, the front end's part for gangs fetches for the warps in `others`, by domain. Says whether there may be
    /// something left to do in the next cycle if no warp changes.
    #[inline(always)] // into the step of the front end with one unit, which is the common one
    pub fn fetch<const PLANNED: bool>(
        &mut self,
        now: Cycle,
        icache: &mut ICache,
        residents: &mut Residents,
        launched: &Launched,
        others: &[u64],
    ) -> bool {
        let mut any_finished = false;
        let mut wanting = 0;
        while self.left != 0 {
            self.left -= 1;
            let Residents { warps, books, .. } = &*residents;
            let look = match self.choice {
                Choice::Round(round) => self.go_round::<PLANNED>(round, warps, others),
                Choice::Policy { .. } => self.ask_policy::<PLANNED>(warps, books, others),
            };
            wanting = look.wanting;
            any_finished |= look.finished;
            if look.finished {
                self.retire_finished(look.found, now, residents);
            }
            let Some(place) = look.found else { break };
            let Residents {
                warps,
                books,
                groups,
                ..
            } = &mut *residents;
            match self.fetch_for(place, icache, warps, books, groups, launched) {
                Fetched::Taken => wanting -= 1,
                Fetched::Stalled => {}
                Fetched::NoPort => {
                    match self.fetch_near::<PLANNED>(warps, books, groups, launched, others) {
                        true => wanting -= 1,
                        false => break,
                    }
                }
            }
        }
        any_finished || wanting != 0
    }

    /// Looks for the first warp of a round.
    #[inline(always)]
    fn go_round<const PLANNED: bool>(
        &self,
        round: Round,
        warps: &WarpTable,
        others: &[u64],
    ) -> Look {
        let (mut found, mut wanting, mut leaving) = (Found::default(), 0, 0);
        for d in self.domains.clone() {
            let (eligible, leaves) = self.eligible::<PLANNED>(d, warps, others);
            wanting += eligible.count_ones();
            leaving |= leaves;
            found = round.look_at(found, d, eligible);
        }
        Look {
            found: round.place_of(found).filter(|_| !self.ideal),
            wanting,
            finished: leaving != 0,
        }
    }

    /// Asks the policy for a warp.
    #[inline(never)]
    fn ask_policy<const PLANNED: bool>(
        &mut self,
        warps: &WarpTable,
        books: &Books,
        others: &[u64],
    ) -> Look {
        let (mut wanting, mut leaving) = (0, 0);
        // The last domain with an eligible warp, and its eligible warps.
        let mut last = (0, 0);
        for d in self.domains.clone() {
            let (eligible, leaves) = self.eligible::<PLANNED>(d, warps, others);
            self.eligible[d % MOST_DOMAINS] = eligible;
            wanting += eligible.count_ones();
            leaving |= leaves;
            if eligible != 0 {
                last = (d, eligible);
            }
        }
        let found = match &mut self.choice {
            Choice::Policy {
                policy,
                takes_only_one,
            } if wanting != 0 && !self.ideal => match wanting == 1 && *takes_only_one {
                true => Some(Place {
                    domain: last.0 as u8,
                    index: last.1.trailing_zeros() as u8,
                }),
                false => policy.select(&FetchView {
                    eligible: &self.eligible[..self.all],
                    at_barrier: &|d| warps.sets(d).barrier(),
                    buffered: &|place| warps.buffered(warps.slot_at(place)),
                    issue: &*books.policy,
                }),
            },
            _ => None,
        };
        Look {
            found,
            wanting,
            finished: leaving != 0,
        }
    }

    /// The warps of a domain that may be fetched for, and those that have finished and have to be noticed.
    #[inline(always)]
    pub(super) fn eligible<const PLANNED: bool>(
        &self,
        d: usize,
        warps: &WarpTable,
        others: &[u64],
    ) -> (u64, u64) {
        let (domain, fetched_for) = match PLANNED {
            true => (warps.sets(d), others[d]),
            false => (warps.domain(d), 0),
        };
        (
            domain.fetchable(self.waiters) & !fetched_for,
            domain.leaving(),
        )
    }

    #[cold]
    fn retire_finished(&self, found: Option<Place>, now: Cycle, residents: &mut Residents) {
        for d in self.domains.clone() {
            let mut candidates = residents.warps.sets(d).leaving();
            while candidates != 0 {
                let place = Place {
                    domain: d as u8,
                    index: candidates.trailing_zeros() as u8,
                };
                candidates &= candidates - 1;
                let passes = match &self.choice {
                    Choice::Round(round) => round.passes(place, found),
                    Choice::Policy { policy, .. } => policy.passes(place, found),
                };
                if passes {
                    residents.retire(residents.warps.slot_at(place), now);
                }
            }
        }
    }

    /// Fetches for a warp.
    #[inline(always)]
    fn fetch_for(
        &mut self,
        place: Place,
        icache: &mut ICache,
        warps: &mut WarpTable,
        books: &mut Books,
        groups: &Groups,
        launched: &Launched,
    ) -> Fetched {
        let slot = warps.slot_at(place);
        warps.isolate_slot(slot);
        let next = |slot| groups.get(slot).pc;
        let pc = warps.fetch_from(slot, launched.facts.len() as Pc, next);
        let addr = address(pc, launched);
        let counters = &mut books.stats.counters;
        let near = self.l0.as_mut().is_some_and(|l0| l0.hit(addr));
        if !near && !icache.has_port() {
            return Fetched::NoPort;
        }
        match &mut self.choice {
            Choice::Round(round) => round.go_on_behind(place),
            Choice::Policy { policy, .. } => policy.fetched(place),
        }
        if !near {
            match icache.look_up(addr, slot) {
                Outcome::Hit => {}
                Outcome::Stall => return Fetched::Stalled,
                _ => {
                    counters.l1i_accesses += 1;
                    counters.l1i_misses += 1;
                    warps.set_missing(place, true);
                    return Fetched::Taken;
                }
            }
            counters.l1i_accesses += 1;
        }
        self.take_near(slot, pc, addr, warps, counters);
        Fetched::Taken
    }

    /// What a warp wants is here: it is in the unit's own cache from now on, if there is one.
    #[inline(always)]
    pub(super) fn take_near(
        &mut self,
        slot: u16,
        pc: Pc,
        addr: u64,
        warps: &mut WarpTable,
        counters: &mut SmCounters,
    ) {
        if let Some(l0) = &mut self.l0 {
            l0.fill(addr);
        }
        counters.fetches += 1;
        self.fetched.push((slot, pc));
        warps.fetch_for_one_under_way(warps.place(slot));
    }
}

/// Puts what was fetched into the buffers.
#[inline(always)]
pub(super) fn decode(
    fetched: &mut Vec<(u16, Pc)>,
    warps: &mut WarpTable,
    books: &mut Books,
    groups: &Groups,
    code: &[OpFacts],
) {
    for &(slot, pc) in fetched.iter() {
        warps.decode(slot, pc, groups, code, books);
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
#[inline]
pub(super) fn address(pc: Pc, launched: &Launched) -> u64 {
    launched.code_base + pc as u64 * INSTRUCTION_BYTES
}
