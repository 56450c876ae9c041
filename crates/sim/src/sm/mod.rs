//! A streaming multiprocessor, cycle by cycle: fetch, buffer, issue, scoreboard, collectors,
//! units, load/store, barriers, exit.
//!
//! Stages run back to front within a cycle (writeback first, fetch last), so that a register
//! released in a cycle is usable by that cycle's issue and an instruction takes at least a cycle
//! for each stage. The SM changes nothing outside itself while it runs: requests leave through
//! its [`Port`], stores through its store buffer, and both are collected at quantum ends.

pub mod access;
mod alu;
mod block;
mod cache;
mod collector;
mod domain;
mod front;
mod issue;
mod ldst;
mod memissue;
mod memop;
pub mod opinfo;
mod port;
mod report;
mod scoreboard;
mod short;
mod slot;
mod watch;
mod wheel;

use crate::config::{Machine, Scoreboard as ScoreboardKind};
use crate::divergence::{BlockArrival, DivergenceModel, GroupState, Groups};
use crate::exec::code::Code;
use crate::exec::fault::{Fault, FaultKind};
use crate::exec::grid::Grid;
use crate::exec::state::{Effect, HomeBlock, HomeWarp, LANES, Threads};
use crate::fetch::FetchPolicy;
use crate::memory::image::GlobalMemory;
use crate::memory::store_buffer::StoreBuffer;
use crate::observe::{Observer, WarpEvent};
use crate::schedule::{IssuePolicy, Place};
use crate::stats::{SchedulerState, SmStats};
use alu::{AluUnit, EXIT_STAGES, ResultBuses};
use block::{Release, ResidentBlock};
use collector::Collectors;
use domain::{Domain, Hold, assign};
use ldst::{Event, LoadStore, Surroundings};
use opinfo::{OpInfo, Unit};
pub use port::Port;
pub use report::StuckWarp;
use scoreboard::Scoreboard;
use slot::Slot;
use std::collections::VecDeque;
use std::sync::Arc;
use warpsim_ptx::isa::Space;
use warpsim_ptx::kernel::{Kernel, Pc};
use wheel::{Done, Wheel};

/// A kernel being launched, as every SM sees it.
pub struct Launched {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// Decoded for execution.
    pub code: Code,
    /// Timing facts of its instructions.
    pub infos: Vec<OpInfo>,
    /// The launch.
    pub grid: Grid,
    /// Where its code lies in instruction memory.
    pub code_base: u64,
    /// Where its parameters lie, for the constant cache.
    pub param_base: u64,
    /// Blocks an SM holds at once.
    pub blocks_per_sm: u32,
}

impl Launched {
    /// Home warps a block takes.
    pub fn warps_per_block(&self) -> u32 {
        (self.grid.threads() as u32).div_ceil(LANES as u32)
    }
}

/// A thread of the simulated program has failed.
#[derive(Debug)]
pub struct SmFault {
    /// What happened.
    pub fault: Fault,
    /// Instruction.
    pub pc: Pc,
}

/// What an SM sees of the world in a quantum.
pub struct Quantum<'a> {
    /// The kernel.
    pub launched: &'a Launched,
    /// Global memory as of the quantum's start.
    pub image: &'a GlobalMemory,
    /// Who listens.
    pub observer: Option<&'a mut (dyn Observer + 'a)>,
    /// Skip cycles in which nothing happens.
    pub skip: bool,
}

