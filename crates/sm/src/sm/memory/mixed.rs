//! Accesses of lanes that issued different instructions in one cycle: the load/store unit sees
//! lanes, not warps, but lanes that touch elements of other sizes are cut by themselves.

use super::coalesce::Access;
use super::ops::Path;
use super::requests::Executed;
use super::unit::LoadStore;
use crate::exec::state::Access as Touched;
use crate::stats::SmCounters;

/// Lanes that touch elements of the same size and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The lanes.
    pub lanes: u32,
    /// Bytes of an element.
    pub element: u8,
    /// Elements of each lane.
    pub count: u8,
}

impl LoadStore {
    /// As [`make_accesses`](LoadStore::make_accesses) where the lanes touch elements of several
    /// sizes. What two sizes need of the same piece of memory is one access.
    #[cold]
    pub(super) fn make_mixed_accesses(
        &self,
        what: &Executed,
        touched: &Touched,
        path: Path,
        accesses: &mut Vec<Access>,
        counters: &mut SmCounters,
    ) -> u32 {
        accesses.clear();
        let mut counted = SmCounters::default();
        let mut busy = 0;
        let mut part = Vec::new();
        for shape in what.shapes {
            let its = Touched {
                element: shape.element,
                count: shape.count,
                shared: touched.shared & shape.lanes,
                global: touched.global & shape.lanes,
                local: touched.local & shape.lanes,
                ..touched.clone()
            };
            let effect = crate::exec::state::Effect {
                executed: what.effect.executed & shape.lanes,
                ..what.effect.clone()
            };
            let its_part = Executed {
                effect: &effect,
                shapes: &[],
                ..*what
            };
            part.clear();
            busy += self.make_accesses(&its_part, &its, path, &mut part, &mut counted);
            for access in &part {
                let same = |a: &&mut Access| (a.addr, a.bytes) == (access.addr, access.bytes);
                match accesses.iter_mut().find(same) {
                    Some(first) => {
                        first.lanes |= access.lanes;
                        first.byte_mask |= access.byte_mask;
                    }
                    None => accesses.push(*access),
                }
            }
        }
        let made = accesses.len() as u64;
        counters.shared_requests += counted.shared_requests.min(1);
        counters.shared_bank_cycles += counted.shared_bank_cycles;
        counters.global_loads += counted.global_loads.min(1);
        counters.global_stores += counted.global_stores.min(1);
        counters.local_requests += counted.local_requests.min(1);
        if touched.global != 0 && touched.store {
            counters.global_store_transactions += made;
        } else if touched.global != 0 {
            counters.global_load_transactions += made;
        } else if touched.local != 0 {
            counters.local_transactions += made;
        }
        busy
    }
}
