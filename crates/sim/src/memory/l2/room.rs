//! When a slice had room for requests, for those who send them and are behind it.
//!
//! Room is made by serving and taken by pieces that join the queue; requests that arrive take none
//! until their delay is over. So a slice can be run ahead of the network that brings them, and that
//! finds here whether they would have had to wait.

use crate::memory::ring::Ring;
use crate::time::Tick;

/// What a slice notes while it runs ahead.
#[derive(Clone, Debug)]
pub struct RoomLog {
    /// Ticks after which it was different than before, and what it was then.
    changes: Ring<(Tick, bool)>,
    /// What was noted last.
    last: bool,
    /// What it was after the last change that has been asked for.
    known: bool,
}

impl Default for RoomLog {
    /// An empty slice has room.
    fn default() -> RoomLog {
        RoomLog {
            changes: Ring::new(),
            last: true,
            known: true,
        }
    }
}

impl RoomLog {
    /// After `tick` there is room, or none. Ticks come in order.
    #[inline]
    pub fn note(&mut self, tick: Tick, room: bool) {
        if room != self.last {
            self.last = room;
            self.changes.push_back((tick, room));
        }
    }

    /// Whether there was room when `tick` began. Who asks does so in the order of ticks.
    #[inline]
    pub fn before(&mut self, tick: Tick) -> bool {
        while let Some(&(at, room)) = self.changes.front()
            && at < tick
        {
            self.known = room;
            self.changes.pop_front();
        }
        self.known
    }

    /// The first tick from `tick` on that begins with room, as far as has been noted: if there is none, never. Who
    /// asks does so in the order of ticks.
    #[inline]
    pub fn first_from(&mut self, tick: Tick) -> Tick {
        if self.before(tick) {
            return tick;
        }
        // There is room after every other change.
        self.changes.front().map_or(Tick::NEVER, |&(at, _)| at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_later_is_answered_as_of_then() {
        let mut log = RoomLog::default();
        for (tick, room) in [(3, true), (5, false), (6, false), (9, true)] {
            log.note(Tick::new(tick), room);
        }
        let asked = [4, 5, 6, 9, 9, 10].map(|tick| log.before(Tick::new(tick)));
        assert_eq!(asked, [true, true, false, false, false, true]);
    }

    #[test]
    fn when_there_is_room_again_is_known_once_it_was_noted() {
        let mut log = RoomLog::default();
        log.note(Tick::new(5), false);
        assert_eq!(log.first_from(Tick::new(5)), Tick::new(5));
        assert_eq!(log.first_from(Tick::new(6)), Tick::NEVER);
        log.note(Tick::new(9), true);
        assert_eq!(log.first_from(Tick::new(6)), Tick::new(10));
        assert_eq!(log.first_from(Tick::new(12)), Tick::new(12));
    }
}