/// An SM.
pub struct Sm {
    id: u16,
    machine: Arc<Machine>,
    slices: u16,
    schedulers: u16,
    /// Cycles an instruction holds its issue slot.
    passes: u64,
    /// Whether the mechanisms want to be called every cycle.
    model_ticks: bool,
    policy_refreshes: bool,
    policy_gangs: bool,
    /// Architectural state.
    pub threads: Threads,
    blocks: Vec<Option<ResidentBlock>>,
    /// Blocks on their way: cycle of arrival and number in the grid.
    pub arrivals: VecDeque<(u64, u64)>,
    /// Blocks completed since the dispatcher last looked.
    pub completed: u32,
    groups: Groups,
    model: Box<dyn DivergenceModel>,
    policy: Box<dyn IssuePolicy>,
    fetch_policy: Box<dyn FetchPolicy>,
    slots: Vec<Slot>,
    /// Where each slot sits.
    places: Vec<Place>,
    domains: Vec<Domain>,
    issue_free: Vec<u64>,
    scoreboard: Scoreboard,
    collectors: Collectors,
    sp: Vec<AluUnit>,
    sfu: Vec<AluUnit>,
    buses: ResultBuses,
    wheel: Wheel,
    front: front::Front,
    ldst: LoadStore,
    /// Way to the network.
    pub port: Port,
    /// Stores of this quantum.
    pub stores: StoreBuffer,
    /// What threads printed in this quantum.
    pub prints: Vec<u8>,
    /// Counters.
    pub stats: SmStats,
    effect: Effect,
    order: u64,
    next_age: u64,
    /// First cycle that has not run.
    ran: u64,
    /// The cycle under way, and the domains whose issue turn in it is over (a bit each).
    now: u64,
    turned: u64,
    /// For each domain, the first cycle that is not accounted for. Cycles are accounted for
    /// together as long as the state of none of its warps changes: whoever changes one calls
    /// [`touch`](Sm::touch) before.
    accounted: Vec<u64>,
    /// For each domain, the warps that had room at their unit in the cycles not accounted for.
    rooms: Vec<u64>,
    /// Domains cannot be accounted for one by one: an observer wants to hear things in order,
    /// and a policy that looks at warps or takes several of them sees the domains in step.
    everywhere: bool,
    /// First cycle that is not accounted for as one with or without resident warps.
    active_from: u64,
    /// Next cycle with something to do, as of the end of the last run.
    wake_at: u64,
    last_retired: u64,
    sleepers: Vec<(u64, u16)>,
    ready: Vec<u64>,
    eligible: Vec<u64>,
    at_barrier: Vec<u64>,
    events: Vec<Event>,
    changed: Vec<u16>,
    accesses: Vec<access::Access>,
    gangs: issue::Gangs,
    gathered: issue::Gathered,
    watch: watch::Watch,
}

impl Sm {
    /// SM number `id`. Policy names have been checked.
    pub fn new(machine: &Arc<Machine>, id: u16) -> Option<Sm> {
        let slices = (LANES as u32 / machine.sm.warp_width) as u16;
        let schedulers = machine.sm.schedulers as u16;
        let domains = (slices * schedulers) as usize;
        let homes = (machine.sm.max_threads as usize).div_ceil(LANES);
        let slots = homes.div_ceil(schedulers as usize) * domains;
        let unit_width = |n: u32| (0..n.max(1)).map(|_| AluUnit::new()).collect();
        let model = crate::divergence::make(machine, slots)?;
        let policy = crate::schedule::make(machine, domains)?;
        Some(Sm {
            id,
            slices,
            schedulers,
            passes: machine.passes() as u64,
            model_ticks: model.ticks(),
            policy_refreshes: policy.refreshes(),
            policy_gangs: policy.gangs(),
            threads: Threads {
                warps: vec![HomeWarp::default(); homes],
                blocks: vec![HomeBlock::default(); machine.sm.max_blocks as usize],
                ..Threads::default()
            },
            blocks: (0..machine.sm.max_blocks).map(|_| None).collect(),
            arrivals: VecDeque::new(),
            completed: 0,
            groups: Groups::new(slots),
            model,
            policy,
            fetch_policy: crate::fetch::make(machine, domains)?,
            slots: vec![Slot::default(); slots],
            places: (0..slots)
                .map(|s| Place {
                    domain: (s % domains) as u8,
                    index: (s / domains) as u8,
                })
                .collect(),
            domains: vec![Domain::default(); domains],
            issue_free: vec![0; domains],
            scoreboard: Scoreboard::default(),
            collectors: Collectors::new(&machine.collector),
            sp: unit_width(machine.sm.sp_units),
            sfu: unit_width(machine.sm.sfu_units),
            buses: ResultBuses::new(machine.sm.result_buses),
            wheel: Wheel::new(),
            front: front::Front::new(machine, id),
            ldst: LoadStore::new(machine, id),
            port: Port::new(machine.interconnect.flit, machine.interconnect.header),
            stores: StoreBuffer::new(),
            prints: Vec::new(),
            stats: SmStats::default(),
            effect: Effect::default(),
            order: 0,
            next_age: 0,
            ran: 0,
            now: 0,
            turned: 0,
            accounted: vec![0; domains],
            rooms: vec![0; domains],
            everywhere: false,
            active_from: 0,
            wake_at: 0,
            last_retired: 0,
            sleepers: Vec::new(),
            ready: vec![0; domains],
            eligible: vec![0; domains],
            at_barrier: vec![0; domains],
            events: Vec::new(),
            changed: Vec::new(),
            accesses: Vec::new(),
            gangs: issue::Gangs::default(),
            gathered: issue::Gathered::default(),
            watch: watch::Watch::default(),
            machine: machine.clone(),
        })
    }

