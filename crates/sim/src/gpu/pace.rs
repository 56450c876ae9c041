//! Who has to run when. Most SMs sleep through most quanta; a glance at a few words here must
//! tell, without touching the SM.

use crate::memory::wake::WakeList;
use crate::sm::Sm;
use crate::time::Cycle;

/// When each SM has something to do next, by the [wake contract](crate::time), and which have
/// something to hand over.
#[derive(Debug)]
pub struct Pace {
    sms: WakeList,
    /// Room at its port that each SM waits for, `NO_ROOM` if for none.
    wanted: Vec<u32>,
    /// How many wait for some.
    waiting: usize,
    /// The SMs that run in the quantum under way, in order.
    awake: Vec<usize>,
    /// News of them that have been heard already, in the same order.
    news: Vec<News>,
    /// SMs that stored or printed in it, in order.
    to_flush: Vec<usize>,
}

/// An SM waits for no room at its port.
const NO_ROOM: u32 = u32::MAX;

/// What everybody else has to know of an SM that has run a quantum.
#[derive(Clone, Copy, Debug, Default)]
pub struct News {
    /// When it has something to do next.
    pub next: Cycle,
    /// Room at its port that it waits for.
    pub wanted: u32,
    /// Blocks that have ended.
    pub completed: u32,
    /// It has sent requests.
    pub sent: bool,
    /// It has stored or printed.
    pub to_flush: bool,
}

impl News {
    /// Of this SM; what has ended is told once.
    #[inline]
    pub fn of(sm: &mut Sm) -> News {
        News {
            next: sm.next(),
            wanted: sm.port.wanted(),
            completed: sm.take_completed(),
            sent: !sm.port.sent.is_empty(),
            to_flush: sm.has_to_flush(),
        }
    }
}

impl Pace {
    /// For SMs that are all to run at cycle `now`.
    pub fn new(sms: usize, now: Cycle) -> Pace {
        Pace {
            sms: WakeList::starting(sms, now),
            wanted: vec![NO_ROOM; sms],
            waiting: 0,
            awake: (0..sms).collect(),
            news: Vec::new(),
            to_flush: Vec::with_capacity(sms),
        }
    }

    /// A quantum begins in which all SMs run.
    pub fn wake_all(&mut self, replies: &mut WakeList) {
        (0..self.sms.len()).for_each(|sm| self.sms.lower(sm, Cycle::ZERO));
        self.wake(Cycle::NEVER, replies);
    }

    /// SMs that wait for room at their port and have it are to run. `room` tells how much there is.
    #[inline]
    pub fn find_room(&mut self, room: impl Fn(usize) -> u32) {
        if self.waiting != 0 {
            for (sm, &wanted) in self.wanted.iter().enumerate() {
                if wanted != NO_ROOM && room(sm) >= wanted {
                    self.sms.lower(sm, Cycle::ZERO);
                }
            }
        }
    }

    /// A quantum begins in which those SMs run that have something to do before cycle `end`, by
    /// themselves or with a packet from memory, which comes in cycle `replies.of(sm)`.
    pub fn wake(&mut self, end: Cycle, replies: &mut WakeList) {
        self.to_flush.clear();
        self.news.clear();
        self.awake.clear();
        let awake = &mut self.awake;
        WakeList::take([&mut self.sms, replies], end, |sm| awake.push(sm));
    }

    /// The SMs that run in the quantum under way, in order.
    #[inline]
    pub fn awake(&self) -> &[usize] {
        &self.awake
    }

    /// News of the next of them that has run.
    pub fn heard(&mut self, news: News) {
        self.news.push(news);
    }

    /// The news of the SM at this place among those that run, if they have been heard.
    #[inline]
    pub fn news(&self, at: usize) -> Option<News> {
        self.news.get(at).copied()
    }

    /// SM number `number` has run.
    #[inline]
    pub fn ran(&mut self, number: usize, news: &News) {
        self.sms.lower(number, news.next);
        let wanted = std::mem::replace(&mut self.wanted[number], news.wanted);
        self.waiting += usize::from(self.wanted[number] != NO_ROOM);
        self.waiting -= usize::from(wanted != NO_ROOM);
        if news.to_flush {
            self.to_flush.push(number);
        }
    }

    /// Something outside the SMs has given them more to do.
    pub fn look_again(&mut self, sms: &[Sm]) {
        for (number, sm) in sms.iter().enumerate() {
            self.sms.lower(number, sm.next());
        }
    }

    /// SMs that have stored or printed in this quantum, in order.
    pub fn to_flush(&self) -> &[usize] {
        &self.to_flush
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
