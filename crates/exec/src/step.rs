//! Executing an instruction: the short way for what changes only registers, the one for loads and
//! stores that are done for all lanes at once, and the general way. Timing calls the first two
//! itself; [`Code::step`] tries one after the other.

use warpsim_ptx::isa::Op;
use warpsim_ptx::kernel::Pc;

use super::code::Code;
use super::fault::Fault;
use super::grid::Grid;
use super::memory::store_buffer::GlobalView;
use super::op::{Action, Cold, Reach, Regs, World};
use super::rows::Rows;
use super::state::{Effect, EffectKind, HomeWarp, LANES, Lanes, Moment, Threads, lanes_of};

impl Code {
    /// Executes the instruction at `pc` for the active lanes whose guard is true, which it
    /// leaves in `effect.executed`. When there are none, `effect.kind` is `Alu`, or `Branch`
    /// that no lane takes.
    #[allow(clippy::too_many_arguments)]
    #[inline]
    pub fn step(
        &self,
        pc: Pc,
        lanes: &Lanes,
        active: u32,
        threads: &mut Threads,
        grid: &Grid,
        memory: &mut GlobalView<'_>,
        now: Moment,
        effect: &mut Effect,
    ) -> Result<(), Fault> {
        if self.step_registers(pc, lanes, active, threads, effect) {
            return Ok(());
        }
        if self.step_access(pc, lanes, active, threads, grid, memory, effect) {
            return Ok(());
        }
        self.step_general(pc, lanes, active, threads, grid, memory, now, effect)
    }

    /// Does what [`step`](Code::step) does for what changes nothing but registers of one home
    /// warp, or not even those, and reads no special register; `false`, with nothing done, for
    /// all else.
    #[inline(always)]
    pub fn step_registers(
        &self,
        pc: Pc,
        lanes: &Lanes,
        active: u32,
        threads: &mut Threads,
        effect: &mut Effect,
    ) -> bool {
        let d = &self.ops[pc as usize];
        let Lanes::Static(home) = lanes else {
            return false;
        };
        let warp = &mut threads.warps[usize::from(*home)];
        let mask = active & d.guard.bits(&warp.predicates);
        match d.action {
            Action::Branch => effect.kind = EffectKind::Branch { taken: mask },
            Action::Alu(run) if d.temps == 0 => {
                effect.kind = EffectKind::Alu;
                if mask != 0 {
                    let mut regs = self.registers_of(warp, mask);
                    // SAFETY: decoding chose a version this host can run.
                    unsafe { run(d, &mut regs) };
                }
            }
            _ => return false,
        }
        effect.executed = mask;
        true
    }

    /// The registers of one home warp, for an instruction that needs no temporary rows.
    #[inline(always)]
    fn registers_of<'a>(&'a self, warp: &'a mut HomeWarp, mask: u32) -> Regs<'a> {
        Regs {
            rows: warp.rows.rows_mut(),
            predicates: &mut warp.predicates,
            carry: &mut warp.carry,
            pool: self.pool.rows(),
            temps: &mut [],
            mask,
        }
    }

