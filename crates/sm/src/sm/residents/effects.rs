//! What an executed instruction means for its warp, its block and its siblings.

use super::Residents;
use super::ownership::BarrierAt;
use crate::divergence::Branch;
use crate::exec::state::{Access, Effect, EffectKind};
use crate::sm::launch::{Launched, SmFault, View};
use crate::sm::warps::Hold;
use crate::time::Cycle;
use warpsim_ptx::isa::Op;
use warpsim_ptx::kernel::Pc;

/// An instruction that a warp has executed.
#[derive(Clone, Copy)]
pub struct Executed<'a> {
    /// Its warp.
    pub slot: u16,
    /// The instruction.
    pub pc: Pc,
    /// What it did.
    pub effect: &'a Effect,
    /// When.
    pub now: Cycle,
}

impl Residents {
    /// The warp goes on with the next instruction.
    #[inline(always)]
    pub fn go_on(&mut self, slot: u16, next: Pc) {
        if self.groups.advance(slot, next) {
            self.model.arrived(slot, &mut self.groups);
        }
    }

    /// A branch, taken by these lanes.
    #[inline(never)]
    pub fn branch(&mut self, slot: u16, pc: Pc, taken: u32, launched: &Launched) {
        let instr = &launched.kernel.code[pc as usize];
        let mask = self.groups.get(slot).mask;
        // A gang's warps find out together which of them take it.
        let taken = taken & mask;
        let counters = &mut self.books.stats.counters;
        counters.branches += 1;
        let agreed = taken == 0 || taken == mask;
        if agreed && !self.model_hears_agreed {
            let next = if taken == mask { instr.target } else { pc + 1 };
            return self.go_on(slot, next);
        }
        counters.divergent_branches += !agreed as u64;
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

    /// Instructions that do not just lead to the next one.
    #[inline(never)]
    pub fn special(
        &mut self,
        what: Executed,
        rules: &Special,
        view: &mut View,
    ) -> Result<(), SmFault> {
        let Executed {
            slot,
            pc,
            effect,
            now,
        } = what;
        let executed = effect.executed;
        match effect.kind {
            EffectKind::Exit if executed != 0 => {
                self.model.exited(slot, executed, pc + 1, &mut self.groups);
                let ownership = self.ownership;
                ownership.exited(self, slot, executed, now, view.launched);
                if !self.meetings.is_empty() {
                    self.recheck_meetings(now, view)?;
                }
            }
            _ => self.go_on(slot, pc + 1),
        }
        match effect.kind {
            EffectKind::Barrier(barrier) if executed != 0 => {
                self.books.stats.counters.barriers += 1;
                let at = BarrierAt { barrier, pc, now };
                let ownership = self.ownership;
                ownership.arrive(self, slot, executed, at, view.launched);
            }
            EffectKind::NextBlock(results) if executed != 0 => {
                self.finish_iteration(slot, results, now, view.launched);
            }
            EffectKind::Fence => self.fence(slot),
            EffectKind::Copies(what) if executed != 0 => self.copies(slot, what),
            EffectKind::Sleep { nanoseconds } => {
                let cycles = nanoseconds as u64 * rules.core_mhz as u64 / 1000;
                self.sleepers.push((now + cycles.max(1), slot));
                self.hold(slot, Hold::Asleep);
            }
            EffectKind::Atomic(_) if rules.atomics_block_warp && executed != 0 => {
                self.hold(slot, Hold::Atomic);
            }
            _ => {}
        }
        Ok(())
    }

    /// A warp waits for something other than instructions, data or units.
    pub fn hold(&mut self, slot: u16, what: Hold) {
        self.warps.edit(slot, &mut self.books).hold(what, true);
    }
}

/// What the effects of special instructions depend on.
#[derive(Clone, Copy, Debug)]
pub struct Special {
    /// Core clock, for `nanosleep`.
    pub core_mhz: u32,
    /// An atomic keeps its warp from issuing until it returns.
    pub atomics_block_warp: bool,
}

impl Special {
    /// Whether an access keeps its warp from issuing: an atomic on shared memory does as one on
    /// global memory.
    #[inline]
    pub fn holds(&self, access: &Access) -> bool {
        let shared = access.shared != 0 && access.global | access.local == 0;
        access.shared_atomic && shared && self.atomics_block_warp
    }
}
