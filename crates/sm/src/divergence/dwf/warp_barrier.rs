//! Warp barriers (thread-block-compaction §2.4): which static warps have parted, and which threads of
//! them wait at the post-dominator of the branch where they did.

use crate::exec::state::LANES;
use warpsim_ptx::kernel::{NO_PC, Pc};

/// A static warp: the lanes of one slice of a home warp.
#[derive(Clone, Copy, Debug)]
struct StaticWarp {
    /// Threads that have not exited.
    members: u32,
    /// Those of them that wait.
    arrived: u32,
    /// Where they meet, while they are apart.
    meet: Pc,
    /// Its threads are in formed warps.
    apart: bool,
}

/// A static warp whose threads are all there again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Home warp.
    pub home: u16,
    /// Slice.
    pub slice: usize,
    /// Where it goes on.
    pub pc: Pc,
    /// Its threads.
    pub members: u32,
}

/// The warp barriers of an SM.
#[derive(Debug)]
pub struct WarpBarriers {
    slices: usize,
    warps: Vec<StaticWarp>,
}

impl WarpBarriers {
    /// No thread is there.
    pub fn new(slices: usize) -> WarpBarriers {
        WarpBarriers {
            slices,
            warps: Vec::new(),
        }
    }

    fn at(&mut self, home: u16, slice: usize) -> &mut StaticWarp {
        &mut self.warps[home as usize * self.slices + slice]
    }

    /// A static warp has come.
    pub fn launched(&mut self, home: u16, slice: usize, members: u32) {
        let none = StaticWarp {
            members: 0,
            arrived: 0,
            meet: NO_PC,
            apart: false,
        };
        let needed = (home as usize + 1) * self.slices;
        if self.warps.len() < needed {
            self.warps.resize(needed, none);
        }
        *self.at(home, slice) = StaticWarp { members, ..none };
    }

    /// A static warp has diverged at a branch whose sides meet at `meet`.
    pub fn part(&mut self, home: u16, slice: usize, meet: Pc) {
        let warp = self.at(home, slice);
        (warp.apart, warp.meet, warp.arrived) = (true, meet, 0);
    }

    /// Threads of formed warps are about to execute `pc`: those that meet there stay, and the
    /// others are returned. Static warps that are whole again are added to `whole`.
    pub fn arrive(
        &mut self,
        slice: usize,
        pc: Pc,
        lanes: u32,
        homes: &[u16; LANES],
        whole: &mut Vec<Whole>,
    ) -> u32 {
        let mut rest = lanes;
        for lane in (0..LANES).filter(|l| lanes >> l & 1 != 0) {
            let home = homes[lane];
            let warp = self.at(home, slice);
            if warp.apart && warp.meet == pc {
                rest &= !(1 << lane);
                warp.arrived |= 1 << lane;
                self.check(home, slice, whole);
            }
        }
        rest
    }

    /// Threads have exited; the rest of their warp may be all there.
    pub fn exited(&mut self, home: u16, slice: usize, lanes: u32, whole: &mut Vec<Whole>) {
        self.at(home, slice).members &= !lanes;
        self.check(home, slice, whole);
    }

    fn check(&mut self, home: u16, slice: usize, whole: &mut Vec<Whole>) {
        let warp = self.at(home, slice);
        if warp.apart && warp.members != 0 && warp.arrived == warp.members {
            warp.apart = false;
            let (pc, members) = (warp.meet, warp.members);
            whole.push(Whole {
                home,
                slice,
                pc,
                members,
            });
        }
    }

    /// Threads that wait: home warp, lanes, where.
    pub fn waiting(&self) -> impl Iterator<Item = (u16, u32, Pc)> + '_ {
        let apart = |(i, w): (usize, &StaticWarp)| {
            let waits = w.apart && w.arrived != 0;
            waits.then(|| ((i / self.slices) as u16, w.arrived, w.meet))
        };
        self.warps.iter().enumerate().filter_map(apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warp_is_whole_when_its_last_thread_that_lives_has_come() {
        let mut barriers = WarpBarriers::new(1);
        let mut whole = Vec::new();
        barriers.launched(2, 0, 0b1111);
        barriers.launched(3, 0, 0b1111);
        barriers.part(2, 0, 40);
        let mut homes = [2; LANES];
        homes[1] = 3;
        let rest = barriers.arrive(0, 40, 0b0011, &homes, &mut whole);
        assert_eq!(
            rest, 0b0010,
            "the thread of a warp that is together goes on"
        );
        assert_eq!(barriers.arrive(0, 39, 0b0100, &homes, &mut whole), 0b0100);
        barriers.arrive(0, 40, 0b0100, &[2; LANES], &mut whole);
        assert_eq!(barriers.waiting().collect::<Vec<_>>(), [(2, 0b0101, 40)]);
        barriers.exited(2, 0, 0b0010, &mut whole);
        assert!(whole.is_empty());
        barriers.exited(2, 0, 0b1000, &mut whole);
        let expected = Whole {
            home: 2,
            slice: 0,
            pc: 40,
            members: 0b0101,
        };
        assert_eq!(whole, [expected]);
        assert_eq!(barriers.waiting().count(), 0);
    }
}
