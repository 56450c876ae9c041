//! Control: where the threads of a warp go on behind an instruction, and what that means for the warp. The divergence
//! model says which threads go together; the warps follow it.

use super::{Sm, World};
use crate::divergence::{Branch, GroupState};
use crate::exec::state::{Effect, EffectKind};
use crate::sm::facts::{OpFacts, Traffic};
use crate::sm::launch::{Launched, SmFault};
use crate::time::Cycle;
use warpsim_ptx::isa::Op;
use warpsim_ptx::kernel::Pc;

impl Sm {
    /// What an instruction that a warp has executed means for its threads.
    pub(super) fn lead_on(
        &mut self,
        slot: u16,
        pc: Pc,
        effect: &Effect,
        now: Cycle,
        world: &World,
    ) -> Result<(), SmFault> {
        let launched = world.launched;
        let (warp, executed) = (usize::from(slot), effect.executed);
        let blocks_warp = self.machine.sm.atomics_block_warp;
        match effect.kind {
            EffectKind::Branch { taken } => self.branch(slot, pc, taken, launched),
            EffectKind::Exit if executed != 0 => {
                self.model.exited(slot, executed, pc + 1, &mut self.groups);
                self.threads_exited(slot, executed, now, launched);
                self.recheck_meetings(now, world)?;
            }
            _ => self.go_on(slot, pc + 1),
        }
        match &effect.kind {
            EffectKind::Access(access) => {
                let shared = access.shared != 0 && access.global | access.local == 0;
                if access.shared_atomic && shared && blocks_warp {
                    self.warps[warp].waits.atomic = true;
                } else if launched.facts[pc as usize].traffic == Traffic::Copy {
                    self.copies_started(slot);
                }
            }
            EffectKind::Alu | EffectKind::Prefetch(_)
                if launched.facts[pc as usize].traffic == Traffic::Copy =>
            {
                self.copies_started(slot);
            }
            EffectKind::Barrier(barrier) if executed != 0 => {
                self.stats.counters.barriers += 1;
                self.arrive_at_barrier(slot, executed, *barrier, now, launched);
            }
            EffectKind::NextBlock(results) if executed != 0 => {
                self.finish_iteration(slot, *results, now, launched);
            }
            EffectKind::Fence => {
                self.warps[warp].waits.fence = true;
                if !self.machine.sm.fences_wait_for_stores {
                    self.leave_fence(slot);
                }
            }
            EffectKind::Copies(what) if executed != 0 => self.copies(slot, *what),
            EffectKind::Sleep { nanoseconds } => {
                let mhz = u64::from(self.machine.gpu.core_mhz);
                let cycles = u64::from(*nanoseconds) * mhz / 1000;
                self.sleepers.push((now + cycles.max(1), slot));
                self.warps[warp].waits.sleep = true;
            }
            EffectKind::Atomic(_) if blocks_warp && executed != 0 => {
                self.warps[warp].waits.atomic = true;
            }
            _ => {}
        }
        Ok(())
    }

    /// The warp goes on with the instruction at `next`; the model hears of it if it wants to.
    fn go_on(&mut self, slot: u16, next: Pc) {
        if self.groups.advance(slot, next) {
            self.model.arrived(slot, &mut self.groups);
        }
    }

    /// A branch, which these lanes take.
    fn branch(&mut self, slot: u16, pc: Pc, taken: u32, launched: &Launched) {
        let instr = &launched.kernel.code[pc as usize];
        let mask = self.groups.get(slot).mask;
        let agreed = taken == 0 || taken == mask;
        self.stats.counters.branches += 1;
        self.stats.counters.divergent_branches += u64::from(!agreed);
        if agreed && !self.model.hears_agreed_branches() {
            return self.go_on(slot, if taken == mask { instr.target } else { pc + 1 });
        }
        let branch = Branch {
            pc,
            target: instr.target,
            reconverge: instr.reconverge,
            likely: instr.likely,
            uniform: instr.uniform,
            annotated: instr.op != Op::Bra || instr.guard.is_none() || instr.mods.uni,
            taken,
        };
        self.model.branch(slot, &branch, &mut self.groups);
    }

    /// Brings the warps in line with what the divergence model has changed, and with what that changes in answer.
    pub(super) fn follow(&mut self, now: Cycle, launched: &Launched) {
        let mut changed = Vec::new();
        self.groups.take_changed(&mut changed);
        while !changed.is_empty() {
            for slot in std::mem::take(&mut changed) {
                match self.pools {
                    true => self.follow_pooled(slot, now, launched),
                    false => self.follow_static(slot, now, launched),
                }
            }
            self.groups.take_changed(&mut changed);
        }
        while let Some((block, threads)) = self.groups.next_gone() {
            self.threads_gone(block, threads, now);
        }
    }

