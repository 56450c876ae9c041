//! A whole gang's instruction goes to a group of collectors in every slice. Where collectors are
//! ideal and the groups have nothing else, it is kept once for all of them, from issue until its
//! pipelines take it, in the second cycle behind. If anything is in the way, every group gets its
//! own.

use super::{COLLECTED, Collectors, Config, GROUPS, Issued, UnitPlan, WAITING, WHOLE_GANG};
use crate::sm::limits::MOST_KINDS;

/// Whole gangs' instructions.
#[derive(Debug, Default)]
pub(super) struct WholeGangs {
    /// By kind of units: its groups, a bit each, if there is one for every slice that takes one
    /// instruction at a time; else none.
    groups: [u32; MOST_KINDS],
    /// The one that has been issued, and the one that is to enter its pipelines, with their groups.
    before: Option<(Issued, u32)>,
    behind: Option<(Issued, u32)>,
}

impl WholeGangs {
    pub fn new(config: &Config, plan: &UnitPlan) -> WholeGangs {
        let mut all = WholeGangs::default();
        for (kind, groups) in all.groups.iter_mut().enumerate() {
            let of = || {
                plan.groups
                    .iter()
                    .enumerate()
                    .filter(|(_, g)| g.kind as usize == kind)
            };
            let alone = |g: &crate::sm::units::Group| {
                g.computes && !g.memory && g.ports == 1 && g.pipelines.len() == 1
            };
            if config.ideal && of().count() == plan.routes.len() && of().all(|(_, g)| alone(g)) {
                *groups = of().fold(0, |bits, (g, _)| bits | 1 << g);
            }
        }
        all
    }
}

/// The groups in a set, with the number of the slice of each.
fn each(groups: u32) -> impl Iterator<Item = (usize, u16)> {
    let first = groups.trailing_zeros() as usize;
    let slices = 0..groups.count_ones() as u16;
    slices.map(move |slice| ((first + slice as usize) % GROUPS, slice))
}

impl Collectors {
    /// Whether instructions for a kind of units may be issued for whole gangs.
    #[inline]
    pub fn takes_whole_gangs(&self, kind: u8) -> bool {
        self.whole_gangs.groups[kind as usize % MOST_KINDS] != 0
    }

    /// Takes an issued instruction of a whole gang for a kind of units; the caller has asked for
    /// room in all slices. Its slot is that of the warp in the first.
    pub fn issue_whole_gang(&mut self, kind: u8, op: Issued) {
        let groups = self.whole_gangs.groups[kind as usize % MOST_KINDS];
        debug_assert!(self.whole_gangs.before.is_none(), "it takes all slices");
        self.whole_gangs.before = Some((op, groups));
        self.room &= !groups;
        self.wants |= WHOLE_GANG;
    }

    /// What was issued moves on behind the collectors.
    pub(super) fn pass_whole_gang(&mut self) {
        let Some((op, groups)) = self.whole_gangs.before.take() else {
            return;
        };
        if self.wants & (u64::from(groups) * COLLECTED) != 0 {
            // It waits behind others in some slices.
            self.wants &= !WHOLE_GANG;
            for (g, slice) in each(groups) {
                self.groups[g].before.push(in_slice(op, slice));
                self.wants |= WAITING << g;
            }
            return;
        }
        self.room |= groups;
        self.whole_gangs.behind = Some((op, groups));
    }

    /// The instruction of a whole gang that is ready to enter its pipelines, and its groups, a bit
    /// each.
    #[inline]
    pub fn take_whole_gang(&mut self) -> Option<(Issued, u32)> {
        if self.wants & WHOLE_GANG == 0 {
            return None;
        }
        let taken = self.whole_gangs.behind.take();
        if self.whole_gangs.before.is_none() {
            self.wants &= !WHOLE_GANG;
        }
        taken
    }

    /// Not all of its pipelines take it: every group has its own to wait.
    pub fn split_whole_gang(&mut self, op: Issued, groups: u32) {
        for (g, slice) in each(groups) {
            self.groups[g].behind.push(in_slice(op, slice));
            self.wants |= COLLECTED << g;
        }
    }
}

/// The instruction of the warp in a slice.
fn in_slice(op: Issued, slice: u16) -> Issued {
    Issued {
        slot: op.slot + slice,
        ..op
    }
}
