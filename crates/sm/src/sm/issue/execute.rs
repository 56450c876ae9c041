//! What happens with an instruction that issues: it is executed, goes to the collectors, and moves
//! its warp on.

use super::{Issue, Next, Surroundings};
use crate::divergence::GroupState;
use crate::exec::state::{EffectKind, Lanes, Threads};
use crate::sm::facts::{OpFacts, Traffic};
use crate::sm::launch::{Launched, SmFault, View};
use crate::sm::memory;
use crate::sm::residents::{Executed, Residents};
use crate::sm::warps::Hold;
use crate::stats::{SmCounters, SmStats};
use crate::time::Cycle;
use warpsim_ptx::isa::Pipe;
use warpsim_ptx::kernel::Pc;

/// A warp that has executed a memory instruction, on these lanes.
#[inline(always)]
pub(super) fn owner(next: &Next, lanes: u32) -> memory::Owner {
    memory::Owner {
        slot: next.slot,
        pc: next.pc,
        lanes,
        pending: 0,
    }
}

/// "No memory operation".
pub(super) const NO_MEMORY: u16 = u16::MAX;

impl Issue {
    /// Issues the instruction of one warp.
    #[inline(always)]
    pub(super) fn issue_one(
        &mut self,
        next: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        let (residents, view) = (&mut *with.residents, &mut with.view);
        self.execute(next, now, residents, view)?;
        let mut memory = NO_MEMORY;
        if next.facts.is_memory() {
            let Residents {
                groups,
                threads,
                books,
                ..
            } = &mut *residents;
            let executed = memory::Executed {
                pc: next.pc,
                effect: &self.effect,
                owners: &[owner(next, self.effect.executed)],
                shapes: &[],
                lanes: &groups.get(next.slot).lanes,
                threads,
                launched: view.launched,
            };
            memory = with.memory.open(&executed, &mut books.stats.counters);
            if books.watch.is_on() {
                let event = with.memory.asked(memory);
                books.watch.tell(now, next.slot, event);
            }
        }
        self.move_on(next, now, residents, view)?;
        self.send(next, memory, self.effect.executed, now, with);
        Ok(())
    }

    /// Takes the instruction out of the buffer and executes it.
    #[inline(always)]
    pub(super) fn execute(
        &mut self,
        next: &Next,
        now: Cycle,
        residents: &mut Residents,
        view: &mut View,
    ) -> Result<(), SmFault> {
        let &Next {
            slot, pc, facts, ..
        } = next;
        #[cfg(test)]
        self.log_issue(slot, pc, residents);
        let Residents {
            groups, threads, ..
        } = &mut *residents;
        let group = groups.get(slot);
        let mut active = group.mask;
        let code = &view.launched.code;
        if facts.is_memory()
            || !code.step_registers(pc, &group.lanes, active, threads, &mut self.effect)
        {
            self.execute_fully(slot, pc, now, residents, view)?;
            // Threads that waited for these may have joined them.
            active = residents.groups.get(slot).mask;
        }
        note_executed(next, now, active, self.effect.executed, residents);
        Ok(())
    }

    /// Executes an instruction that does more than change registers of one home warp.
    #[inline(never)]
    fn execute_fully(
        &mut self,
        slot: u16,
        pc: Pc,
        now: Cycle,
        residents: &mut Residents,
        view: &mut View,
    ) -> Result<(), SmFault> {
        let Residents {
            groups, threads, ..
        } = &mut *residents;
        let group = groups.get(slot);
        self.execute_for(&group.lanes, group.mask, pc, now, threads, view)?;
        if matches!(self.effect.kind, EffectKind::Awaits) {
            residents.await_members(slot, pc, now, &mut self.effect, view)?;
        }
        Ok(())
    }

    /// Executes an instruction for these threads, as far as it concerns no other part.
    #[inline(always)]
    pub(super) fn execute_for(
        &mut self,
        lanes: &Lanes,
        active: u32,
        pc: Pc,
        now: Cycle,
        threads: &mut Threads,
        view: &mut View,
    ) -> Result<(), SmFault> {
        let effect = &mut self.effect;
        let launched = view.launched;
        let (code, grid) = (&launched.code, &launched.grid);
        let moment = view.moment(now);
        let mut global = view.global();
        global.expect_as_before(pc as usize);
        if code.step_access(pc, lanes, active, threads, grid, &mut global, effect) {
            return Ok(());
        }
        let result = code.step_general(
            pc,
            lanes,
            active,
            threads,
            grid,
            &mut global,
            moment,
            effect,
        );
        result.map_err(|fault| SmFault::new(fault, pc))
    }

