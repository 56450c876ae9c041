//! Who has to run when. Most SMs sleep through most quanta; a glance at a few words here must
//! tell, without touching the SM.

use crate::memory::network::inbox::Inbox;
use crate::memory::system::MemorySystem;
use crate::memory::wake::WakeList;
use crate::sm::Sm;
use crate::time::Cycle;

/// When each SM has something to do next, by the [wake contract](crate::time), how far it has come, and
/// whether it has something to hand over.
#[derive(Debug)]
pub struct Pace {
    sms: WakeList,
    /// Room at its port that each SM waits for, `NO_ROOM` if for none.
    wanted: Vec<u32>,
    /// How many wait for some.
    waiting: usize,
    /// The cycle to which each SM has come if that is later than where all are; and which SMs wait there for
    /// the others.
    came_to: Vec<Cycle>,
    held: Vec<usize>,
    /// Since when each SM is idle; never if it is not.
    idle_since: Vec<Cycle>,
    busy: usize,
    /// The cycle behind the last in which an SM had something to do.
    moved: Cycle,
    /// The SMs that run in the round under way, in order.
    awake: Vec<usize>,
    /// News of them, in the same order.
    news: Vec<News>,
    /// SMs whose stores the others have not seen, and which they are.
    to_flush: Vec<usize>,
    flushes: Vec<bool>,
}

/// An SM waits for no room at its port.
const NO_ROOM: u32 = u32::MAX;

/// What other parts have to know of an SM that has run. The SM itself, which may be in another core's caches, is looked at only if it has something to
/// hand over.
#[derive(Clone, Copy, Debug, Default)]
pub struct News {
    /// When it has something to do next.
    pub next: Cycle,
    /// To which cycle it has come.
    pub came_to: Cycle,
    /// The cycle behind the last in which it had something to do.
    pub moved: Cycle,
    /// Room at its port that it waits for.
    pub wanted: u32,
    /// Blocks that have ended.
    pub completed: u32,
    /// When the first reply arrives that it has not taken.
    pub next_reply: Cycle,
    /// The SM has sent requests.
    pub sent: bool,
    /// The SM has stored what others have not seen.
    pub stored: bool,
    /// The SM has printed.
    pub printed: bool,
    /// The SM is idle, and has been so since this cycle if it was not before.
    pub idle: bool,
    pub became_idle: Option<Cycle>,
}

impl News {
    /// Of this SM, its time aside; what has ended is told once.
    #[inline]
    pub fn of(sm: &mut Sm, inbox: &Inbox) -> News {
        News {
            next: sm.next(),
            next_reply: inbox.next(),
            wanted: sm.port.wanted(),
            completed: sm.take_completed(),
            sent: !sm.port.sent.is_empty(),
            stored: sm.has_stored(),
            printed: !sm.leavings.prints.is_empty(),
            ..News::default()
        }
    }
}

impl Pace {
    /// For SMs that are idle and are all to run at cycle `now`.
    pub fn new(sms: usize, now: Cycle) -> Pace {
        Pace {
            sms: WakeList::starting(sms, now),
            wanted: vec![NO_ROOM; sms],
            waiting: 0,
            came_to: vec![now; sms],
            held: Vec::with_capacity(sms),
            idle_since: vec![now; sms],
            busy: 0,
            moved: now,
            awake: (0..sms).collect(),
            news: Vec::with_capacity(sms),
            to_flush: Vec::with_capacity(sms),
            flushes: vec![false; sms],
        }
    }

    /// SMs that wait for room at their port and may have it are to run. `room` tells, of an SM and what it
    /// waits for.
    #[inline]
    pub fn find_room(&mut self, room: impl Fn(usize, u32) -> bool) {
        if self.waiting != 0 {
            for (sm, &wanted) in self.wanted.iter().enumerate() {
                if wanted != NO_ROOM && room(sm, wanted) {
                    self.sms.lower(sm, Cycle::ZERO);
                }
            }
        }
    }

    /// A round begins in which all SMs run.
    pub fn wake_all(&mut self, at: Cycle, memory: &mut MemorySystem) {
        (0..self.sms.len()).for_each(|sm| self.sms.lower(sm, Cycle::ZERO));
        self.wake(at, Cycle::NEVER, memory);
    }

    /// A round begins in which those SMs run that have not come further than `at` and have something
    /// to do before cycle `end`, by themselves or with a packet from memory.
    pub fn wake(&mut self, at: Cycle, end: Cycle, memory: &mut MemorySystem) {
        self.news.clear();
        self.awake.clear();
        let awake = &mut self.awake;
        let lists = [&mut self.sms, memory.next_replies()];
        WakeList::take(lists, end, |sm| awake.push(sm));
        let (came_to, sms) = (&self.came_to, &mut self.sms);
        self.held.retain(|&sm| came_to[sm] > at);
        self.awake.retain(|&sm| {
            let runs = came_to[sm] <= at;
            if !runs {
                sms.lower(sm, came_to[sm]);
                memory.look_into_inbox(sm);
            }
            runs
        });
    }

    /// The SMs that run in the round under way, in order.
    #[inline]
    pub fn awake(&self) -> &[usize] {
        &self.awake
    }