    /// Does what [`step`](Code::step) does for a load or store of one home warp that can be done
    /// for all lanes at once; `false`, with no register and no memory changed, for all else.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub fn step_access(
        &self,
        pc: Pc,
        lanes: &Lanes,
        active: u32,
        threads: &mut Threads,
        grid: &Grid,
        memory: &mut GlobalView<'_>,
        effect: &mut Effect,
    ) -> bool {
        let d = &self.ops[pc as usize];
        let (Lanes::Static(home), Action::Access { all_lanes, .. }, 0) = (lanes, d.action, d.temps)
        else {
            return false;
        };
        let warp = &mut threads.warps[usize::from(*home)];
        let mask = active & d.guard.bits(&warp.predicates);
        effect.executed = mask;
        effect.kind = EffectKind::Alu;
        if mask == 0 {
            return true;
        }
        let HomeWarp {
            block,
            rows,
            predicates,
            carry,
            local,
            ..
        } = warp;
        let mut regs = Regs {
            rows: rows.rows_mut(),
            predicates,
            carry,
            pool: self.pool.rows(),
            temps: &mut [],
            mask,
        };
        let mut reach = Reach {
            shared: &mut threads.blocks[usize::from(*block)].shared,
            local: Some(local),
            params: &grid.params,
            memory,
            effect,
        };
        all_lanes(d, &mut regs, &mut reach)
    }

    /// Does what [`step`](Code::step) does by the way that does for everything.
    #[allow(clippy::too_many_arguments)]
    #[inline(never)]
    pub fn step_general(
        &self,
        pc: Pc,
        lanes: &Lanes,
        active: u32,
        threads: &mut Threads,
        grid: &Grid,
        memory: &mut GlobalView<'_>,
        now: Moment,
        effect: &mut Effect,
    ) -> Result<(), Fault> {
        let d = &self.ops[pc as usize];
        let cold = &self.cold[pc as usize];
        // The registers are taken out while the instruction has the run of everything else.
        let (mut rows, mut predicates, mut carry) = match lanes {
            Lanes::Static(home) => {
                let warp = &mut threads.warps[usize::from(*home)];
                (
                    std::mem::take(&mut warp.rows),
                    std::mem::take(&mut warp.predicates),
                    warp.carry,
                )
            }
            Lanes::Gathered(homes) => self.gather(cold, homes, active, threads),
        };
        let mut temps = std::mem::take(&mut threads.scratch.temps);
        let rows_of_temps = 2 * usize::from(d.temps);
        if temps.rows().len() < rows_of_temps {
            temps.resize(rows_of_temps);
        }
        let mut regs = Regs {
            rows: rows.rows_mut(),
            predicates: &mut predicates,
            carry: &mut carry,
            pool: self.pool.rows(),
            temps: &mut temps.rows_mut()[..rows_of_temps],
            mask: 0,
        };
        regs.mask = active & regs.predicate(d.guard);
        let mask = regs.mask;
        let mut written = mask;
        effect.executed = mask;
        effect.kind = EffectKind::Alu;
        let mut result = Ok(());
        if mask != 0 {
            for fill in &cold.fills {
                fill.run(&mut regs, lanes, threads, grid, now);
            }
            match d.action {
                // SAFETY: decoding chose a version this host can run.
                Action::Alu(run) => unsafe { run(d, &mut regs) },
                Action::Branch => effect.kind = EffectKind::Branch { taken: mask },
                Action::Access { all_lanes, .. }
                    if {
                        let (shared, local) = threads.own_memory(lanes);
                        let mut reach = Reach {
                            shared,
                            local,
                            params: &grid.params,
                            memory,
                            effect,
                        };
                        all_lanes(d, &mut regs, &mut reach)
                    } => {}
                Action::Full(run) | Action::Access { by_lane: run, .. } => {
                    let mut world = World {
                        lanes,
                        threads,
                        grid,
                        memory,
                        effect,
                        cold,
                        active,
                    };
                    result = run(d, &mut regs, &mut world);
                }
            }
            if matches!(effect.kind, EffectKind::Awaits) {
                written = 0;
            } else {
                for drain in &cold.drains {
                    drain.run(&mut regs);
                }
            }
        } else if cold.instr.op == Op::Bra {
            effect.kind = EffectKind::Branch { taken: 0 };
        }
        match lanes {
            Lanes::Static(home) => {
                let warp = &mut threads.warps[usize::from(*home)];
                warp.rows = rows;
                warp.predicates = predicates;
                warp.carry = carry;
            }
            Lanes::Gathered(homes) => {
                scatter(cold, homes, written, threads, &rows, &predicates, carry);
                threads.scratch.rows = rows;
                threads.scratch.predicates = predicates;
            }
        }
        threads.scratch.temps = temps;
        result
    }

    /// Puts the registers that an instruction reads together from the home warps of a group.
    fn gather(
        &self,
        cold: &Cold,
        homes: &[u16; LANES],
        active: u32,
        threads: &mut Threads,
    ) -> (Rows, Vec<u32>, u32) {
        let mut rows = std::mem::take(&mut threads.scratch.rows);
        let mut predicates = std::mem::take(&mut threads.scratch.predicates);
        rows.resize(self.rows as usize);
        predicates.resize(self.predicate_slots as usize, 0);
        let mut carry = 0;
        for slot in &cold.predicate_reads {
            predicates[*slot as usize] = 0;
        }
        for lane in lanes_of(active) {
            let warp = &threads.warps[usize::from(homes[lane])];
            for &(at, words) in &cold.reads {
                let (at, n) = (
                    at as usize + lane * words as usize / LANES,
                    words as usize / LANES,
                );
                rows[at..at + n].copy_from_slice(&warp.rows[at..at + n]);
            }
            for &slot in &cold.predicate_reads {
                predicates[slot as usize] |= warp.predicates[slot as usize] & 1 << lane;
            }
            carry |= warp.carry & 1 << lane;
        }
        (rows, predicates, carry)
    }
}

/// Brings what an instruction has written on the lanes of `mask` to their home warps.
fn scatter(
    cold: &Cold,
    homes: &[u16; LANES],
    mask: u32,
    threads: &mut Threads,
    rows: &[u32],
    predicates: &[u32],
    carry: u32,
) {
    for lane in lanes_of(mask) {
        let warp = &mut threads.warps[usize::from(homes[lane])];
        let bit = 1u32 << lane;
        for &(at, words) in &cold.writes {
            let (at, n) = (
                at as usize + lane * words as usize / LANES,
                words as usize / LANES,
            );
            warp.rows[at..at + n].copy_from_slice(&rows[at..at + n]);
        }
        for &slot in &cold.predicate_writes {
            let p = &mut warp.predicates[slot as usize];
            *p = *p & !bit | predicates[slot as usize] & bit;
        }
        warp.carry = warp.carry & !bit | carry & bit;
    }
}
