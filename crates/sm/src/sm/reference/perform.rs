//! What an instruction that issues does: its threads execute it at once, its warp moves on, and it goes to the operand
//! collectors.

use super::operands::Issued;
use super::{Sm, World};
use crate::exec::state::{Effect, EffectKind, LANES, Lanes};
use crate::sm::facts::{OpFacts, Traffic};
use crate::sm::launch::{Launched, SmFault, View};
use crate::sm::memory::{Executed, Owner};
use crate::stats::SmStats;
use crate::time::Cycle;
use warpsim_ptx::isa::{Pipe, Space};
use warpsim_ptx::kernel::Pc;

impl Sm {
    /// The instruction of a warp issues: its threads execute it, now; its way through the pipeline only takes time.
    pub(super) fn issue_one(
        &mut self,
        slot: u16,
        pc: Pc,
        now: Cycle,
        world: &World,
    ) -> Result<(), SmFault> {
        let launched = world.launched;
        let mut effect = std::mem::take(&mut self.effect);
        self.execute_for(slot, pc, &mut effect, now, world)?;
        let memory = launched.facts[pc as usize].is_memory();
        let memory = memory.then(|| self.ask_memory(&[slot], pc, &effect, launched));
        self.move_on(slot, pc, &effect, now, world)?;
        self.send(slot, pc, memory, &mut effect, now, launched);
        self.effect = effect;
        Ok(())
    }

    /// Takes an instruction out of a warp's buffer and executes it.
    pub(super) fn execute_for(
        &mut self,
        slot: u16,
        pc: Pc,
        effect: &mut Effect,
        now: Cycle,
        world: &World,
    ) -> Result<(), SmFault> {
        let facts = &world.launched.facts[pc as usize];
        let group = self.groups.get(slot);
        let (lanes, mask) = (group.lanes.clone(), group.mask);
        self.execute(pc, &lanes, mask, now, effect, world)?;
        if matches!(effect.kind, EffectKind::Awaits) {
            self.await_members(slot, pc, now, effect, world)?;
        }
        // Threads that waited for these may have joined them.
        let active = self.groups.get(slot).mask;
        count(facts, active, effect.executed, &mut self.stats);
        let warp = &mut self.warps[usize::from(slot)];
        warp.buffer.pop_front();
        warp.instructions += 1;
        warp.in_flight += 1;
        warp.memory_in_flight += u32::from(facts.is_memory());
        warp.scoreboard.reserve(facts);
        Ok(())
    }

    /// Moves a warp on to where the instruction leads that it has executed.
    pub(super) fn move_on(
        &mut self,
        slot: u16,
        pc: Pc,
        effect: &Effect,
        now: Cycle,
        world: &World,
    ) -> Result<(), SmFault> {
        self.lead_on(slot, pc, effect, now, world)?;
        self.follow(now, world.launched);
        self.refresh(slot, pc, world.launched);
        Ok(())
    }

    /// Executes an instruction for the threads of `mask` on these lanes.
    pub(super) fn execute(
        &mut self,
        pc: Pc,
        lanes: &Lanes,
        mask: u32,
        now: Cycle,
        effect: &mut Effect,
        world: &World,
    ) -> Result<(), SmFault> {
        let mut view = View {
            launched: world.launched,
            image: world.image,
            leavings: &mut self.leavings,
            sm: self.id,
            core_mhz: self.machine.gpu.core_mhz,
        };
        view.step(pc, lanes, mask, &mut self.threads, now, effect)
    }

