//! When each of several alike parts has something to do next.

/// Core cycles by part, with the least of them at hand.
#[derive(Clone, Debug)]
pub struct WakeList {
    at: Vec<u64>,
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
    #[inline]
    pub fn earliest(&self) -> u64 {
        self.earliest
    }

    /// The part has something to do in `cycle`, if not before.
    #[inline]
    pub fn by(&mut self, part: usize, cycle: u64) {
        self.at[part] = self.at[part].min(cycle);
        self.earliest = self.earliest.min(cycle);
    }

    /// Runs the parts that have something to do in `cycle`; `run` returns when its part has
    /// something to do again.
    #[inline]
    pub fn run(&mut self, cycle: u64, mut run: impl FnMut(usize) -> u64) {
        let mut earliest = u64::MAX;
        for (part, at) in self.at.iter_mut().enumerate() {
            if *at <= cycle {
                *at = run(part);
            }
            earliest = earliest.min(*at);
        }
        self.earliest = earliest;
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
        assert_eq!(list.earliest(), 10);
        let mut ran = Vec::new();
        list.run(12, |part| {
            ran.push(part);
            30
        });
        assert_eq!((ran, list.earliest()), (vec![2], 20));
    }
}
