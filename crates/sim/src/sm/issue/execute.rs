//! What happens with an instruction that issues: it is executed, goes to the collectors, and moves
//! its warp on.

use super::{Issue, Surroundings};
use crate::divergence::GroupState;
use crate::exec::state::EffectKind;
use crate::place::Place;
use crate::sm::facts::OpFacts;
use crate::sm::launch::SmFault;
use crate::sm::memory;
use crate::sm::residents::{Executed, Residents};
use crate::sm::warps::Hold;
use crate::time::Cycle;
use warpsim_ptx::isa::Pipe;
use warpsim_ptx::kernel::Pc;

/// "No memory operation".
pub(super) const NO_MEMORY: u16 = u16::MAX;

impl Issue {
    /// Issues the instruction of one warp.
    #[inline(never)]
    pub(super) fn issue_one(
        &mut self,
        place: Place,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        let launched = with.view.launched;
        let slot = with.residents.warps.slot_at(place);
        let pc = with.residents.warps.next_instruction(slot);
        let facts = &launched.facts[pc as usize];
        self.execute(slot, pc, facts, now, with)?;
        let mut memory = NO_MEMORY;
        if facts.is_memory() {
            let Residents {
                groups,
                threads,
                books,
                ..
            } = &mut *with.residents;
            let executed = memory::Executed {
                pc,
                effect: &self.effect,
                owners: &[(slot, self.effect.executed)],
                lanes: &groups.get(slot).lanes,
                threads,
                launched,
            };
            memory = with.memory.open(&executed, &mut books.stats.counters);
        }
        self.move_on(slot, pc, facts, now, with)?;
        self.send(slot, pc, memory, with);
        Ok(())
    }

    /// Takes the instruction out of the buffer and executes it.
    #[inline(always)]
    pub(super) fn execute(
        &mut self,
        slot: u16,
        pc: Pc,
        facts: &OpFacts,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        #[cfg(test)]
        self.log_issue(slot, pc, with.residents);
        let Residents {
            groups, threads, ..
        } = &mut *with.residents;
        let group = groups.get(slot);
        let mut active = group.mask;
        let code = &with.view.launched.code;
        if facts.is_memory()
            || !code.step_registers(pc, &group.lanes, active, threads, &mut self.effect)
        {
            self.execute_fully(slot, pc, now, with)?;
            // Threads that waited for these may have joined them.
            active = with.residents.groups.get(slot).mask;
        }
        let Residents { warps, books, .. } = &mut *with.residents;
        let lanes = active.count_ones();
        let counters = &mut books.stats.counters;
        counters.warp_instructions += 1;
        counters.thread_instructions += self.effect.executed.count_ones() as u64;
        counters.active_lanes += lanes as u64;
        counters.count_lanes(lanes);
        *match facts.pipe {
            Pipe::Int => &mut counters.mix_int,
            Pipe::Fp => &mut counters.mix_fp,
            Pipe::Sfu => &mut counters.mix_sfu,
            Pipe::Memory => &mut counters.mix_memory,
            Pipe::Control => &mut counters.mix_control,
        } += 1;
        warps.issued(slot, facts);
        if books.watch.is_on() {
            with.residents.tell_issue(now, slot, pc, active);
        }
        Ok(())
    }

    /// Executes an instruction that does more than change registers of one home warp.
    #[inline(never)]
    fn execute_fully(
        &mut self,
        slot: u16,
        pc: Pc,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        let effect = &mut self.effect;
        let Residents {
            groups, threads, ..
        } = &mut *with.residents;
        let group = groups.get(slot);
        let launched = with.view.launched;
        let (code, grid) = (&launched.code, &launched.grid);
        let moment = with.view.moment(now);
        let mut global = with.view.global();
        global.expect_as_before(pc as usize);
        let (lanes, active) = (&group.lanes, group.mask);
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
        result.map_err(|fault| SmFault::new(fault, pc))?;
        if matches!(effect.kind, EffectKind::Awaits) {
            let view = &mut with.view;
            with.residents.await_members(slot, pc, now, effect, view)?;
        }
        Ok(())
    }

    #[cfg(test)]
    fn log_issue(&mut self, slot: u16, pc: Pc, residents: &Residents) {
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
        slot: u16,
        pc: Pc,
        facts: &OpFacts,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        let launched = with.view.launched;
        let residents = &mut *with.residents;
        match self.effect.kind {
            EffectKind::Access(ref access) if self.special.holds(access) => {
                residents.go_on(slot, pc + 1);
                residents.hold(slot, Hold::Atomic);
            }
            EffectKind::Alu | EffectKind::Access(_) => residents.go_on(slot, pc + 1),
            EffectKind::Branch { taken } => residents.branch(slot, pc, taken, launched),
            _ => {
                let effect = &self.effect;
                let what = Executed {
                    slot,
                    pc,
                    effect,
                    now,
                };
                residents.special(what, &self.special, &mut with.view)?;
            }
        }
        residents.follow(launched);
        let group = residents.groups.get(slot);
        let (next, running) = (group.pc, group.state == GroupState::Running);
        // The domain has had its turn: its cycles up to this one are accounted for.
        let mut edit = residents.warps.edit(slot, &mut residents.books);
        if self.ideal_fetch {
            if running {
                edit.supply(next, launched.facts.len() as Pc);
            }
        } else if facts.control && next != pc + 1 {
            edit.wait_for_target();
        }
        edit.refresh_head(next, &launched.facts);
        Ok(())
    }
}
