//! What is kept of a warp.

use crate::format::Track;

/// One list of a track: records one behind the other.
#[derive(Debug, Default)]
pub struct Records {
    numbers: Vec<i64>,
    /// Where the last record begins.
    start: usize,
    /// Cycle of the last record, and when it was heard: those from before the window are moved to its begin.
    last: u64,
    heard: Option<u64>,
}

impl Records {
    /// Adds a record of a track that begins in cycle `from`; says how long the page becomes by it. What is heard before `from`
    /// replaces what was there: the page begins with it.
    pub fn note(&mut self, from: u64, cycle: u64, record: &[i64]) -> usize {
        if self.numbers.is_empty() {
            self.last = from;
        }
        if cycle < from && self.heard != Some(cycle) {
            self.numbers.clear();
        }
        self.heard = Some(cycle);
        let at = cycle.max(self.last);
        let delta = at - self.last;
        self.last = at;
        self.start = self.numbers.len();
        self.more(&[delta as i64]) + self.more(record)
    }

    /// The last number is another.
    pub fn correct_last(&mut self, number: i64) {
        if let Some(last) = self.numbers.last_mut() {
            *last = number;
        }
    }

    /// The last record without its cycle; empty, where there is none.
    pub fn last_record(&mut self) -> &mut [i64] {
        let record = &mut self.numbers[self.start..];
        record.split_first_mut().map_or(&mut [], |(_, rest)| rest)
    }

    /// Goes on with the last record.
    pub fn more(&mut self, numbers: &[i64]) -> usize {
        self.numbers.extend(numbers);
        numbers.iter().map(|n| written(*n)).sum()
    }
}

/// Bytes that a number takes in a list.
fn written(number: i64) -> usize {
    let digits = number.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
    digits + usize::from(number < 0) + 1
}

/// A warp's lists while it is recorded.
#[derive(Debug, Default)]
pub struct Lists {
    pub states: Records,
    pub issues: Records,
    pub paths: Records,
    pub written: Records,
    pub barriers: Records,
    pub gangs: Records,
    pub holds: Records,
    pub blocks: Records,
}

/// A warp that is recorded.
#[derive(Debug)]
pub struct Recorded {
    /// What is known of it from the beginning; its lists are empty.
    pub track: Track,
    /// Its lists.
    pub lists: Lists,
    /// It is still here.
    pub here: bool,
    /// The barrier that it came to last.
    pub barrier: i64,
    /// Cycles in which folded instructions were issued, and how many each takes; told in any order.
    pub folds: Vec<(u64, i64)>,
}

impl Recorded {
    /// As the page has it; what is still here stays until cycle `end`. Nothing, where it was not here in the window.
    pub fn track(&self, end: u64) -> Option<Track> {
        let to = if self.here {
            end
        } else {
            self.track.to.min(end)
        };
        let lists = &self.lists;
        let list = |records: &Records| records.numbers.clone();
        (self.track.from < to && !lists.states.numbers.is_empty()).then(|| Track {
            to,
            states: list(&lists.states),
            issues: list(&lists.issues),
            paths: list(&lists.paths),
            written: list(&lists.written),
            barriers: list(&lists.barriers),
            gangs: list(&lists.gangs),
            holds: list(&lists.holds),
            blocks: list(&lists.blocks),
            folds: self.folds(),
            ..self.track.clone()
        })
    }
}

impl Recorded {
    fn folds(&self) -> Vec<i64> {
        let mut folds = self.folds.clone();
        folds.sort_unstable();
        let mut records = Records::default();
        for (issued, cycles) in folds {
            records.note(self.track.from, issued, &[cycles]);
        }
        records.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_differences_and_the_window_begins_with_the_last_record_before_it() {
        let mut records = Records::default();
        for (cycle, number) in [(3, 1), (5, 2), (5, 3), (10, 4), (12, -5)] {
            records.note(10, cycle, &[number]);
        }
        assert_eq!(records.numbers, [0, 2, 0, 3, 0, 4, 2, -5]);
    }

    #[test]
    fn lengths_are_those_of_the_text() {
        let numbers = [0, 7, 10, 99, 100, -1, -10, i64::from(u32::MAX)];
        let text: String = numbers.iter().map(|n| format!("{n},")).collect();
        assert_eq!(Records::default().more(&numbers), text.len());
    }
}
