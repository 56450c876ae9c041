//! Cycles in which the policy plans what all schedulers issue. The warps that it names take the turns of their domains
//! together; domains that hold the same (`warps/lockstep`) have their turns as one.

use super::gather::Kind;
use super::{Issue, Next, Surroundings, Turns};
use crate::place::{Place, alike, each};
use crate::schedule::{IssueView, Together};
use crate::sm::launch::SmFault;
use crate::sm::limits::MOST_DOMAINS;
use crate::time::Cycle;

/// Which warps a plan may name.
pub(super) struct Plannable {
    /// By domain: warps that are ready and have room at their units.
    warps: [u64; MOST_DOMAINS],
    /// By domain: the kinds of units with room, a bit each; whether they are the same for all; and the room that
    /// this is so for.
    kinds: [u8; MOST_DOMAINS],
    same_kinds: bool,
    room: Option<u32>,
}

impl Default for Plannable {
    fn default() -> Plannable {
        Plannable {
            warps: [0; MOST_DOMAINS],
            kinds: [0; MOST_DOMAINS],
            same_kinds: true,
            room: None,
        }
    }
}

impl Issue {
    /// One cycle of all schedulers.
    #[inline(never)]
    pub fn step_planned(&mut self, now: Cycle, with: &mut Surroundings) -> Result<(), SmFault> {
        let mut left = self.find_plannable(&mut with.turns(now));
        let (mut issued, mut settle) = (0, false);
        while left != 0
            && let Some(gang) = self.name_next(&mut with.turns(now))
        {
            self.take_turns(gang, &mut with.turns(now));
            settle |= self.issue_gang(gang, now, with)?;
            issued |= gang.domains();
            left &= !issued;
            if left != 0 {
                self.renew_plannable(left, gang, &mut with.turns(now));
            }
        }
        self.close_access(now, with);
        if issued.count_ones() as usize != self.domains {
            let first = with.residents.blocks.turns.number(now);
            self.end_other_turns(first, &mut with.turns(now));
        }
        if issued != 0 {
            with.residents.books.stats.counters.issue_cycles += 1;
            self.hold_slots(&mut with.turns(now));
        }
        if settle {
            with.residents.settle_plan(now);
        }
        Ok(())
    }

    /// Finds out which warps are ready and have room. Returns the domains that have any, a bit each.
    #[inline]
    fn find_plannable(&mut self, turns: &mut Turns) -> u64 {
        let in_step = turns.warps.in_step();
        if in_step {
            self.look_everywhere(turns);
        }
        self.find_room(turns);
        let (warps, mut any) = (&mut *turns.warps, 0);
        for leader in each(warps.leaders()) {
            let (domain, members) = (warps.domain(leader), warps.members(leader));
            let ready = match in_step {
                true => self.ready[leader],
                false => domain.ready_at(turns.now),
            };
            let plannable = ready & domain.with_room(self.plannable.kinds[leader]);
            match members.count_ones() as usize == self.domains {
                true => self.plannable.warps[..self.domains].fill(plannable), // as most often
                false => each(members).for_each(|d| self.plannable.warps[d] = plannable),
            }
            if plannable != 0 {
                any |= members;
                // The plan may change the order of the warps when it names one.
                warps.pass(leader, turns.now, turns.books);
            }
        }
        any
    }

    /// A gang has issued: its domains have had their turns, and there may be less room for the warps of the domains
    /// that are `left`, a bit each.
    #[inline(never)]
    fn renew_plannable(&mut self, left: u64, gang: Together, turns: &mut Turns) {
        each(gang.domains()).for_each(|d| self.plannable.warps[d] = 0);
        if self.plannable.room != Some(turns.collectors.room()) {
            self.find_room(turns);
            for leader in each(left & turns.warps.leaders()) {
                let domain = turns.warps.domain(leader);
                let room = domain.with_room(self.plannable.kinds[leader]);
                let members = turns.warps.members(leader);
                each(members).for_each(|d| self.plannable.warps[d] &= room);
            }
        }
    }

