//! Issue: in every cycle each scheduler takes, of its warps that are ready, the one that comes first in the order of the
//! issue policy. A warp is ready if its next instruction is in its buffer, no register that it needs is owed, and
//! there is room at the unit.

use super::gather::Gathered;
use super::operands::Issued;
use super::{Sm, World};
use crate::exec::state::{Effect, EffectKind, LANES};
use crate::place::{Place, each};
use crate::schedule::{Facts, WarpInfo};
use crate::sm::facts::{OpFacts, Traffic};
use crate::sm::launch::{Launched, SmFault, View};
use crate::sm::memory::{Executed, Owner};
use crate::stats::SmStats;
use crate::time::Cycle;
use warpsim_ptx::isa::{Pipe, Space};
use warpsim_ptx::kernel::Pc;

impl Sm {
    /// The issue stage of cycle `now`: the schedulers take their turns, another one first in each cycle.
    pub(super) fn issue(&mut self, now: Cycle, world: &World) -> Result<(), SmFault> {
        let mut gathered = self.machine.sm.gather_memory.then(Gathered::default);
        let domains = self.layout.domains();
        let mut ready: Vec<u64> = (0..domains)
            .map(|d| self.ready(d, world.launched))
            .collect();
        let turn = self.turn(now);
        let mut any = false;
        for i in 0..domains {
            let d = (turn + i) % domains;
            if self.machine.sm.barriers_open_at_once {
                // It sees what the schedulers before it have let go in this cycle.
                ready[d] = self.ready(d, world.launched);
            }
            any |= self.take_turn(d, ready[d], &mut gathered, now, world)?;
        }
        if let Some(gathered) = gathered {
            any |= self.issue_gathered(gathered, now, world)?;
            if any {
                self.hold_all_slots(now);
            }
        }
        self.stats.counters.issue_cycles += u64::from(any);
        Ok(())
    }

    /// The warps of a scheduler that could issue if their units have room, a bit each, as far as its policy considers
    /// them.
    fn ready(&mut self, d: usize, launched: &Launched) -> u64 {
        let considered = self.consider(d, launched);
        considered
            & self.those(d, |slot, warp| {
                let next = self.groups.get(slot).pc;
                let hazard =
                    |head: Pc| warp.hazard(&launched.facts[head as usize], self.one_in_flight);
                warp.is_candidate()
                    && warp.has_next(next)
                    && !warp.head().is_some_and(|head| hazard(head).any)
            })
    }

    /// The policy looks at the warps of a scheduler before it chooses, if it wants to: those that may issue, a bit each.
    fn consider(&mut self, d: usize, launched: &Launched) -> u64 {
        if self.policy.considers().is_none() {
            return !0;
        }
        let code = &launched.facts;
        let head = |slot: u16| self.warps[usize::from(slot)].head();
        let info = |index: u8| {
            let slot = self.slot(d, index);
            let warp = &self.warps[usize::from(slot)];
            let through = warp.head().map(|head| code[head as usize].through);
            WarpInfo {
                next: warp
                    .head()
                    .zip(through)
                    .map(|(head, through)| (head, through.pipe)),
                side: through.and_then(|through| through.side),
                lanes: warp.lanes,
                instructions: warp.instructions,
            }
        };
        let infos: Vec<WarpInfo> = (0..self.places()).map(info).collect();
        let facts = Facts {
            running: self.those(d, |_, warp| warp.is_running()),
            waiting: self.those(d, |_, warp| warp.waits.any()),
            long_wait: self.those(d, |_, warp| {
                let facts = warp.head().map(|head| &code[head as usize]);
                facts.is_some_and(|facts| warp.hazard(facts, self.one_in_flight).long)
            }),
            accesses: self.those(d, |slot, _| {
                head(slot).is_some_and(|pc| code[pc as usize].is_memory())
            }),
            known: self.those(d, |slot, warp| {
                warp.is_candidate() && warp.has_next(self.groups.get(slot).pc)
            }),
            warps: Some(&|index| infos[usize::from(index)]),
        };
        self.policy
            .considers()
            .map_or(!0, |policy| policy.consider(d, &facts))
    }