    #[cfg(test)]
    pub(super) fn log_issue(&mut self, slot: u16, pc: Pc, residents: &Residents) {
        let Some(log) = &mut self.log else { return };
        let group = residents.groups.get(slot);
        for lane in (0..crate::exec::state::LANES).filter(|l| group.mask >> l & 1 != 0) {
            let (block, warp) = residents.name_of(group.lanes.home(lane));
            log.push((block, warp, lane as u8, pc));
        }
    }

    /// Moves the warp on to where the instruction leads.
    #[inline(always)]
    pub(super) fn move_on(
        &mut self,
        next: &Next,
        now: Cycle,
        residents: &mut Residents,
        view: &mut View,
    ) -> Result<(), SmFault> {
        self.lead_on(next, now, residents, view)?;
        residents.follow_issue(next.slot, view.launched);
        self.refresh(next, residents, view.launched);
        Ok(())
    }

    /// What the instruction means for the warp's threads.
    #[inline(always)]
    pub(super) fn lead_on(
        &mut self,
        next: &Next,
        now: Cycle,
        residents: &mut Residents,
        view: &mut View,
    ) -> Result<(), SmFault> {
        let &Next {
            slot, pc, facts, ..
        } = next;
        let launched = view.launched;
        match self.effect.kind {
            EffectKind::Access(ref access) if self.special.holds(access) => {
                residents.go_on(slot, pc + 1);
                residents.hold(slot, Hold::Atomic);
            }
            EffectKind::Alu | EffectKind::Access(_) | EffectKind::Prefetch(_) => {
                if facts.traffic == Traffic::Copy {
                    residents.copies_started(slot);
                }
                residents.go_on(slot, pc + 1);
            }
            EffectKind::Branch { taken } => residents.branch(slot, pc, taken, launched),
            _ => {
                let effect = &self.effect;
                let what = Executed {
                    slot,
                    pc,
                    effect,
                    now,
                };
                residents.special(what, &self.special, view)?;
            }
        }
        Ok(())
    }

    /// The warp's buffer is looked at anew, now that it is known where its threads go on.
    #[inline(always)]
    pub(super) fn refresh(&self, next: &Next, residents: &mut Residents, launched: &Launched) {
        let &Next {
            slot, pc, facts, ..
        } = next;
        let group = residents.groups.get(slot);
        let (next, running) = (group.pc, group.state == GroupState::Running);
        let mut edit = residents.warps.edit_after_turn(slot, &mut residents.books);
        if self.ideal_fetch {
            if running {
                edit.supply(next, launched.facts.len() as Pc);
            }
        } else if facts.control && next != pc + 1 {
            edit.wait_for_target();
        }
        edit.follow_path(next);
        edit.refresh_head(next, &launched.facts);
    }
}

/// Counts an instruction of a warp that these lanes have executed, and tells the observer.
#[inline(always)]
pub(super) fn note_executed(
    next: &Next,
    now: Cycle,
    active: u32,
    executed: u32,
    residents: &mut Residents,
) {
    let &Next {
        slot, pc, facts, ..
    } = next;
    let Residents { warps, books, .. } = &mut *residents;
    count_instructions(facts, 1, executed, &mut books.stats);
    count_lanes(active, &mut books.stats.counters);
    warps.issued(slot, facts);
    if books.watch.is_on() {
        residents.tell_issue(now, slot, pc, active, executed);
    }
}

/// Counts an instruction that so many warps have issued, on these lanes together.
#[inline(always)]
pub(super) fn count_instructions(facts: &OpFacts, warps: u64, executed: u32, stats: &mut SmStats) {
    let counters = &mut stats.counters;
    counters.warp_instructions += warps;
    let executed = u64::from(executed.count_ones());
    counters.thread_instructions += executed;
    // One after the other: the host cannot guess where a jump by table goes.
    let pipe = facts.through.pipe;
    if pipe == Pipe::Int {
        counters.mix_int += warps;
    } else if pipe == Pipe::Fp {
        counters.mix_fp += warps;
    } else {
        *match pipe {
            Pipe::Memory => &mut counters.mix_memory,
            Pipe::Sfu => &mut counters.mix_sfu,
            _ => &mut counters.mix_control,
        } += warps;
    }
    stats.work.count(facts.work, facts.operands, executed);
}

/// Counts the active lanes of a warp that has issued.
#[inline(always)]
pub(super) fn count_lanes(active: u32, counters: &mut SmCounters) {
    let lanes = active.count_ones();
    counters.active_lanes += u64::from(lanes);
    counters.count_lanes(lanes);
}
