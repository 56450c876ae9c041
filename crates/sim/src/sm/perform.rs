//! What happens with an instruction that issues: it is executed, goes to the collectors, and moves
//! its warp on.

use super::block::Arrival;
use super::collector::Issued;
use super::domain::Hold;
use super::opinfo::{OpInfo, Unit};
use super::{Launched, Quantum, Sm, SmFault};
use crate::divergence::{Branch, GroupState};
use crate::exec::memory::store_buffer::GlobalView;
use crate::exec::state::{Barrier, EffectKind, Moment};
use crate::observe::WarpEvent;
use crate::schedule::Place;
use warpsim_ptx::isa::Pipe;
use warpsim_ptx::kernel::Pc;

/// "No memory operation".
pub(super) const NO_MEMORY: u16 = u16::MAX;

impl Sm {
    /// Issues the instruction of one warp.
    #[inline(never)]
    pub(super) fn issue_one(
        &mut self,
        place: Place,
        now: u64,
        quantum: &mut Quantum,
    ) -> Result<(), SmFault> {
        let launched = quantum.launched;
        let slot = self.slot_at(place);
        let pc = self.next_instruction(slot);
        let info = &launched.infos[pc as usize];
        self.execute(slot, pc, info, now, quantum)?;
        let mut memory = NO_MEMORY;
        if info.unit == Unit::Mem {
            let lanes = self.groups.get(slot).lanes.clone();
            let owner = [(slot, self.effect.executed)];
            memory = self.issue_memory(&owner, lanes, pc, launched);
        }
        self.after(slot, place, pc, info, now, quantum)?;
        self.send(slot, pc, info.unit, memory);
        Ok(())
    }

    #[inline]
    pub(super) fn next_instruction(&self, slot: u16) -> Pc {
        let head = self.slots[slot as usize].buffer.head();
        head.expect("ready warps have an instruction")
    }

    /// An instruction goes to the collectors.
    #[inline]
    pub(super) fn send(&mut self, slot: u16, pc: Pc, unit: Unit, memory: u16) {
        self.order += 1;
        let order = self.order;
        self.collectors.issue(
            unit,
            Issued {
                slot,
                memory,
                pc,
                order,
            },
        );
    }

    /// Takes the instruction out of the buffer and executes it.
    #[inline(always)]
    pub(super) fn execute(
        &mut self,
        slot: u16,
        pc: Pc,
        info: &OpInfo,
        now: u64,
        quantum: &mut Quantum,
    ) -> Result<(), SmFault> {
        #[cfg(test)]
        self.log_issue(slot, pc);
        let group = self.groups.get(slot);
        let mut active = group.mask;
        let code = &quantum.launched.code;
        let (lanes, threads) = (&group.lanes, &mut self.threads);
        if info.unit == Unit::Mem
            || !code.step_registers(pc, lanes, active, threads, &mut self.effect)
        {
            self.execute_fully(slot, pc, now, quantum)?;
            // Threads that waited for these may have joined them.
            active = self.groups.get(slot).mask;
        }
        let lanes = active.count_ones();
        let counters = &mut self.stats.counters;
        counters.warp_instructions += 1;
        counters.thread_instructions += self.effect.executed.count_ones() as u64;
        counters.active_lanes += lanes as u64;
        counters.count_lanes(lanes);
        *match info.pipe {
            Pipe::Int => &mut counters.mix_int,
            Pipe::Fp => &mut counters.mix_fp,
            Pipe::Sfu => &mut counters.mix_sfu,
            Pipe::Memory => &mut counters.mix_memory,
            Pipe::Control => &mut counters.mix_control,
        } += 1;
        let state = &mut self.slots[slot as usize];
        state.buffer.pop();
        state.in_flight += 1;
        state.memory_in_flight += (info.unit == Unit::Mem) as u16;
        self.scoreboard.reserve(slot, info);
        self.tell_issue(now, slot, pc, active);
        Ok(())
    }

