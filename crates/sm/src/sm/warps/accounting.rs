//! Where every cycle of every warp and scheduler went. Cycles are accounted for together as long
//! as nothing changes: an [`Edit`](super::Edit) accounts for the cycles behind it.

use super::WarpTable;
use super::domain::{Domain, Idle};
use crate::place::Place;
use crate::place::each;
use crate::schedule::Facts;
use crate::sm::observe::Books;
use crate::stats::SchedulerState;
use crate::time::Cycle;

/// How long warps have been here, all together. What they do in their cycles is counted state by state; this is
/// known from when they come and go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    /// The cycles in which warps have left, less the cycles in which warps came: modulo 2^64.
    cycles: u64,
}

impl Residency {
    /// A warp comes, and is here from cycle `from` on.
    pub(super) fn begins(&mut self, from: Cycle) {
        self.cycles = self.cycles.wrapping_sub(from.get());
    }

    /// So many warps leave, and are not here from cycle `to` on.
    pub(super) fn ends(&mut self, warps: u32, to: Cycle) {
        let cycles = u64::from(warps).wrapping_mul(to.get());
        self.cycles = self.cycles.wrapping_add(cycles);
    }

    /// Warp-cycles before cycle `end`, at which so many warps are here, that have not been counted.
    fn count(&mut self, left: u32, end: Cycle) -> u64 {
        let until_end = u64::from(left).wrapping_mul(end.get());
        let counted = self.cycles.wrapping_add(until_end);
        self.cycles = 0u64.wrapping_sub(until_end);
        counted
    }
}

impl WarpTable {
    /// Accounts for the time up to the end of a launch. An SM may have run a little beyond:
    /// nothing was resident then, and those cycles are taken back. Returns whether any were.
    pub fn finish(&mut self, end: Cycle, books: &mut Books) -> bool {
        self.part();
        self.scoreboard.settle();
        let mut beyond = false;
        let counters = &mut books.stats.counters;
        counters.scheduler_cycles += (end - self.began) * self.domains.len() as u64;
        let left = self.domains.iter().map(|d| d.resident.count_ones()).sum();
        counters.warp_cycles += self.residency.count(left, end);
        self.began = end;
        for d in 0..self.domains.len() {
            let accounted = self.domains[d].accounted;
            if accounted <= end {
                self.pass(d, end, books);
                continue;
            }
            let cycles = accounted - end;
            books.stats.schedulers.uncount(SchedulerState::Idle, cycles);
            books.stats.counters.w0_idle -= cycles;
            self.domains[d].accounted = end;
            beyond = true;
        }
        beyond
    }

    /// The warps of a domain that the policy considers now.
    pub fn consider(&self, d: usize, books: &mut Books) -> u64 {
        let domain = &self.domains[d];
        let warp = |index| {
            let place = Place {
                domain: d as u8,
                index,
            };
            self.warps[self.slot_at(place) as usize].info()
        };
        let facts = Facts {
            running: domain.running,
            waiting: domain.waiting(),
            long_wait: domain.long_wait,
            accesses: domain.head & domain.accesses,
            known: domain.next_known(),
            warps: Some(&warp),
        };
        let policy = books.policy.considers();
        policy.map_or(!0, |policy| policy.consider(d, &facts))
    }

    /// Accounts for the domain's cycles before `to` that are not yet accounted for: nothing
    /// issued in them and every warp was in the state it is in now.
    #[inline(always)]
    pub fn pass(&mut self, d: usize, to: Cycle, books: &mut Books) {
        if self.domains[d].accounted < to {
            self.account_to(d, to, books);
        }
    }

    /// The first cycle in which a change of a warp counts: the next one where its domain has had its turn.
    pub fn changes_count_from(&self, slot: u16) -> Cycle {
        let d = self.layout.place_of(slot).domain;
        self.now + (self.turned >> d & 1)
    }

    /// Accounts for the cycles of a domain, and of its class, up to the one from which on a change counts.
    #[inline(always)]
    pub(super) fn pass_turn(&mut self, d: usize, books: &mut Books) {
        self.pass(d, self.now + (self.turned >> d & 1), books);
    }

    #[inline(never)]
    fn account_to(&mut self, d: usize, to: Cycle, books: &mut Books) {
        if self.special {
            return self.account_specially(d, to, books);
        }
        account_plainly(&mut self.domains[d], d, to, books);
    }

    /// Accounts for the cycles of a domain that is looked at in every cycle, or that is one of a class.
    #[inline(never)]
    fn account_specially(&mut self, d: usize, to: Cycle, books: &mut Books) {
        if self.classes.any() && !self.classes.is_alone(d) {
            return self.account_class(d, to, books);
        }
        let from = self.domains[d].accounted;
        let domain = &mut self.domains[d];
        books
            .watch
            .states(self.layout, d, domain, 0, domain.room, from);
        count_and_tell(domain, d, to, books);
    }

