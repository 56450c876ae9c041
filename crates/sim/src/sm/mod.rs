//! A streaming multiprocessor, cycle by cycle: fetch, buffer, issue, scoreboard, collectors,
//! units, load/store, barriers, exit.
//!
//! Stages run back to front within a cycle (writeback first, fetch last), so that a register
//! released in a cycle is usable by that cycle's issue and an instruction takes at least a cycle
//! for each stage. The SM changes nothing outside itself while it runs: requests leave through
//! its [`Port`], stores through its store buffer, and both are collected at quantum ends.

pub mod access;
mod account;
mod alu;
mod back;
mod block;
mod cache;
mod collector;
#[cfg(test)]
mod collector_tests;
mod domain;
mod front;
mod gang;
mod groups;
mod issue;
mod ldst;
mod memissue;
mod memop;
pub mod opinfo;
mod perform;
mod phase;
mod pool;
mod port;
mod rendezvous;
mod report;
mod residency;
mod run;
mod scoreboard;
mod short;
mod slot;
mod stand;
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
use crate::memory::inbox::Inbox;
use crate::memory::store_buffer::StoreBuffer;
use crate::observe::{Observer, WarpEvent};
use crate::schedule::{IssuePolicy, Place};
use crate::stats::{SchedulerState, SmStats};
use alu::{AluUnits, EXIT_STAGES};
use block::{Release, ResidentBlock};
use collector::Collectors;
use domain::{Domain, Hold, assign};
use ldst::{Event, LoadStore, Surroundings};
use opinfo::{OpInfo, Unit};
pub use port::Port;
pub use report::StuckWarp;
use scoreboard::{Hazard, Scoreboard};
use slot::Slot;
use stand::Stirred;
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
    pub code: Arc<Code>,
    /// Timing facts of its instructions.
    pub infos: Arc<[OpInfo]>,
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
    /// What happened. Boxed: a result that is passed through every cycle should be small.
    pub fault: Box<Fault>,
    /// Instruction.
    pub pc: Pc,
}

impl SmFault {
    fn new(fault: Fault, pc: Pc) -> SmFault {
        let fault = Box::new(fault);
        SmFault { fault, pc }
    }
}

/// What an SM sees of the world in a quantum.
pub struct Quantum<'a> {
    /// The kernel.
    pub launched: &'a Launched,
    /// Global memory as of the quantum's start.
    pub image: &'a GlobalMemory,
    /// Replies that have come for this SM.
    pub inbox: &'a mut Inbox,
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
    policy_rotates: bool,
    policy_gangs: bool,
    /// Warps belong to the SM, not to a block.
    pools: bool,
    /// A warp waits for everything it has in flight before it issues again.
    one_in_flight: bool,
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
    domains: Vec<Domain>,
    scoreboard: Scoreboard,
    collectors: Collectors,
    sp_units: usize,
    sfu_units: usize,
    /// The streaming processors, then the special-function units.
    units: AluUnits,
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
    /// The cycle under way, and the domains whose issue turn in it is over (a bit each; all of
    /// them once issue is over).
    now: u64,
    turned: u64,
    /// Domains cannot be accounted for one by one: an observer wants to hear things in order,
    /// and a policy that looks at warps or takes several of them sees the domains in step.
    everywhere: bool,
    /// First cycle that is not accounted for as one with or without resident warps.
    active_from: u64,
    /// Whether warps have changed since issue last looked, and since fetch did. Set by
    /// [`touch`](Sm::touch): until then both would find what they found before.
    stirred: Stirred,
    /// When issue has something to do as of its last look, and the room at the units then.
    issue_at: u64,
    room_seen: u8,
    /// Fetch had nothing to do in the last cycle that ran, so it has nothing in the next.
    fetch_rests: bool,
    /// Next cycle in which the first half of the pipeline has something to do, as of the last
    /// cycle in which it had.
    first_half_at: u64,
    /// Next cycle with something to do, as of the end of the last run.
    wake_at: u64,
    last_retired: u64,
    sleepers: Vec<(u64, u16)>,
    ready: Vec<u64>,
    eligible: Vec<u64>,
    at_barrier: Vec<u64>,
    events: Vec<Event>,
    changed: Vec<u16>,
    gangs: gang::Gangs,
    gathered: gang::Gathered,
    meetings: Vec<rendezvous::Meeting>,
    watch: watch::Watch,
    /// For tests: block, warp of the block, lane and PC of every thread that issued.
    #[cfg(test)]
    pub log: Option<Vec<(u64, u16, u8, Pc)>>,
}

