//! What an SM does in every cycle, skipped ones too, where something looks at its warps: a policy that orders them by what they
//! are, the power of the lanes, an observer of details.
//!
//! The policy is asked at issue in a cycle that runs, and for skipped cycles before the next one runs.

use super::Sm;
use super::launch::Launched;
use crate::time::Cycle;

impl Sm {
    /// Whether the policy, the power of the lanes, or an observer of details looks at warps in every cycle.
    pub(super) fn looks_at_warps(&mut self) -> bool {
        let books = &mut self.residents.books;
        books.watch.hears_details() || books.considers() || self.units.power().is_some()
    }

    /// A cycle begins on an SM that is watched. An observer hears of the last one what the divergence model changed in it.
    #[inline(never)]
    pub(super) fn start_watched_cycle(&mut self, now: Cycle, launched: &Launched) {
        self.residents.tell_paths();
        if self.residents.books.considers() {
            self.ask_for_skipped(now, launched);
        }
        // In this cycle issue asks, or `ask_without_issue` does.
        self.clock.asked = now + 1;
        self.residents.warps.start_cycle(now);
        if self.units.power().is_some() {
            self.catch_up_power(now, launched);
        }
    }

    /// Asks the policy in a cycle that runs and in which no warp may issue.
    #[inline(never)]
    pub(super) fn ask_without_issue(&mut self) {
        if self.residents.books.considers() {
            self.residents.ask_policy();
        }
    }

    /// Asks the policy for each cycle before `now` that has not run, and accounts for all of them: a cycle is charged by the
    /// order that the policy had in it.
    #[inline(never)]
    pub(super) fn ask_for_skipped(&mut self, now: Cycle, launched: &Launched) {
        if !self.minds_warps(self.clock.asked) {
            self.clock.asked = now;
        }
        while self.clock.asked < now {
            let at = self.clock.asked;
            self.residents.account_to(at);
            // At the start of the cycle the active sets are still those of the last one.
            self.catch_up_power(at, launched);
            self.residents.ask_policy();
            self.clock.asked = at + 1;
        }
        self.residents.account_to(now);
    }
}
