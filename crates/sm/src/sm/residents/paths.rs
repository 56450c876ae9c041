//! Telling an observer that wants details what the divergence model holds for each warp.

use super::Residents;
use crate::divergence::GroupState;
use crate::sm::facts::OpFacts;
use crate::sm::observe::Told;
use warpsim_ptx::kernel::RegId;

impl Residents {
    /// The divergence model has changed a warp.
    #[inline]
    pub(super) fn note_paths(&mut self, slot: u16) {
        if let Some((details, _)) = self.books.watch.details() {
            details.changed(slot);
        }
    }

    /// Tells which paths are others since this was called last, as of the last cycle that has run. To be called before the next one.
    #[inline]
    pub fn tell_paths(&mut self) {
        if self.books.watch.hears_details() {
            self.tell_stale_paths();
        }
    }

    #[inline(never)]
    fn tell_stale_paths(&mut self) {
        let Some((details, _)) = self.books.watch.details() else {
            return;
        };
        let (issued, mut changed) = details.take_stale();
        for slot in issued {
            self.tell_paths_of(slot);
        }
        if self.model.pool().is_none() {
            // A stack may be that of a block.
            let mut blocks: Vec<u16> = changed.iter().map(|s| self.warps.warp(*s).block).collect();
            blocks.sort_unstable();
            blocks.dedup();
            let blocks = blocks
                .into_iter()
                .filter_map(|block| self.blocks.get(block));
            let slots = blocks.flat_map(|b| b.arrival.slots().map(|(slot, _, _)| slot));
            changed = slots.collect();
        }
        for slot in changed {
            self.tell_paths_of(slot);
        }
    }

    /// Tells the paths of a warp, if they are others than those told last.
    pub(super) fn tell_paths_of(&mut self, slot: u16) {
        let Residents {
            model,
            groups,
            books,
            warps,
            ..
        } = self;
        let Some((details, events)) = books.watch.details() else {
            return;
        };
        if groups.get(slot).state == GroupState::Free {
            return;
        }
        if let Some(told) = details.news(slot, |paths| model.paths(slot, groups, paths)) {
            events.push((warps.now().max(details.came(slot)), slot, told));
        }
    }

    /// Tells which registers have got what an instruction owed to them.
    #[cold]
    pub(super) fn tell_written(&mut self, slot: u16, facts: &OpFacts) {
        let now = self.warps.now();
        let Some((_, events)) = self.books.watch.details() else {
            return;
        };
        for part in facts.all_registers() {
            for bit in (0..64).filter(|bit| part.writes >> bit & 1 != 0) {
                let register = RegId(part.word * 64 + bit);
                events.push((now, slot, Told::Written(register)));
            }
        }
    }
}
