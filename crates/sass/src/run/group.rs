//! Threads of a warp that go together, and where they meet again.
//!
//! A branch divides a group; a convergence barrier makes one of several. Each thread knows for each barrier which
//! threads it is to meet there (`BSSY` names them, `BREAK` takes some away, and so does the end of a thread), and who
//! comes to `BSYNC` waits for those. Nothing else brings groups together.
//!
//! A thread that spins until another of its warp has done something says `YIELD` in its loop. Where that other waits at
//! a convergence barrier for nobody but threads that yield, it goes on without them after a while: so spinning ends.
//!
//! Registers of the warp belong to a group while it is divided: hardware has them once, and compilers see to it that
//! no two parts of a divided warp need them with different values at a time.

use crate::op::state::{Registers, Row, Uniform};
use crate::op::value::{From, Value};
use crate::program::operand::RZ;
use warpsim_exec::state::{LANES, lanes_of};

/// Convergence barriers of a warp.
pub(super) const BARRIERS: usize = 16;

/// What a group waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Nothing: it can go on.
    Nothing,
    /// Threads that it is to meet at this convergence barrier.
    Converge(u8),
    /// Threads of the warp.
    Warp(u32),
    /// A barrier of the block.
    Block(u8),
}

/// Threads of a warp at one instruction.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub pc: usize,
    pub lanes: u32,
    pub wait: Wait,
    /// Registers of the warp as this group left them; those of the group that executes are in the warp.
    pub uniform: Uniform,
}

/// A warp of a resident block.
#[derive(Clone, Debug, Default)]
pub(super) struct Warp {
    pub registers: Registers,
    pub groups: Vec<Group>,
    /// The group that has its turn.
    pub current: usize,
    /// Threads that live.
    pub live: u32,
    /// By barrier and thread: whom it is to meet.
    members: Vec<[u32; LANES]>,
    /// How often a group has yielded while no other could go on.
    in_vain: u32,
}

/// So often a group yields in vain until those that wait for it go on without it.
const PATIENCE: u32 = 32;

impl Warp {
    /// Begins a kernel: one group of the threads that there are.
    pub fn begin(&mut self, live: u32) {
        self.live = live;
        self.current = 0;
        self.in_vain = 0;
        self.groups.clear();
        if live != 0 {
            self.groups.push(Group {
                pc: 0,
                lanes: live,
                wait: Wait::Nothing,
                uniform: Uniform::default(),
            });
        }
        self.members.clear();
        self.members.resize(BARRIERS, [0; LANES]);
    }

    /// Chooses the group that goes on: the one that has its turn, or the next that can. Its registers of the warp are
    /// in the warp until [`put_back`](Warp::put_back).
    pub fn choose(&mut self) -> Option<usize> {
        let n = self.groups.len();
        let order = (0..n).map(|k| (self.current + k) % n);
        let ready = order
            .into_iter()
            .find(|&g| self.groups[g].wait == Wait::Nothing)?;
        self.current = ready;
        self.registers.uniform = self.groups[ready].uniform;
        Some(ready)
    }

    /// The group that executed keeps its registers of the warp.
    pub fn put_back(&mut self) {
        if let Some(group) = self.groups.get_mut(self.current) {
            group.uniform = self.registers.uniform;
        }
    }

    /// The next group has its turn.
    pub fn pass_on(&mut self) {
        self.current = (self.current + 1) % self.groups.len().max(1);
    }

    /// A value that decides where threads go.
    pub fn read(&self, value: Value) -> Row {
        match value.from {
            From::Register(number) if number != RZ => self.registers.rows[usize::from(number)],
            From::Uniform(number) => {
                Row::all(self.registers.uniform.registers[usize::from(number)])
            }
            From::Number(bits) => Row::all(bits),
            From::Register(_) | From::Constant { .. } => Row::all(0),
        }
    }

    /// `YIELD`: another group has its turn; where none can go on, those that wait for this one do in the end.
    pub fn give_way(&mut self) {
        let current = self.current;
        let others = self
            .groups
            .iter()
            .enumerate()
            .filter(|(n, _)| *n != current);
        if others.into_iter().any(|(_, g)| g.wait == Wait::Nothing) {
            self.pass_on();
            return;
        }
        self.in_vain += 1;
        if self.in_vain < PATIENCE {
            return;
        }
        self.in_vain = 0;
        let yielding = self.groups.get(current).map_or(0, |g| g.lanes);
        let Some((barrier, pc, come)) = self.waits_only_for(yielding) else {
            return;
        };
        for lane in lanes_of(yielding) {
            self.members[usize::from(barrier)][lane] &= !come;
        }
        self.join(pc, come);
        self.pass_on();
    }

