//! Copies that warps have started and do not wait for until they say so (`cp.async`).
//!
//! A warp's copies end in the order in which they were started, as far as its groups are concerned:
//! one that comes back counts for the oldest group that has some under way.

use super::Residents;
use crate::exec::state::Copies;
use crate::sm::warps::Hold;
use std::collections::VecDeque;

/// The copies of one warp.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    /// Copies of each group that was committed and of the open one behind them.
    groups: VecDeque<u32>,
    open: u32,
    /// The warp waits until at most so many groups (and nothing open, if so said) are under way.
    awaited: Option<(usize, bool)>,
}

impl UnderWay {
    fn is_awaited(&self) -> bool {
        let Some((groups, open_too)) = self.awaited else {
            return false;
        };
        self.groups.len() > groups || open_too && self.open > 0
    }

    /// Groups without copies are complete when all before them are.
    fn tidy(&mut self) {
        while self.groups.front() == Some(&0) {
            self.groups.pop_front();
        }
    }

    fn ended(&mut self) {
        match self.groups.front_mut() {
            Some(oldest) => *oldest -= 1,
            None => self.open = self.open.saturating_sub(1),
        }
        self.tidy();
    }
}

impl Residents {
    fn copies_of(&mut self, slot: u16) -> &mut UnderWay {
        let at = usize::from(slot);
        if self.copies.len() <= at {
            self.copies.resize_with(at + 1, UnderWay::default);
        }
        &mut self.copies[at]
    }

    /// A warp has started copies, or says something about those that it has started.
    #[cold]
    pub(super) fn copies(&mut self, slot: u16, what: Copies) {
        let copies = self.copies_of(slot);
        match what {
            Copies::Started => copies.open += 1,
            Copies::Commit => {
                let group = std::mem::take(&mut copies.open);
                copies.groups.push_back(group);
                copies.tidy();
            }
            Copies::Wait { groups } => copies.awaited = Some((groups as usize, true)),
            Copies::WaitGroups { groups } => copies.awaited = Some((groups as usize, false)),
        }
        if copies.is_awaited() {
            self.hold(slot, Hold::Atomic);
        } else {
            copies.awaited = None;
        }
    }

    /// A warp has issued copies.
    #[cold]
    pub fn copies_started(&mut self, slot: u16) {
        self.copies(slot, Copies::Started);
    }

    /// A warp's copy is complete.
    #[cold]
    pub(super) fn copy_ended(&mut self, slot: u16) {
        let copies = self.copies_of(slot);
        copies.ended();
        if copies.awaited.is_some() && !copies.is_awaited() {
            copies.awaited = None;
            self.let_go(Hold::Atomic, slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::UnderWay;

    #[test]
    fn groups_end_in_order() {
        let mut copies = UnderWay {
            open: 1,
            ..UnderWay::default()
        };
        copies.groups.extend([2, 0, 1]);
        copies.awaited = Some((1, false));
        assert!(copies.is_awaited());
        copies.ended();
        assert!(copies.is_awaited());
        copies.ended();
        assert!(!copies.is_awaited(), "the empty group went with the first");
        copies.awaited = Some((0, true));
        copies.ended();
        assert!(copies.is_awaited(), "the open one");
        copies.ended();
        assert!(!copies.is_awaited());
    }
}