    /// Finds out at which kinds of units there is room, if that has changed. A class whose domains do not have room
    /// at the same units is split.
    #[inline]
    fn find_room(&mut self, turns: &mut Turns) {
        let room = turns.collectors.room();
        if self.plannable.room != Some(room) {
            self.plannable.room = Some(room);
            let kinds = &mut self.plannable.kinds[..self.domains];
            let same = turns.collectors.room_for_all();
            self.plannable.same_kinds = same.is_some();
            match same {
                Some(same) => kinds.fill(same),
                None => (0..)
                    .zip(kinds)
                    .for_each(|(d, its)| *its = turns.collectors.room_for(d)),
            }
        }
        if !self.plannable.same_kinds && turns.warps.any_alike() {
            self.part_by_room(turns);
        }
    }

    #[inline(never)]
    fn part_by_room(&self, turns: &mut Turns) {
        let warps = &mut *turns.warps;
        for leader in each(warps.leaders()) {
            let mut left = warps.members(leader);
            while left != 0 {
                let (same, _) = alike(left, |d| self.plannable.kinds[d]);
                warps.isolate(same);
                left &= !same;
            }
        }
    }

    /// The warps that the plan names next.
    #[inline]
    fn name_next(&mut self, turns: &mut Turns) -> Option<Together> {
        if let Some(kind) = self.gathered.kind {
            self.hold_other_kinds(kind, turns);
        }
        let ready = &self.plannable.warps[..self.domains];
        let named = turns.books.policy.plan()?.next(&IssueView {
            now: turns.now,
            ready,
            groups: turns.groups,
            layout: turns.warps.layout(),
        })?;
        debug_assert!(
            named
                .iter()
                .all(|place| ready[place.domain as usize] >> place.index & 1 != 0),
            "a plan names only ready warps"
        );
        Some(named)
    }

    /// An access of this kind is being gathered: memory instructions of others do not issue.
    fn hold_other_kinds(&mut self, kind: Kind, turns: &Turns) {
        let warps = &turns.warps;
        for (d, plannable) in (0..).zip(&mut self.plannable.warps[..self.domains]) {
            for index in each(*plannable & warps.sets(d.into()).accesses()) {
                let index = index as u8;
                let pc = warps.next_of_any(warps.slot_at(Place { domain: d, index }));
                if Kind::of(pc, turns.launched) != kind {
                    *plannable &= !(1 << index);
                }
            }
        }
    }

    /// The warps of a gang are about to issue: the turns of their domains are over.
    #[inline]
    fn take_turns(&mut self, gang: Together, turns: &mut Turns) {
        turns.warps.isolate_gang(gang);
        let next = Next::at(gang.leader(), turns.warps, turns.launched); // all issue the same
        for leader in each(gang.domains() & turns.warps.leaders()) {
            let kinds = self.plannable.kinds[leader];
            let room = turns.warps.domain(leader).with_room(kinds);
            let place = Place {
                domain: leader as u8,
                ..next.place
            };
            turns.take_class(&Next { place, ..next }, room);
        }
    }

    /// The turns of the domains that have issued nothing are over, in turn from the `first` on.
    fn end_other_turns(&mut self, first: usize, turns: &mut Turns) {
        self.find_room(turns);
        let begins = !0 << (first % self.domains);
        for domains in [begins, !begins] {
            for d in each(turns.warps.leaders() & domains) {
                let warps = &mut *turns.warps;
                if warps.had_turn(d) {
                    continue;
                }
                if warps.domain(d).moving() == 0 && !warps.in_step() {
                    warps.skip_turn(d);
                    continue;
                }
                let kinds = self.plannable.kinds[d];
                let room = warps.domain(d).with_room_at(turns.now, kinds);
                turns.issue_nothing(d, room);
            }
        }
    }
}
