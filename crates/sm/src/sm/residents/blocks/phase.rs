//! Warp-phases (barrier-aware scheduling §3): a warp's way from one barrier of its block to the
//! next, the last one to its exit. How unevenly the warps of a block end a phase is its RTRU, the
//! ratio of temporal resource under-utilisation.

use crate::sm::residents::Residents;
use crate::sm::warps::Warp;
use crate::time::Cycle;

impl Residents {
    /// All threads of a warp have exited, now.
    pub(in crate::sm::residents) fn warp_exited(&mut self, slot: u16) {
        let now = self.warps.now();
        let quiet = self.warps.is_quiet(slot);
        let state = self.warps.warp_mut(slot);
        // Slices of a warp cut short by its block's end have no threads: they never run.
        let empty = now == state.phase_began && quiet;
        if state.exited || empty {
            return;
        }
        (state.exited, state.phase_ended) = (true, now);
        if let Some(block) = &mut self.blocks.slots[state.block as usize]
            && !block.exits.contains(&slot)
        {
            block.exits.push(slot);
        }
    }

    /// A phase of `block` ends: that of the warps `at_barrier`, which opens now, or (with none)
    /// the block's last one. With them ends that of the warps that have exited since the block's
    /// last barrier.
    pub(in crate::sm::residents) fn end_phase(
        &mut self,
        block: u16,
        at_barrier: &[u16],
        now: Cycle,
    ) {
        let Some(resident) = &mut self.blocks.slots[block as usize] else {
            return;
        };
        let leaves = resident.is_empty();
        if at_barrier.is_empty() && !leaves {
            return; // `bar.arrive` only: no warp waited
        }
        let (mut warps, mut sum, mut longest) = (0u64, 0u64, 0u64);
        let mut add = |state: &Warp| {
            let time = state.phase_ended - state.phase_began;
            warps += 1;
            sum += time;
            longest = longest.max(time);
        };
        for slot in resident.exits.drain(..) {
            // A model may have given an exited warp other threads.
            if self.warps.warp(slot).exited {
                add(self.warps.warp(slot));
            }
        }
        for &slot in at_barrier {
            let state = self.warps.warp_mut(slot);
            add(state);
            state.phase_began = now;
        }
        if warps == 0 {
            return;
        }
        self.books.stats.counters.phases += 1;
        self.books.stats.counters.phase_imbalance += rtru_millionths(warps, sum, longest);
    }
}

/// `sum(longest - T_i) / (warps * longest)`, in millionths, rounded.
fn rtru_millionths(warps: u64, sum: u64, longest: u64) -> u64 {
    let whole = warps as u128 * longest as u128;
    if whole == 0 {
        return 0;
    }
    let unused = whole - sum as u128;
    ((unused * 1_000_000 + whole / 2) / whole) as u64
}

#[cfg(test)]
mod tests {
    use super::rtru_millionths;

    #[test]
    fn rtru_is_the_unused_share_of_the_longest_warps_time() {
        assert_eq!(rtru_millionths(4, 400, 100), 0, "all the same");
        assert_eq!(rtru_millionths(4, 100 + 3 * 20, 100), 600_000);
        assert_eq!(rtru_millionths(3, 10 + 10 + 1, 10), 300_000);
        assert_eq!(rtru_millionths(1, 7, 7), 0, "alone");
        assert_eq!(rtru_millionths(2, 0, 0), 0);
        assert_eq!(rtru_millionths(3, 3 + 3 + 2, 3), 111_111);
    }
}
