//! An SM that drifts.

use super::lane::Lane;
use super::track::Track;
use crate::memory::network::crossbar::Backlog;
use crate::memory::network::inbox::Inbox;
use crate::sm::Sm;
use crate::time::Cycle;

/// The SM, and where it is.
pub struct Runner<'a> {
    number: usize,
    sm: &'a mut Sm,
    inbox: &'a mut Inbox,
    /// The period that it is in, and the cycle to which it has come.
    period: u64,
    at: Cycle,
    /// It waits until others have come there, and how often that has been so.
    waits: bool,
    waited: u64,
    /// Flits that it has sent in this period and in the one before.
    sent: u32,
    sent_before: u32,
}

impl<'a> Runner<'a> {
    /// An SM that has come to cycle `at`, where the first period begins.
    pub fn new(number: usize, sm: &'a mut Sm, inbox: &'a mut Inbox, at: Cycle) -> Runner<'a> {
        Runner {
            number,
            sm,
            inbox,
            period: 0,
            at,
            waits: false,
            waited: 0,
            sent: 0,
            sent_before: 0,
        }
    }

    /// Whether others wait for it.
    pub fn lags(&self, track: &Track) -> bool {
        !track.is_exchanged_before(self.period + 1) && track.is_exchanged_before(self.period)
    }

    /// Runs as far as it can in one period. Returns whether it could at all.
    pub fn go_on(&mut self, track: &Track) -> bool {
        let lane = &track.lanes[self.number];
        if self.waits {
            if !lane.is_let_go(self.waited) {
                return false;
            }
            self.waits = false;
            self.waited += 1;
        }
        let known = match self.at == track.start_of(self.period) {
            true => self.begin(track, lane),
            false => Some(Some(lane.backlog(self.period))),
        };
        let Some(backlog) = known.filter(|_| !track.is_over()) else {
            return false;
        };
        if let Some(backlog) = backlog {
            self.sm.port.hear_backlog(backlog, self.at);
        }
        lane.letter().read(self.sm, self.inbox);
        self.run(track, lane);
        true
    }

    /// Whether it can begin a period; and what is in the way of its requests as it does, if the exchange has come that far.
    fn begin(&mut self, track: &Track, lane: &Lane) -> Option<Option<Backlog>> {
        let period = self.period;
        if period >= track.periods || !track.is_ready(period) {
            return None;
        }
        if track.is_exchanged_before(period) {
            // (The one before the first counts as odd.)
            return Some(Some(lane.backlog(period + 1)));
        }
        // It has to have known room ever since it was told: what moves up while the buffer is full it does not know.
        if !self.sm.port.knows_room() {
            return None;
        }
        // Nothing of what it has sent since may have left.
        let before = lane.backlog(period);
        self.sm.port.hear_at_most(before.flits + self.sent_before);
        Some(None)
    }

    /// Runs in the rest of its period, and tells what there is to tell.
    fn run(&mut self, track: &Track, lane: &Lane) {
        let (period, end) = (self.period, track.end_of(self.period));
        let stretch = track.stretch(self.at, period);
        let before = self.sm.port.flits();
        let (news, result) = stretch.run(track.image, self.sm, self.inbox, None);
        self.sent += self.sm.port.flits() - before;
        let wakes = news.next.min(news.next_reply) != Cycle::NEVER;
        self.waits = news.came_to < end
            || result.is_err()
            || stretch.blocks_wait && news.completed != 0
            || news.idle && wakes;
        {
            let mut told = lane.told(period);
            debug_assert!(!told.is_new && told.sent.is_empty());
            std::mem::swap(&mut told.sent, &mut self.sm.port.sent);
            (told.news, told.result) = (news, result);
            (told.waits, told.is_new) = (self.waits, true);
        }
        self.at = news.came_to;
        if self.at == end {
            self.period += 1;
            self.sent_before = std::mem::take(&mut self.sent);
        }
        track.pause(period);
    }
}
