//! Warps that could issue but for room at their unit. When memory is the bottleneck that is most
//! of them most of the time (in breadth-first search on `gtx480`, eight of ten cycles that had
//! to run had such warps and only one had any that could issue): as long as the collectors
//! stand still, nothing about them changes, and their cycles are skipped like those of warps
//! that wait for data.
//!
//! What issue would find is kept until a warp changes or the room does: most cycles that run
//! move only the collectors or the load/store unit.

use super::*;

/// Who has to look at the warps again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stirred {
    /// Issue has.
    pub issue: bool,
    /// Fetch has.
    pub fetch: bool,
}

impl Stirred {
    /// A warp has changed.
    pub const BOTH: Stirred = Stirred {
        issue: true,
        fetch: true,
    };
}

impl Sm {
    /// The next cycle at or after `now` in which issue has something to do, if nothing else
    /// changes before; `u64::MAX` for none.
    #[inline]
    pub(super) fn issue_due(&self, now: u64) -> u64 {
        self.find_issue().max(now)
    }

    /// The same; a cycle that has passed stands for "at once".
    fn find_issue(&self) -> u64 {
        let mut due = u64::MAX;
        let room = self.room();
        for domain in &self.domains {
            let moving = domain.moving();
            if moving == 0 {
                continue;
            }
            if self.everywhere || moving & !domain.matched != 0 {
                return 0;
            }
            if moving & domain.with_room(room) != 0 {
                due = due.min(domain.issue_free);
            }
        }
        due
    }

    /// As [`issue_due`](Sm::issue_due); and from `now` on the warps of the domains in which
    /// nobody can issue are accounted for as without room, whatever else has it: only warps that
    /// could issue are asked for it.
    #[inline]
    pub(super) fn stand(&mut self, now: u64) -> u64 {
        let room = self.room();
        if self.stirred.issue || self.room_seen != room {
            self.look_for_issue(now, room);
        }
        self.issue_at.max(now)
    }

    fn look_for_issue(&mut self, now: u64, room: u8) {
        self.stirred.issue = false;
        self.room_seen = room;
        self.issue_at = self.find_issue();
        if self.issue_at > now {
            for d in 0..self.domains.len() {
                if self.domains[d].room != 0 {
                    self.note_room(d, 0, now);
                }
            }
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
