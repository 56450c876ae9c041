//! A yes or no over time: the part that is ahead writes it down for the part that comes later.

use super::ring::Ring;
use crate::time::Tick;

/// Whether something was so, tick by tick.
#[derive(Clone, Debug)]
pub struct History {
    /// The ticks from which on it was different than before. No, yes, no, and so on, or the other way round.
    changes: Ring<(Tick, bool)>,
    /// As of the last change that was written down.
    noted: bool,
    /// As of the last tick that was asked for.
    asked: bool,
}

impl History {
    /// A history that begins with a yes, or with a no.
    pub fn new(is: bool) -> History {
        History {
            changes: Ring::new(),
            noted: is,
            asked: is,
        }
    }

    /// From this tick on it is so, or not. Ticks come in order, and of what is said of one the last counts.
    #[inline]
    pub fn note(&mut self, from: Tick, is: bool) {
        if is != self.noted {
            self.change(from, is);
        }
    }

    #[inline(never)]
    fn change(&mut self, from: Tick, is: bool) {
        self.noted = is;
        match self.changes.back() {
            Some(&(last, _)) if last == from => self.changes.drop_back(),
            _ => self.changes.push_back((from, is)),
        }
    }

    /// Takes out what has been written down: `change(from, is)` is called for every tick from which on it was different.
    #[inline]
    pub fn take(&mut self, mut change: impl FnMut(Tick, bool)) {
        while let Some((from, is)) = self.changes.pop_front() {
            change(from, is);
        }
    }

    /// Takes over what another has written down and [given out](History::take), which goes on where this one ends.
    #[inline]
    pub fn take_over(&mut self, from: Tick, is: bool) {
        self.changes.push_back((from, is));
    }

    /// Whether it is so in a tick. Ticks are asked for in order.
    #[inline]
    pub fn at(&mut self, tick: Tick) -> bool {
        while let Some(&(from, is)) = self.changes.front()
            && from <= tick
        {
            self.asked = is;
            self.changes.drop_front();
        }
        self.asked
    }

    /// The first tick behind the last that was asked for in which it is different, as far as has been written down: if there is
    /// none, never.
    #[inline]
    pub fn changes_at(&self) -> Tick {
        self.changes.front().map_or(Tick::NEVER, |&(from, _)| from)
    }

    /// The first tick from `tick` on in which it is so, as far as has been written down: if there is none, never.
    #[inline]
    pub fn first_from(&mut self, tick: Tick) -> Tick {
        match self.at(tick) {
            true => tick,
            false => self.changes_at(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(history: &mut History, ticks: &[u64]) -> Vec<bool> {
        let at = |&tick: &u64| history.at(Tick::new(tick));
        ticks.iter().map(at).collect()
    }

    #[test]
    fn what_is_asked_later_is_answered_as_of_then() {
        let mut history = History::new(true);
        for (tick, is) in [(4, true), (6, false), (7, false), (10, true)] {
            history.note(Tick::new(tick), is);
        }
        let found = asked(&mut history, &[4, 5, 6, 9, 9, 10]);
        assert_eq!(found, [true, true, false, false, false, true]);
    }

    #[test]
    fn when_it_is_so_again_is_known_once_it_was_noted() {
        let mut history = History::new(true);
        let mut first = |note: Option<(u64, bool)>, from| {
            if let Some((tick, is)) = note {
                history.note(Tick::new(tick), is);
            }
            history.first_from(Tick::new(from))
        };
        assert_eq!(first(Some((6, false)), 5), Tick::new(5));
        assert_eq!(first(None, 6), Tick::NEVER);
        assert_eq!(first(Some((10, true)), 6), Tick::new(10));
        assert_eq!(first(None, 12), Tick::new(12));
    }

    #[test]
    fn of_what_is_said_of_a_tick_the_last_counts() {
        let mut history = History::new(false);
        history.note(Tick::new(3), true);
        history.note(Tick::new(3), false); // so nothing has changed
        history.note(Tick::new(5), true);
        let mut told = Vec::new();
        history.take(|from, is| told.push((from.get(), is)));
        assert_eq!(told, [(5, true)]);
    }
}