    /// Puts another model, issue policy in place of the configured ones; tests of the seams
    /// use this.
    #[cfg(test)]
    pub fn replace_mechanisms(
        &mut self,
        model: Option<Box<dyn DivergenceModel>>,
        policy: Option<Box<dyn IssuePolicy>>,
    ) {
        if let Some(model) = model {
            self.model_ticks = model.ticks();
            self.model = model;
        }
        if let Some(policy) = policy {
            self.policy_refreshes = policy.refreshes();
            self.policy_gangs = policy.gangs();
            self.policy = policy;
        }
    }

    /// Gets ready for a launch that starts at cycle `now`.
    pub fn begin(&mut self, launched: &Launched, now: u64) {
        self.scoreboard
            .reset(self.slots.len(), launched.kernel.registers.len());
        self.stats = SmStats::default();
        self.ran = now;
        self.accounted.fill(now);
        self.active_from = now;
        self.wake_at = now;
        self.last_retired = now;
        // Kernel parameters differ from launch to launch at the same constant addresses.
        self.ldst.invalidate_read_only();
    }

    /// Forgets the L1 data cache.
    pub fn invalidate_l1(&mut self) {
        self.ldst.invalidate_data();
    }

    /// Blocks resident or on their way.
    pub fn blocks_held(&self) -> u32 {
        (self.blocks.iter().flatten().count() + self.arrivals.len()) as u32
    }

    /// Deepest reconvergence stack so far.
    pub fn deepest_stack(&self) -> u32 {
        self.model.deepest()
    }

    /// Where a slot sits.
    #[inline]
    fn place(&self, slot: u16) -> Place {
        self.places[slot as usize]
    }

    /// The slot at a place.
    #[inline]
    fn slot_at(&self, place: Place) -> u16 {
        place.index as u16 * self.domains.len() as u16 + place.domain as u16
    }

    /// Runs cycles up to (not including) `to`.
    pub fn run(&mut self, to: u64, quantum: &mut Quantum) -> Result<(), SmFault> {
        self.watch_begin(quantum);
        let result = self.run_cycles(to, quantum);
        self.watch_end(quantum);
        result
    }

    fn run_cycles(&mut self, to: u64, quantum: &mut Quantum) -> Result<(), SmFault> {
        let mut now = self.ran;
        if quantum.skip {
            now = self.skip_to(now, to);
        }
        while now < to {
            self.cycle(now, quantum)?;
            now += 1;
            if quantum.skip {
                now = self.skip_to(now, to);
            }
        }
        self.ran = to;
        // A stepped run asks too: it is how a deadlock is seen.
        self.wake_at = if quantum.skip {
            now
        } else {
            self.next_event(now)
        };
        Ok(())
    }

    /// The next cycle with something to do, packets that arrive aside.
    pub fn sleeps_until(&self) -> u64 {
        let arrival = self.arrivals.front().map_or(u64::MAX, |&(at, _)| at);
        self.wake_at.min(arrival)
    }

    /// Cycle in which a warp retired last.
    pub fn last_retired(&self) -> u64 {
        self.last_retired
    }

    /// Accounts for the time up to the end of a launch. An SM may have run a little beyond:
    /// nothing was resident then, and those cycles are taken back.
    pub fn finish(&mut self, end: u64) {
        self.count_active(end);
        for d in 0..self.domains.len() {
            let accounted = self.accounted[d];
            if accounted <= end {
                self.pass(d, end);
                continue;
            }
            let beyond = accounted - end;
            self.stats.schedulers.uncount(SchedulerState::Idle, beyond);
            self.stats.counters.scheduler_cycles -= beyond;
            self.accounted[d] = end;
            self.ran = end;
        }
    }

    /// The state of a warp of `domain` is about to change: accounts for the domain's cycles up
    /// to the one from which on the change counts.
    #[inline]
    fn touch(&mut self, domain: u8) {
        if self.everywhere {
            return self.touch_all();
        }
        let d = domain as usize;
        self.pass(d, self.now + (self.turned >> d & 1));
    }

