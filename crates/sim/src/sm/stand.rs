//! Warps that could issue but for room at their unit. When memory is the bottleneck that is most
//! of them most of the time: as long as the collectors stand still, nothing about them changes,
//! and their cycles are skipped like those of warps that wait for data.
//!
//! What issue would find is kept, for each domain, until a warp of it changes ([`Stirred`]) or the
//! room does: most cycles that run move only the collectors or the load/store unit.

use super::*;

/// Who has to look at the warps again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stirred {
    /// Issue has, in these domains (a bit each).
    pub issue: u64,
    /// Fetch has.
    pub fetch: bool,
}

impl Stirred {
    /// Warps of any domain may have changed.
    pub const ALL: Stirred = Stirred {
        issue: !0,
        fetch: true,
    };

    /// A warp of this domain has changed.
    #[inline]
    pub fn stir(&mut self, domain: u8) {
        self.issue |= 1 << domain;
        self.fetch = true;
    }
}

impl Sm {
    /// The next cycle at or after `now` in which issue has something to do, if nothing else
    /// changes before; `u64::MAX` for none.
    pub(super) fn issue_due(&self, now: u64) -> u64 {
        let due = |domain: &Domain| domain.issue_due(self.room(), self.everywhere);
        self.domains
            .iter()
            .map(due)
            .fold(u64::MAX, u64::min)
            .max(now)
    }

    /// As [`issue_due`](Sm::issue_due); and from `now` on the warps of the domains in which
    /// nobody can issue are accounted for as without room, whatever else has it: only warps that
    /// could issue are asked for it.
    #[inline]
    pub(super) fn stand(&mut self, now: u64) -> u64 {
        let room = self.room();
        if self.room_seen != room {
            self.room_seen = room;
            self.stirred.issue = !0;
        }
        if self.stirred.issue != 0 {
            self.look_for_issue(now, room);
        }
        self.issue_at.max(now)
    }

    /// Looks again at the domains in which something has changed.
    fn look_for_issue(&mut self, now: u64, room: u8) {
        let mut stirred = std::mem::take(&mut self.stirred.issue);
        let (mut due, mut with_room) = (u64::MAX, 0);
        for domain in &mut self.domains {
            if stirred & 1 != 0 {
                domain.due = domain.issue_due(room, self.everywhere);
            }
            stirred >>= 1;
            due = due.min(domain.due);
            with_room |= domain.room;
        }
        self.issue_at = due;
        if due > now && with_room != 0 {
            self.note_no_room(now);
        }
    }

    #[inline(never)]
    fn note_no_room(&mut self, now: u64) {
        for d in 0..self.domains.len() {
            self.note_room(d, 0, now);
        }
    }

    /// From cycle `now` on, these warps of the domain have room at their units.
    #[inline]
    pub(super) fn note_room(&mut self, d: usize, room: u64, now: u64) {
        if self.domains[d].room != room {
            self.pass(d, now);
            self.domains[d].room = room;
        }
    }
}
