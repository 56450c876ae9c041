//! Keeping buffers and bit sets in line with what the divergence model changed.

use super::*;

impl Sm {
    /// Brings the bit sets and buffers in line with what the divergence model changed.
    #[inline]
    pub(super) fn follow_groups(&mut self, launched: &Launched) {
        if self.groups.has_changes() {
            self.follow_changes(launched);
        }
    }

    fn follow_changes(&mut self, launched: &Launched) {
        let mut changed = std::mem::take(&mut self.changed);
        self.groups.take_changed(&mut changed);
        while !changed.is_empty() {
            for slot in changed.drain(..) {
                if self.pools {
                    self.follow_pooled(slot, launched);
                } else {
                    self.follow_group(slot, launched);
                }
            }
            // A model that was told that a slot has settled may have changed others.
            self.groups.take_changed(&mut changed);
        }
        self.changed = changed;
        while let Some((block, threads)) = self.groups.next_gone() {
            self.threads_gone(block, threads);
        }
    }

    fn follow_group(&mut self, slot: u16, launched: &Launched) {
        let place = self.place(slot);
        self.touch(place.domain);
        let (state, pc) = (self.groups.get(slot).state, self.groups.get(slot).pc);
        let domain = &mut self.domains[place.domain as usize];
        let restarts = domain.stopped >> place.index & 1 != 0;
        assign(
            &mut domain.running,
            place.index,
            state == GroupState::Running,
        );
        assign(
            &mut domain.stopped,
            place.index,
            state == GroupState::Stopped,
        );
        assign(
            &mut domain.finished,
            place.index,
            state == GroupState::Finished,
        );
        domain.leaving &= !(1 << place.index);
        domain.settling &= !(1 << place.index);
        domain.settling_memory &= !(1 << place.index);
        let buffer = &mut self.slots[slot as usize].buffer;
        if state != GroupState::Running {
            if buffer.head().is_some() {
                assign(&mut domain.unresolved, place.index, false);
            }
            buffer.flush(pc);
        } else if self.machine.fetch.ideal {
            buffer.flush(pc);
            buffer.fill(pc, 1, launched.infos.len() as u32, 1);
        } else if restarts || buffer.is_untouched() {
            buffer.flush(pc);
        }
        self.update_head(slot, launched);
        match state {
            GroupState::Stopped => {
                self.check_settling(slot);
                self.settle(slot);
            }
            GroupState::Finished => {
                self.warp_exited(slot);
                self.check_leaving(slot);
            }
            GroupState::Running => self.slots[slot as usize].exited = false,
            GroupState::Free | GroupState::Held => {}
        }
    }
}
