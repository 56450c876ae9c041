//! The heads of the warps' buffers: whether there is one, for which unit it is, and what holds it back.

use super::{Domain, assign};
use crate::sm::warps::scoreboard::Hazard;

/// The head of a warp's buffer: of the sets of the same names, the warp's bit.
#[derive(Clone, Copy, Debug)]
pub(in crate::sm::warps) struct Head {
    matched: u64,
    clear: u64,
    wait_memory: u64,
    long_wait: u64,
    accesses: u64,
    wants_fetch: u64,
    kind: [u64; 2],
}

impl Domain {
    /// The buffer of a warp is empty.
    #[inline]
    pub(in crate::sm::warps) fn empty_head(&mut self, index: u8) {
        let keep = !(1u64 << index);
        self.head &= keep;
        self.clear &= keep;
        self.wait_memory &= keep;
        self.long_wait &= keep;
    }

    /// Warps that run lose the wrong path in their buffers, and are to be fetched for.
    #[inline]
    pub(in crate::sm::warps) fn drop_heads(&mut self, wrong: u64) {
        debug_assert!(wrong & !self.mismatched() == 0 && wrong & self.stopped == 0);
        self.control |= wrong;
        // A branch on the wrong path will never resolve.
        self.unresolved &= !wrong;
        self.wants_fetch |= wrong;
        self.head &= !wrong;
        self.clear &= !wrong;
        self.wait_memory &= !wrong;
        self.long_wait &= !wrong;
    }

    /// The buffer of a warp begins with an instruction for a kind of units, the one to execute next or one
    /// on the wrong path.
    #[inline]
    pub(in crate::sm::warps) fn set_head(&mut self, index: u8, kind: u8, right_path: bool) {
        let bit = 1u64 << index;
        self.head |= bit;
        if right_path {
            self.matched |= bit;
            self.control &= !bit;
        } else {
            self.matched &= !bit;
        }
        let [low, high] = &mut self.kind;
        if kind == 0 {
            // The kind of most instructions.
            *low &= !bit;
            *high &= !bit;
            return;
        }
        assign(low, index, kind & 1 != 0);
        assign(high, index, kind & 2 != 0);
    }

    /// What is known of the head of a warp's buffer, if there is one.
    #[inline]
    pub(in crate::sm::warps) fn head_of(&self, index: u8) -> Option<Head> {
        let bit = 1u64 << index;
        (self.head & bit != 0).then(|| Head {
            matched: self.matched & bit,
            clear: self.clear & bit,
            wait_memory: self.wait_memory & bit,
            long_wait: self.long_wait & bit,
            accesses: self.accesses & bit,
            wants_fetch: self.wants_fetch & bit,
            kind: [self.kind[0] & bit, self.kind[1] & bit],
        })
    }

    /// The buffer of a warp begins as that of the one at the same index in another domain.
    #[inline(always)]
    pub(in crate::sm::warps) fn take_head(&mut self, index: u8, head: &Head) {
        let bit = 1u64 << index;
        let take = |set: &mut u64, its: u64| *set = *set & !bit | its;
        self.head |= bit;
        take(&mut self.matched, head.matched);
        take(&mut self.clear, head.clear);
        take(&mut self.wait_memory, head.wait_memory);
        take(&mut self.long_wait, head.long_wait);
        take(&mut self.accesses, head.accesses);
        take(&mut self.wants_fetch, head.wants_fetch);
        take(&mut self.kind[0], head.kind[0]);
        take(&mut self.kind[1], head.kind[1]);
        self.control &= !head.matched;
    }

    /// What holds back the instruction at the head of a warp's buffer, as last told.
    #[inline]
    pub fn held_back(&self, index: u8) -> Hazard {
        let is = |set: u64| set >> index & 1 != 0;
        Hazard {
            any: !is(self.clear),
            memory: is(self.wait_memory),
            long: is(self.long_wait),
        }
    }

    /// Of the warps that something holds back, those for which that is not this.
    #[inline]
    pub(in crate::sm::warps) fn differs_from(&self, hazard: Hazard) -> u64 {
        let all = |yes: bool| u64::from(yes).wrapping_neg();
        let memory = self.wait_memory ^ all(hazard.memory);
        all(!hazard.any) | memory | self.long_wait ^ all(hazard.long)
    }

    /// Whether this was told last of the instruction at the head of a warp's buffer.
    #[inline]
    pub(in crate::sm::warps) fn is_held_back_by(&self, index: u8, hazard: Hazard) -> bool {
        match hazard.any {
            true => self.held_back(index) == hazard,
            false => self.clear >> index & 1 != 0, // and so no more
        }
    }

    /// Tells whether something that is not owed by memory holds back the instruction at the head of a warp's
    /// buffer, and nothing else does.
    #[inline]
    pub(in crate::sm::warps) fn hold_back_plainly(&mut self, index: u8, held: bool) {
        let bit = 1u64 << index;
        match held {
            true => self.clear &= !bit,
            false => self.clear |= bit,
        }
        self.wait_memory &= !bit;
        self.long_wait &= !bit;
    }

    /// Tells what holds back the instruction at the head of a warp's buffer.
    #[inline(always)]
    pub(in crate::sm::warps) fn hold_back(&mut self, index: u8, hazard: Hazard) {
        let bit = 1u64 << index;
        debug_assert!(hazard.any || !hazard.memory);
        debug_assert!(hazard.memory || !hazard.long);
        match hazard.any {
            true => self.clear &= !bit,
            false => self.clear |= bit,
        }
        if hazard.memory {
            self.wait_memory |= bit;
            assign(&mut self.long_wait, index, hazard.long);
        } else {
            self.wait_memory &= !bit;
            self.long_wait &= !bit;
        }
    }
}
