//! The turns of schedulers: what each does to its warps in a cycle in which it issues from one, or from none. The
//! first domain of a class (`warps/lockstep`) takes the turns of the whole class.

use super::{Next, Surroundings};
use crate::divergence::Groups;
use crate::place::{alike, each};
use crate::schedule::Chosen;
use crate::sm::facts::OpFacts;
use crate::sm::launch::Launched;
use crate::sm::observe::Books;
use crate::sm::operands::Collectors;
use crate::sm::residents::Residents;
use crate::sm::warps::WarpTable;
use crate::time::Cycle;

/// What schedulers take their turns with: a turn changes what is kept of warps, not what they hold.
pub(super) struct Turns<'a> {
    pub now: Cycle,
    pub warps: &'a mut WarpTable,
    pub books: &'a mut Books,
    pub groups: &'a Groups,
    pub collectors: &'a Collectors,
    pub launched: &'a Launched,
}

impl Surroundings<'_> {
    /// The part that schedulers take their turns with.
    #[inline(always)]
    pub(super) fn turns(&mut self, now: Cycle) -> Turns<'_> {
        let Residents {
            warps,
            books,
            groups,
            ..
        } = &mut *self.residents;
        Turns {
            now,
            warps,
            books,
            groups,
            collectors: self.collectors,
            launched: self.view.launched,
        }
    }
}

impl Turns<'_> {
    /// A warp is about to issue. `room` is the set of its domain's warps that have room at their unit.
    #[inline(always)]
    pub fn take(&mut self, next: &Next, room: u64) {
        let (place, passes) = (next.place, next.facts.passes);
        self.warps.take_turn(place, passes, room, self.books);
        self.drop_wrong_paths(place.domain as usize, Some(place.index));
    }

    /// Warps at the index of `next` are about to issue, one in each domain of its class.
    #[inline(always)]
    pub fn take_class(&mut self, next: &Next, room: u64) {
        let (place, passes) = (next.place, next.facts.passes);
        self.warps.take_class_turn(place, passes, room, self.books);
        self.drop_wrong_paths(place.domain as usize, Some(place.index));
    }

    /// The turns of a class of domains are over, with no warp that is ready and has room.
    #[inline(always)]
    pub fn issue_nothing(&mut self, d: usize, room: u64) {
        if !self.warps.in_step() && self.warps.domain(d).mismatched() == 0 {
            self.warps.stand_still(d, room, self.books);
        } else {
            self.warps.end_empty_turn(d, room, self.books);
            self.drop_wrong_paths(d, None);
            for d in each(self.warps.members(d)) {
                let domain = self.warps.sets(d);
                domain.pass_time(d, self.now, self.now + 1, self.books);
            }
        }
    }

    /// Warps that the scheduler looked at before it took `winner`, or took none, and found on the wrong path,
    /// lose their buffer.
    #[inline(always)]
    fn drop_wrong_paths(&mut self, d: usize, winner: Option<u8>) {
        let wrong = self.warps.domain(d).mismatched();
        if wrong != 0 {
            let (groups, code) = (self.groups, &self.launched.facts);
            drop_these(d, wrong, winner, self.warps, self.books, groups, code);
        }
    }
}

/// Warps of all domains of a class that would have gone before the one that issues have wrong instructions in their
/// buffers: these are dropped. Each domain may rank its warps otherwise.
#[inline(never)]
fn drop_these(
    d: usize,
    wrong: u64,
    winner: Option<u8>,
    warps: &mut WarpTable,
    books: &mut Books,
    groups: &Groups,
    code: &[OpFacts],
) {
    let Some(winner) = winner else {
        return warps.drop_wrong_paths(d, wrong, groups, code, books);
    };
    let mut left = warps.members(d);
    while left != 0 {
        let (domains, lost) = alike(left, |d| ranked_before(winner, d, wrong, &books.policy));
        left &= !domains;
        if lost != 0 {
            warps.isolate(domains);
            let leader = domains.trailing_zeros() as usize;
            warps.drop_wrong_paths(leader, lost, groups, code, books);
        }
    }
}

/// The warps of a domain among these that the policy ranks before the `winner`.
fn ranked_before(winner: u8, d: usize, among: u64, policy: &Chosen) -> u64 {
    let before = each(among).filter(|index| policy.before(d, *index as u8, winner));
    before.fold(0, |all, index| all | 1 << index)
}
