//! A fetch unit whose ports of the instruction cache are taken: what is in its own small cache needs none.

use super::unit::{Choice, FetchUnit, address};
use crate::divergence::Groups;
use crate::fetch::{FetchView, Found};
use crate::place::{Place, each};
use crate::sm::launch::Launched;
use crate::sm::limits::MOST_DOMAINS;
use crate::sm::observe::Books;
use crate::sm::warps::WarpTable;
use warpsim_ptx::kernel::Pc;

impl FetchUnit {
    /// Fetches for the first warp in turn whose next instructions are in the unit's own cache; says whether there is
    /// one. The turn does not move on: the warp that had it and found no port has it still, and gets the next port.
    #[inline(never)]
    pub(super) fn fetch_near<const PLANNED: bool>(
        &mut self,
        warps: &mut WarpTable,
        books: &mut Books,
        groups: &Groups,
        launched: &Launched,
        others: &[u64],
    ) -> bool {
        let first = self.first_near::<PLANNED>(warps, books, groups, launched, others);
        let Some(place) = first else {
            return false;
        };
        let slot = warps.slot_at(place);
        warps.isolate_slot(slot);
        let next = |slot| groups.get(slot).pc;
        let pc = warps.fetch_from(slot, launched.facts.len() as Pc, next);
        let counters = &mut books.stats.counters;
        self.take_near(slot, pc, address(pc, launched), warps, counters);
        true
    }

    fn first_near<const PLANNED: bool>(
        &mut self,
        warps: &WarpTable,
        books: &Books,
        groups: &Groups,
        launched: &Launched,
        others: &[u64],
    ) -> Option<Place> {
        let l0 = self.l0.as_ref()?;
        let mut near = [0; MOST_DOMAINS];
        for d in self.domains.clone() {
            let (eligible, _) = self.eligible::<PLANNED>(d, warps, others);
            let is_near = |index: &usize| {
                let index = *index as u8;
                let slot = warps.slot_at(Place {
                    domain: d as u8,
                    index,
                });
                let pc = match warps.fetch_pc(slot) {
                    pc if pc < launched.facts.len() as Pc => pc,
                    _ => groups.get(slot).pc, // see `fetch_from`
                };
                l0.has(address(pc, launched))
            };
            let those = each(eligible).filter(is_near);
            near[d % MOST_DOMAINS] = those.fold(0, |all, index| all | 1 << index);
        }
        match &mut self.choice {
            Choice::Round(round) => {
                let look = |found, d: usize| round.look_at(found, d, near[d % MOST_DOMAINS]);
                round.place_of(self.domains.clone().fold(Found::default(), look))
            }
            Choice::Policy { .. } if near == [0; MOST_DOMAINS] => None,
            Choice::Policy { policy, .. } => policy.select(&FetchView {
                eligible: &near[..self.all],
                at_barrier: &|d| warps.sets(d).barrier(),
                buffered: &|place| warps.buffered(warps.slot_at(place)),
                issue: &*books.policy,
            }),
        }
    }
}
