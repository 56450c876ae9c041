//! Fetch and decode. A fetch at cycle c is decoded at c+1 and can issue at c+2; it brings
//! consecutive instructions. A miss goes to L2, and when its line comes the warp that waited
//! takes that cycle's fetch, or, where lines are refetched ([`Refill`]), may be fetched for again. The scan for a warp to fetch for is also what notices that a warp
//! has finished ([`leaving`](super::warps::Domain::leaving)), so busy fetch delays retirement.
//!
//! There is one fetch unit ([`unit`]) for the whole SM, or for each slice or scheduler; they share the
//! instruction cache ([`icache`]), whose ports they get in turn, and may have a small cache each
//! ([`l0`], [`near`]). What is fetched for a gang is fetched once for all its warps, before the others and past
//! the small caches ([`gangs`]).

mod gangs;
mod icache;
mod l0;
mod near;
#[cfg(test)]
mod tests;
mod unit;

use super::launch::Launched;
use super::memory::Port;
use super::residents::Residents;
use super::warps::{Waiters, WarpTable};
use crate::config::{Machine, Per, Refill};
use crate::fetch::FetchPolicy;
use crate::memory::packet::Reply;
use crate::place::{Layout, each};
use crate::replacement::Replacement;
use crate::stats::SmCounters;
use crate::time::Cycle;
use gangs::GangFetch;
use icache::ICache;
use unit::FetchUnit;

/// The front end of an SM.
pub struct FrontEnd {
    units: Vec<FetchUnit>,
    /// By domain: the one that serves it.
    unit_of: Vec<usize>,
    /// What fetches for several warps together, where a policy joins warps.
    gangs: GangFetch,
    icache: ICache,
    waiters: Waiters,
    wait_for_branch: bool,
    /// A line that comes ends a wait, and no more.
    refetches: bool,
    /// The unit that comes first at the ports of the instruction cache. Moves on when units have
    /// fetched.
    turn: usize,
    /// Several units: warps whose line has come and whose unit has had no port for it yet.
    arrived: Vec<u16>,
    /// Something is to be decoded.
    fetched: bool,
    /// Several units: some of it was fetched by them.
    units_fetched: bool,
    /// Fetch left nothing to do in the last cycle that ran, so it has nothing in the next.
    rests: bool,
}

impl FrontEnd {
    /// An empty front end.
    pub fn new(machine: &Machine, sm: u16) -> FrontEnd {
        let layout = Layout::of(machine);
        let all = layout.domains();
        let units = match machine.fetch.per {
            Per::Sm => vec![FetchUnit::new(machine, 0..all, all)],
            Per::Slice => (0..layout.slices() as usize)
                .map(|slice| FetchUnit::new(machine, layout.domains_of(slice), all))
                .collect(),
            Per::Scheduler => (0..all)
                .map(|d| FetchUnit::new(machine, d..d + 1, all))
                .collect(),
        };
        let waiters = units[0].waiters();
        let unit_of = |d| units.iter().position(|unit| unit.serves(d));
        FrontEnd {
            unit_of: (0..all).filter_map(unit_of).collect(),
            units,
            gangs: GangFetch::new(all, layout.schedulers().into(), waiters),
            waiters,
            icache: ICache::new(machine, sm),
            wait_for_branch: machine.fetch.wait_for_branch,
            refetches: machine.fetch.refill == Refill::Refetch,
            turn: 0,
            arrived: Vec::new(),
            fetched: false,
            units_fetched: false,
            rests: false,
        }
    }

    /// Puts other policies in place of the configured ones, before anything runs: one for each fetch unit, made
    /// for all domains of the SM.
    pub fn replace_policies(&mut self, make: &dyn Fn(usize) -> Box<dyn FetchPolicy>) {
        let domains = self.unit_of.len();
        for unit in &mut self.units {
            unit.replace_policy(make(domains));
        }
        self.waiters = self.units[0].waiters();
        self.gangs.waiters = self.waiters;
    }

    /// Whether it waits for branches to leave the pipeline.
    #[inline]
    pub fn waits_for_branches(&self) -> bool {
        self.wait_for_branch
    }

    /// Puts a replacement policy in place of the configured one in the instruction cache, before anything is fetched.
    pub fn replace_policy(&mut self, make: &dyn Fn(usize, usize) -> Box<dyn Replacement>) {
        self.icache.replace_policy(make);
    }

    /// Takes a reply for the instruction cache.
    pub fn take_reply(&mut self, reply: Reply) {
        self.icache.take_reply(reply);
    }

