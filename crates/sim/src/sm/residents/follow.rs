//! Keeping warps in line with what the divergence model changed.

use super::Residents;
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

    fn follow_changes(&mut self, launched: &Launched) {
        let mut changed = std::mem::take(&mut self.changed);
        self.groups.take_changed(&mut changed);
        let ownership = self.ownership;
        while !changed.is_empty() {
            for slot in changed.drain(..) {
                ownership.follow(self, slot, launched);
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
