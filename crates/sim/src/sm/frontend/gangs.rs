//! The gang front end: fetches once for all warps of a gang, before the units of the slices and past
//! their small caches (variable warp sizing, section 4.6).

use super::icache::ICache;
use super::unit::{address, decode, take};
use crate::place::{Place, each};
use crate::schedule::{FetchView, Together, WholeFetch};
use crate::sm::launch::Launched;
use crate::sm::limits::MOST_DOMAINS;
use crate::sm::memory::Outcome;
use crate::sm::residents::Residents;
use crate::sm::warps::{Domain, Waiters, WarpTable};
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

/// The gang front end.
pub(super) struct GangFetch {
    /// Fetches left in this cycle.
    left: u32,
    /// Fetched in the last cycle, to be decoded in this, for gangs and for warps.
    gangs: Vec<(Together, Pc)>,
    fetched: Vec<(u16, Pc)>,
    /// Warps that wait for a line, by the first, for which it was asked.
    waiting: Vec<(u16, Together)>,
    /// By domain: see [`members`](GangFetch::members).
    members: Vec<u64>,
    /// By scheduler of each slice: see [`FetchView`].
    wanting: Vec<u64>,
    /// All slices, a bit each.
    slices: u8,
    seen: Seen,
    /// Whether it passes over warps at a barrier.
    pub waiters: Waiters,
}

/// The warps of a domain that may be fetched for in gangs: one that lacks its instruction has nothing in its buffer, or loses
/// the wrong path there first, even where there is room behind that.
#[inline(always)]
fn fetchable_together(sets: &Domain, waiters: Waiters) -> u64 {
    sets.fetchable(waiters) & !(sets.head() & sets.lacking())
}

/// What a look at the domains that stand for themselves has found.
struct Seen {
    /// By domain: the warps that lack their next instruction, and those that may be fetched for.
    lacking: [[u64; 2]; MOST_DOMAINS],
    /// Indices at which a warp of any domain is in both, and those at which the warps of all domains are.
    any: u64,
    whole: u64,
    /// Indices at which a warp of any domain may be fetched for, and at which one is to be found finished.
    fetchable: u64,
    leaving: u64,
}

impl Seen {
    /// Nothing yet.
    fn new() -> Seen {
        Seen {
            lacking: [[0; 2]; MOST_DOMAINS],
            any: 0,
            whole: 0,
            fetchable: 0,
            leaving: 0,
        }
    }

    /// Looks at all.
    #[inline(always)]
    fn look(&mut self, warps: &WarpTable, waiters: Waiters) {
        let (mut any, mut whole) = (0, !0);
        let (mut may, mut leaving) = (0, 0);
        let mut left = warps.leaders();
        while left != 0 {
            let d = left.trailing_zeros() as usize % MOST_DOMAINS;
            left &= left - 1;
            let sets = warps.domain(d);
            let (lacking, fetchable) = (sets.lacking(), fetchable_together(sets, waiters));
            self.lacking[d] = [lacking, fetchable];
            any |= lacking & fetchable;
            whole &= lacking & fetchable;
            may |= sets.fetchable(waiters);
            leaving |= sets.leaving();
        }
        (self.any, self.whole) = (any, whole);
        (self.fetchable, self.leaving) = (may, leaving);
    }
}

impl GangFetch {
    /// For an SM with so many domains, and schedulers of each slice.
    pub fn new(domains: usize, schedulers: usize, waiters: Waiters) -> GangFetch {
        GangFetch {
            left: 0,
            fetched: Vec::new(),
            gangs: Vec::new(),
            waiting: Vec::new(),
            members: vec![0; domains],
            wanting: vec![0; schedulers],
            slices: u8::MAX >> (8 - (domains / schedulers).min(8)),
            seen: Seen::new(),
            waiters,
        }
    }

    /// Whether something is to be decoded.
    #[inline]
    pub fn has_fetched(&self) -> bool {
        !self.fetched.is_empty() || !self.gangs.is_empty()
    }