    /// The SMs among them that have sent requests.
    pub fn senders(&self) -> impl Iterator<Item = usize> + '_ {
        let heard = self.awake.iter().zip(&self.news);
        heard.filter(|(_, news)| news.sent).map(|(&sm, _)| sm)
    }

    /// News of the next of them.
    #[inline]
    pub fn heard(&mut self, news: News) {
        self.news.push(news);
    }

    /// SM at place `at` among those that have run in a round up to cycle `to` has this to tell.
    #[inline]
    pub fn ran(&mut self, at: usize, to: Cycle) -> News {
        let (number, news) = (self.awake[at], self.news[at]);
        self.sms.lower(number, news.next);
        self.hear(number, &news);
        if news.came_to < to {
            self.held.push(number);
            if news.completed != 0 {
                self.stop_all_at(number);
            }
        }
        news
    }

    /// No SM goes past where another one waits without a look: a block has ended on it, and another one may take its place then.
    #[inline]
    fn stop_all_at(&mut self, number: usize) {
        self.sms.lower(number, self.came_to[number]);
    }

    /// An SM has this to tell. When it has something to do next, and which SMs wait, other functions note.
    #[inline]
    pub fn hear(&mut self, number: usize, news: &News) {
        let wanted = std::mem::replace(&mut self.wanted[number], news.wanted);
        self.waiting += usize::from(self.wanted[number] != NO_ROOM);
        self.waiting -= usize::from(wanted != NO_ROOM);
        self.came_to[number] = news.came_to;
        self.moved = self.moved.max(news.moved);
        self.set_idle(number, news);
        if news.stored && !std::mem::replace(&mut self.flushes[number], true) {
            self.to_flush.push(number);
        }
    }

    /// Whether no SM has come further than cycle `at`.
    pub fn is_together(&self, at: Cycle) -> bool {
        self.came_to.iter().all(|&came_to| came_to <= at)
    }

    /// SMs that have been [heard](Pace::hear) without others stop. All have come to cycle `at`, and those that have come further wait there.
    pub fn stop(&mut self, at: Cycle, sms: &[Sm]) {
        self.held.clear();
        for number in 0..self.came_to.len() {
            if self.came_to[number] > at {
                self.held.push(number);
                self.stop_all_at(number); // it may be so
            }
        }
        self.look_again(sms);
    }

    #[inline]
    fn set_idle(&mut self, number: usize, news: &News) {
        let since = match (news.idle, news.became_idle) {
            (false, _) => Cycle::NEVER,
            (true, Some(cycle)) => cycle,
            (true, None) => return,
        };
        let before = std::mem::replace(&mut self.idle_since[number], since);
        self.busy += usize::from(since == Cycle::NEVER);
        self.busy -= usize::from(before == Cycle::NEVER);
    }

    /// The cycle to which all SMs have come in a round up to cycle `to`.
    #[inline]
    pub fn reached(&self, to: Cycle) -> Cycle {
        let waits = self.held.iter().map(|&sm| self.came_to[sm]);
        waits.fold(to, Cycle::min)
    }

    /// If all SMs are idle: since when.
    pub fn idle_since(&self) -> Option<Cycle> {
        let last = self.idle_since.iter().copied().max();
        last.filter(|_| self.busy == 0)
    }

    /// The cycle behind the last in which an SM had something to do.
    pub fn moved(&self) -> Cycle {
        self.moved
    }

    /// Something outside the SMs has given them more to do.
    pub fn look_again(&mut self, sms: &[Sm]) {
        for (number, sm) in sms.iter().enumerate() {
            self.sms.lower(number, sm.next());
        }
    }

    /// Hands over the SMs that have stored since this was asked last, in order.
    pub fn flush(&mut self, hand_over: impl FnMut(usize)) {
        self.to_flush.sort_unstable();
        self.flushes.fill(false);
        self.to_flush.drain(..).for_each(hand_over);
    }

    /// Whether some SM waits for room at its port which it has, or will have soon. `soon` tells, of an
    /// SM and the room it waits for.
    pub fn awaits_room(&self, soon: impl Fn(usize, u32) -> bool) -> bool {
        let mut waiting = self.wanted.iter().enumerate();
        self.waiting != 0 && waiting.any(|(sm, &wanted)| wanted != NO_ROOM && soon(sm, wanted))
    }

    /// When the first SM has something to do, room at its port aside.
    pub fn next(&self) -> Cycle {
        self.sms.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where an SM on which a block has ended waits for the others, the run has to look, whenever it has something to do next itself.
    #[test]
    fn no_sm_goes_past_where_an_sm_waits() {
        let [now, ahead, later] = [100, 124, 400].map(Cycle::new);
        let news = |came_to| News {
            came_to,
            next: later,
            completed: 1,
            ..News::default()
        };
        let waits = |pace: &mut Pace| (pace.reached(later), pace.next());
        let asleep = || {
            let mut pace = Pace::new(2, later);
            pace.awake = vec![0];
            pace
        };
        let mut in_a_round = asleep();
        in_a_round.heard(news(ahead));
        in_a_round.ran(0, later);
        assert_eq!(waits(&mut in_a_round), (ahead, ahead));
        let mut apart = asleep();
        apart.hear(0, &news(ahead));
        apart.hear(1, &news(now));
        apart.stop(now, &[]);
        assert_eq!(waits(&mut apart), (ahead, ahead));
    }
}
