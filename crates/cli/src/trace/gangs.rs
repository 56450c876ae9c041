//! Gangs in a timeline: a track for each original gang, which shows how it is divided.

use std::collections::HashMap;
use warpsim_sim::time::Cycle;

/// The warps of 32 threads: SM, block and number in the block.
pub type Original = (u16, u64, u16);

/// How an original gang is divided.
#[derive(Debug, Default)]
pub struct Division {
    /// Its track in the file.
    pub track: Option<u32>,
    /// By slot: the slices of the gang that its warp is in.
    warps: HashMap<u16, u8>,
    since: Cycle,
}

/// A division that has ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub since: Cycle,
    /// The sizes of its gangs, as in `4+3+1`.
    pub name: String,
    /// Their slices.
    pub slices: Vec<u8>,
}

impl Division {
    /// The warp in a slot is in a gang with these slices from `cycle` on; what was so before, if that
    /// lasted.
    pub fn change(&mut self, cycle: Cycle, slot: u16, slices: u8) -> Option<Ended> {
        let ended = self.end(cycle);
        match slices {
            0 => drop(self.warps.remove(&slot)),
            _ => drop(self.warps.insert(slot, slices)),
        }
        ended
    }

    /// Whether all its warps have exited.
    pub fn is_over(&self) -> bool {
        self.warps.is_empty()
    }

    /// How it was divided up to `cycle`.
    fn end(&mut self, cycle: Cycle) -> Option<Ended> {
        let since = std::mem::replace(&mut self.since, cycle);
        if since == cycle || self.warps.is_empty() {
            return None;
        }
        let mut slices: Vec<u8> = self.warps.values().copied().collect();
        slices.sort_unstable_by_key(|s| (u32::MAX - s.count_ones(), s.trailing_zeros()));
        slices.dedup();
        let sizes: Vec<String> = slices.iter().map(|s| s.count_ones().to_string()).collect();
        Some(Ended {
            since,
            name: sizes.join("+"),
            slices,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_one_cycle_are_one() {
        let at = Cycle::new;
        let mut gang = Division::default();
        for slot in 0..4 {
            assert_eq!(gang.change(at(10), slot, 0b1111), None);
        }
        let ended = gang.change(at(30), 0, 0b0001).expect("20 cycles");
        assert_eq!((ended.since, &ended.name[..]), (at(10), "4"));
        for slot in 1..4 {
            assert_eq!(gang.change(at(30), slot, 0b1110), None);
        }
        let ended = gang.end(at(50)).expect("20 cycles");
        assert_eq!((ended.since, &ended.name[..]), (at(30), "3+1"));
        assert_eq!(ended.slices, [0b1110, 0b0001]);
        for slot in 0..4 {
            gang.change(at(60), slot, 0);
        }
        assert!(gang.is_over());
        assert_eq!(gang.end(at(70)), None);
    }
}
