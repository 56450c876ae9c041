//! Fetch: for which warp the next instructions are read from the instruction cache. What is fetched in a cycle is
//! decoded in the next. The scan for a warp to fetch for is also what notices that a warp has finished.
//!
//! There is one fetch unit for the SM, or one for each slice or scheduler. They share the ports of the instruction
//! cache, which they get in turn, and may have a small cache each.

use super::Sm;
use super::icache::{InstructionCache, SmallCache};
use crate::config::{Machine, Per, Refill};
use crate::fetch::{FetchPolicy, FetchView};
use crate::place::{Layout, Place, each};
use crate::sm::launch::Launched;
use crate::sm::memory::Outcome;
use crate::time::Cycle;
use std::ops::Range;
use warpsim_ptx::kernel::{INSTRUCTION_BYTES, Pc};

/// A fetch unit.
pub(super) struct FetchUnit {
    /// The domains whose warps it fetches for.
    domains: Range<usize>,
    pub policy: Box<dyn FetchPolicy>,
    pub ports_left: u32,
    small: Option<SmallCache>,
    /// What it has fetched in the last cycle.
    pub fetched: Vec<(u16, Pc)>,
}

/// The fetch stage.
pub(super) struct Fetch {
    pub units: Vec<FetchUnit>,
    pub cache: InstructionCache,
    /// The unit that comes first at the ports of the instruction cache.
    turn: usize,
    /// Several units: warps whose line has come, and whose unit has had no port for it.
    pub arrived: Vec<u16>,
    refetches: bool,
}

impl Fetch {
    pub fn new(machine: &Machine, sm: u16) -> Fetch {
        let layout = Layout::of(machine);
        let all = layout.domains();
        let share = match machine.fetch.per {
            Per::Sm => all,
            Per::Slice => layout.schedulers().into(),
            Per::Scheduler => 1,
        };
        let served = (0..all).step_by(share).map(|first| first..first + share);
        let unit = |domains| FetchUnit {
            domains,
            policy: crate::fetch::make(machine, all),
            ports_left: 0,
            small: SmallCache::new(machine.fetch.l0_bytes),
            fetched: Vec::new(),
        };
        Fetch {
            units: served.map(unit).collect(),
            cache: InstructionCache::new(machine, sm),
            turn: 0,
            arrived: Vec::new(),
            refetches: machine.fetch.refill == Refill::Refetch,
        }
    }

    /// Whether warps at a barrier are passed over.
    pub fn skips_waiters(&self) -> bool {
        self.units[0].policy.skips_waiters()
    }

    /// The unit that fetches for a domain.
    pub fn unit_of(&self, domain: u8) -> usize {
        let serves = |unit: &FetchUnit| unit.domains.contains(&usize::from(domain));
        self.units.iter().position(serves).unwrap_or(0)
    }
}

/// Where an instruction lies.
pub(super) fn address(pc: Pc, launched: &Launched) -> u64 {
    launched.code_base + u64::from(pc) * INSTRUCTION_BYTES
}

impl Sm {
    /// The fetch stage of cycle `now`.
    pub(super) fn fetch(&mut self, now: Cycle, launched: &Launched) {
        self.fetch.cache.open_ports();
        let ports = self.machine.fetch.ports;
        self.fetch
            .units
            .iter_mut()
            .for_each(|unit| unit.ports_left = ports);
        self.open_gang_ports();
        if !self.fetch.refetches {
            self.take_lines(launched);
        }
        self.fetch_for_gangs(launched);
        let (first, units) = (self.fetch.turn, self.fetch.units.len());
        for i in 0..units {
            self.fetch_of_unit((first + i) % units, now, launched);
        }
        if self.fetch.units.iter().any(|unit| !unit.fetched.is_empty()) {
            self.fetch.turn = (first + 1) % units;
        }
        if self.fetch.refetches
            && let Some(slot) = self.fetch.cache.next_ready()
        {
            match self.is_for_gang(slot) {
                true => drop(self.end_gang_wait(slot)),
                false => self.warps[usize::from(slot)].missing = false,
            } // too late for this cycle's fetch
        }
        self.fetch.cache.send(now, &mut self.port);
    }

    /// A unit has the next instructions of a warp: they are decoded in the next cycle.
    pub(super) fn take_fetched(&mut self, number: usize, slot: u16, pc: Pc, launched: &Launched) {
        let unit = &mut self.fetch.units[number];
        if let Some(small) = &mut unit.small {
            small.fill(address(pc, launched));
        }
        unit.fetched.push((slot, pc));
        self.warps[usize::from(slot)].fetching = true;
        self.stats.counters.fetches += 1;
    }

    /// A unit fetches for as many warps as it has ports left, and notices warps that have finished.
    fn fetch_of_unit(&mut self, number: usize, now: Cycle, launched: &Launched) {
        while self.fetch.units[number].ports_left > 0 {
            self.fetch.units[number].ports_left -= 1;
            let eligible = self.eligible(number, launched, |_, _| true);
            let found = match self.machine.fetch.ideal {
                true => None,
                false => self.ask_policy(number, &eligible),
            };
            self.notice_finished(number, found, now);
            let Some(place) = found else { break };
            if !self.fetch_for(number, place, launched) && !self.fetch_near(number, launched) {
                break;
            }
        }
    }