    /// The same for all domains.
    fn touch_all(&mut self) {
        for d in 0..self.domains.len() {
            self.pass(d, self.now + (self.turned >> d & 1));
        }
    }

    /// Accounts for the domain's cycles before `to` that are not yet accounted for: nothing
    /// issued in them and every warp was in the state it is in now.
    #[inline]
    fn pass(&mut self, d: usize, to: u64) {
        if self.accounted[d] < to {
            self.account_to(d, to);
        }
    }

    fn account_to(&mut self, d: usize, to: u64) {
        let from = self.accounted[d];
        self.policy.advance(d, from, to);
        if self.policy_refreshes {
            let facts = self.facts(d);
            self.policy.refresh(d, &facts);
        }
        // Issue keeps `rooms` up to date where room makes a difference: for warps that could
        // issue but for it.
        let room = self.rooms[d];
        self.watch(d, 0, room, from);
        let domain = &self.domains[d];
        domain.account(0, room, to - from, &mut self.stats.warps);
        let state = domain.stall(self.policy.first(d, domain.running | domain.stopped));
        self.stats.schedulers.count(state, to - from);
        self.count_cycles(d, to);
    }

    /// The domain's cycles before `to` are accounted for.
    #[inline]
    fn count_cycles(&mut self, d: usize, to: u64) {
        let cycles = to - self.accounted[d];
        let resident = self.domains[d].resident.count_ones() as u64;
        self.stats.counters.warp_cycles += resident * cycles;
        self.stats.counters.scheduler_cycles += cycles;
        self.accounted[d] = to;
    }

    /// Counts the cycles before `to` in which warps were resident; called before any comes or
    /// leaves.
    fn count_active(&mut self, to: u64) {
        if self.active_from < to {
            let active = self.domains.iter().any(|d| d.resident != 0);
            self.stats.counters.active_cycles += (to - self.active_from) * active as u64;
            self.active_from = to;
        }
    }

    /// One cycle.
    fn cycle(&mut self, now: u64, quantum: &mut Quantum) -> Result<(), SmFault> {
        let launched = quantum.launched;
        (self.now, self.turned) = (now, 0);
        self.take_arrivals(now, launched);
        self.take_reply(now);
        self.write_back(now, launched);
        self.enter_units(now, launched);
        self.memory_cycle(now, launched);
        if self.model_ticks {
            self.touch_all();
            self.model.tick(now, &mut self.groups);
            self.follow_groups(launched);
        }
        self.wake(now);
        if self.domains.iter().fold(0, |any, d| any | d.moving()) != 0 {
            self.issue(now, quantum)?;
        }
        self.turned = !0;
        self.decode(launched);
        if self.front.wants_cycle()
            || self
                .domains
                .iter()
                .fold(0, |any, d| any | d.concerns_fetch())
                != 0
        {
            self.fetch(now, launched);
        }
        Ok(())
    }

    /// Blocks whose time has come.
    fn take_arrivals(&mut self, now: u64, launched: &Launched) {
        while let Some(&(at, number)) = self.arrivals.front() {
            if at > now {
                break;
            }
            self.arrivals.pop_front();
            self.touch_all();
            self.count_active(now);
            self.start_block(number, now, launched);
        }
    }

    fn start_block(&mut self, number: u64, now: u64, launched: &Launched) {
        let free = self.blocks.iter().position(Option::is_none);
        let block = free.expect("the dispatcher sends a block only where there is room") as u16;
        let warps = launched.warps_per_block() as u16;
        let first = block * warps;
        self.threads
            .start_block(block, first, number, &launched.grid, &launched.code);
        let arrival = BlockArrival {
            block,
            homes: first..first + warps,
            slices: self.slices,
            domains: self.domains.len() as u16,
            schedulers: self.schedulers,
        };
        self.model
            .launched(&arrival, &self.threads, &mut self.groups);
        for (slot, home, slice) in arrival.slots() {
            let place = self.place(slot);
            self.slots[slot as usize] = Slot::new(block);
            let domain = &mut self.domains[place.domain as usize];
            domain.clear_warp(place.index);
            domain.resident |= 1 << place.index;
            self.policy.launched(place, self.next_age, block);
            self.next_age += 1;
            let event = WarpEvent::Launched {
                block: number,
                warp: (home - first) * self.slices + slice,
            };
            self.tell(now, slot, event);
        }
        self.blocks[block as usize] = Some(ResidentBlock::new(arrival, number));
        self.follow_groups(launched);
    }

