//! `.sync` operations, whose threads may be spread over several hardware warps, and copies that a warp does not wait for
//! (`cp.async`).

use super::{Sm, World};
use crate::exec::fault::Fault;
use crate::exec::state::{Copies, Effect, EffectKind, LANES, Lanes};
use crate::sm::launch::SmFault;
use crate::time::Cycle;
use std::collections::VecDeque;
use warpsim_ptx::kernel::Pc;

/// Threads of a home warp that name the same threads at the same instruction, not all of which have come.
#[derive(Debug)]
pub(super) struct Meeting {
    home: u16,
    pc: Pc,
    named: u32,
    arrived: u32,
    /// Warps that wait, unless a pool keeps their threads.
    slots: Vec<u16>,
}

/// The copies of a warp that are under way. They end in the order in which they were started.
#[derive(Clone, Debug, Default)]
pub(super) struct CopiesUnderWay {
    /// Copies of each group that was committed, and of the open one behind them.
    groups: VecDeque<u32>,
    open: u32,
    /// The warp waits until at most so many groups are under way, and perhaps nothing open.
    awaited: Option<(usize, bool)>,
}

impl CopiesUnderWay {
    fn is_awaited(&self) -> bool {
        let more = |(groups, open_too): (usize, bool)| {
            self.groups.len() > groups || open_too && self.open > 0
        };
        self.awaited.is_some_and(more)
    }

    /// Groups without copies are complete when all before them are.
    fn tidy(&mut self) {
        while self.groups.front() == Some(&0) {
            self.groups.pop_front();
        }
    }
}

impl Sm {
    /// The warp in `slot` has come to a `.sync` operation that names threads which are not in it. It is executed for those
    /// whose members are all there; the others wait. The last to arrive executes it for all.
    pub(super) fn await_members(
        &mut self,
        slot: u16,
        pc: Pc,
        now: Cycle,
        effect: &mut Effect,
        world: &World,
    ) -> Result<(), SmFault> {
        let lanes = self.groups.get(slot).lanes.clone();
        if let Some(end) = world.launched.code.next_block() {
            let home = usize::from(self.groups.get(slot).first_home());
            self.threads.warps[home].done |= self.model.waiting_at(slot, end, &self.groups);
        }
        let mut sets: Vec<(u16, u32, u32)> = Vec::new();
        for lane in (0..LANES).filter(|lane| effect.executed >> lane & 1 != 0) {
            let (home, names) = (lanes.home(lane), effect.operands[0][lane] as u32);
            match sets.iter_mut().find(|set| (set.0, set.1) == (home, names)) {
                Some((_, _, set)) => *set |= 1 << lane,
                None => sets.push((home, names, 1 << lane)),
            }
        }
        // Home warp by home warp, in the order of their first lanes.
        let first_of = |home: u16| {
            (0..LANES).position(|lane| effect.executed >> lane & 1 != 0 && lanes.home(lane) == home)
        };
        sets.sort_by_key(|set| first_of(set.0));
        let mut waiting = 0;
        for (home, names, set) in sets {
            let at = self.arrive_at_meeting(home, pc, names, set);
            let missing = self.missing(at);
            if missing & self.model.owns(slot) != 0 {
                let instr = world.launched.code.instr(pc);
                let fault = Fault::missing_members(effect, &lanes, &self.threads, instr);
                return Err(SmFault::new(fault, pc));
            }
            if missing == 0 {
                let before = self.meetings[at].arrived & !set;
                self.hold_meeting(at, before, now, world)?;
                continue;
            }
            waiting |= set;
            if !self.pools {
                self.meetings[at].slots.push(slot);
                self.warps[usize::from(slot)].meetings += 1;
            }
        }
        if waiting != 0 {
            match self.model.pool() {
                Some(pool) => pool.awaits(slot, waiting),
                None => self.warps[usize::from(slot)].waits.members = true,
            }
        }
        effect.kind = EffectKind::Alu;
        Ok(())
    }

    fn arrive_at_meeting(&mut self, home: u16, pc: Pc, named: u32, set: u32) -> usize {
        let same = |m: &Meeting| (m.home, m.pc, m.named) == (home, pc, named);
        let at = self.meetings.iter().position(same).unwrap_or_else(|| {
            self.meetings.push(Meeting {
                home,
                pc,
                named,
                arrived: 0,
                slots: Vec::new(),
            });
            self.meetings.len() - 1
        });
        self.meetings[at].arrived |= set;
        at
    }

    /// Threads that a meeting waits for.
    fn missing(&self, at: usize) -> u32 {
        let meeting = &self.meetings[at];
        meeting.named & self.threads.warps[usize::from(meeting.home)].awaited() & !meeting.arrived
    }

    /// All threads named are there: the operation is executed, and those that `waited` go on.
    fn hold_meeting(
        &mut self,
        at: usize,
        waited: u32,
        now: Cycle,
        world: &World,
    ) -> Result<(), SmFault> {
        let meeting = self.meetings.remove(at);
        let (lanes, mut effect) = (Lanes::Static(meeting.home), Effect::default());
        self.execute(meeting.pc, &lanes, meeting.arrived, now, &mut effect, world)?;
        for slot in meeting.slots {
            let warp = &mut self.warps[usize::from(slot)];
            warp.meetings -= 1;
            if warp.meetings == 0 {
                warp.waits.members = false;
                self.tell_release(slot);
                self.settle(slot);
            }
        }
        if let Some(pool) = self.model.pool().filter(|_| waited != 0) {
            pool.met(meeting.home, waited, &mut self.groups);
        }
        Ok(())
    }

    /// Threads have exited: none waits for them any more.
    pub(super) fn recheck_meetings(&mut self, now: Cycle, world: &World) -> Result<(), SmFault> {
        let mut at = 0;
        while at < self.meetings.len() {
            match self.missing(at) {
                0 => {
                    let waited = self.meetings[at].arrived;
                    self.hold_meeting(at, waited, now, world)?;
                }
                _ => at += 1,
            }
        }
        Ok(())
    }

    /// A warp has issued copies.
    pub(super) fn copies_started(&mut self, slot: u16) {
        self.copies(slot, Copies::Started);
    }

    /// A warp has started copies, or says something about those that it has started.
    pub(super) fn copies(&mut self, slot: u16, what: Copies) {
        let copies = &mut self.copies[usize::from(slot)];
        match what {
            Copies::Started => copies.open += 1,
            Copies::Commit => {
                copies.groups.push_back(std::mem::take(&mut copies.open));
                copies.tidy();
            }
            Copies::Wait { groups } => copies.awaited = Some((groups as usize, true)),
            Copies::WaitGroups { groups } => copies.awaited = Some((groups as usize, false)),
        }
        if copies.is_awaited() {
            self.warps[usize::from(slot)].waits.atomic = true;
        } else {
            copies.awaited = None;
        }
    }

    /// A copy of a warp is complete.
    pub(super) fn copy_ended(&mut self, slot: u16) {
        let copies = &mut self.copies[usize::from(slot)];
        match copies.groups.front_mut() {
            Some(oldest) => *oldest -= 1,
            None => copies.open = copies.open.saturating_sub(1),
        }
        copies.tidy();
        if copies.awaited.is_some() && !copies.is_awaited() {
            copies.awaited = None;
            self.warps[usize::from(slot)].waits.atomic = false;
            self.settle(slot);
        }
    }
}