    /// Threads at a convergence barrier that wait for none but these: its number, where they are, and who they are.
    fn waits_only_for(&self, lanes: u32) -> Option<(u8, usize, u32)> {
        self.groups.iter().find_map(|group| {
            let Wait::Converge(barrier) = group.wait else {
                return None;
            };
            let same = |g: &&Group| g.wait == group.wait && g.pc == group.pc;
            let come = self
                .groups
                .iter()
                .filter(same)
                .fold(0, |all, g| all | g.lanes);
            let members = &self.members[usize::from(barrier)];
            let wanted = lanes_of(come).fold(0, |all, lane| all | members[lane]);
            (wanted & self.live & !come & !lanes == 0).then_some((barrier, group.pc, come))
        })
    }

    /// Some threads of the current group go elsewhere, and wait for something there.
    pub fn part(&mut self, lanes: u32, pc: usize, wait: Wait) {
        let group = &mut self.groups[self.current];
        if lanes == group.lanes {
            (group.pc, group.wait) = (pc, wait);
            return;
        }
        group.lanes &= !lanes;
        self.groups.push(Group {
            pc,
            lanes,
            wait,
            uniform: self.registers.uniform,
        });
    }

    /// `BSSY`.
    pub fn begin_sync(&mut self, barrier: u8, lanes: u32) {
        for lane in lanes_of(lanes) {
            self.members[usize::from(barrier)][lane] = lanes;
        }
    }

    /// `BREAK`.
    pub fn leave(&mut self, barrier: u8, lanes: u32) {
        for members in &mut self.members[usize::from(barrier)] {
            if *members & lanes != 0 {
                *members &= !lanes;
            }
        }
        self.meet();
    }

    /// Threads end.
    pub fn exit(&mut self, lanes: u32) {
        self.live &= !lanes;
        let group = &mut self.groups[self.current];
        group.lanes &= !lanes;
        if group.lanes == 0 {
            self.groups.remove(self.current);
            self.current = 0;
        }
        self.meet();
    }

    /// Groups that wait for nobody any more go on, as one where they are at the same instruction.
    pub fn meet(&mut self) {
        while let Some((pc, lanes)) = self.complete() {
            self.join(pc, lanes);
        }
    }

    /// Threads at one instruction that wait for each other and have all come.
    fn complete(&self) -> Option<(usize, u32)> {
        for group in &self.groups {
            let wanted = match group.wait {
                Wait::Converge(barrier) => {
                    let members = &self.members[usize::from(barrier)];
                    lanes_of(group.lanes).fold(0, |all, lane| all | members[lane])
                }
                Wait::Warp(lanes) => lanes,
                _ => continue,
            };
            let wanted = (wanted | group.lanes) & self.live;
            let same = |other: &&Group| match (group.wait, other.wait) {
                (Wait::Converge(a), Wait::Converge(b)) => a == b && group.pc == other.pc,
                (Wait::Warp(_), Wait::Warp(_)) => true,
                _ => false,
            };
            let come = self
                .groups
                .iter()
                .filter(same)
                .fold(0, |all, g| all | g.lanes);
            if wanted & !come == 0 {
                return Some((group.pc, wanted));
            }
        }
        None
    }

    /// Of the groups that wait for one another, those at the same instruction become one.
    fn join(&mut self, pc: usize, lanes: u32) {
        let meeting = |group: &Group| {
            group.lanes & lanes != 0 && matches!(group.wait, Wait::Converge(_) | Wait::Warp(_))
        };
        let current = self
            .groups
            .get(self.current)
            .map(|g| g.lanes.trailing_zeros());
        let mut joined = 0;
        let mut uniform = None;
        for group in self.groups.iter_mut().filter(|g| meeting(g)) {
            if group.pc == pc {
                joined |= group.lanes;
                uniform = Some(group.uniform);
            } else {
                // It goes on from where it is.
                group.pc += 1;
                group.wait = Wait::Nothing;
            }
        }
        // The group that came last has its registers of the warp still in the warp.
        if self
            .groups
            .get(self.current)
            .is_some_and(|g| meeting(g) && g.pc == pc)
        {
            uniform = Some(self.registers.uniform);
        }
        self.groups.retain(|g| !(meeting(g) && g.pc == pc));
        if let Some(uniform) = uniform {
            self.groups.insert(
                0,
                Group {
                    pc: pc + 1,
                    lanes: joined,
                    wait: Wait::Nothing,
                    uniform,
                },
            );
        }
        let stays = |g: &Group| current.is_some_and(|lane| g.lanes >> lane & 1 != 0);
        self.current = self.groups.iter().position(stays).unwrap_or(0);
    }