    /// One packet from the network.
    fn take_reply(&mut self, now: u64) {
        let Some(reply) = self.port.arrived(now) else {
            return;
        };
        if port::untoken(reply.token).0 == port::TokenKind::Instruction {
            self.front.take_reply(*reply);
        } else if self.ldst.accepts_reply() {
            self.ldst.take_reply(*reply, now);
        } else {
            return;
        }
        self.port.inbox.pop_front();
    }

    /// ALU results whose time has come.
    fn write_back(&mut self, now: u64, launched: &Launched) {
        while let Some(d) = self.wheel.pop(now) {
            let info = &launched.infos[d.pc as usize];
            self.collectors.write(d.slot, &info.write_banks);
            self.complete(d.slot, info, launched);
            self.follow_groups(launched);
            if info.control && self.machine.fetch.wait_for_branch {
                self.resolve(d.slot);
            }
        }
    }

    /// An instruction is complete: registers are free, its warp may be waiting for that.
    fn complete(&mut self, slot: u16, info: &OpInfo, launched: &Launched) {
        self.scoreboard.release(slot, info);
        self.slots[slot as usize].in_flight -= 1;
        let place = self.place(slot);
        if self.domains[place.domain as usize].clear >> place.index & 1 == 0 {
            self.check_hazard(slot, launched);
        }
        self.settle(slot);
    }

    /// A warp with nothing in flight any more may leave a fence, be regrouped, or retire.
    fn settle(&mut self, slot: u16) {
        let state = &self.slots[slot as usize];
        if state.in_flight != 0 {
            return;
        }
        let place = self.place(slot);
        let domain = &self.domains[place.domain as usize];
        if domain.fence >> place.index & 1 != 0 && state.stores == 0 {
            self.touch(place.domain);
            self.domains[place.domain as usize].hold(Hold::Fence, place.index, false);
        }
        if self.groups.get(slot).state == GroupState::Stopped {
            self.model.settled(slot, &mut self.groups);
        }
    }

    /// Recomputes what holds back the instruction at the head of a warp's buffer.
    #[inline]
    fn check_hazard(&mut self, slot: u16, launched: &Launched) {
        let state = &self.slots[slot as usize];
        let Some(pc) = state.buffer.head() else {
            return;
        };
        let place = self.place(slot);
        let mut hazard = self.scoreboard.check(slot, &launched.infos[pc as usize]);
        if self.machine.sm.scoreboard == ScoreboardKind::OneInFlight {
            hazard.any |= state.in_flight != 0;
        }
        let domain = &self.domains[place.domain as usize];
        let is = |set: u64| set >> place.index & 1 != 0;
        if is(domain.clear) != hazard.any
            && is(domain.wait_memory) == hazard.memory
            && is(domain.long_wait) == hazard.long
        {
            return;
        }
        self.touch(place.domain);
        let domain = &mut self.domains[place.domain as usize];
        assign(&mut domain.clear, place.index, !hazard.any);
        assign(&mut domain.wait_memory, place.index, hazard.memory);
        assign(&mut domain.long_wait, place.index, hazard.long);
    }

    /// Recomputes everything that depends on the head of a warp's buffer.
    #[inline]
    fn update_head(&mut self, slot: u16, launched: &Launched) {
        let place = self.place(slot);
        self.touch(place.domain);
        let bit = 1u64 << place.index;
        let buffer = &self.slots[slot as usize].buffer;
        let wants = buffer.wants_fetch(&self.machine.fetch);
        let head = buffer.head();
        let pc = self.groups.get(slot).pc;
        let domain = &mut self.domains[place.domain as usize];
        assign(&mut domain.wants_fetch, place.index, wants);
        match head {
            None => {
                domain.head &= !bit;
                domain.clear &= !bit;
                domain.wait_memory &= !bit;
                domain.long_wait &= !bit;
            }
            Some(buffered) => {
                domain.head |= bit;
                assign(&mut domain.matched, place.index, buffered == pc);
                if buffered == pc {
                    domain.control &= !bit;
                }
                let unit = launched.infos[buffered as usize].unit as usize;
                for (u, set) in domain.unit.iter_mut().enumerate() {
                    assign(set, place.index, u == unit);
                }
                self.check_hazard(slot, launched);
            }
        }
    }

