//! The gang front end: fetches once for all warps of a gang, before the units of the slices and past
//! their small caches (variable warp sizing, section 4.6).

use super::icache::ICache;
use super::unit::{address, decode, take};
use crate::divergence::Groups;
use crate::place::{alike, each};
use crate::schedule::{FetchView, Together};
use crate::sm::facts::OpFacts;
use crate::sm::launch::Launched;
use crate::sm::limits::MOST_DOMAINS;
use crate::sm::memory::Outcome;
use crate::sm::observe::Books;
use crate::sm::residents::Residents;
use crate::sm::warps::{Domain, Waiters, WarpTable};
use crate::stats::SmCounters;
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
    /// By scheduler of each slice: indices at which a warp of any of its domains is in both, and those at which the
    /// warps of all of them are. See [`FetchView`].
    wanting: Vec<u64>,
    in_all: Vec<u64>,
    /// Indices at which a warp of any domain may be fetched for, and at which one is to be found finished.
    fetchable: u64,
    leaving: u64,
}

impl Seen {
    /// Nothing yet, with so many schedulers of each slice.
    fn new(schedulers: usize) -> Seen {
        Seen {
            lacking: [[0; 2]; MOST_DOMAINS],
            wanting: vec![0; schedulers],
            in_all: vec![0; schedulers],
            fetchable: 0,
            leaving: 0,
        }
    }

    /// Looks at all.
    #[inline(always)]
    fn look(&mut self, warps: &WarpTable, waiters: Waiters) {
        let (mut may, mut leaving) = (0, 0);
        let schedulers = self.wanting.len();
        self.wanting.fill(0);
        self.in_all.fill(!0);
        let mut left = warps.leaders();
        while left != 0 {
            let d = left.trailing_zeros() as usize % MOST_DOMAINS;
            left &= left - 1;
            let sets = warps.domain(d);
            let (lacking, fetchable) = (sets.lacking(), fetchable_together(sets, waiters));
            self.lacking[d] = [lacking, fetchable];
            let scheduler = if schedulers == 1 { 0 } else { d % schedulers };
            self.wanting[scheduler] |= lacking & fetchable;
            self.in_all[scheduler] &= lacking & fetchable;
            may |= sets.fetchable(waiters);
            leaving |= sets.leaving();
        }
        (self.fetchable, self.leaving) = (may, leaving);
    }

    /// Whether any warp lacks its next instruction and may be fetched for.
    #[inline]
    fn any_wants(&self) -> bool {
        self.wanting.iter().any(|set| *set != 0)
    }

