//! An SM that drifts.

use super::super::pace::News;
use super::lane::Lane;
use super::places::Wish;
use super::steps::BySteps;
use super::track::Track;
use crate::memory::network::crossbar::Backlog;
use crate::memory::network::inbox::Inbox;
use crate::sm::{Sm, SmFault};
use crate::time::Cycle;

/// The SM, and where it is.
pub struct Runner<'a> {
    number: usize,
    sm: &'a mut Sm,
    inbox: &'a mut Inbox,
    /// The step that it is in, and the cycle to which it has come.
    step: u64,
    at: Cycle,
    waits: Waits,
    /// How often it has waited for the exchange.
    waited: u64,
    /// Flits that it has sent in each step.
    sent: BySteps<u32>,
}

/// What an SM waits for that cannot go on by itself.
enum Waits {
    Not,
    /// The exchange, to come where it is.
    ForExchange,
    /// All others, to come there: a block may go to where one has ended. It has told nothing else yet.
    ForBlock(News),
}

impl<'a> Runner<'a> {
    /// An SM that has come to cycle `at`, where the first step begins.
    pub fn new(number: usize, sm: &'a mut Sm, inbox: &'a mut Inbox, at: Cycle) -> Runner<'a> {
        Runner {
            number,
            sm,
            inbox,
            step: 0,
            at,
            waits: Waits::Not,
            waited: 0,
            sent: BySteps::default(),
        }
    }

    /// Whether others wait for it.
    pub fn lags(&self, track: &Track) -> bool {
        track.exchanged() == self.step
    }

    /// Runs as far as it can in one step. Returns whether it could at all.
    pub fn go_on(&mut self, track: &Track) -> bool {
        let lane = &track.lanes[self.number];
        let known = match self.waits {
            Waits::ForBlock(news) => self.hear_of_block(&news, track).then_some(None),
            Waits::ForExchange if !lane.is_let_go(self.waited) => None,
            Waits::ForExchange => {
                self.waits = Waits::Not;
                self.waited += 1;
                self.be_ready(track, lane)
            }
            Waits::Not => self.be_ready(track, lane),
        };
        let Some(backlog) = known.filter(|_| !track.is_over()) else {
            return false;
        };
        self.waits = Waits::Not;
        if let Some(backlog) = backlog {
            self.sm.port.hear_backlog(backlog, self.at);
        }
        super::linger();
        lane.letter().read(self.sm, self.inbox);
        self.run(track, lane);
        true
    }

    /// Whether it can run from where it is; and what is in the way of its requests there, if the exchange has come that far.
    fn be_ready(&mut self, track: &Track, lane: &Lane) -> Option<Option<Backlog>> {
        match self.at == track.steps.start_of(self.step) {
            true => self.begin(track, lane),
            false => Some(Some(lane.backlog(self.step))),
        }
    }

    /// Whether it can go on behind a block that has ended. If not by itself, it waits for the exchange, with this to tell.
    fn hear_of_block(&mut self, news: &News, track: &Track) -> bool {
        if track.is_over() {
            return false;
        }
        let wish = track.places.ask(self.at, track.lanes);
        // Some may wait for the exchange before this cycle, and the exchange for all.
        let stuck = || track.none_but_those_who_wish_run(self.step);
        let refused = wish == Wish::Refused || wish == Wish::Waits && stuck();
        if refused {
            self.waits = Waits::ForExchange;
            self.tell(*news, Ok(()), track);
        }
        if refused || wish == Wish::Granted {
            track.places.wait_no_more(self.step);
        }
        wish == Wish::Granted
    }

    /// Whether it can begin a step; and what is in the way of its requests as it does, if the exchange has come that far.
    fn begin(&mut self, track: &Track, lane: &Lane) -> Option<Option<Backlog>> {
        let step = self.step;
        if step >= track.steps.count || !track.is_ready(step) {
            return None;
        }
        let exchanged = track.exchanged();
        let known = lane.backlog_before(exchanged);
        if exchanged == step {
            return Some(Some(known));
        }
        // The port must have known room ever since it was told: it does not know what moves up while the buffer is full.
        if !self.sm.port.knows_room() {
            return None;
        }
        // Nothing of what it has sent since may have left.
        let since: u32 = (exchanged..step).map(|step| *self.sent.of(step)).sum();
        self.sm.port.hear_at_most(known.flits + since);
        Some(None)
    }

    /// Runs in the rest of its step, and tells what there is to tell.
    fn run(&mut self, track: &Track, lane: &Lane) {
        let end = track.steps.end_of(self.step);
        let stretch = track.stretch(self.at, self.step, self.number);
        if stretch.span.start == track.steps.start_of(self.step) {
            *self.sent.of_mut(self.step) = 0;
        }
        let before = self.sm.port.flits();
        let (mut news, result) = stretch.run(track.image, self.sm, self.inbox, None);
        *self.sent.of_mut(self.step) += self.sm.port.flits() - before;
        self.at = news.came_to;
        let completed = std::mem::take(&mut news.completed);
        if completed != 0 {
            track.places.ended(self.at, self.number, completed);
        }
        lane.pass(self.at);
        let wakes = news.next.min(news.next_reply) != Cycle::NEVER;
        let wants_block = stretch.blocks_wait && completed != 0;
        let by_itself = self.at < end && !news.idle && self.sm.port.knows_room();
        if wants_block && by_itself && result.is_ok() {
            track.places.wait(self.step);
            self.waits = Waits::ForBlock(news);
            return;
        }
        if self.at < end || result.is_err() || wants_block || news.idle && wakes {
            self.waits = Waits::ForExchange;
        }
        self.tell(news, result, track);
        self.step += u64::from(self.at == end);
    }

    /// Tells the exchange what there is to tell of the step.
    fn tell(&mut self, news: News, result: Result<(), SmFault>, track: &Track) {
        {
            let mut told = track.lanes[self.number].told(self.step);
            debug_assert!(!told.is_new && told.sent.is_empty());
            std::mem::swap(&mut told.sent, &mut self.sm.port.sent);
            (told.news, told.result) = (news, result);
            told.waits = matches!(self.waits, Waits::ForExchange);
            told.is_new = true;
        }
        track.pause(self.step);
    }

    /// All stop where they are: tells what it has not told.
    pub fn stop(mut self, track: &Track) {
        if let Waits::ForBlock(news) = self.waits {
            self.tell(news, Ok(()), track);
        }
    }
}