    /// The turn of a scheduler, with these warps ready but for room. Says whether one issues. A memory instruction waits
    /// for the end of the turns where those of a cycle are `gathered`.
    fn take_turn(
        &mut self,
        d: usize,
        ready: u64,
        gathered: &mut Option<Gathered>,
        now: Cycle,
        world: &World,
    ) -> Result<bool, SmFault> {
        let launched = world.launched;
        let room = self.room(d, now, launched);
        let Some(index) = self.policy.first(d, ready & room) else {
            self.issue_nothing(d, room, now, launched);
            return Ok(false);
        };
        let slot = self.slot(d, index);
        let pc = self.groups.get(slot).pc;
        if let Some(gathered) = gathered
            && launched.facts[pc as usize].is_memory()
        {
            gathered.choose(self.warps[usize::from(slot)].age, slot, room);
            return Ok(false);
        }
        self.begin_turn(slot, pc, room, now, launched);
        let result = self.issue_one(slot, pc, now, world);
        self.policy.issued(self.layout.place_of(slot));
        result.map(|()| true)
    }

    /// The warps of a scheduler with room at the units that their next instructions need, a bit each.
    fn room(&self, d: usize, now: Cycle, launched: &Launched) -> u64 {
        match self.issue_free[d] <= now {
            true => self.those(d, |_, warp| {
                let kind = warp.head().map(|head| launched.facts[head as usize].unit);
                kind.is_some_and(|kind| self.collectors.has_room(d, kind))
            }),
            false => 0, // an instruction still goes through the lanes, a part of its warp per cycle
        }
    }

    /// The turn of a scheduler, in which no warp issues.
    pub(super) fn issue_nothing(&mut self, d: usize, room: u64, now: Cycle, launched: &Launched) {
        self.account(d, None, room, now, launched);
        self.drop_wrong_paths(d, None);
    }

    /// The turn of a scheduler, in which the warp in `slot` issues the instruction at `pc`.
    pub(super) fn begin_turn(
        &mut self,
        slot: u16,
        pc: Pc,
        room: u64,
        now: Cycle,
        launched: &Launched,
    ) {
        let Place { domain, index } = self.layout.place_of(slot);
        let d = usize::from(domain);
        self.account(d, Some(index), room, now, launched);
        self.issue_free[d] = now + u64::from(launched.facts[pc as usize].passes);
        self.drop_wrong_paths(d, Some(index));
    }

    /// Warps that the scheduler has looked at before it took `winner`, and that have a wrong path in their buffer, lose it.
    fn drop_wrong_paths(&mut self, d: usize, winner: Option<u8>) {
        let wrong = self.those(d, |slot, warp| {
            warp.is_on_wrong_path(self.groups.get(slot).pc)
        });
        for index in each(wrong).map(|index| index as u8) {
            if winner.is_none_or(|winner| self.policy.before(d, index, winner)) {
                let slot = self.slot(d, index);
                let pc = self.groups.get(slot).pc;
                let warp = &mut self.warps[usize::from(slot)];
                warp.flush(pc);
                warp.awaits_target = true;
                warp.unresolved = false; // a branch on the wrong path never leaves the pipeline
            }
        }
    }

    /// The instruction of a warp issues: its threads execute it, now; its way through the pipeline only takes time.
    fn issue_one(&mut self, slot: u16, pc: Pc, now: Cycle, world: &World) -> Result<(), SmFault> {
        let launched = world.launched;
        let mut effect = std::mem::take(&mut self.effect);
        self.execute_for(slot, pc, &mut effect, now, world)?;
        let memory = launched.facts[pc as usize].is_memory();
        let memory = memory.then(|| self.ask_memory(slot, pc, &effect, launched));
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
        lanes: &crate::exec::state::Lanes,
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

    /// What a memory instruction asks of memory; the number by which the load/store unit knows it.
    fn ask_memory(&mut self, slot: u16, pc: Pc, effect: &Effect, launched: &Launched) -> u32 {
        let executed = Executed {
            pc,
            effect,
            owners: &[Owner {
                slot,
                pc,
                lanes: effect.executed,
                pending: 0,
            }],
            shapes: &[],
            lanes: &self.groups.get(slot).lanes,
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
            return self.read_operand(slot, pc, effect, now, launched);
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
    /// in the constant cache; else that is waited for as by any load.
    fn read_operand(
        &mut self,
        slot: u16,
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
            let lane = effect.executed.trailing_zeros() as usize % LANES;
            effect.address = [effect.address[lane]; LANES];
            if !self.memory.has_constant(effect.address[0] + base) {
                let op = self.ask_memory(slot, pc, effect, launched);
                return self.memory.await_line(op);
            }
            self.stats.counters.constant_accesses += 1;
        }
        self.pipelines.have_result(now + 1, slot, pc);
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
