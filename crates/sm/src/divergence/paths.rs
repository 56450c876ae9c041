//! Paths as observers hear of them, from what models hold.

use super::stack::{Entry, Stack};
use super::{Group, GroupState, NO_PC, Pc};

/// Threads of a warp that go the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Their next instruction.
    pub pc: Pc,
    /// Where the path ends, as its threads meet others there, or [`NO_PC`].
    pub until: Pc,
    /// Where they are likely to meet others before that, or [`NO_PC`].
    pub likely: Pc,
    /// Their lanes. On a stack a path has those of the paths above it, too, that meet where it begins.
    pub lanes: u32,
    /// What becomes of them now.
    pub kind: PathKind,
}

/// What becomes of the threads of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// They issue.
    Runs,
    /// They are on a stack, until what is above them is done.
    Stacked,
    /// The divergence model keeps them elsewhere: they are in another warp, wait for one to be formed of them, or for
    /// threads of other warps.
    Parked,
}

impl Path {
    /// The path of these threads, if there are any.
    pub(super) fn new(kind: PathKind, pc: Pc, lanes: u32) -> Option<Path> {
        (lanes != 0).then_some(Path {
            pc,
            until: NO_PC,
            likely: NO_PC,
            lanes,
            kind,
        })
    }

    /// That of the threads that a group holds, if it holds any.
    pub(super) fn of(group: &Group) -> Option<Path> {
        let kind = match group.state {
            GroupState::Running => PathKind::Runs,
            GroupState::Stopped | GroupState::Held => PathKind::Parked,
            GroupState::Free | GroupState::Finished => return None,
        };
        Path::new(kind, group.pc, group.mask)
    }

    /// That of an entry of a stack, if it has threads.
    pub(super) fn stacked(pc: Pc, lanes: u32) -> Option<Path> {
        Path::new(PathKind::Stacked, pc, lanes)
    }

    /// The same, which ends there.
    pub(super) fn until(self, until: Pc) -> Path {
        Path { until, ..self }
    }

    /// The same, which ends where an entry does.
    pub(super) fn ends_as(self, entry: Option<&Entry>) -> Path {
        match entry {
            Some(&Entry { until, likely, .. }) => Path {
                until,
                likely,
                ..self
            },
            None => self,
        }
    }
}

impl Stack {
    /// The path of the threads that the entry at a position has of a static warp, if it has any.
    pub(super) fn path(&self, position: usize, row: usize) -> Option<Path> {
        let (entry, masks) = self.at(position);
        Path::stacked(entry.pc, masks[row]).map(|path| path.ends_as(Some(&entry)))
    }
}
