//! Threads that are in no warp, because the divergence model keeps them from going on: what they
//! wait for, in words, for runs that cannot go on.

use super::Residents;
use super::blocks::barrier::BarrierWait;
use crate::divergence::pool::{Parked, Waits};
use crate::sm::launch::Launched;
use crate::sm::observe::StuckWarp;

impl Residents {
    /// The threads that the divergence model keeps from going on, for the report.
    pub(super) fn parked(&self, sm: u16, launched: &Launched) -> Vec<StuckWarp> {
        let parked = self.model.parked(&self.groups).into_iter();
        let stuck = parked.map(|Parked { home, lanes, pc, waits }| {
            let waits_for = match waits {
                Waits::Barrier(id) => self.barrier_of(home, id),
                Waits::Members => self
                    .awaited_by(home, lanes, launched)
                    .unwrap_or_else(|| "threads of its warp".into()),
                Waits::Reconvergence => {
                    format!("the rest of its static warp to come here; threads {lanes:#010x} have")
                }
                Waits::Slot => "a slot".into(),
                Waits::OtherPath => format!(
                    "threads of its block on another path, which go first; threads {lanes:#010x} do"
                ),
            };
            self.stuck_warp(sm, u16::MAX, home, pc, waits_for, launched)
        });
        stuck.collect()
    }

    /// The barrier at which a thread waits, in words.
    fn barrier_of(&self, home: u16, id: u8) -> String {
        let block = self.threads.warps[home as usize].block;
        let Some(resident) = self.blocks.get(block) else {
            return "a barrier".into();
        };
        let takers = self.barrier_takers(block, 0).unwrap_or(0);
        let (arrived, expected) = resident.arrivals(id, takers);
        let wait = BarrierWait {
            id: id as usize,
            pc: 0,
            arrived,
            expected,
        };
        wait.describe()
    }
}