    /// Collected operations enter their units.
    fn enter_units(&mut self, now: u64, launched: &Launched) {
        if self.collectors.none_collected() {
            return;
        }
        for (unit, pipes) in [(Unit::Sp, &mut self.sp), (Unit::Sfu, &mut self.sfu)] {
            for pipe in pipes {
                let Some(op) = self.collectors.oldest(unit) else {
                    break;
                };
                let info = &launched.infos[op.pc as usize];
                if !pipe.accepts(now, info.latency) || !self.buses.book(now + info.latency as u64) {
                    continue;
                }
                pipe.enter(now, info.latency, info.interval.max(self.passes as u16));
                let op = self.collectors.leave(unit);
                let at = now + info.latency as u64 + EXIT_STAGES + self.passes - 1;
                self.gangs
                    .each(op, |slot| self.wheel.push(at, Done { slot, pc: op.pc }));
            }
        }
    }

    /// The load/store unit, and with it the operand collectors.
    fn memory_cycle(&mut self, now: u64, launched: &Launched) {
        let awake = self.ldst.is_awake(now);
        if !awake && self.collectors.is_empty() {
            self.collectors.end_cycle();
            return;
        }
        let mut with = Surroundings {
            collectors: &mut self.collectors,
            infos: &launched.infos,
            port: &mut self.port,
            stats: &mut self.stats.counters,
            events: &mut self.events,
        };
        if awake {
            self.ldst.write_back(now, &mut with);
        }
        with.collectors.step(with.infos);
        if awake {
            self.ldst.cycle(now, &mut with);
        }
        if self.ldst.accepts() && self.collectors.oldest(Unit::Mem).is_some() {
            let op = self.collectors.leave(Unit::Mem);
            self.ldst.enter(op.memory, now);
        }
        if !self.events.is_empty() {
            self.memory_events(launched);
            self.follow_groups(launched);
        }
    }

