//! A gang's instruction goes to a group of collectors in each of its slices. Where collectors are ideal
//! and these groups have nothing else, it is kept once for all of them, from issue until its pipelines
//! take it, in the second cycle behind. If anything is in the way, every group gets its own.

use super::{
    COLLECTED, Collectors, Config, GANGS_COLLECTED, GANGS_WAITING, GROUPS, Issued, UnitPlan,
    WAITING, place_before,
};
use crate::place::each;
use crate::sm::fixed_list::FixedList;
use crate::sm::limits::MOST_KINDS;

/// An issued instruction of a gang.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GangIssued {
    /// The instruction. Its slot is that of the home warp's warp in the first slice, whether that one
    /// is in the gang or not; those of the others follow.
    pub op: Issued,
    /// The group of the first slice, likewise.
    pub first: u8,
    /// The slices, a bit each.
    pub slices: u8,
}

impl GangIssued {
    /// Its groups, a bit each.
    #[inline]
    fn groups(&self) -> u32 {
        u32::from(self.slices) << self.first
    }

    /// Each group, with the instruction of the warp in its slice.
    fn by_slice(self) -> impl Iterator<Item = (usize, Issued)> {
        each(self.slices.into()).map(move |slice| {
            let slot = self.op.slot + slice as u16;
            let group = (self.first as usize + slice) % GROUPS;
            (group, Issued { slot, ..self.op })
        })
    }
}

/// The instructions of gangs of a cycle: no two have a slice in common, and each has several.
type OfCycle = FixedList<GangIssued, 4>;

/// Gangs' instructions.
#[derive(Debug, Default)]
pub(super) struct Gangs {
    /// By kind of units: the group of the first slice, if there is one for every slice that takes one
    /// instruction at a time.
    first: [Option<u8>; MOST_KINDS],
    /// Instructions that have been issued, and those that are to enter their pipelines; which is which changes
    /// with every cycle in which they move.
    lists: [OfCycle; 2],
    behind: bool,
}

impl Gangs {
    pub fn new(config: &Config, plan: &UnitPlan) -> Gangs {
        let mut all = Gangs::default();
        for (kind, first) in all.first.iter_mut().enumerate() {
            let of_kind = |g: &&crate::sm::units::Group| g.kind as usize == kind;
            let of = || plan.groups.iter().filter(of_kind);
            let alone = |g: &crate::sm::units::Group| {
                g.computes && !g.memory && g.ports == 1 && g.pipelines.len() == 1
            };
            if config.ideal && of().count() == plan.routes.len() && of().all(alone) {
                *first = Some(plan.routes[0][kind]);
            }
        }
        all
    }

    #[inline]
    fn before(&mut self) -> &mut OfCycle {
        &mut self.lists[usize::from(!self.behind)]
    }

    #[inline]
    fn behind(&mut self) -> &mut OfCycle {
        &mut self.lists[usize::from(self.behind)]
    }
}

impl Collectors {
    /// If instructions for a kind of units may be issued for gangs: the group of the first slice.
    #[inline]
    pub fn takes_gangs(&self, kind: u8) -> Option<u8> {
        self.gangs.first[kind as usize % MOST_KINDS]
    }

    /// Takes an issued instruction of a gang; the caller has asked for room in all its slices.
    #[inline]
    pub fn issue_gang(&mut self, gang: GangIssued) {
        self.room &= !gang.groups();
        self.gangs.before().push(gang);
        self.wants |= GANGS_WAITING;
    }

    /// What was issued moves on behind the collectors.
    pub(super) fn pass_gangs(&mut self) {
        debug_assert!(self.gangs.behind().is_empty(), "the units have been asked");
        self.wants ^= GANGS_WAITING;
        let all = self.gangs.before();
        let groups = all.iter().fold(0, |groups, gang| groups | gang.groups());
        if self.wants & (u64::from(groups) * COLLECTED) != 0 {
            return self.pass_around();
        }
        self.room |= groups;
        self.gangs.behind = !self.gangs.behind;
        self.wants |= GANGS_COLLECTED;
    }

    /// Passes gangs on, where some wait behind others in a slice.
    #[inline(never)]
    fn pass_around(&mut self) {
        let all = std::mem::take(self.gangs.before());
        for gang in all.iter() {
            let groups = gang.groups();
            if self.wants & (u64::from(groups) * COLLECTED) == 0 {
                self.room |= groups;
                self.gangs.behind().push(*gang);
                self.wants |= GANGS_COLLECTED;
                continue;
            }
            for (g, op) in gang.by_slice() {
                let group = &mut self.groups[g];
                self.before[place_before(g, group.came)] = op;
                group.came = group.came.wrapping_add(1);
                self.wants |= WAITING << g;
            }
        }
    }

    /// Takes the instruction of a gang that is ready to enter its pipelines.
    #[inline]
    pub fn take_gang(&mut self) -> Option<GangIssued> {
        if self.wants & GANGS_COLLECTED == 0 {
            return None;
        }
        let behind = self.gangs.behind();
        let gang = behind.pop();
        if behind.is_empty() {
            self.wants ^= GANGS_COLLECTED;
        }
        gang
    }

    /// Not all of its pipelines take it: every group has its own to wait.
    pub fn split_gang(&mut self, gang: GangIssued) {
        for (g, op) in gang.by_slice() {
            self.behind[g].push(op);
            self.wants |= COLLECTED << g;
        }
    }
}
