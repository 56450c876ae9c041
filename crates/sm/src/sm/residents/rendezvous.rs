//! `.sync` operations whose named threads are spread over several hardware warps: each warp
//! that issues one arrives, and the last to arrive executes it for all. An arrival takes the
//! pipeline like any instruction; what waits is what comes behind it.

use super::Residents;
use crate::exec::fault::Fault;
use crate::exec::state::{Effect, EffectKind, LANES, Lanes};
use crate::sm::launch::{Launched, SmFault, View};
use crate::sm::warps::Hold;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

/// Threads of a home warp that name the same threads at the same instruction, not all of which
/// have come.
#[derive(Debug)]
pub(super) struct Meeting {
    home: u16,
    pc: Pc,
    named: u32,
    arrived: u32,
    /// Warps that wait, unless a pool keeps their threads.
    pub(super) slots: Vec<u16>,
}

impl Residents {
    /// The group in `slot` has come to a `.sync` operation that names threads which are not in
    /// it. Executes it for those whose members are all there now; the others wait.
    pub fn await_members(
        &mut self,
        slot: u16,
        pc: Pc,
        now: Cycle,
        effect: &mut Effect,
        view: &mut View,
    ) -> Result<(), SmFault> {
        let ownership = self.ownership;
        let lanes = self.groups.get(slot).lanes.clone();
        if let Some(end) = view.launched.code.next_block() {
            let home = self.groups.get(slot).first_home();
            let done = self.model.waiting_at(slot, end, &self.groups);
            self.threads.warps[home as usize].done |= done;
        }
        let named = effect.operands[0];
        let mut sets = Vec::new();
        lanes.each_home(effect.executed, |home, here| {
            let mut left = here;
            while left != 0 {
                let names = named[left.trailing_zeros() as usize] as u32;
                let same = |l: &usize| left >> l & 1 != 0 && named[*l] as u32 == names;
                let set = (0..LANES).filter(same).fold(0, |all, l| all | 1u32 << l);
                sets.push((home, names, set));
                left &= !set;
            }
        });
        let mut waiting = 0;
        for (home, names, set) in sets {
            let at = self.arrive_at_meeting(home, pc, names, set);
            let missing = self.missing(at);
            if missing & self.model.owns(slot) != 0 {
                let instr = view.launched.code.instr(pc);
                let fault = Fault::missing_members(effect, &lanes, &self.threads, instr);
                return Err(SmFault::new(fault, pc));
            }
            if missing != 0 {
                waiting |= set;
                ownership.joined(self, slot, at);
            } else {
                let before = self.meetings[at].arrived & !set;
                self.hold_meeting(at, before, now, view)?;
            }
        }
        if waiting != 0 {
            ownership.wait_for_members(self, slot, waiting);
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
        let m = &self.meetings[at];
        m.named & self.threads.warps[m.home as usize].awaited() & !m.arrived
    }

    /// All threads named are there: executes the operation and lets those go that waited.
    fn hold_meeting(
        &mut self,
        at: usize,
        waited: u32,
        now: Cycle,
        view: &mut View,
    ) -> Result<(), SmFault> {
        let meeting = self.meetings.remove(at);
        let lanes = Lanes::Static(meeting.home);
        let effect = &mut Effect::default();
        view.step(
            meeting.pc,
            &lanes,
            meeting.arrived,
            &mut self.threads,
            now,
            effect,
        )?;
        for slot in meeting.slots {
            let awaits = &mut self.warps.warp_mut(slot).awaits;
            *awaits -= 1;
            if *awaits == 0 {
                self.let_go(Hold::Members, slot);
            }
        }
        if waited != 0 {
            self.ownership.met(self, meeting.home, waited);
        }
        Ok(())
    }

    /// Threads have exited: no warp waits for them any more.
    pub(super) fn recheck_meetings(&mut self, now: Cycle, view: &mut View) -> Result<(), SmFault> {
        let mut at = 0;
        while at < self.meetings.len() {
            if self.missing(at) == 0 {
                let waited = self.meetings[at].arrived;
                self.hold_meeting(at, waited, now, view)?;
            } else {
                at += 1;
            }
        }
        Ok(())
    }

    /// What threads of a home warp wait for at a `.sync` operation, in words.
    pub(in crate::sm) fn awaited_by(
        &self,
        home: u16,
        lanes: u32,
        launched: &Launched,
    ) -> Option<String> {
        let at = self
            .meetings
            .iter()
            .position(|m| m.home == home && m.arrived & lanes != 0)?;
        let meeting = &self.meetings[at];
        let instr = launched.kernel.code.get(meeting.pc as usize)?;
        Some(format!(
            "threads {:#010x} of its warp, which its {} at {} names: {:#010x} of {:#010x} have arrived",
            self.missing(at),
            match instr.op {
                warpsim_ptx::isa::Op::Bar => "bar.warp.sync".to_string(),
                op => format!("{}.sync", op.text()),
            },
            launched.kernel.origin(meeting.pc),
            meeting.arrived,
            meeting.named,
        ))
    }
}
