//! Warps that could issue but for room at their unit. When memory is the bottleneck that is most
//! of them most of the time (in breadth-first search on `gtx480`, eight of ten cycles that had
//! to run had such warps and only one had any that could issue): as long as the collectors
//! stand still, nothing about them changes, and their cycles are skipped like those of warps
//! that wait for data.

use super::*;

impl Sm {
    /// The next cycle at or after `now` in which issue has something to do, if nothing else
    /// changes before; `u64::MAX` for none.
    #[inline]
    pub(super) fn issue_due(&self, now: u64) -> u64 {
        let mut due = u64::MAX;
        let room = self.room();
        for (d, domain) in self.domains.iter().enumerate() {
            let moving = domain.moving();
            if moving == 0 {
                continue;
            }
            if self.everywhere || moving & !domain.matched != 0 {
                return now;
            }
            if moving & domain.with_room(room) != 0 {
                due = due.min(self.issue_free[d].max(now));
            }
        }
        due
    }

    /// The same; and from `now` on the warps of the domains in which nobody can issue are accounted
    /// for as without room, whatever else has it: only warps that could issue are asked for it.
    #[inline]
    pub(super) fn stand(&mut self, now: u64) -> u64 {
        let due = self.issue_due(now);
        if due > now {
            for d in 0..self.domains.len() {
                if self.rooms[d] != 0 {
                    self.note_room(d, 0, now);
                }
            }
        }
        due
    }

    /// From cycle `now` on, these warps of the domain have room at their units.
    #[inline]
    pub(super) fn note_room(&mut self, d: usize, room: u64, now: u64) {
        if self.rooms[d] != room {
            self.pass(d, now);
            self.rooms[d] = room;
        }
    }
}
