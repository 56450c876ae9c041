//! Issue: each scheduler picks at most one warp a cycle, executes its instruction and sends it
//! to the collectors.

use super::block::Arrival;
use super::collector::Issued;
use super::domain::Hold;
use super::opinfo::{OpInfo, Unit};
use super::{Launched, Quantum, Sm, SmFault};
use crate::divergence::{Branch, GroupState};
use crate::exec::state::{Barrier, Effect, EffectKind, LANES, Lanes, Moment};
use crate::memory::store_buffer::GlobalView;
use crate::observe::WarpEvent;
use crate::schedule::{GangView, Place};
use crate::stats::SchedulerState;
use warpsim_ptx::isa::Pipe;
use warpsim_ptx::kernel::Pc;

/// "No memory operation".
pub(super) const NO_MEMORY: u16 = u16::MAX;

/// Warps that issued an instruction together, by the order number of the instruction. Most
/// instructions have no entry here: their one warp is in the instruction itself.
#[derive(Debug, Default)]
pub(super) struct Gangs {
    members: Vec<(u64, Vec<u16>)>,
}

impl Gangs {
    fn add(&mut self, order: u64, slots: Vec<u16>) {
        self.members.push((order, slots));
    }

    /// Calls `f` for every warp that issued `op`, and forgets the gang.
    #[inline]
    pub fn each(&mut self, op: Issued, mut f: impl FnMut(u16)) {
        if !self.members.is_empty()
            && let Some(at) = self
                .members
                .iter()
                .position(|(order, _)| *order == op.order)
        {
            let (_, slots) = self.members.swap_remove(at);
            slots.into_iter().for_each(f);
        } else {
            f(op.slot);
        }
    }
}

/// The memory instruction of a gang while its members execute it: to the load/store unit it is
/// one access with the lanes of all.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    effect: Effect,
    owners: Vec<(u16, u32)>,
    homes: [u16; LANES],
}

impl Gathered {
    fn add(&mut self, slot: u16, lanes: &Lanes, effect: &Effect) {
        if self.owners.is_empty() {
            self.effect.executed = 0;
            self.effect.kind = EffectKind::Alu;
        }
        self.owners.push((slot, effect.executed));
        for lane in (0..LANES).filter(|l| effect.executed >> l & 1 != 0) {
            self.homes[lane] = lanes.home(lane);
            self.effect.address[lane] = effect.address[lane];
            for (all, its) in self.effect.operands.iter_mut().zip(&effect.operands) {
                all[lane] = its[lane];
            }
        }
        self.effect.executed |= effect.executed;
        match (&mut self.effect.kind, &effect.kind) {
            (EffectKind::Access(all), EffectKind::Access(its)) => {
                all.shared |= its.shared;
                all.global |= its.global;
                all.local |= its.local;
            }
            // A member whose lanes are all off made no access.
            (EffectKind::Access(_) | EffectKind::Atomic(_), _) => {}
            (kind, its) => *kind = its.clone(),
        }
    }
}

impl Sm {
    /// Makes one memory instruction of what the members of a gang have executed.
    fn issue_gathered(&mut self, pc: Pc, launched: &Launched) -> u16 {
        std::mem::swap(&mut self.effect, &mut self.gathered.effect);
        let owners = std::mem::take(&mut self.gathered.owners);
        let first = self.groups.get(owners[0].0).lanes.home(0);
        let one_home = (0..LANES)
            .filter(|l| self.effect.executed >> l & 1 != 0)
            .all(|l| self.gathered.homes[l] == first);
        let lanes = if one_home {
            Lanes::Static(first)
        } else {
            Lanes::Gathered(Box::new(self.gathered.homes))
        };
        let memory = self.issue_memory(&owners, lanes, pc, launched);
        self.gathered.owners = owners;
        self.gathered.owners.clear();
        std::mem::swap(&mut self.effect, &mut self.gathered.effect);
        memory
    }