    /// Executes an instruction that does more than change registers of one home warp.
    #[inline(never)]
    fn execute_fully(
        &mut self,
        slot: u16,
        pc: Pc,
        now: u64,
        quantum: &mut Quantum,
    ) -> Result<(), SmFault> {
        let launched = quantum.launched;
        let group = self.groups.get(slot);
        let mut view = GlobalView::buffered(quantum.image, &mut self.stores, &mut self.prints);
        view.expect_as_before(pc as usize);
        let (code, grid) = (&launched.code, &launched.grid);
        let (lanes, threads) = (&group.lanes, &mut self.threads);
        let effect = &mut self.effect;
        if code.step_access(pc, lanes, group.mask, threads, grid, &mut view, effect) {
            return Ok(());
        }
        let moment = Moment {
            cycle: now,
            core_mhz: self.machine.gpu.core_mhz,
            sm: self.id as u32,
        };
        let active = group.mask;
        let result = code.step_general(pc, lanes, active, threads, grid, &mut view, moment, effect);
        result.map_err(|fault| SmFault::new(fault, pc))?;
        if matches!(self.effect.kind, EffectKind::Awaits) {
            self.await_members(slot, pc, now, quantum)?;
        }
        Ok(())
    }

    #[cfg(test)]
    fn log_issue(&mut self, slot: u16, pc: Pc) {
        let Some(log) = &mut self.log else { return };
        let group = self.groups.get(slot);
        for lane in (0..crate::exec::state::LANES).filter(|l| group.mask >> l & 1 != 0) {
            let home = &self.threads.warps[group.lanes.home(lane) as usize];
            let block = self.blocks[home.block as usize].as_ref();
            let block = block.expect("its block is resident").number;
            log.push((block, home.index, lane as u8, pc));
        }
    }

    /// Moves the warp on to where the instruction leads.
    #[inline(always)]
    pub(super) fn after(
        &mut self,
        slot: u16,
        place: Place,
        pc: Pc,
        info: &OpInfo,
        now: u64,
        quantum: &mut Quantum,
    ) -> Result<(), SmFault> {
        let launched = quantum.launched;
        match self.effect.kind {
            EffectKind::Alu | EffectKind::Access(_) => self.go_on(slot, pc + 1),
            EffectKind::Branch { taken } => self.branch(slot, pc, taken, launched),
            _ => self.after_special(slot, place, pc, now, quantum)?,
        }
        self.follow_groups(launched);
        if self.machine.fetch.ideal {
            let group = self.groups.get(slot);
            if group.state == GroupState::Running {
                let buffer = &mut self.slots[slot as usize].buffer;
                buffer.flush(group.pc);
                buffer.fill(group.pc, 1, launched.infos.len() as Pc, 1);
            }
        } else if info.control && self.groups.get(slot).pc != pc + 1 {
            self.domains[place.domain as usize].control |= 1 << place.index;
        }
        // The domain has had its turn: its cycles up to this one are accounted for.
        self.stirred.stir(place.domain);
        self.refresh_head(slot, place, launched);
        Ok(())
    }

    /// The warp goes on with the next instruction.
    #[inline(always)]
    fn go_on(&mut self, slot: u16, next: Pc) {
        if self.groups.advance(slot, next) {
            self.model.arrived(slot, &mut self.groups);
        }
    }

    fn branch(&mut self, slot: u16, pc: Pc, taken: u32, launched: &Launched) {
        let instr = &launched.kernel.code[pc as usize];
        let mask = self.groups.get(slot).mask;
        let counters = &mut self.stats.counters;
        counters.branches += 1;
        counters.divergent_branches += (taken != 0 && taken != mask) as u64;
        let branch = Branch {
            pc,
            target: instr.target,
            reconverge: instr.reconverge,
            likely: instr.likely,
            uniform: instr.uniform,
            taken,
        };
        self.model.branch(slot, &branch, &mut self.groups);
    }

