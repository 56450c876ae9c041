//! The accesses of prefetch instructions: whole lines of the cache that they are for.

use super::coalesce::{Access, Cut, coalesce};
use super::ops::Path;
use super::requests::Executed;
use super::unit::LoadStore;
use crate::exec::state::Access as Touched;
use crate::stats::SmCounters;

impl LoadStore {
    /// As [`make_accesses`](LoadStore::make_accesses), for an instruction that asks for lines and reads nothing.
    pub(super) fn prefetch_accesses(
        &self,
        what: &Executed,
        touched: &Touched,
        path: Path,
        accesses: &mut Vec<Access>,
        counters: &mut SmCounters,
    ) {
        let segment = match path {
            Path::Uncached => self.l2_line(),
            _ => self.line_bytes(path),
        };
        let cut = Cut {
            segment,
            trim: false,
        };
        coalesce(&what.effect.address, touched.global, 1, cut, accesses);
        if touched.local != 0 {
            self.local_accesses(what, touched, 1, path, accesses);
        }
        counters.prefetch_instructions += 1;
        counters.prefetch_transactions += accesses.len() as u64;
    }
}
