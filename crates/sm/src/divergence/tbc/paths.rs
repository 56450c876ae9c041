//! What a block's stack holds for each of its warps, for observers.
//!
//! A warp has the threads that run in it, or have stopped in it, which may be those of several static warps; and on their
//! own lanes the threads of its static warp that are not among those: they are further down on the stack,
//! on a side of the branch that the block is at, or run in other warps.

use super::{Block, each_row};
use crate::divergence::{GroupState, Groups, Path, PathKind};

impl Block {
    /// Adds the paths of a warp.
    pub fn paths(&self, slot: u16, groups: &Groups, out: &mut Vec<Path>) {
        let Some(top) = self.stack.top() else {
            return;
        };
        let (home, slice) = self.arrival.layout.home_of(slot);
        let row = (home - self.arrival.homes.start) as usize;
        let own = self.arrival.layout.lanes_of(slice);
        let (sides, running) = (
            self.stack.running() + 1..self.stack.depth(),
            self.stack.running(),
        );
        let on_side = |row: usize| {
            sides
                .clone()
                .fold(0, |all, at| all | self.stack.at(at).1[row])
        };
        // Those of its threads that have neither exited nor gone to a side of the branch.
        let group = groups.get(slot);
        let (mut here, mut of_own) = (0, 0);
        if group.mask != 0 && group.state != GroupState::Finished {
            each_row(
                &group.lanes,
                self.arrival.homes.start,
                group.mask,
                |at, lanes| {
                    let lanes = lanes & self.stack.threads()[at] & !on_side(at);
                    here |= lanes;
                    of_own |= if at == row { lanes } else { 0 };
                },
            );
        }
        let kind = match group.state {
            GroupState::Running => PathKind::Runs,
            _ => PathKind::Parked,
        };
        let first = Path::new(kind, group.pc, here);
        out.extend(first.map(|path| path.ends_as(Some(top))));
        let restricted = |at: usize| {
            let path = self.stack.path(at, row)?;
            let lanes = path.lanes & own;
            (lanes != 0).then_some(Path { lanes, ..path })
        };
        out.extend(sides.clone().rev().filter_map(restricted));
        let elsewhere = self.stack.threads()[row] & own & !of_own & !on_side(row);
        let elsewhere = Path::new(PathKind::Parked, top.pc, elsewhere);
        out.extend(elsewhere.map(|path| path.ends_as(Some(top))));
        out.extend((0..running).rev().filter_map(restricted));
    }
}