    /// Puts what was fetched into the buffers.
    #[inline]
    pub fn decode(&mut self, residents: &mut Residents, launched: &Launched) {
        if !self.gangs.is_empty() {
            for (gang, pc) in &self.gangs {
                decode_gang(*gang, *pc, residents, launched);
            }
            self.gangs.clear();
        }
        if !self.fetched.is_empty() {
            decode(&mut self.fetched, residents, launched);
        }
    }

    /// A cycle begins.
    pub fn open_ports(&mut self, residents: &Residents) {
        self.left = residents.books.gang_fetches();
    }

    /// Whether a line that was asked for by this slot is for a gang.
    #[inline]
    pub fn awaits(&self, slot: u16) -> bool {
        self.waiting.iter().any(|(first, _)| *first == slot)
    }

    /// The line that a gang waited for has come: it is fetched now, if there is a fetch left in this
    /// cycle; says whether.
    pub fn line_has_come(&mut self, slot: u16, residents: &mut Residents) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let Some(at) = self.waiting.iter().position(|(first, _)| *first == slot) else {
            return true;
        };
        let (_, members) = self.waiting.swap_remove(at);
        let mut any = false;
        let warps = &mut residents.warps;
        if let Some(first) = awaited_by_all(members, warps) {
            warps.set_gang_missing(members, false);
            warps.gang_fetch_under_way(members);
            self.gangs.push((members, first));
            residents.books.stats.counters.fetches += 1;
            return true;
        }
        for place in members.iter() {
            // The warp may have left meanwhile.
            if warps.set_missing(place, false) {
                let slot = warps.slot_at(place);
                let pc = warps.fetch_pc(slot);
                take(&mut self.fetched, slot, pc, warps);
                any = true;
            }
        }
        residents.books.stats.counters.fetches += u64::from(any);
        true
    }

    /// The line has come that was asked for by this slot; if it was for a gang, the wait of all its warps that are
    /// still here is over. Returns whether it was.
    pub fn end_wait(&mut self, slot: u16, residents: &mut Residents) -> bool {
        let Some(at) = self.waiting.iter().position(|(first, _)| *first == slot) else {
            return false;
        };
        let (_, members) = self.waiting.swap_remove(at);
        let warps = &mut residents.warps;
        if awaited_by_all(members, warps).is_some() {
            warps.set_gang_missing(members, false);
            return true;
        }
        for place in members.iter() {
            warps.set_missing(place, false);
        }
        true
    }

    /// Fetches for as many gangs as it may and as the instruction cache has ports for.
    #[inline(always)] // its one caller fetches
    pub fn fetch(&mut self, icache: &mut ICache, residents: &mut Residents, launched: &Launched) {
        let waiters = self.waiters;
        self.seen.look(&residents.warps, waiters);
        while self.left != 0 && icache.has_port() && self.seen.any != 0 {
            let Some(members) = self.next_gang(residents) else {
                return;
            };
            if !self.fetch_for(members, icache, residents, launched) {
                continue;
            }
            if members.len() == self.members.len() {
                // None of its warps wants anything any more, and no class has parted.
                let others = !(1 << members.index());
                self.seen.any &= others;
                self.seen.whole &= others;
                self.seen.fetchable &= others;
            } else if self.left != 0 {
                self.seen.look(&residents.warps, waiters);
            }
        }
    }

    /// The gang that is fetched for next.
    #[inline(always)]
    fn next_gang(&mut self, residents: &mut Residents) -> Option<Together> {
        if self.wanting.len() == 1 {
            let plan = residents.books.policy.plan()?;
            match plan.next_whole_fetch(self.seen.any, self.seen.whole) {
                WholeFetch::NoWarp => return None,
                WholeFetch::Gang(index) => {
                    let first = Place { domain: 0, index };
                    return Some(Together::new(first, 1, self.slices));
                }
                WholeFetch::Unclear => {}
            }
        }
        self.next_part(residents)
    }

    /// The same, where it may be one that does not have a warp in every slice.
    #[inline(never)]
    fn next_part(&mut self, residents: &mut Residents) -> Option<Together> {
        let Residents { warps, books, .. } = residents;
        let waiters = self.waiters;
        self.wanting[0] = self.seen.any;
        if self.wanting.len() > 1 {
            let wants = |sets: &Domain| sets.lacking() & fetchable_together(sets, waiters);
            warps.of_schedulers(wants, &mut self.wanting);
        }
        let lacking = &self.seen.lacking;
        let view = FetchView {
            wanting: &self.wanting,
            slices: &|home| warps.slices_in(home, |d| lacking[d % MOST_DOMAINS]),
        };
        books.policy.plan()?.next_fetch(&view)
    }

    /// Fetches for a gang, which then gets its instructions, now or when their line comes, unless the instruction
    /// cache cannot take the miss. Says whether it can.
    #[inline(always)]
    fn fetch_for(
        &mut self,
        members: Together,
        icache: &mut ICache,
        residents: &mut Residents,
        launched: &Launched,
    ) -> bool {
        self.left -= 1;
        let pc = common_pc(members, residents, launched);
        let warps = &mut residents.warps;
        let first = warps.slot_at(members.leader());
        let outcome = icache.look_up(address(pc, launched), first);
        if outcome == Outcome::Stall {
            return false;
        }
        let hit = outcome == Outcome::Hit;
        let counters = &mut residents.books.stats.counters;
        counters.l1i_accesses += 1;
        counters.l1i_misses += u64::from(!hit);
        counters.fetches += u64::from(hit);
        if hit {
            warps.gang_fetch_under_way(members);
            self.gangs.push((members, pc));
        } else {
            warps.set_gang_missing(members, true);
            self.waiting.push((first, members));
        }
        true
    }

    /// Once gangs have been fetched for: the domains with warps for units of slices to fetch for or to notice, a bit
    /// each: those that concern fetch are not all in gangs. `lines`: some of their ports may be taken by lines that have come.
    #[inline(always)] // most often there are none
    pub fn leaves(&mut self, now: Cycle, lines: bool, residents: &mut Residents) -> u64 {
        if self.seen.fetchable | self.seen.leaving == 0 {
            return 0;
        }
        let plan = residents.books.policy.plan();
        let in_all = plan.map_or(0, |plan| plan.fetched_together_in_all());
        match (self.seen.fetchable & !in_all, self.seen.leaving) {
            (0, 0) => 0,
            (0, _) if !lines => self.notice_finished(now, residents),
            _ => self.find_left(residents),
        }
    }

    /// Where units of slices have no warp to fetch for, they notice all warps that have finished: those of a home warp together,
    /// if no observer has to hear of each. Returns as [`leaves`](Self::leaves).
    #[inline(never)]
    fn notice_finished(&mut self, now: Cycle, residents: &mut Residents) -> u64 {
        let heard = residents.warps.in_step() || residents.books.watch.is_on();
        if self.wanting.len() > 1 || heard {
            return self.find_left(residents);
        }
        for index in each(self.seen.leaving) {
            residents.retire_gang(index as u8, now);
        }
        0
    }

    #[inline(never)]
    fn find_left(&mut self, residents: &mut Residents) -> u64 {
        let Residents { warps, books, .. } = residents;
        let Some(plan) = books.policy.plan() else {
            return 0;
        };
        let (ganged, waiters) = (plan.fetched_together(), self.waiters);
        if ganged.is_empty() {
            return 0;
        }
        let mut left = 0;
        for leader in each(warps.leaders()) {
            let sets = warps.domain(leader);
            let (fetchable, leaving) = (sets.fetchable(waiters), sets.leaving());
            if fetchable | leaving == 0 {
                continue;
            }
            for d in each(warps.members(leader)) {
                let those = fetchable & !ganged[d] | leaving;
                left |= u64::from(those != 0) << d;
            }
        }
        if left != 0 {
            self.members[..ganged.len()].copy_from_slice(ganged);
        }
        left
    }

    /// By domain: the warps that are in gangs, and that no unit of a slice fetches for, as of when any were
    /// [left](Self::leaves).
    pub fn members(&self) -> &[u64] {
        &self.members
    }
}