    /// The warps at an index, in the domains of one scheduler of each slice, want nothing any more.
    #[inline]
    fn forget(&mut self, index: u8) {
        let others = !(1 << index);
        self.wanting[0] &= others;
        self.in_all[0] &= others;
        self.fetchable &= others;
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
            seen: Seen::new(schedulers),
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
    pub fn decode(
        &mut self,
        warps: &mut WarpTable,
        books: &mut Books,
        groups: &Groups,
        code: &[OpFacts],
    ) {
        if !self.gangs.is_empty() {
            for (gang, pc) in &self.gangs {
                decode_gang(*gang, *pc, warps, books, groups, code);
            }
            self.gangs.clear();
        }
        if !self.fetched.is_empty() {
            decode(&mut self.fetched, warps, books, groups, code);
        }
    }

    /// A cycle begins, in which so many gangs may be fetched for.
    pub fn open_ports(&mut self, gang_fetches: u32) {
        self.left = gang_fetches;
    }

    /// Whether a line that was asked for by this slot is for a gang.
    #[inline]
    pub fn awaits(&self, slot: u16) -> bool {
        self.waiting.iter().any(|(first, _)| *first == slot)
    }

    /// The line that a gang waited for has come: it is fetched now, if there is a fetch left in this
    /// cycle; says whether.
    pub fn line_has_come(
        &mut self,
        slot: u16,
        warps: &mut WarpTable,
        counters: &mut SmCounters,
    ) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let Some(at) = self.waiting.iter().position(|(first, _)| *first == slot) else {
            return true;
        };
        let (_, members) = self.waiting.swap_remove(at);
        let mut any = false;
        if let Some(first) = awaited_by_all(members, warps) {
            warps.set_gang_missing(members, false);
            warps.gang_fetch_under_way(members);
            self.gangs.push((members, first));
            counters.fetches += 1;
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
        counters.fetches += u64::from(any);
        true
    }

    /// The line has come that was asked for by this slot; if it was for a gang, the wait of all its warps that are
    /// still here is over. Returns whether it was.
    pub fn end_wait(&mut self, slot: u16, warps: &mut WarpTable) -> bool {
        let Some(at) = self.waiting.iter().position(|(first, _)| *first == slot) else {
            return false;
        };
        let (_, members) = self.waiting.swap_remove(at);
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
    pub fn fetch(
        &mut self,
        icache: &mut ICache,
        warps: &mut WarpTable,
        books: &mut Books,
        groups: &Groups,
        launched: &Launched,
    ) {
        let waiters = self.waiters;
        self.seen.look(warps, waiters);
        while self.left != 0 && icache.has_port() && self.seen.any_wants() {
            let Some(members) = self.next_gang(warps, books) else {
                return;
            };
            let counters = &mut books.stats.counters;
            if !self.fetch_for(members, icache, warps, counters, groups, launched) {
                continue;
            }
            if members.len() == self.members.len() {
                // None of its warps wants anything any more, and no class has parted.
                self.seen.forget(members.index());
            } else if self.left != 0 {
                self.seen.look(warps, waiters);
            }
        }
    }

    /// The gang that is fetched for next.
    #[inline]
    fn next_gang(&self, warps: &WarpTable, books: &mut Books) -> Option<Together> {
        let lacking = &self.seen.lacking;
        books.policy.plan()?.next_fetch(&FetchView {
            wanting: &self.seen.wanting,
            in_all: &self.seen.in_all,
            slices: &|home| warps.slices_in(home, |d| lacking[d % MOST_DOMAINS]),
        })
    }

    /// Fetches for a gang, which then gets its instructions, now or when their line comes, unless the instruction
    /// cache cannot take the miss. Says whether it can.
    #[inline(always)]
    fn fetch_for(
        &mut self,
        members: Together,
        icache: &mut ICache,
        warps: &mut WarpTable,
        counters: &mut SmCounters,
        groups: &Groups,
        launched: &Launched,
    ) -> bool {
        self.left -= 1;
        let pc = common_pc(members, warps, groups, launched);
        let first = warps.slot_at(members.leader());
        let outcome = icache.look_up(address(pc, launched), first);
        if outcome == Outcome::Stall {
            return false;
        }
        let hit = outcome == Outcome::Hit;
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

    /// Once gangs have been fetched for: the domains, a bit each, with warps in no gang that the units of slices are to
    /// fetch for, or with finished warps that they are to notice. `lines`: some of their ports may be taken by lines that have come.
    #[inline(always)] // most often there are none
    pub fn leaves(&mut self, now: Cycle, lines: bool, residents: &mut Residents) -> u64 {
        if self.seen.fetchable | self.seen.leaving == 0 {
            return 0;
        }
        let Residents { warps, books, .. } = &mut *residents;
        let ganged = books
            .policy
            .plan()
            .map_or(&[][..], |p| p.fetched_together());
        let in_all = ganged.iter().fold(!0, |all, set| all & set);
        match (self.seen.fetchable & !in_all, self.seen.leaving) {
            (0, 0) => 0,
            (0, _) if !lines => self.notice_finished(now, residents),
            _ => self.find_left(warps, ganged),
        }
    }

    /// Where units of slices have no warp to fetch for, they notice all warps that have finished, the ones of a home warp together,
    /// if no observer has to hear of each. Returns as [`leaves`](Self::leaves).
    #[inline(never)]
    fn notice_finished(&mut self, now: Cycle, residents: &mut Residents) -> u64 {
        let heard = residents.warps.in_step() || residents.books.watch.is_on();
        if self.seen.wanting.len() > 1 || heard {
            let plan = residents.books.policy.plan();
            let ganged = plan.map_or(&[][..], |plan| plan.fetched_together());
            return self.find_left(&residents.warps, ganged);
        }
        for index in each(self.seen.leaving) {
            residents.retire_gang(index as u8, now);
        }
        0
    }

    #[inline(never)]
    fn find_left(&mut self, warps: &WarpTable, ganged: &[u64]) -> u64 {
        let (mut left, waiters) = (0, self.waiters);
        for leader in each(warps.leaders()) {
            let sets = warps.domain(leader);
            let (fetchable, leaving) = (sets.fetchable(waiters), sets.leaving());
            if fetchable | leaving == 0 {
                continue;
            }
            for d in each(warps.members(leader)) {
                let those = fetchable & !ganged.get(d).unwrap_or(&0) | leaving;
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
fn common_pc(members: Together, warps: &mut WarpTable, groups: &Groups, launched: &Launched) -> Pc {
    match warps.kept_as_one(members) {
        Some(first) => {
            warps.fetch_from(first, launched.facts.len() as Pc, |_| groups.get(first).pc)
        }
        None => common_pc_of_parts(members, warps, groups, launched),
    }
}

#[inline(never)]
fn common_pc_of_parts(
    members: Together,
    warps: &mut WarpTable,
    groups: &Groups,
    launched: &Launched,
) -> Pc {
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
fn decode_gang(
    gang: Together,
    pc: Pc,
    warps: &mut WarpTable,
    books: &mut Books,
    groups: &Groups,
    code: &[OpFacts],
) {
    match warps.kept_as_one(gang) {
        Some(slot) if warps.waits_at(slot, pc) && !warps.in_step() => {
            let next = groups.get(slot).pc;
            warps.decode_kept(gang, slot, pc, next, code, books);
        }
        _ => decode_parts(gang, pc, warps, books, groups, code),
    }
}

/// Puts what was fetched into the buffers of a gang's warps one by one: no warp stands for all of it, or some wait for
/// something else by now.
#[inline(never)]
fn decode_parts(
    gang: Together,
    pc: Pc,
    warps: &mut WarpTable,
    books: &mut Books,
    groups: &Groups,
    code: &[OpFacts],
) {
    // Warps that others stand for wait like these, at the same PC.
    let mut kept = warps.kept_slots(gang);
    let next = groups.get(warps.slot_at(gang.leader())).pc;
    if kept.all(|slot| warps.waits_at(slot, pc) && groups.get(slot).pc == next) {
        return warps.decode_gang(gang, pc, next, code, books);
    }
    // Each warp that still waits for it gets its own, the ones that go on at one instruction together.
    let layout = warps.layout();
    let slot = |slice: usize| layout.slot_at(gang.among(1 << slice).leader());
    let waits = |slot: u16| warps.is_running(slot) && warps.fetch_pc(slot) == pc;
    let waiting = each(gang.slices().into()).filter(|slice| waits(slot(*slice)));
    let mut left = waiting.fold(0, |all, slice| all | 1 << slice);
    while left != 0 {
        let (same, next) = alike(left, |slice| groups.get(slot(slice)).pc);
        left &= !same;
        warps.decode_gang(gang.among(same as u8), pc, next, code, books);
    }
}