    /// What a memory instruction of these warps asks of memory; the number by which the load/store unit knows it.
    fn ask_memory(&mut self, slots: &[u16], pc: Pc, effect: &Effect, launched: &Launched) -> u32 {
        let owner = |slot: &u16| {
            let slice = self
                .layout
                .slice_of(self.layout.place_of(*slot).domain.into());
            let lanes = match slots.len() {
                1 => !0,
                _ => self.layout.lanes_of(slice as u16),
            };
            Owner {
                slot: *slot,
                pc,
                lanes: effect.executed & lanes,
                pending: 0,
            }
        };
        let owners: Vec<Owner> = slots.iter().map(owner).collect();
        let executed = Executed {
            pc,
            effect,
            owners: &owners,
            shapes: &[],
            lanes: &self.groups.get(slots[0]).lanes,
            threads: &self.threads,
            launched,
        };
        self.memory.open(&executed, &mut self.stats.counters)
    }

    /// The warp's buffer, now that it is known where its threads go on.
    pub(super) fn refresh(&mut self, slot: u16, pc: Pc, launched: &Launched) {
        let (next, end) = (self.groups.get(slot).pc, launched.facts.len() as Pc);
        let fetch = &self.machine.fetch;
        let warp = &mut self.warps[usize::from(slot)];
        if fetch.ideal {
            if warp.is_running() {
                warp.flush(next);
                warp.fill(next, 1, end);
            }
        } else if launched.facts[pc as usize].control && next != pc + 1 {
            warp.awaits_target = !fetch.oracle;
        }
        if fetch.oracle {
            warp.go_on_at(next);
        }
        warp.look_at_head(next);
    }

    /// The instruction goes to the operand collectors.
    pub(super) fn send(
        &mut self,
        slot: u16,
        pc: Pc,
        memory: Option<u32>,
        effect: &mut Effect,
        now: Cycle,
        launched: &Launched,
    ) {
        let facts = &launched.facts[pc as usize];
        self.issued += 1;
        if memory.is_none() && facts.traffic == Traffic::Operand {
            return self.read_operand(&[slot], pc, effect, now, launched);
        }
        let op = Issued {
            slot,
            pc,
            order: self.issued,
            memory,
        };
        let domain = usize::from(self.layout.place_of(slot).domain);
        if memory.is_none() {
            self.pipelines
                .note_issued(&op, effect.executed, domain, facts, now);
        }
        self.collectors.issue(domain, facts.unit, op);
    }

    /// A load of a constant that is an operand of other instructions: its value is there in the next cycle if its line is
    /// in the constant cache; else that is waited for as by any load. For warps that have executed it together.
    pub(super) fn read_operand(
        &mut self,
        slots: &[u16],
        pc: Pc,
        effect: &mut Effect,
        now: Cycle,
        launched: &Launched,
    ) {
        if let EffectKind::Access(touched) = &effect.kind
            && effect.executed != 0
        {
            let base = match touched.other {
                Space::Param => launched.param_base,
                _ => 0,
            };
            let lane = (0..LANES).position(|lane| effect.executed >> lane & 1 != 0);
            let addr = effect.address[lane.unwrap_or(0)];
            effect.address = [addr; LANES];
            if !self.memory.has_constant(addr + base) {
                let op = self.ask_memory(slots, pc, effect, launched);
                return self.memory.await_line(op);
            }
            self.stats.counters.constant_accesses += 1;
        }
        for slot in slots {
            self.pipelines.have_result(now + 1, *slot, pc);
        }
    }
}

/// Counts an instruction that a warp has issued with these active lanes, and executed on these.
fn count(facts: &OpFacts, active: u32, executed: u32, stats: &mut SmStats) {
    let counters = &mut stats.counters;
    let executed = u64::from(executed.count_ones());
    counters.warp_instructions += 1;
    counters.thread_instructions += executed;
    *match facts.through.pipe {
        Pipe::Int => &mut counters.mix_int,
        Pipe::Fp => &mut counters.mix_fp,
        Pipe::Memory => &mut counters.mix_memory,
        Pipe::Sfu => &mut counters.mix_sfu,
        _ => &mut counters.mix_control,
    } += 1;
    counters.active_lanes += u64::from(active.count_ones());
    counters.count_lanes(active.count_ones());
    stats.work.count(facts.work, facts.operands, executed);
}
