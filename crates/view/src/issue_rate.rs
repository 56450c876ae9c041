//! How many instructions an SM issues, over the whole run, in few enough numbers for a picture.

use crate::format::Map;

/// Numbers kept: with more, each stands for twice as many cycles.
const MOST: usize = 2048;

/// Counts issues in stretches that grow with the run.
#[derive(Debug)]
pub struct IssueRate {
    every: u64,
    issued: Vec<u64>,
}

impl Default for IssueRate {
    fn default() -> Self {
        IssueRate {
            every: 1,
            issued: Vec::new(),
        }
    }
}

impl IssueRate {
    /// An instruction is issued.
    pub fn issued(&mut self, cycle: u64) {
        while cycle / self.every >= MOST as u64 {
            self.every *= 2;
            let pairs = self.issued.chunks(2).map(|pair| pair.iter().sum());
            self.issued = pairs.collect();
        }
        let at = (cycle / self.every) as usize;
        if self.issued.len() <= at {
            self.issued.resize(at + 1, 0);
        }
        self.issued[at] += 1;
    }

    /// For the page.
    pub fn map(&self) -> Map {
        Map {
            every: self.every,
            issued: self.issued.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_grow_and_no_issue_is_lost() {
        let mut rate = IssueRate::default();
        let cycles: Vec<u64> = (0..5000).map(|n| n * 3).collect();
        cycles.iter().for_each(|c| rate.issued(*c));
        let map = rate.map();
        assert_eq!(map.every, 8);
        assert!(map.issued.len() <= MOST);
        for (at, issued) in map.issued.iter().enumerate() {
            let here = |c: &&u64| (**c / map.every) as usize == at;
            assert_eq!(*issued, cycles.iter().filter(here).count() as u64);
        }
    }
}