/// Where all warps of a gang wait for a line, if they wait at one place.
fn awaited_by_all(members: Together, warps: &WarpTable) -> Option<Pc> {
    let first = warps.fetch_pc(warps.slot_at(members.leader()));
    let waits = |slot: u16| {
        let place = warps.place(slot);
        let missing = warps.sets(place.domain as usize).missing();
        missing >> place.index & 1 != 0 && warps.fetch_pc(slot) == first
    };
    warps.slots_of(members).all(waits).then_some(first)
}

/// Where to fetch from for warps whose buffers are empty: behind what they had, as long as that is
/// the same for all, else where they are.
#[inline]
fn common_pc(members: Together, residents: &mut Residents, launched: &Launched) -> Pc {
    let Residents { warps, groups, .. } = residents;
    match warps.kept_as_one(members) {
        Some(first) => {
            warps.fetch_from(first, launched.facts.len() as Pc, |_| groups.get(first).pc)
        }
        None => common_pc_of_parts(members, residents, launched),
    }
}

#[inline(never)]
fn common_pc_of_parts(members: Together, residents: &mut Residents, launched: &Launched) -> Pc {
    let Residents { warps, groups, .. } = residents;
    let end = launched.facts.len() as Pc;
    let first = warps.slot_at(members.leader());
    let mut kept = warps.kept_slots(members);
    let next = |slot| groups.get(slot).pc;
    let pc = warps.fetch_from(first, end, next);
    let mut from = |slot| warps.fetch_from(slot, end, next);
    if kept.clone().skip(1).all(|slot| from(slot) == pc) {
        return pc;
    }
    let pc = groups.get(first).pc;
    kept.by_ref().for_each(|slot| warps.restart_fetch(slot, pc));
    pc
}