impl Sm {
    /// SM number `id` of a machine that has been validated.
    pub fn new(machine: &Arc<Machine>, id: u16) -> Sm {
        let slices = (LANES as u32 / machine.sm.warp_width) as u16;
        let schedulers = machine.sm.schedulers as u16;
        let domains = (slices * schedulers) as usize;
        let homes = (machine.sm.max_threads as usize).div_ceil(LANES);
        let slots = homes.div_ceil(schedulers as usize) * domains;
        let [sp_units, sfu_units] = [machine.sm.sp_units, machine.sm.sfu_units].map(|n| n.max(1));
        let mut model = crate::divergence::make(machine, slots);
        let pools = model.pool().is_some();
        let slots = if pools {
            crate::divergence::pool::slots(machine)
        } else {
            slots
        };
        let policy = crate::schedule::make(machine, domains);
        let fetch_policy = crate::fetch::make(machine, domains);
        let domain = Domain::new(fetch_policy.skips_waiters());
        Sm {
            id,
            slices,
            schedulers,
            passes: machine.passes() as u64,
            model_ticks: model.ticks(),
            policy_refreshes: policy.refreshes(),
            policy_rotates: policy.rotates(),
            policy_gangs: policy.gangs(),
            pools,
            one_in_flight: machine.sm.scoreboard == ScoreboardKind::OneInFlight,
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
            fetch_policy,
            slots: (0..slots)
                .map(|s| {
                    let place = Place {
                        domain: (s % domains) as u8,
                        index: (s / domains) as u8,
                    };
                    Slot::new(place, 0, 0)
                })
                .collect(),
            domains: vec![domain; domains],
            scoreboard: Scoreboard::default(),
            collectors: Collectors::new(&machine.collector),
            sp_units: sp_units as usize,
            sfu_units: sfu_units as usize,
            units: AluUnits::new(machine.sm.result_buses),
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
            everywhere: false,
            active_from: 0,
            stirred: Stirred::ALL,
            issue_at: 0,
            room_seen: 0,
            fetch_rests: false,
            first_half_at: 0,
            wake_at: 0,
            last_retired: 0,
            sleepers: Vec::new(),
            ready: vec![0; domains],
            eligible: vec![0; domains],
            at_barrier: vec![0; domains],
            events: Vec::new(),
            changed: Vec::new(),
            gangs: gang::Gangs::default(),
            gathered: gang::Gathered::default(),
            meetings: Vec::new(),
            watch: watch::Watch::default(),
            #[cfg(test)]
            log: None,
            machine: machine.clone(),
        }
    }

    /// Puts another model, issue policy in place of the configured ones, before anything runs.
    pub(crate) fn replace_mechanisms(
        &mut self,
        model: Option<Box<dyn DivergenceModel>>,
        policy: Option<Box<dyn IssuePolicy>>,
    ) {
        if let Some(model) = model {
            self.model_ticks = model.ticks();
            self.model = model;
            assert!(
                self.model.pool().is_some() == self.pools,
                "slots were made for the other kind"
            );
        }
        if let Some(policy) = policy {
            self.policy_refreshes = policy.refreshes();
            self.policy_rotates = policy.rotates();
            self.policy_gangs = policy.gangs();
            self.policy = policy;
        }
    }

    /// How many domains an issue policy of this SM serves.
    pub(crate) fn domain_count(&self) -> usize {
        self.domains.len()
    }

    /// Gets ready for a launch that starts at cycle `now`.
    pub fn begin(&mut self, launched: &Launched, now: u64) {
        self.scoreboard
            .reset(self.slots.len(), launched.kernel.registers.len());
        self.stats = SmStats::default();
        self.model.begin();
        self.ran = now;
        for domain in &mut self.domains {
            domain.accounted = now;
        }
        self.active_from = now;
        self.wake_at = now;
        self.first_half_at = now;
        self.last_retired = now;
        // Kernel parameters differ from launch to launch at the same constant addresses.
        self.ldst.invalidate_read_only();
        // The policy may be another one than before.
        self.watch_change(self.watch.on());
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
        self.slots[slot as usize].place
    }

    /// The slot at a place.
    #[inline]
    fn slot_at(&self, place: Place) -> u16 {
        place.index as u16 * self.domains.len() as u16 + place.domain as u16
    }

    /// Cycle in which a warp retired last.
    pub fn last_retired(&self) -> u64 {
        self.last_retired
    }

    /// Whether stores or prints of this quantum are to be handed over.
    #[inline]
    pub fn has_to_flush(&self) -> bool {
        !self.stores.is_empty() || !self.prints.is_empty()
    }

    /// Whether nothing is resident or on its way.
    pub fn is_idle(&self) -> bool {
        self.blocks.iter().all(Option::is_none)
            && self.arrivals.is_empty()
            && self.ldst.ops.is_empty()
    }
}