    /// Lets go the groups that wait at a barrier of the block.
    pub fn release(&mut self, number: u8) {
        for group in &mut self.groups {
            if group.wait == Wait::Block(number) {
                group.wait = Wait::Nothing;
                group.pc += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warp() -> Warp {
        let mut warp = Warp::default();
        warp.begin(0xff);
        assert_eq!(warp.choose(), Some(0));
        warp
    }

    /// The current group waits at a convergence barrier at `pc`.
    fn comes(warp: &mut Warp, pc: usize) {
        let lanes = warp.groups[warp.current].lanes;
        warp.put_back();
        warp.part(lanes, pc, Wait::Converge(0));
        warp.meet();
    }

    #[test]
    fn threads_that_part_meet_again() {
        let mut warp = warp();
        warp.begin_sync(0, 0xff);
        warp.part(0xf0, 10, Wait::Nothing);
        assert_eq!(warp.groups.len(), 2);
        comes(&mut warp, 20);
        assert_eq!(warp.groups[0].wait, Wait::Converge(0));
        assert_eq!(warp.choose(), Some(1), "the others have not come");
        comes(&mut warp, 20);
        assert_eq!(warp.groups.len(), 1);
        let group = &warp.groups[0];
        assert_eq!(
            (group.pc, group.lanes, group.wait),
            (21, 0xff, Wait::Nothing)
        );
    }

    #[test]
    fn nobody_waits_for_threads_that_have_left_or_ended() {
        let mut warp = warp();
        warp.begin_sync(0, 0xff);
        warp.part(0x0f, 10, Wait::Nothing);
        comes(&mut warp, 20);
        assert_eq!(warp.choose(), Some(1));
        warp.leave(0, 0x03);
        assert_eq!(warp.groups[0].wait, Wait::Converge(0), "for 2 and 3 still");
        warp.exit(0x0c);
        let free = |g: &Group| g.wait == Wait::Nothing;
        assert!(warp.groups.iter().all(free));
        let lanes: Vec<u32> = warp.groups.iter().map(|g| g.lanes).collect();
        assert_eq!(lanes, [0xf0, 0x03], "they did not become one");
    }

    #[test]
    fn who_waits_for_threads_that_spin_goes_on_without_them() {
        let mut warp = warp();
        warp.begin_sync(0, 0xff);
        warp.part(0x01, 10, Wait::Nothing);
        warp.put_back();
        warp.pass_on();
        assert_eq!(warp.choose(), Some(1));
        comes(&mut warp, 20);
        for _ in 0..PATIENCE {
            assert_eq!(warp.choose(), Some(0), "the other waits");
            warp.put_back();
            warp.give_way();
        }
        let chosen = warp
            .choose()
            .map(|g| (warp.groups[g].lanes, warp.groups[g].pc));
        assert_eq!(chosen, Some((0x01, 21)));
        // The others wait for it no more.
        warp.pass_on();
        assert_eq!(warp.choose(), Some(1));
        comes(&mut warp, 20);
        assert!(warp.groups.iter().all(|g| g.wait == Wait::Nothing));
    }

    #[test]
    fn a_group_has_its_own_registers_of_the_warp() {
        let mut warp = warp();
        warp.registers.uniform.registers[4] = 1;
        warp.part(0x0f, 10, Wait::Nothing);
        warp.registers.uniform.registers[4] = 2;
        warp.put_back();
        warp.pass_on();
        assert_eq!(warp.choose(), Some(1));
        assert_eq!(warp.registers.uniform.registers[4], 1);
        warp.pass_on();
        assert_eq!(warp.choose(), Some(0));
        assert_eq!(warp.registers.uniform.registers[4], 2);
    }

    #[test]
    fn threads_of_the_warp_are_waited_for_wherever_they_are() {
        let mut warp = warp();
        warp.part(0x0f, 10, Wait::Nothing);
        warp.part(0xf0, 5, Wait::Warp(0xff));
        warp.meet();
        assert_eq!(warp.groups[0].wait, Wait::Warp(0xff));
        warp.pass_on();
        assert_eq!(warp.choose(), Some(1));
        warp.part(0x0f, 12, Wait::Warp(0xff));
        warp.meet();
        let at: Vec<(usize, u32)> = warp.groups.iter().map(|g| (g.pc, g.lanes)).collect();
        assert!(
            at.contains(&(6, 0xf0)) && at.contains(&(13, 0x0f)),
            "{at:?}"
        );
    }
}
