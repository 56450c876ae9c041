//! Keeping warps in line with what the divergence model changed.

use super::Residents;
use crate::divergence::GroupState;
use crate::sm::launch::Launched;

impl Residents {
    /// Brings the warps in line with what the divergence model changed. To be called after each
    /// event that the model may have heard of: the order in which policies hear of warps that
    /// come and go depends on it.
    #[inline]
    pub fn follow(&mut self, launched: &Launched) {
        if self.groups.has_changes() {
            self.follow_changes(launched);
        }
    }

    /// Does what the model has changed while an instruction of the warp in `slot` executed. The caller looks at the head of
    /// that warp next, so it is not looked at here.
    #[inline(always)] // most instructions change nothing
    pub fn follow_issue(&mut self, slot: u16, launched: &Launched) {
        if self.groups.has_changes() && !self.goes_on_with_other_lanes(slot) {
            self.follow_changes(launched);
        }
    }

    /// Whether all that has changed is with which lanes a warp that runs goes on and where, as it is
    /// where its lanes part or meet. There is little to bring in line then, and it is done.
    #[inline(never)]
    fn goes_on_with_other_lanes(&mut self, slot: u16) -> bool {
        let group = self.groups.get(slot);
        let runs = group.state == GroupState::Running && self.warps.is_running(slot);
        let lanes = group.mask.count_ones();
        if self.follows_all || !runs || !self.groups.take_only_change(slot) {
            return false;
        }
        let warp = self.warps.warp_mut(slot);
        warp.lanes = lanes;
        self.books.policy.restarted(warp.place);
        self.note_paths(slot);
        true
    }

    fn follow_changes(&mut self, launched: &Launched) {
        let mut changed = std::mem::take(&mut self.changed);
        self.groups.take_changed(&mut changed);
        let ownership = self.ownership;
        while !changed.is_empty() {
            for slot in changed.drain(..) {
                ownership.follow(self, slot, launched);
                self.note_paths(slot);
            }
            // A model that was told that a slot has settled may have changed others.
            self.groups.take_changed(&mut changed);
        }
        self.changed = changed;
        while let Some((block, threads)) = self.groups.next_gone() {
            self.threads_gone(block, threads);
        }
    }
}