    /// The same for instructions that do not just lead to the next one.
    #[inline(never)]
    fn after_special(
        &mut self,
        slot: u16,
        place: Place,
        pc: Pc,
        now: u64,
        quantum: &mut Quantum,
    ) -> Result<(), SmFault> {
        let executed = self.effect.executed;
        match self.effect.kind {
            EffectKind::Exit if executed != 0 => {
                self.model.exited(slot, executed, pc + 1, &mut self.groups);
                self.exited(slot, now, quantum)?;
            }
            _ => self.go_on(slot, pc + 1),
        }
        let domain = &mut self.domains[place.domain as usize];
        match self.effect.kind {
            EffectKind::Barrier(barrier) => self.arrive(slot, pc, barrier, now, quantum),
            EffectKind::Fence => domain.hold(Hold::Fence, place.index, true),
            EffectKind::Sleep { nanoseconds } => {
                let cycles = nanoseconds as u64 * self.machine.gpu.core_mhz as u64 / 1000;
                self.sleepers.push((now + cycles.max(1), slot));
                domain.hold(Hold::Asleep, place.index, true);
            }
            EffectKind::Atomic(_) if self.machine.sm.atomics_block_warp && executed != 0 => {
                domain.hold(Hold::Atomic, place.index, true);
            }
            _ => {}
        }
        Ok(())
    }

    /// Threads have exited: a barrier of their block may open, and those that waited for them
    /// need not any more.
    fn exited(&mut self, slot: u16, now: u64, quantum: &mut Quantum) -> Result<(), SmFault> {
        if self.pools {
            self.exited_pooled(slot, now, quantum);
        } else {
            let block = self.slots[slot as usize].block;
            if self.groups.get(slot).state == GroupState::Finished {
                self.warp_exited(slot);
            }
            self.recheck_barriers(block, now, quantum.launched);
        }
        if !self.meetings.is_empty() {
            self.recheck_meetings(now, quantum)?;
        }
        Ok(())
    }

    pub(super) fn recheck_barriers(&mut self, block: u16, now: u64, launched: &Launched) {
        let Some(resident) = &mut self.blocks[block as usize] else {
            return;
        };
        let mut releases = Vec::new();
        let takers = self.model.barrier_takers(block);
        resident.recheck(takers, &self.threads, |r| releases.push(r));
        for release in releases {
            self.release_barrier(block, release, now, launched);
        }
    }

    fn arrive(&mut self, slot: u16, pc: Pc, barrier: Barrier, now: u64, quantum: &mut Quantum) {
        if self.effect.executed == 0 {
            return;
        }
        if self.pools {
            return self.arrive_pooled(slot, pc, barrier, now, quantum);
        }
        let group = self.groups.get(slot);
        let block = self.slots[slot as usize].block;
        let threads = self.model.barrier_threads(slot, group, &self.threads);
        self.stats.counters.barriers += 1;
        if !barrier.arrive {
            let place = self.place(slot);
            self.domains[place.domain as usize].hold(Hold::Barrier, place.index, true);
            self.slots[slot as usize].phase_ended = now;
            self.touch_all(); // other schedulers may look at their warps in another order now
            self.policy.waits(place, block, now);
        }
        let waits = !barrier.arrive;
        let id = barrier.id;
        self.tell(now, slot, WarpEvent::Barrier { id, waits });
        let arrival = Arrival {
            slot,
            lanes: &self.groups.get(slot).lanes,
            executed: self.effect.executed,
            threads,
            pc,
            barrier,
        };
        let Some(resident) = &mut self.blocks[block as usize] else {
            return;
        };
        let takers = self.model.barrier_takers(block);
        if let Some(release) = resident.arrive(arrival, takers, &self.threads) {
            self.release_barrier(block, release, now, quantum.launched);
        }
    }
}
