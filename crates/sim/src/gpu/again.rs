//! Launches that are not timed because one like them has been: memory as it was is kept, and put back where they turn out to be
//! different; what the one that was timed has counted is counted once more.

use super::Gpu;
use crate::stats::LaunchReport;

/// Global memory as it was.
pub struct Kept(Vec<(u64, Vec<u8>)>);

impl Gpu {
    /// Keeps what is in global memory.
    pub fn keep_memory(&self) -> Kept {
        let live = self.image.allocations().iter().filter(|a| !a.freed);
        let bytes = |a: (u64, u64)| Some((a.0, self.image.slice(a.0, a.1).ok()?.to_vec()));
        Kept(live.filter_map(|a| bytes((a.start, a.size))).collect())
    }

    /// Puts it back. What device-side `malloc` has given out since is not taken back.
    pub fn put_back(&mut self, kept: &Kept) {
        for (address, bytes) in &kept.0 {
            if let Ok(now) = self.image.slice_mut(*address, bytes.len() as u64) {
                now.copy_from_slice(bytes);
            }
        }
    }

    /// Counts a launch that was executed as one that came to the same as `report`; the machine's time goes on.
    pub fn count(&mut self, report: &LaunchReport) {
        self.cycle += report.totals.cycles;
        self.totals.add(&report.totals);
        self.keep(report.clone());
    }
}