/// Puts what was fetched for a gang into its buffers.
#[inline]
fn decode_gang(gang: Together, pc: Pc, residents: &mut Residents, launched: &Launched) {
    let Residents {
        warps,
        books,
        groups,
        ..
    } = residents;
    match warps.kept_as_one(gang) {
        Some(slot) if warps.waits_at(slot, pc) && !warps.in_step() => {
            let next = groups.get(slot).pc;
            warps.decode_kept(gang, slot, pc, next, &launched.facts, books);
        }
        _ => decode_parts(gang, pc, residents, launched),
    }
}

/// As [`decode_gang`], for warps of which some have another that stands for them, or wait for something
/// else by now.
#[inline(never)]
fn decode_parts(gang: Together, pc: Pc, residents: &mut Residents, launched: &Launched) {
    let Residents {
        warps,
        books,
        groups,
        ..
    } = residents;
    // Warps that others stand for wait like these, at the same PC.
    let mut kept = warps.kept_slots(gang);
    let next = groups.get(warps.slot_at(gang.leader())).pc;
    if kept.all(|slot| warps.waits_at(slot, pc) && groups.get(slot).pc == next) {
        return warps.decode_gang(gang, pc, next, &launched.facts, books);
    }
    // Of those that still wait for it, each gets its own, the ones that go on at one instruction together.
    let slot = |slice: usize| warps.slot_at(gang.among(1 << slice).leader());
    let waits = |slot: u16| warps.is_running(slot) && warps.fetch_pc(slot) == pc;
    let waiting = each(gang.slices().into()).filter(|slice| waits(slot(*slice)));
    let mut left = waiting.fold(0u8, |all, slice| all | 1 << slice);
    while left != 0 {
        let next = groups.get(warps.slot_at(gang.among(left).leader())).pc;
        let same = |slice: &usize| {
            let place = gang.among(1 << slice).leader();
            groups.get(warps.slot_at(place)).pc == next
        };
        let same = each(left.into()).filter(same);
        let same = same.fold(0, |all, slice| all | 1 << slice);
        left &= !same;
        warps.decode_gang(gang.among(same), pc, next, &launched.facts, books);
    }
}
