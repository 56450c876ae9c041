//! Issue: each scheduler picks at most one warp a cycle. What its instruction then does is in
//! `perform`.

use super::{Launched, Quantum, Sm, SmFault};
use crate::schedule::Place;
use crate::stats::SchedulerState;

impl Sm {
    /// One cycle of all schedulers; which goes first alternates.
    pub(super) fn issue(&mut self, now: u64, quantum: &mut Quantum) -> Result<(), SmFault> {
        let domains = self.domains.len();
        let looked = if self.everywhere {
            self.look_everywhere(now)
        } else {
            self.look_where_warps_move(now)
        };
        let mut next = match domains.is_power_of_two() {
            true => now as usize & (domains - 1),
            false => now as usize % domains,
        };
        for _ in 0..domains {
            let d = next;
            next = if d + 1 == domains { 0 } else { d + 1 };
            if self.turned >> d & 1 != 0 {
                continue; // issued as a member of a gang
            }
            let units = self.room();
            let domain = &self.domains[d];
            // Another domain's turn may have let a warp of this one go.
            if looked >> d & 1 == 0 && domain.moving() == 0 {
                self.turned |= 1 << d; // accounted for when something changes
                continue;
            }
            // While an instruction holds the issue slot there is room for no other.
            let room = match domain.issue_free <= now {
                true => domain.with_room(units),
                false => 0,
            };
            let ready = self.ready[d] & room;
            if ready == 0 {
                self.issue_nothing(d, room, now, quantum.launched);
                continue;
            }
            self.pass(d, now);
            let all = std::mem::replace(&mut self.ready[d], ready);
            let index = self.policy.select(d, &self.ready);
            debug_assert!(ready >> index & 1 != 0, "a policy picks only ready warps");
            let leader = Place {
                domain: d as u8,
                index,
            };
            if self.policy_gangs {
                self.ready[d] = all;
                self.issue_gang(leader, now, quantum)?;
                continue;
            }
            self.take_turn(leader, room, now, quantum.launched);
            let result = self.issue_one(leader, now, quantum);
            self.policy.issued(leader);
            result?;
        }
        Ok(())
    }

    /// Finds out which warps are ready; gives back the domains, a bit each, with warps that
    /// issue would do something about.
    #[inline(always)]
    fn look_where_warps_move(&mut self, now: u64) -> u64 {
        let mut looked = 0;
        for (d, (domain, ready)) in self.domains.iter().zip(&mut self.ready).enumerate() {
            let free = u64::from(domain.issue_free <= now).wrapping_neg();
            *ready = domain.issuable() & free;
            looked |= u64::from(domain.moving() != 0) << d;
        }
        looked
    }

    /// The same where every domain is looked at in every cycle.
    #[inline(never)]
    fn look_everywhere(&mut self, now: u64) -> u64 {
        for d in 0..self.domains.len() {
            self.pass(d, now);
            let considered = if self.policy_refreshes {
                let facts = self.facts(d);
                self.policy.refresh(d, &facts)
            } else {
                !0
            };
            let domain = &self.domains[d];
            let free = domain.issue_free <= now;
            self.ready[d] = domain.issuable() & considered & if free { !0 } else { 0 };
        }
        !0
    }

    /// The domain's turn, with no warp that is ready and has room.
    #[inline(always)]
    fn issue_nothing(&mut self, d: usize, room: u64, now: u64, launched: &Launched) {
        if !self.everywhere && self.domains[d].mismatched() == 0 {
            self.stand_still(d, room, now);
        } else {
            self.end_empty_turn(d, room, now, launched);
        }
    }

    #[inline(never)]
    fn end_empty_turn(&mut self, d: usize, room: u64, now: u64, launched: &Launched) {
        self.pass(d, now);
        self.account_stall(d, room, now);
        self.turn_over(d);
        self.flush_mismatched(d, None, launched);
        self.policy.advance(d, now, now + 1);
        self.ready[d] = 0; // no gang may take what has been accounted for
    }

    /// A warp is about to issue: the cycle is accounted for, and with it its domain's turn is
    /// over. `room` is the set of its domain's warps that have room at their unit.
    #[inline(always)]
    pub(super) fn take_turn(&mut self, place: Place, room: u64, now: u64, launched: &Launched) {
        let d = place.domain as usize;
        self.ready[d] = 0;
        let domain = &mut self.domains[d];
        domain.issue_free = now + self.passes;
        domain.account(1 << place.index, room, 1, &mut self.stats.warps);
        self.watch(d, 1 << place.index, room, now);
        self.stats.schedulers.count(SchedulerState::Issued, 1);
        self.turn_over(d);
        self.flush_mismatched(d, Some(place.index), launched);
    }

    /// The domain has warps that could issue, but not now. As long as none of them changes and
    /// the same ones have room, its cycles are accounted for together.
    #[inline]
    fn stand_still(&mut self, d: usize, room: u64, now: u64) {
        self.note_room(d, room & self.domains[d].issuable(), now);
        self.turned |= 1 << d;
        self.ready[d] = 0;
    }

    /// The domain has had its turn in this cycle, and the cycle is accounted for.
    #[inline]
    fn turn_over(&mut self, d: usize) {
        self.turned |= 1 << d;
        self.count_cycles(d, self.now + 1);
    }

    /// Warps that the scheduler looked at and found on the wrong path lose their buffer.
    #[inline(always)]
    fn flush_mismatched(&mut self, d: usize, winner: Option<u8>, launched: &Launched) {
        let wrong = self.domains[d].mismatched();
        if wrong != 0 {
            self.flush_wrong(d, wrong, winner, launched);
        }
    }

    #[inline(never)]
    fn flush_wrong(&mut self, d: usize, mut wrong: u64, winner: Option<u8>, launched: &Launched) {
        while wrong != 0 {
            let index = wrong.trailing_zeros() as u8;
            wrong &= wrong - 1;
            if winner.is_none_or(|w| self.policy.before(d, index, w)) {
                let slot = self.slot_at(Place {
                    domain: d as u8,
                    index,
                });
                let pc = self.groups.get(slot).pc;
                self.slots[slot as usize].buffer.flush(pc);
                self.domains[d].control |= 1 << index;
                // A branch on the wrong path will never resolve.
                self.domains[d].unresolved &= !(1 << index);
                self.update_head(slot, launched);
            }
        }
    }
}