    /// One cycle of all schedulers; which goes first alternates.
    pub(super) fn issue(&mut self, now: u64, quantum: &mut Quantum) -> Result<(), SmFault> {
        let domains = self.domains.len();
        let looked = if self.everywhere {
            self.look_everywhere(now)
        } else {
            self.look_where_warps_move(now)
        };
        let mut next = match domains.is_power_of_two() {
            true => now as usize & (domains - 1),
            false => now as usize % domains,
        };
        for _ in 0..domains {
            let d = next;
            next = if d + 1 == domains { 0 } else { d + 1 };
            if self.turned >> d & 1 != 0 {
                continue; // issued as a member of a gang
            }
            let units = self.room();
            let domain = &self.domains[d];
            // Another domain's turn may have let a warp of this one go.
            if looked >> d & 1 == 0 && domain.moving() == 0 {
                self.turned |= 1 << d; // accounted for when something changes
                continue;
            }
            // While an instruction holds the issue slot there is room for no other.
            let room = match domain.issue_free <= now {
                true => domain.with_room(units),
                false => 0,
            };
            let ready = self.ready[d] & room;
            if ready == 0 {
                self.issue_nothing(d, room, now, quantum.launched);
                continue;
            }
            self.pass(d, now);
            let all = std::mem::replace(&mut self.ready[d], ready);
            let index = self.policy.select(d, &self.ready);
            debug_assert!(ready >> index & 1 != 0, "a policy picks only ready warps");
            let leader = Place {
                domain: d as u8,
                index,
            };
            if self.policy_gangs {
                self.ready[d] = all;
                self.issue_gang(leader, now, quantum)?;
                continue;
            }
            self.take_turn(leader, room, now, quantum.launched);
            let result = self.issue_one(leader, now, quantum);
            self.policy.issued(leader);
            result?;
        }
        Ok(())
    }

    /// Finds out which warps are ready; gives back the domains, a bit each, with warps that
    /// issue would do something about.
    #[inline(always)]
    fn look_where_warps_move(&mut self, now: u64) -> u64 {
        let mut looked = 0;
        for (d, (domain, ready)) in self.domains.iter().zip(&mut self.ready).enumerate() {
            let free = u64::from(domain.issue_free <= now).wrapping_neg();
            *ready = domain.issuable() & free;
            looked |= u64::from(domain.moving() != 0) << d;
        }
        looked
    }

    /// The same where every domain is looked at in every cycle.
    #[inline(never)]
    fn look_everywhere(&mut self, now: u64) -> u64 {
        for d in 0..self.domains.len() {
            self.pass(d, now);
            let considered = if self.policy_refreshes {
                let facts = self.facts(d);
                self.policy.refresh(d, &facts)
            } else {
                !0
            };
            let domain = &self.domains[d];
            let free = domain.issue_free <= now;
            self.ready[d] = domain.issuable() & considered & if free { !0 } else { 0 };
        }
        !0
    }

    /// The domain's turn, with no warp that is ready and has room.
    #[inline(always)]
    fn issue_nothing(&mut self, d: usize, room: u64, now: u64, launched: &Launched) {
        if !self.everywhere && self.domains[d].mismatched() == 0 {
            self.stand_still(d, room, now);
        } else {
            self.end_empty_turn(d, room, now, launched);
        }
    }

    #[inline(never)]
    fn end_empty_turn(&mut self, d: usize, room: u64, now: u64, launched: &Launched) {
        self.pass(d, now);
        self.account_stall(d, room, now);
        self.turn_over(d);
        self.flush_mismatched(d, None, launched);
        self.policy.advance(d, now, now + 1);
        self.ready[d] = 0; // no gang may take what has been accounted for
    }

    /// Issues the instruction of a warp and of those that the policy lets issue with it.
    #[inline(never)]
    fn issue_gang(
        &mut self,
        leader: Place,
        now: u64,
        quantum: &mut Quantum,
    ) -> Result<(), SmFault> {
        let mut members = vec![leader];
        let view = GangView {
            ready: &self.ready,
            groups: &self.groups,
        };
        self.policy.gang(leader, &view, &mut members);
        for member in &members {
            let room = self.domains[member.domain as usize].with_room(self.room());
            self.take_turn(*member, room, now, quantum.launched);
        }
        let result = self.issue_members(&members, now, quantum);
        for member in &members {
            self.policy.issued(*member);
        }
        result
    }