    /// A warp that belongs to a block goes on with other threads or elsewhere, stops or has finished.
    fn follow_static(&mut self, slot: u16, now: Cycle, launched: &Launched) {
        let group = self.groups.get(slot);
        let (state, pc, lanes) = (group.state, group.pc, group.mask.count_ones());
        let (fetch, end) = (&self.machine.fetch, launched.facts.len() as Pc);
        let warp = &mut self.warps[usize::from(slot)];
        let restarts = warp.state == GroupState::Stopped;
        (warp.state, warp.lanes) = (state, lanes);
        if state != GroupState::Running {
            if warp.head().is_some() {
                warp.unresolved = false;
            }
            warp.flush(pc);
        } else if fetch.ideal {
            warp.flush(pc);
            warp.fill(pc, 1, end);
        } else if restarts || !warp.directed || fetch.oracle {
            warp.go_on_at(pc);
        }
        warp.look_at_head(pc);
        match state {
            GroupState::Stopped => self.settle(slot),
            GroupState::Finished => self.warp_exited(slot, now),
            GroupState::Running => {
                warp.exited = false;
                self.policy.restarted(warp.place);
            }
            GroupState::Free | GroupState::Held => {}
        }
    }

    /// A place of the pool has been given other threads, or lost those that it had.
    fn follow_pooled(&mut self, slot: u16, now: Cycle, launched: &Launched) {
        let fresh = self.groups.seen(slot);
        let group = self.groups.get(slot);
        let (state, pc, home) = (group.state, group.pc, group.first_home());
        let place = self.layout.place_of(slot);
        if self.warps[usize::from(slot)].resident && (fresh || state == GroupState::Free) {
            self.go(slot);
            self.policy.finished(place);
        }
        if state == GroupState::Free {
            return;
        }
        if fresh {
            let block = self.threads.warps[usize::from(home)].block;
            let stores = self.warps[usize::from(slot)].stores;
            self.come(slot, block, now);
            // What was sent from here by others is still on its way.
            self.warps[usize::from(slot)].stores = stores;
            self.warps[usize::from(slot)].flush(pc);
        }
        let (fetch, end) = (&self.machine.fetch, launched.facts.len() as Pc);
        let warp = &mut self.warps[usize::from(slot)];
        warp.lanes = self.groups.get(slot).mask.count_ones();
        warp.state = state;
        warp.waits.barrier = state == GroupState::Held;
        if state == GroupState::Running && warp.head() != Some(pc) {
            warp.flush(pc);
            warp.unresolved = false;
            if fetch.ideal {
                warp.fill(pc, 1, end);
            }
        }
        warp.look_at_head(pc);
        match state {
            GroupState::Running => self.policy.pooled(place, self.groups.get(slot)),
            GroupState::Stopped => self.settle(slot),
            _ => {}
        }
    }

    /// An instruction of a warp is complete: registers are free, and the warp may have waited for that.
    pub(super) fn complete(&mut self, slot: u16, facts: &OpFacts) {
        let warp = &mut self.warps[usize::from(slot)];
        warp.scoreboard.release(facts);
        warp.land(facts.is_memory());
        if !self.machine.sm.fences_wait_for_stores {
            self.leave_fence(slot);
        }
        self.settle(slot);
    }

    /// A warp with nothing in flight any more may leave a fence, and its threads may go to other warps.
    pub(super) fn settle(&mut self, slot: u16) {
        if self.warps[usize::from(slot)].in_flight != 0 {
            return;
        }
        self.leave_fence(slot);
        let warp = &self.warps[usize::from(slot)];
        if self.groups.get(slot).state == GroupState::Stopped && !warp.waits.any() {
            self.model.settled(slot, &mut self.groups);
        }
    }

    /// Lets a warp go that waits at a fence, if what it waits for is done: its stores, or, as on the reference, the
    /// registers that are owed to it.
    fn leave_fence(&mut self, slot: u16) {
        let warp = &mut self.warps[usize::from(slot)];
        let for_stores = self.machine.sm.fences_wait_for_stores;
        let done = match for_stores {
            true => warp.is_settled(),
            false => warp.scoreboard.is_clear(),
        };
        if warp.waits.fence && done {
            warp.waits.fence = false;
            self.fence_passed |= !for_stores;
        }
    }

    /// What the divergence model and the policy do by themselves; sleepers wake up.
    pub(super) fn tick(&mut self, now: Cycle, launched: &Launched) {
        if self.model.ticks() && self.model.next() <= now {
            self.model.tick(now, &mut self.groups);
            self.follow(now, launched);
        }
        if self.policy.ticks() && self.policy.next() <= now {
            self.policy.tick(now);
        }
        self.wake(now, launched);
        self.tick_plan(now, launched);
    }

    /// Warps whose `nanosleep` is over go on.
    fn wake(&mut self, now: Cycle, launched: &Launched) {
        let due = self.sleepers.iter().filter(|(until, _)| *until <= now);
        let due: Vec<u16> = due.map(|(_, slot)| *slot).collect();
        self.sleepers.retain(|(until, _)| *until > now);
        for slot in due {
            self.warps[usize::from(slot)].waits.sleep = false;
            self.settle(slot);
        }
        self.follow(now, launched);
    }
}