    /// By domain, a bit for each warp that a unit may fetch for and that `is` so, from this PC.
    fn eligible(
        &self,
        number: usize,
        launched: &Launched,
        is: impl Fn(&FetchUnit, Pc) -> bool,
    ) -> Vec<u64> {
        let unit = &self.fetch.units[number];
        let (end, skips_waiters) = (launched.facts.len() as Pc, unit.policy.skips_waiters());
        let mut eligible = vec![0; self.layout.domains()];
        for d in unit.domains.clone() {
            eligible[d] = self.those(d, |slot, warp| {
                warp.is_running()
                    && warp.wants_fetch(&self.machine.fetch, end)
                    && !warp.missing
                    && !warp.unresolved
                    && !(skips_waiters && warp.waits.barrier)
                    && is(unit, self.fetch_from(slot, end))
            });
            eligible[d] &= !self.gang_fetch.members.get(d).unwrap_or(&0);
        }
        eligible
    }

    /// Where to fetch from for a warp. Behind the last instruction, where a wrong path may have led, there is nothing,
    /// and it goes on where its threads do.
    pub(super) fn fetch_from(&self, slot: u16, end: Pc) -> Pc {
        match self.warps[usize::from(slot)].fetch_pc {
            pc if pc < end => pc,
            _ => self.groups.get(slot).pc,
        }
    }

    /// The warp that the policy of a unit chooses of those that are eligible, if there are any.
    fn ask_policy(&mut self, number: usize, eligible: &[u64]) -> Option<Place> {
        if eligible.iter().all(|set| *set == 0) {
            return None;
        }
        let Sm {
            fetch,
            warps,
            layout,
            policy,
            ..
        } = self;
        let warp = |place| &warps[usize::from(layout.slot_at(place))];
        let at_barrier = |domain: usize| {
            let domain = domain as u8;
            let waits = |index: &u8| {
                warp(Place {
                    domain,
                    index: *index,
                })
                .waits
                .barrier
            };
            let count = (warps.len() / layout.domains()) as u8;
            (0..count)
                .filter(waits)
                .fold(0, |set, index| set | 1 << index)
        };
        let policy = &**policy;
        fetch.units[number].policy.select(&FetchView {
            eligible,
            at_barrier: &at_barrier,
            buffered: &|place| warp(place).buffer.len() as u8,
            issue: policy,
        })
    }

    /// Warps that have finished retire if the scan comes past them before it finds `found`.
    fn notice_finished(&mut self, number: usize, found: Option<Place>, now: Cycle) {
        for d in self.fetch.units[number].domains.clone() {
            let leaving = self.those(d, |_, warp| warp.is_leaving());
            for index in each(leaving) {
                let place = Place {
                    domain: d as u8,
                    index: index as u8,
                };
                if self.fetch.units[number].policy.passes(place, found) {
                    self.retire(self.layout.slot_at(place), now);
                }
            }
        }
    }

    /// Reads the instruction cache for a warp, or the small cache of the unit. Says whether it could: not without a
    /// port of the instruction cache.
    fn fetch_for(&mut self, number: usize, place: Place, launched: &Launched) -> bool {
        let slot = self.layout.slot_at(place);
        let pc = self.fetch_from(slot, launched.facts.len() as Pc);
        let unit = &mut self.fetch.units[number];
        let near = unit
            .small
            .as_mut()
            .is_some_and(|small| small.hit(address(pc, launched)));
        if !near && !self.fetch.cache.has_port() {
            return false;
        }
        unit.policy.fetched(place);
        self.warps[usize::from(slot)].direct(pc);
        if !near {
            let outcome = self.fetch.cache.look_up(address(pc, launched), slot);
            if outcome == Outcome::Stall {
                return true; // it may try again on the next port
            }
            self.stats.counters.l1i_accesses += 1;
            if outcome != Outcome::Hit {
                self.stats.counters.l1i_misses += 1;
                self.warps[usize::from(slot)].missing = true;
                return true;
            }
        }
        self.take_fetched(number, slot, pc, launched);
        true
    }

    /// No port of the instruction cache is left: fetches for the first warp whose instructions are in the small cache
    /// of the unit. The turn does not pass on. Says whether there is one.
    fn fetch_near(&mut self, number: usize, launched: &Launched) -> bool {
        let is_near = |unit: &FetchUnit, pc| {
            let small = unit.small.as_ref();
            small.is_some_and(|small| small.has(address(pc, launched)))
        };
        let near = self.eligible(number, launched, is_near);
        let Some(place) = self.ask_policy(number, &near) else {
            return false;
        };
        let slot = self.layout.slot_at(place);
        let pc = self.fetch_from(slot, launched.facts.len() as Pc);
        self.warps[usize::from(slot)].direct(pc);
        self.take_fetched(number, slot, pc, launched);
        true
    }
}