    /// Whether the next cycle has something to do whatever else happens.
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.fetched || self.icache.stirs() || !self.arrived.is_empty()
    }

    /// The next cycle at or after `now` in which there is something to do if no warp changes.
    #[inline]
    pub fn next(&self, now: Cycle, warps: &WarpTable) -> Cycle {
        if self.is_busy() || !self.rests && self.is_concerned(warps) {
            now
        } else {
            Cycle::NEVER
        }
    }

    /// One cycle: what was fetched in the last is decoded, and more is fetched.
    #[inline]
    pub fn step(
        &mut self,
        now: Cycle,
        residents: &mut Residents,
        port: &mut Port,
        launched: &Launched,
    ) {
        if self.fetched {
            let Residents {
                warps,
                books,
                groups,
                ..
            } = &mut *residents;
            let code = &launched.facts;
            if let [unit] = &mut self.units[..] {
                unit.decode(warps, books, groups, code);
            } else if self.units_fetched {
                for unit in &mut self.units {
                    unit.decode(warps, books, groups, code);
                }
            }
            self.gangs.decode(warps, books, groups, code);
            self.fetched = false;
        }
        let lines = self.icache.stirs() || !self.arrived.is_empty();
        if residents.warps.take_fetch_stir() || !self.rests || lines {
            let more = self.fetch(now, lines, residents, launched);
            self.rests = !more && !lines;
            if lines && self.refetches {
                self.end_wait(&mut residents.warps);
            }
            self.icache.send(now, port);
        }
    }

    /// A line has come, and lines are refetched: the wait of one warp, or gang, is over, too late for this cycle's fetch.
    #[cold]
    fn end_wait(&mut self, warps: &mut WarpTable) {
        let Some(slot) = self.icache.next_ready() else {
            return;
        };
        if !self.gangs.end_wait(slot, warps) {
            warps.set_missing(warps.place(slot), false);
        }
    }

    /// Fetches; says whether there may be more to do in the next cycle if no warp changes. `lines`: some
    /// have come, or are asked for.
    #[inline]
    fn fetch(
        &mut self,
        now: Cycle,
        lines: bool,
        residents: &mut Residents,
        launched: &Launched,
    ) -> bool {
        self.icache.open_ports();
        if let [unit] = &mut self.units[..]
            && !residents.books.plans()
        {
            unit.open_ports();
            while unit.has_port()
                && !self.refetches
                && let Some(slot) = self.icache.next_ready()
            {
                let Residents { warps, books, .. } = &mut *residents;
                unit.line_has_come(slot, warps, &mut books.stats.counters, launched);
            }
            let more = unit.fetch::<false>(now, &mut self.icache, residents, launched, &[]);
            self.fetched = unit.has_fetched();
            return more;
        }
        let concerned = self.is_concerned(&residents.warps);
        if concerned || lines {
            match residents.books.plans() {
                true => self.fetch_planned(now, lines, residents, launched),
                false => self.fetch_in_turn(now, residents, launched),
            }
        }
        concerned
    }

    /// Several units take turns at the ports of the instruction cache.
    #[inline(never)]
    fn fetch_in_turn(&mut self, now: Cycle, residents: &mut Residents, launched: &Launched) {
        let Residents { warps, books, .. } = &mut *residents;
        self.take_lines(warps, &mut books.stats.counters, launched);
        let count = self.units.len();
        for i in 0..count {
            let unit = &mut self.units[(self.turn + i) % count];
            unit.fetch::<false>(now, &mut self.icache, residents, launched, &[]);
        }
        self.end_turns(self.units.iter().any(FetchUnit::has_fetched));
    }

    /// Lines that have come go to the units of the warps that wait for them.
    fn take_lines(
        &mut self,
        warps: &mut WarpTable,
        counters: &mut SmCounters,
        launched: &Launched,
    ) {
        self.units.iter_mut().for_each(FetchUnit::open_ports);
        if self.refetches {
            return;
        }
        while let Some(slot) = self.icache.next_ready() {
            self.arrived.push(slot);
        }
        let (units, unit_of, gangs) = (&mut self.units, &self.unit_of, &mut self.gangs);
        self.arrived.retain(|&slot| {
            if gangs.awaits(slot) {
                return !gangs.line_has_come(slot, warps, counters);
            }
            let unit = &mut units[unit_of[warps.place(slot).domain as usize]];
            let takes = unit.has_port();
            if takes {
                unit.line_has_come(slot, warps, counters, launched);
            }
            !takes
        });
    }

    /// The unit that was first at the ports is last in the next cycle, if any has `fetched`.
    fn end_turns(&mut self, fetched: bool) {
        if fetched {
            self.turn = (self.turn + 1) % self.units.len();
        }
        self.units_fetched = fetched;
        self.fetched = fetched || self.gangs.has_fetched();
    }

    /// Gangs first, then the units for the warps that are in none. `lines`: some have come, or are
    /// asked for.
    #[inline(never)]
    fn fetch_planned(
        &mut self,
        now: Cycle,
        lines: bool,
        residents: &mut Residents,
        launched: &Launched,
    ) {
        let Residents {
            warps,
            books,
            groups,
            ..
        } = &mut *residents;
        self.gangs.open_ports(books.gang_fetches());
        if lines {
            self.take_lines(warps, &mut books.stats.counters, launched);
        }
        self.gangs
            .fetch(&mut self.icache, warps, books, groups, launched);
        let left = self.gangs.leaves(now, lines, residents);
        if lines || left != 0 {
            return self.fetch_for_singles(left, now, lines, residents, launched);
        }
        (self.fetched, self.units_fetched) = (self.gangs.has_fetched(), false);
    }

    /// The units fetch for the warps that are in no gang, in these domains, a bit each; `lines`: after those whose lines
    /// have come.
    #[inline(never)]
    fn fetch_for_singles(
        &mut self,
        left: u64,
        now: Cycle,
        lines: bool,
        residents: &mut Residents,
        launched: &Launched,
    ) {
        let mut fetched = lines && self.units.iter().any(FetchUnit::has_fetched);
        let ganged = self.gangs.members();
        let serving = each(left).fold(0u64, |all, d| all | 1 << self.unit_of[d]);
        let before = serving & !(!0 << self.turn);
        for set in [serving & !before, before] {
            for i in each(set) {
                let unit = &mut self.units[i];
                if !lines {
                    unit.open_ports();
                }
                unit.fetch::<true>(now, &mut self.icache, residents, launched, ganged);
                fetched |= unit.has_fetched();
            }
        }
        self.end_turns(fetched);
    }

    /// Whether fetch would do something about any warp.
    #[inline]
    fn is_concerned(&self, warps: &WarpTable) -> bool {
        warps.any_domain(|d| d.concerns_fetch(self.waiters) != 0)
    }
}