    /// Accounts for all domains of a class.
    #[inline(never)]
    fn account_class(&mut self, leader: usize, to: Cycle, books: &mut Books) {
        let members = self.classes.members(leader);
        let times = u64::from(members.count_ones());
        let domain = &mut self.domains[leader];
        let (from, room) = (domain.accounted, domain.room);
        let cycles = (to - from) * times;
        let idle = domain.account(0, room, cycles, &mut books.stats.warps);
        count_idle(domain, idle, from, to, times, books);
        domain.accounted = to;
        for d in each(members) {
            count_stall(domain, d, to - from, books);
            domain.pass_time(d, from, to, books);
        }
    }

    /// Accounts for a cycle in which the schedulers of a class of domains looked at their warps and issued none.
    #[inline(never)]
    pub(super) fn account_stall(&mut self, d: usize, room: u64, books: &mut Books) {
        let (now, members) = (self.now, self.classes.members(d));
        let times = u64::from(members.count_ones());
        let domain = &mut self.domains[d];
        books.watch.states(self.layout, d, domain, 0, room, now);
        let idle = domain.account(0, room, times, &mut books.stats.warps);
        count_idle(domain, idle, now, now + 1, times, books);
        each(members).for_each(|d| count_stall(domain, d, 1, books));
        domain.accounted = now + 1;
    }
}

/// Accounts for the cycles of a domain before `to`, where domains are accounted for one by one.
#[inline(always)]
pub(super) fn pass_plainly(domain: &mut Domain, d: usize, to: Cycle, books: &mut Books) {
    if domain.accounted < to {
        account_plainly(domain, d, to, books);
    }
}

#[inline(never)]
fn account_plainly(domain: &mut Domain, d: usize, to: Cycle, books: &mut Books) {
    match books.policy.hears_time() {
        true => count_and_tell(domain, d, to, books),
        false => count_passed(domain, d, to, books),
    }
}

/// Counts the cycles of a domain before `to`, and then tells the policy of them: they are charged by the order before.
#[inline(never)]
fn count_and_tell(domain: &mut Domain, d: usize, to: Cycle, books: &mut Books) {
    let from = domain.accounted;
    count_passed(domain, d, to, books);
    domain.pass_time(d, from, to, books);
}

impl Domain {
    /// The policy hears that nothing has issued in these cycles. It does not where there are no warps: how far an SM runs
    /// beyond the end of a launch must make no difference.
    #[inline(always)]
    pub fn pass_time(&self, d: usize, from: Cycle, to: Cycle, books: &mut Books) {
        if books.policy.hears_time() && self.resident != 0 {
            books.policy.advance(d, from, to);
        }
    }
}

/// Counts the cycles of a domain before `to`, in which nothing issued.
#[inline(always)]
fn count_passed(domain: &mut Domain, d: usize, to: Cycle, books: &mut Books) {
    let from = domain.accounted;
    // Issue keeps `room` up to date where it makes a difference: for warps that could issue
    // but for it.
    let idle = domain.account(0, domain.room, to - from, &mut books.stats.warps);
    count_idle(domain, idle, from, to, 1, books);
    domain.accounted = to;
    count_stall(domain, d, to - from, books);
}

/// Nothing issued from cycle `from` to `to`, in so many domains that are alike: what that is to
/// the paper on thread block compaction.
#[inline(always)]
fn count_idle(domain: &Domain, idle: Idle, from: Cycle, to: Cycle, times: u64, books: &mut Books) {
    let held = domain.issue_free.min(to).since(from);
    let counters = &mut books.stats.counters;
    counters.issue_held += held * times;
    *match idle {
        Idle::Stalled => &mut counters.issue_stalled,
        Idle::Memory => &mut counters.w0_memory,
        Idle::Other => &mut counters.w0_idle,
    } += (to - from - held) * times;
}

/// Why the scheduler of domain `d` did not issue.
#[inline(always)]
fn count_stall(domain: &Domain, d: usize, cycles: u64, books: &mut Books) {
    let first = books.policy.first(d, domain.ranked());
    let state = domain.stall(first);
    debug_assert!(state != SchedulerState::Issued);
    books.stats.schedulers.count(state, cycles);
}

#[cfg(test)]
mod tests {
    use super::Books;
    use crate::sm::residents::Residents;
    use crate::sm::testing;
    use crate::stats::WarpState;
    use crate::time::Cycle;

    /// A change of a warp counts the cycles behind it, of all warps of its domain, in the state in which
    /// they were; the cycles of the other domain are counted when one of its warps changes.
    #[test]
    fn a_change_counts_the_cycles_behind_it() {
        let machine = testing::machine(&[]);
        let launched = testing::launched(&machine, "add.s32 %r1, %r1, 1; ret;", 128);
        let mut residents = testing::residents(&machine, &launched);
        let Residents { warps, books, .. } = &mut residents;
        let fetching = |books: &Books| books.stats.warps.get(WarpState::Fetch);
        warps.end_turns();
        warps.edit(0, books);
        let before = fetching(books);
        warps.start_cycle(Cycle::new(11));
        warps.edit(0, books);
        assert_eq!(fetching(books) - before, 2 * 10, "two warps, ten cycles");
        warps.edit(2, books);
        assert_eq!(fetching(books) - before, 2 * 10, "they have been counted");
        warps.edit(1, books);
        assert_eq!(fetching(books) - before, 2 * 10 + 2 * 11, "the other two");
    }
}
