//! How unevenly the warps of a block run (virtual thread blocks and warps §3): in instructions, in
//! cycles, and what the time in which some have finished and others have not costs.

use crate::sm::residents::Residents;
use crate::stats::{SchedulerState, SmCounters};
use crate::time::Cycle;

/// A block's life so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Life {
    began: Cycle,
    /// Scheduler-cycles without an issue on the SM when it began.
    stalls: u64,
    /// When its first warp finished, and how many of those cycles there were by then.
    first: Option<(Cycle, u64)>,
    /// Fewest and most instructions of its warps that have finished.
    instructions: Option<(u64, u64)>,
}

/// A block that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When.
    pub at: Cycle,
    /// Its divergent warp region over its life, in millionths.
    pub dwr: u64,
    /// Stalls in that region over those of its life, in millionths.
    pub dws: u64,
}

impl Residents {
    /// Scheduler-cycles without an issue so far, as far as they are accounted for.
    fn stalls(&self) -> u64 {
        let schedulers = &self.books.stats.schedulers;
        schedulers.sum() - schedulers.get(SchedulerState::Issued)
    }

    /// A block has come.
    pub(in crate::sm::residents) fn begin_life(&mut self, block: u16, now: Cycle) {
        let life = Life {
            began: now,
            stalls: self.stalls(),
            ..Life::default()
        };
        if let Some(resident) = &mut self.blocks.slots[block as usize] {
            resident.life = life;
        }
    }

    /// A warp of a block has finished, which is accounted for.
    pub(in crate::sm::residents) fn note_finished(&mut self, slot: u16, block: u16, now: Cycle) {
        let instructions = self.warps.issued_so_far(slot);
        let stalls = self.stalls();
        let Some(resident) = &mut self.blocks.slots[block as usize] else {
            return;
        };
        // Slices without threads never ran; warps of virtual blocks run for many.
        if instructions == 0 || resident.iterations.is_some() {
            return;
        }
        let life = &mut resident.life;
        life.first.get_or_insert((now, stalls));
        let (least, most) = life.instructions.unwrap_or((u64::MAX, 0));
        life.instructions = Some((least.min(instructions), most.max(instructions)));
    }

    /// The last warp of a block has finished.
    pub(in crate::sm::residents) fn end_life(&mut self, life: Life, now: Cycle) {
        let stalls = self.stalls();
        let (Some((first, then)), Some((least, most))) = (life.first, life.instructions) else {
            return;
        };
        let whole = now - life.began + 1;
        let shortest = first - life.began + 1;
        let counters = &mut self.books.stats.counters;
        let by_instructions = instruction_thresholds(counters);
        count(by_instructions, least, most);
        count(cycle_thresholds(counters), shortest, whole);
        self.blocks.ended.push(Ended {
            at: now,
            dwr: millionths(whole - shortest, whole),
            dws: millionths(stalls - then, stalls - life.stalls),
        });
    }
}

fn instruction_thresholds(c: &mut SmCounters) -> [(u64, &mut u64); 4] {
    [
        (50, &mut c.uneven_instructions_50),
        (25, &mut c.uneven_instructions_25),
        (10, &mut c.uneven_instructions_10),
        (5, &mut c.uneven_instructions_5),
    ]
}

fn cycle_thresholds(c: &mut SmCounters) -> [(u64, &mut u64); 4] {
    [
        (50, &mut c.uneven_cycles_50),
        (25, &mut c.uneven_cycles_25),
        (10, &mut c.uneven_cycles_10),
        (5, &mut c.uneven_cycles_5),
    ]
}

/// Counts a block under every threshold (percent of the least) that it exceeds.
fn count(thresholds: [(u64, &mut u64); 4], least: u64, most: u64) {
    for (percent, counter) in thresholds {
        *counter += u64::from((most - least) * 100 > percent * least);
    }
}

fn millionths(part: u64, whole: u64) -> u64 {
    match whole {
        0 => 0,
        whole => (u128::from(part) * 1_000_000 / u128::from(whole)) as u64,
    }
}

/// Adds up the blocks of all SMs, the first to end first: of more blocks than there are `places`,
/// only those during whose lives others waited for a place.
pub fn summarise<'a>(
    sms: impl Iterator<Item = &'a [Ended]>,
    places: u64,
    counters: &mut SmCounters,
) {
    let mut all: Vec<Ended> = sms.flatten().copied().collect();
    // Blocks that end in the same cycle stay in the order of their SMs.
    all.sort_by_key(|e| e.at);
    let count = all.len() as u64;
    let counted = if count > places {
        count - places
    } else {
        count
    };
    for ended in &all[..counted as usize] {
        counters.uneven_blocks += 1;
        counters.dwr_sum += ended.dwr;
        counters.dws_sum += ended.dws;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_cumulative_shares_of_the_least() {
        let mut c = SmCounters::default();
        for (least, most) in [(100, 100), (100, 105), (100, 106), (100, 126), (10, 16)] {
            count(instruction_thresholds(&mut c), least, most);
        }
        let counted = [
            c.uneven_instructions_50,
            c.uneven_instructions_25,
            c.uneven_instructions_10,
            c.uneven_instructions_5,
        ];
        assert_eq!(counted, [1, 2, 2, 3]);
    }

    #[test]
    fn only_blocks_that_others_waited_for_count() {
        let ended = |at: u64, dwr| Ended {
            at: Cycle::new(at),
            dwr,
            dws: dwr / 2,
        };
        let sms = [vec![ended(10, 100), ended(40, 700)], vec![ended(20, 300)]];
        let sum = |places| {
            let mut c = SmCounters::default();
            summarise(sms.iter().map(Vec::as_slice), places, &mut c);
            (c.uneven_blocks, c.dwr_sum, c.dws_sum)
        };
        assert_eq!(sum(1), (2, 400, 200), "the last one had no warp behind it");
        assert_eq!(sum(2), (1, 100, 50));
        assert_eq!(sum(3), (3, 1100, 550), "no more blocks than places: all");
    }
}