    fn memory_events(&mut self, launched: &Launched) {
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            match event {
                Event::Loaded { slot, pc } => {
                    self.complete(slot, &launched.infos[pc as usize], launched);
                }
                Event::Stored { slot } => {
                    self.slots[slot as usize].in_flight -= 1;
                    self.check_hazard(slot, launched);
                    self.settle(slot);
                }
                Event::StoresSent { slot, count } => self.slots[slot as usize].stores += count,
                Event::Acknowledged { slot } => {
                    self.slots[slot as usize].stores -= 1;
                    self.settle(slot);
                }
                Event::AtomicBack { op, lanes, last } => {
                    self.atomic_back(op, lanes, last, launched)
                }
            }
        }
        self.events = events;
    }

    /// Old values of an atomic have come: they are in the registers before anybody who waits
    /// for them can issue.
    fn atomic_back(&mut self, op: u16, lanes: u32, last: bool, launched: &Launched) {
        let record = self.ldst.ops.get(op);
        if let Some(data) = record.atomic.as_deref() {
            for lane in (0..LANES).filter(|l| lanes >> l & 1 != 0) {
                launched.code.complete_atomic(
                    &data.lanes,
                    &data.what,
                    lane,
                    data.old[lane],
                    &mut self.threads,
                );
            }
        }
        if last {
            for i in 0..record.owners.len() {
                let place = self.place(self.ldst.ops.get(op).owners[i].slot);
                self.touch(place.domain);
                self.domains[place.domain as usize].hold(Hold::Atomic, place.index, false);
            }
        }
    }

    /// Performs an atomic access that has reached the L2.
    pub fn perform_atomic(&mut self, token: u32, image: &mut GlobalMemory) -> Result<(), SmFault> {
        let flight = self.ldst.ops.flight(port::untoken(token).1);
        let record = self.ldst.ops.get_mut(flight.op);
        let pc = record.pc;
        let Some(data) = record.atomic.as_deref_mut() else {
            return Ok(());
        };
        for lane in (0..LANES).filter(|l| flight.lanes >> l & 1 != 0) {
            let operands = [data.operands[0][lane], data.operands[1][lane]];
            let old = crate::exec::atomic::apply(image, data.address[lane], &data.what, operands);
            data.old[lane] = old.map_err(|cause| {
                let kind = FaultKind::Memory {
                    space: Space::Global,
                    address: data.address[lane],
                    bytes: data.what.ty.bytes(),
                    store: true,
                    cause,
                };
                SmFault {
                    fault: Fault::new(kind, lane, data.lanes.home(lane)),
                    pc,
                }
            })?;
        }
        Ok(())
    }

    /// Brings the bit sets and buffers in line with what the divergence model changed.
    #[inline]
    fn follow_groups(&mut self, launched: &Launched) {
        if self.groups.has_changes() {
            self.follow_changes(launched);
        }
    }

    fn follow_changes(&mut self, launched: &Launched) {
        let mut changed = std::mem::take(&mut self.changed);
        self.groups.take_changed(&mut changed);
        while !changed.is_empty() {
            for slot in changed.drain(..) {
                self.follow_group(slot, launched);
            }
            // A model that was told that a slot has settled may have changed others.
            self.groups.take_changed(&mut changed);
        }
        self.changed = changed;
    }

    fn follow_group(&mut self, slot: u16, launched: &Launched) {
        let place = self.place(slot);
        self.touch(place.domain);
        let (state, pc) = (self.groups.get(slot).state, self.groups.get(slot).pc);
        let domain = &mut self.domains[place.domain as usize];
        let restarts = domain.stopped >> place.index & 1 != 0;
        assign(
            &mut domain.running,
            place.index,
            state == GroupState::Running,
        );
        assign(
            &mut domain.stopped,
            place.index,
            state == GroupState::Stopped,
        );
        assign(
            &mut domain.finished,
            place.index,
            state == GroupState::Finished,
        );
        let buffer = &mut self.slots[slot as usize].buffer;
        if state != GroupState::Running {
            if buffer.head().is_some() {
                assign(&mut domain.unresolved, place.index, false);
            }
            buffer.flush(pc);
        } else if self.machine.fetch.ideal {
            buffer.flush(pc);
            buffer.fill(pc, 1, launched.infos.len() as u32);
        } else if restarts || buffer.is_untouched() {
            buffer.flush(pc);
        }
        self.update_head(slot, launched);
        if state == GroupState::Stopped {
            self.settle(slot);
        }
    }

    /// Sleepers whose time is up.
    fn wake(&mut self, now: u64) {
        if self.sleepers.iter().all(|&(until, _)| until > now) {
            return;
        }
        self.touch_all();
        let mut sleepers = std::mem::take(&mut self.sleepers);
        sleepers.retain(|&(until, slot)| {
            if until <= now {
                let place = self.place(slot);
                self.domains[place.domain as usize].hold(Hold::Asleep, place.index, false);
            }
            until > now
        });
        self.sleepers = sleepers;
    }

    /// Lets the warps of an opened barrier go.
    fn release_barrier(&mut self, block: u16, release: Release, now: u64, launched: &Launched) {
        for slot in &release.slots {
            self.tell(now, *slot, WarpEvent::Released);
            let place = self.place(*slot);
            self.touch(place.domain);
            self.domains[place.domain as usize].hold(Hold::Barrier, place.index, false);
        }
        for (result, value) in &release.results {
            for lane in (0..LANES).filter(|l| result.mask >> l & 1 != 0) {
                launched.code.write_register(
                    &result.lanes,
                    result.register,
                    lane,
                    *value,
                    &mut self.threads,
                );
            }
        }
        self.policy.barrier(block, false);
    }

    /// A finished warp with nothing in flight leaves; with the last one its block does.
    fn retire(&mut self, slot: u16, now: u64) {
        let place = self.place(slot);
        self.last_retired = now;
        self.touch_all();
        assign(
            &mut self.domains[place.domain as usize].retired,
            place.index,
            true,
        );
        self.policy.finished(place);
        self.tell(now, slot, WarpEvent::Retired);
        let index = self.slots[slot as usize].block as usize;
        let Some(block) = &mut self.blocks[index] else {
            return;
        };
        block.retired += 1;
        if block.retired < block.warps {
            return;
        }
        let block = self.blocks[index].take().expect("looked at above");
        self.count_active(now + 1);
        for (slot, _, _) in block.arrival.slots() {
            let place = self.place(slot);
            self.domains[place.domain as usize].clear_warp(place.index);
            self.groups.free(slot);
            self.tell(now, slot, WarpEvent::Left);
        }
        self.model.left(&block.arrival);
        self.stats.counters.blocks += 1;
        self.completed += 1;
        if self.machine.gpu.flush_l1_when_idle && self.blocks.iter().all(Option::is_none) {
            self.ldst.invalidate_data();
        }
    }

    /// Warps that could retire.
    #[inline]
    fn retirable(&self, domain: usize) -> u64 {
        let d = &self.domains[domain];
        let finished = d.finished & !d.retired;
        if finished == 0 {
            0
        } else {
            self.settled(domain, finished)
        }
    }

    /// Those of a set with nothing in flight.
    fn settled(&self, domain: usize, mut rest: u64) -> u64 {
        let mut set = 0;
        while rest != 0 {
            let index = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            let slot = self.slot_at(Place {
                domain: domain as u8,
                index,
            });
            let state = &self.slots[slot as usize];
            if state.in_flight == 0 && state.stores == 0 {
                set |= 1 << index;
            }
        }
        set
    }

    /// Which unit groups can take an instruction this cycle.
    #[inline]
    fn room(&self) -> [bool; 3] {
        [
            self.collectors.has_room(Unit::Sp),
            self.collectors.has_room(Unit::Sfu),
            self.collectors.has_room(Unit::Mem),
        ]
    }

    fn facts(&self, domain: usize) -> crate::schedule::Facts {
        let d = &self.domains[domain];
        crate::schedule::Facts {
            running: d.running,
            waiting: d.waiting(),
            long_wait: d.long_wait,
        }
    }

    /// The next cycle at or after `now` that has to run. Packets on the way there that would
    /// change nothing but a counter are taken as they pass.
    fn skip_to(&mut self, now: u64, to: u64) -> u64 {
        let next = self.next_event_inside(now);
        while let Some(&(at, reply)) = self.port.inbox.front() {
            let at = at.max(now);
            if at >= next.min(to) || !self.passes_by(&reply) {
                return next.min(at);
            }
            self.port.inbox.pop_front();
            if let Some(behind) = self.port.inbox.front_mut() {
                behind.0 = behind.0.max(at + 1); // one packet a cycle
            }
        }
        next
    }

    /// Whether a packet changes nothing that anybody waits for: part of a line whose rest is
    /// still to come, or an acknowledgement that is not a warp's last.
    fn passes_by(&mut self, reply: &crate::memory::packet::Reply) -> bool {
        if !self.ldst.is_quiet() {
            return false;
        }
        match port::untoken(reply.token) {
            (port::TokenKind::Store, slot) => {
                let stores = &mut self.slots[slot as usize].stores;
                let more = *stores > 1;
                *stores -= more as u32;
                more
            }
            (port::TokenKind::WriteBack, _) => true,
            (port::TokenKind::Uncached, _) => false,
            _ => !reply.last,
        }
    }

    /// The next cycle at or after `now` in which something can happen; until then every cycle
    /// is like the one before.
    pub fn next_event(&self, now: u64) -> u64 {
        let inside = self.next_event_inside(now);
        inside.min(self.port.next().map_or(u64::MAX, |t| t.max(now)))
    }

    fn next_event_inside(&self, now: u64) -> u64 {
        if !self.collectors.is_empty() || self.front.is_busy() {
            return now;
        }
        for (d, domain) in self.domains.iter().enumerate() {
            if domain.moving() | domain.fetchable() != 0 || self.retirable(d) != 0 {
                return now;
            }
        }
        let ldst = self.ldst.next_event(now);
        if ldst == now {
            return now;
        }
        let mut next = ldst;
        let mut by = |time: Option<u64>| next = next.min(time.unwrap_or(u64::MAX));
        by(self.wheel.next(now));
        by(self.arrivals.front().map(|&(t, _)| t.max(now)));
        by(self.model.next_event());
        by(self.policy.next_event(now));
        for &(t, _) in &self.sleepers {
            next = next.min(t.max(now));
        }
        next
    }

    /// Whether nothing is resident or on its way.
    pub fn is_idle(&self) -> bool {
        self.blocks.iter().all(Option::is_none)
            && self.arrivals.is_empty()
            && self.ldst.ops.is_empty()
    }

    fn count_stall(&mut self, domain: usize) {
        let d = &self.domains[domain];
        let first = self.policy.first(domain, d.running | d.stopped);
        let state = d.stall(first);
        debug_assert!(state != SchedulerState::Issued);
        self.stats.schedulers.count(state, 1);
    }
}
