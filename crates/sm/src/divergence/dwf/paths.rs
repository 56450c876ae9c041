//! What a warp of the pool holds, for observers: one path until its instruction is complete, after which its
//! threads go several ways.

use super::Pending;
use crate::divergence::{Group, GroupState, Path, PathKind};

impl Pending {
    /// Adds the paths of the warp whose instruction this is.
    pub fn paths(&self, group: &Group, out: &mut Vec<Path>) {
        if !(self.open && group.state == GroupState::Stopped) {
            return out.extend(Path::of(group));
        }
        let waiting = |part: &super::BarrierPart| if part.open { 0 } else { part.lanes };
        let waits = self
            .barriers
            .iter()
            .map(waiting)
            .fold(self.awaiting, |all, lanes| all | lanes);
        let [(pc, first), (other, second)] = self.sides;
        // Several ways are those of several warps: none of them runs yet.
        let kind = match first != 0 && second != 0 {
            true => PathKind::Parked,
            false => PathKind::Runs,
        };
        out.extend(Path::new(kind, pc, first & !waits));
        out.extend(Path::new(kind, other, second));
        out.extend(Path::new(PathKind::Parked, pc, first & waits));
    }
}
