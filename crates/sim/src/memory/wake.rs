//! When each of several alike parts has something to do next.

/// Core cycles by part, with the least of them at hand.
#[derive(Clone, Debug)]
pub struct WakeList {
    at: Vec<u64>,
    /// Not later than any of `at`; exact after [`WakeList::settle`].
    earliest: u64,
}

impl WakeList {
    /// `parts` parts with nothing to do.
    pub fn new(parts: usize) -> WakeList {
        WakeList {
            at: vec![u64::MAX; parts],
            earliest: u64::MAX,
        }
    }

    /// The cycle in which the first of them has something to do.
    pub fn earliest(&self) -> u64 {
        self.earliest
    }

    /// The cycle in which a part has something to do.
    pub fn of(&self, part: usize) -> u64 {
        self.at[part]
    }

    /// The part has something to do in `cycle`, if not before.
    pub fn by(&mut self, part: usize, cycle: u64) {
        self.at[part] = self.at[part].min(cycle);
        self.earliest = self.earliest.min(cycle);
    }

    /// The part has run and has nothing to do before `cycle`.
    pub fn set(&mut self, part: usize, cycle: u64) {
        self.at[part] = cycle;
    }

    /// All parts that were due have run: find the earliest again.
    pub fn settle(&mut self) {
        self.earliest = self.at.iter().fold(u64::MAX, |a, &b| a.min(b));
    }
}

#[cfg(test)]
mod tests {
    use super::WakeList;

    #[test]
    fn the_earliest_follows_the_parts() {
        let mut list = WakeList::new(3);
        assert_eq!(list.earliest(), u64::MAX);
        list.by(1, 20);
        list.by(2, 10);
        list.by(2, 15);
        assert_eq!((list.earliest(), list.of(2)), (10, 10));
        list.set(2, 30);
        list.settle();
        assert_eq!(list.earliest(), 20);
    }
}