    /// A warp is about to issue: the cycle is accounted for, and with it its domain's turn is
    /// over. `room` is the set of its domain's warps that have room at their unit.
    #[inline(always)]
    fn take_turn(&mut self, place: Place, room: u64, now: u64, launched: &Launched) {
        let d = place.domain as usize;
        self.ready[d] = 0;
        let domain = &mut self.domains[d];
        domain.issue_free = now + self.passes;
        domain.account(1 << place.index, room, 1, &mut self.stats.warps);
        self.watch(d, 1 << place.index, room, now);
        self.stats.schedulers.count(SchedulerState::Issued, 1);
        self.turn_over(d);
        self.flush_mismatched(d, Some(place.index), launched);
    }

    /// The domain has warps that could issue, but not now. As long as none of them changes and
    /// the same ones have room, its cycles are accounted for together.
    #[inline]
    fn stand_still(&mut self, d: usize, room: u64, now: u64) {
        self.note_room(d, room & self.domains[d].issuable(), now);
        self.turned |= 1 << d;
        self.ready[d] = 0;
    }

    /// The domain has had its turn in this cycle, and the cycle is accounted for.
    #[inline]
    fn turn_over(&mut self, d: usize) {
        self.turned |= 1 << d;
        self.count_cycles(d, self.now + 1);
    }

    /// Warps that the scheduler looked at and found on the wrong path lose their buffer.
    #[inline(always)]
    fn flush_mismatched(&mut self, d: usize, winner: Option<u8>, launched: &Launched) {
        let wrong = self.domains[d].mismatched();
        if wrong != 0 {
            self.flush_wrong(d, wrong, winner, launched);
        }
    }

    #[inline(never)]
    fn flush_wrong(&mut self, d: usize, mut wrong: u64, winner: Option<u8>, launched: &Launched) {
        while wrong != 0 {
            let index = wrong.trailing_zeros() as u8;
            wrong &= wrong - 1;
            if winner.is_none_or(|w| self.policy.before(d, index, w)) {
                let slot = self.slot_at(Place {
                    domain: d as u8,
                    index,
                });
                let pc = self.groups.get(slot).pc;
                self.slots[slot as usize].buffer.flush(pc);
                self.domains[d].control |= 1 << index;
                // A branch on the wrong path will never resolve.
                self.domains[d].unresolved &= !(1 << index);
                self.update_head(slot, launched);
            }
        }
    }

    /// Issues the instruction of one warp.
    #[inline(never)]
    fn issue_one(&mut self, place: Place, now: u64, quantum: &mut Quantum) -> Result<(), SmFault> {
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

    /// The same for warps that issue together.
    fn issue_members(
        &mut self,
        members: &[Place],
        now: u64,
        quantum: &mut Quantum,
    ) -> Result<(), SmFault> {
        if let [single] = members {
            return self.issue_one(*single, now, quantum);
        }
        let launched = quantum.launched;
        let leader = self.slot_at(members[0]);
        let pc = self.next_instruction(leader);
        let info = &launched.infos[pc as usize];
        let accesses = info.unit == Unit::Mem;
        for place in members {
            let slot = self.slot_at(*place);
            self.execute(slot, pc, info, now, quantum)?;
            if accesses {
                self.gathered
                    .add(slot, &self.groups.get(slot).lanes, &self.effect);
            }
            self.after(slot, *place, pc, info, now, quantum)?;
        }
        let memory = if accesses {
            self.issue_gathered(pc, launched)
        } else {
            NO_MEMORY
        };
        self.send(leader, pc, info.unit, memory);
        let slots = members.iter().map(|p| self.slot_at(*p)).collect();
        self.gangs.add(self.order, slots);
        Ok(())
    }

    #[inline]
    fn next_instruction(&self, slot: u16) -> Pc {
        let head = self.slots[slot as usize].buffer.head();
        head.expect("ready warps have an instruction")
    }

    /// An instruction goes to the collectors.
    #[inline]
    fn send(&mut self, slot: u16, pc: Pc, unit: Unit, memory: u16) {
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
    fn execute(
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
        for lane in (0..LANES).filter(|l| group.mask >> l & 1 != 0) {
            let home = &self.threads.warps[group.lanes.home(lane) as usize];
            let block = self.blocks[home.block as usize].as_ref();
            let block = block.expect("its block is resident").number;
            log.push((block, home.index, lane as u8, pc));
        }
    }

    /// Moves the warp on to where the instruction leads.
    #[inline(always)]
    fn after(
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
