//! Issue: each scheduler picks at most one warp a cycle, executes its instruction and sends it
//! to the collectors.

use super::block::Arrival;
use super::collector::Issued;
use super::domain::Hold;
use super::opinfo::Unit;
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
        let everywhere = self.everywhere;
        let mut looked = 0u64;
        for d in 0..domains {
            self.ready[d] = 0;
            if !everywhere && self.domains[d].moving() == 0 {
                continue; // accounted for when something changes
            }
            looked |= 1 << d;
            if everywhere {
                self.pass(d, now);
            }
            let considered = if self.policy_refreshes {
                let facts = self.facts(d);
                self.policy.refresh(d, &facts)
            } else {
                !0
            };
            let free = if self.domains[d].issue_free <= now {
                !0
            } else {
                0
            };
            self.ready[d] = self.domains[d].issuable() & considered & free;
        }
        let mut taken = 0u64;
        let mut next = match domains.is_power_of_two() {
            true => now as usize & (domains - 1),
            false => now as usize % domains,
        };
        for _ in 0..domains {
            let d = next;
            next = if d + 1 == domains { 0 } else { d + 1 };
            if taken >> d & 1 != 0 {
                continue; // issued as a member of a gang
            }
            // Another domain's turn may have let a warp of this one go.
            if looked >> d & 1 == 0 && self.domains[d].moving() == 0 {
                self.turned |= 1 << d;
                continue;
            }
            // While an instruction holds the issue slot there is room for no other.
            let room = match self.domains[d].issue_free <= now {
                true => self.domains[d].with_room(self.room()),
                false => 0,
            };
            let ready = self.ready[d] & room;
            if ready == 0 && !everywhere && self.domains[d].mismatched() == 0 {
                self.stand_still(d, room, now);
                continue;
            }
            self.pass(d, now);
            if ready == 0 {
                self.account_stall(d, room, now);
                self.turn_over(d);
                self.flush_mismatched(d, None, quantum.launched);
                self.policy.advance(d, now, now + 1);
                self.ready[d] = 0; // no gang may take what has been accounted for
                continue;
            }
            let all = std::mem::replace(&mut self.ready[d], ready);
            let index = self.policy.select(d, &self.ready);
            self.ready[d] = all;
            debug_assert!(ready >> index & 1 != 0, "a policy picks only ready warps");
            let leader = Place {
                domain: d as u8,
                index,
            };
            if self.policy_gangs {
                taken |= self.issue_gang(leader, now, quantum)?;
                continue;
            }
            self.take_turn(leader, now, quantum.launched);
            let result = self.issue_members(&[leader], now, quantum);
            self.policy.issued(leader);
            result?;
        }
        Ok(())
    }

    /// Issues the instruction of a warp and of those that the policy lets issue with it; returns
    /// their domains, a bit each.
    #[cold]
    fn issue_gang(
        &mut self,
        leader: Place,
        now: u64,
        quantum: &mut Quantum,
    ) -> Result<u64, SmFault> {
        let mut members = vec![leader];
        let view = GangView {
            ready: &self.ready,
            groups: &self.groups,
        };
        self.policy.gang(leader, &view, &mut members);
        for member in &members {
            self.take_turn(*member, now, quantum.launched);
        }
        let result = self.issue_members(&members, now, quantum);
        for member in &members {
            self.policy.issued(*member);
        }
        result?;
        Ok(members.iter().fold(0, |all, m| all | 1 << m.domain))
    }

    /// A warp is about to issue: the cycle is accounted for, and with it its domain's turn is over.
    #[inline(always)]
    fn take_turn(&mut self, place: Place, now: u64, launched: &Launched) {
        let d = place.domain as usize;
        self.ready[d] = 0;
        let room = self.room();
        let domain = &mut self.domains[d];
        domain.issue_free = now + self.passes;
        let room = domain.with_room(room);
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

    fn issue_members(
        &mut self,
        members: &[Place],
        now: u64,
        quantum: &mut Quantum,
    ) -> Result<(), SmFault> {
        let leader = self.slot_at(members[0]);
        let pc = self.slots[leader as usize]
            .buffer
            .head()
            .expect("ready warps have an instruction");
        let launched = quantum.launched;
        let info = &launched.infos[pc as usize];
        let mut memory = NO_MEMORY;
        let accesses = info.unit == Unit::Mem;
        for place in members {
            let slot = self.slot_at(*place);
            self.execute(slot, pc, now, quantum)?;
            if accesses && members.len() == 1 {
                let lanes = self.groups.get(slot).lanes.clone();
                let owner = [(slot, self.effect.executed)];
                memory = self.issue_memory(&owner, lanes, pc, launched);
            } else if accesses {
                self.gathered
                    .add(slot, &self.groups.get(slot).lanes, &self.effect);
            }
            self.after(slot, pc, now, quantum)?;
        }
        if accesses && members.len() > 1 {
            memory = self.issue_gathered(pc, launched);
        }
        self.order += 1;
        self.collectors.issue(
            info.unit,
            Issued {
                slot: leader,
                memory,
                pc,
                order: self.order,
            },
        );
        if members.len() > 1 {
            let slots = members.iter().map(|p| self.slot_at(*p)).collect();
            self.gangs.add(self.order, slots);
        }
        Ok(())
    }

    /// Takes the instruction out of the buffer and executes it.
    fn execute(
        &mut self,
        slot: u16,
        pc: Pc,
        now: u64,
        quantum: &mut Quantum,
    ) -> Result<(), SmFault> {
        let launched = quantum.launched;
        self.slots[slot as usize].buffer.pop();
        let group = self.groups.get(slot);
        let mut view = GlobalView::buffered(quantum.image, &mut self.stores, &mut self.prints);
        let moment = Moment {
            cycle: now,
            core_mhz: self.machine.gpu.core_mhz,
            sm: self.id as u32,
        };
        let result = launched.code.step(
            pc,
            &group.lanes,
            group.mask,
            &mut self.threads,
            &launched.grid,
            &mut view,
            moment,
            &mut self.effect,
        );
        result.map_err(|fault| SmFault { fault, pc })?;
        #[cfg(test)]
        self.log_issue(slot, pc);
        if matches!(self.effect.kind, EffectKind::Awaits) {
            self.await_members(slot, pc, now, quantum)?;
        }
        let group = self.groups.get(slot);
        let info = &launched.infos[pc as usize];
        let lanes = group.mask.count_ones();
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
        state.in_flight += 1;
        state.memory_in_flight += (info.unit == Unit::Mem) as u16;
        self.scoreboard.reserve(slot, info);
        let lanes = group.mask;
        self.tell_issue(now, slot, pc, lanes);
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
    fn after(&mut self, slot: u16, pc: Pc, now: u64, quantum: &mut Quantum) -> Result<(), SmFault> {
        let launched = quantum.launched;
        let next = pc + 1;
        let executed = self.effect.executed;
        let place = self.place(slot);
        match self.effect.kind {
            EffectKind::Branch { taken } => {
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
            EffectKind::Exit if executed != 0 => {
                self.model.exited(slot, executed, next, &mut self.groups);
                self.exited(slot, now, quantum)?;
            }
            _ => {
                self.groups.set_pc(slot, next);
                if next == self.groups.get(slot).watch {
                    self.model.arrived(slot, &mut self.groups);
                }
            }
        }
        match self.effect.kind {
            EffectKind::Barrier(barrier) => self.arrive(slot, pc, barrier, now, quantum),
            EffectKind::Fence => {
                self.domains[place.domain as usize].hold(Hold::Fence, place.index, true);
            }
            EffectKind::Sleep { nanoseconds } => {
                let cycles = nanoseconds as u64 * self.machine.gpu.core_mhz as u64 / 1000;
                self.sleepers.push((now + cycles.max(1), slot));
                self.domains[place.domain as usize].hold(Hold::Asleep, place.index, true);
            }
            EffectKind::Atomic(_) if self.machine.sm.atomics_block_warp && executed != 0 => {
                self.domains[place.domain as usize].hold(Hold::Atomic, place.index, true);
            }
            _ => {}
        }
        self.follow_groups(launched);
        let domain = &mut self.domains[place.domain as usize];
        if self.machine.fetch.ideal {
            let group = self.groups.get(slot);
            if group.state == GroupState::Running {
                let buffer = &mut self.slots[slot as usize].buffer;
                buffer.flush(group.pc);
                buffer.fill(group.pc, 1, launched.infos.len() as Pc, 1);
            }
        } else if launched.infos[pc as usize].control && self.groups.get(slot).pc != next {
            domain.control |= 1 << place.index;
        }
        self.update_head(slot, launched);
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
