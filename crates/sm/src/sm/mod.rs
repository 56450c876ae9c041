//! A streaming multiprocessor, cycle by cycle: fetch, buffer, issue, scoreboard, collectors,
//! units, load/store, barriers, exit.
//!
//! Each stage owns its state and can be built alone. [`cycle`] has their order within a cycle, and [`skipping`] says which
//! cycles have to run.
//! The SM changes nothing outside itself while it runs. Requests leave through its [`Port`] and are sent when a run ends;
//! stores and prints are [`Leavings`], and are collected between windows.

mod asking;
mod cycle;
pub mod facts;
mod frontend;
mod issue;
mod launch;
mod memory;
mod memory_stage;
mod observe;
mod operands;
mod power;
pub mod reference;
mod residents;
mod skipping;
#[cfg(test)]
mod testing;
mod units;
mod warps;
mod work;
mod writeback;

pub(crate) use crate::fixed_list;
pub(crate) use warpsim_machine::limits;

use crate::config::Machine;
use crate::divergence::DivergenceModel;
use crate::exec::memory::image::GlobalMemory;
use crate::exec::memory::store_buffer::StoreBuffer;
use crate::exec::state::Threads;
use crate::fetch::FetchPolicy;
use crate::mechanism::CacheName;
use crate::power::lanes::Gate;
use crate::prefetch::Prefetcher;
use crate::replacement::Replacement;
use crate::schedule::IssuePolicy;
use crate::stats::SmStats;
use crate::time::Cycle;
use frontend::FrontEnd;
use issue::Issue;
use launch::Leavings;
pub use launch::{Launched, Quantum, SmFault};
use memory::{LoadStore, MemoryEvent, Port};
pub use observe::StuckWarp;
use operands::Collectors;
use power::PolicyPhases;
pub use residents::summarise;
pub use residents::{Coming, Request};
use residents::{Ended, Residents};
use skipping::Clock;
use std::sync::Arc;
pub use units::{GatedPipe, gated_pipes};
use units::{UnitPlan, Units};

/// An SM: the stages of its pipeline, and the blocks on it. It shares no line of the host's cache with another one.
#[repr(align(128))]
pub struct Sm {
    id: u16,
    core_mhz: u32,
    flush_l1_when_idle: bool,
    /// Memory instructions issue only while the load/store unit has no more than so many cycles of
    /// work, where the lanes that issue in a cycle make one access.
    memory_ahead: Option<u32>,
    /// Blocks, threads, warps.
    residents: Residents,
    front: FrontEnd,
    issue: Issue,
    collectors: Collectors,
    units: Units,
    memory: LoadStore,
    /// What the load/store unit has to tell.
    events: Vec<MemoryEvent>,
    /// Way to the network.
    pub port: Port,
    /// What it leaves for others.
    pub leavings: Leavings,
    clock: Clock,
    /// The policy, the power of the lanes, or an observer of details looks at warps in every cycle.
    is_watched: bool,
    /// More is to be done with a result than to complete the instruction of one warp: warps go in gangs, or an observer hears.
    results_are_special: bool,
    policy_phases: PolicyPhases,
}

/// The collectors and units of an SM. `minded`: the issue policy goes by the power of the lanes.
fn pipelines(machine: &Machine, minded: bool) -> (Collectors, Units) {
    let plan = UnitPlan::of(machine);
    let mut collectors = Collectors::new(&machine.collector, &plan);
    let units = Units::new(machine, plan, minded);
    if units.are_handed_over() {
        collectors.hand_over();
    }
    (collectors, units)
}

impl Sm {
    /// SM number `id` of a machine that has been validated.
    pub fn new(machine: &Arc<Machine>, id: u16) -> Sm {
        let domains = crate::place::Layout::of(machine).domains();
        let front = FrontEnd::new(machine, id);
        let mut residents = Residents::new(machine);
        let minded = residents.books.policy.minds_power().is_some();
        let (collectors, units) = pipelines(machine, minded);
        Sm {
            id,
            core_mhz: machine.gpu.core_mhz,
            flush_l1_when_idle: machine.gpu.flush_l1_when_idle,
            memory_ahead: issue::memory_ahead(machine),
            residents,
            front,
            issue: Issue::new(machine, domains),
            collectors,
            units,
            memory: LoadStore::new(machine, id),
            events: Vec::new(),
            port: Port::new(machine),
            leavings: Leavings {
                stores: StoreBuffer::new(),
                prints: Vec::new(),
            },
            clock: Clock::default(),
            is_watched: false,
            results_are_special: false,
            policy_phases: PolicyPhases::default(),
        }
    }

    /// Puts another issue policy in place of the configured one, before anything runs.
    pub fn replace_policy(&mut self, policy: Box<dyn IssuePolicy>, machine: &Machine) {
        self.residents.books.replace_policy(policy);
        let minded = self.residents.books.policy.minds_power().is_some();
        (self.collectors, self.units) = pipelines(machine, minded);
    }

    /// Puts another divergence model in place of the configured one, before anything runs.
    pub fn replace_model(&mut self, model: Box<dyn DivergenceModel>) {
        self.residents.replace_model(model);
    }

    /// Puts a replacement policy in place of the configured one in one of its caches, before anything runs.
    pub fn replace_replacement_policy(
        &mut self,
        cache: CacheName,
        make: &dyn Fn(usize, usize) -> Box<dyn Replacement>,
    ) {
        match cache {
            CacheName::L1i => self.front.replace_policy(make),
            _ => self.memory.replace_policy(cache, make),
        }
    }

    /// Puts a prefetcher in place of the configured one, before anything runs.
    pub fn replace_prefetcher(&mut self, prefetcher: Box<dyn Prefetcher>, machine: &Machine) {
        self.memory.replace_prefetcher(prefetcher, machine);
    }

    /// Puts other fetch policies in place of the configured ones, before anything runs.
    pub fn replace_fetch_policies(&mut self, make: &dyn Fn(usize) -> Box<dyn FetchPolicy>) {
        self.front.replace_policies(make);
    }

    /// How many domains an issue policy of this SM serves.
    pub fn domain_count(&self) -> usize {
        self.residents.warps.layout().domains()
    }

    /// Gets ready for a launch that starts at cycle `now`.
    pub fn begin(&mut self, launched: &Launched, now: Cycle) {
        self.residents.begin(launched, now);
        self.units.begin(now, &launched.facts);
        self.policy_phases = PolicyPhases::begin(&mut self.residents, now);
        self.clock = Clock {
            ran: now,
            moved: now,
            first_half: now,
            next: now,
            asked: now,
            restless: true,
        };
        // The policy may be another one than before.
        self.memory.launch_begins();
        self.memory
            .tell_of_cache(self.residents.books.hears_cache());
        let watch = &self.residents.books.watch;
        self.listen(watch.is_on(), watch.hears_details());
    }

    /// Accounts for the time up to the end of a launch.
    pub fn finish(&mut self, end: Cycle) {
        self.count_power(end);
        let residents = &mut self.residents;
        residents.count_active(end);
        let [read, written] = std::mem::take(&mut self.port.traffic);
        residents.books.stats.counters.read_bytes += read;
        residents.books.stats.counters.written_bytes += written;
        if residents.warps.finish(end, &mut residents.books) {
            self.clock.ran = end;
        }
    }

    /// A block of the grid is to come in cycle `at`.
    pub fn expect_block(&mut self, at: Cycle, number: u64) {
        self.residents.blocks.expect(at, Coming::Block(number));
    }

    /// A logical block, or the news that none is left, comes for a virtual block in cycle `at`.
    pub fn expect_answer(&mut self, at: Cycle, block: u16, number: Option<u64>) {
        let answer = Coming::Answer { block, number };
        self.residents.blocks.expect(at, answer);
    }

    /// From cycle `at` on no block is left to be handed out.
    pub fn expect_no_more(&mut self, at: Cycle) {
        if self.hears_of_last_block() {
            self.residents.blocks.expect(at, Coming::LastBlock);
        }
    }

    /// Logical blocks that virtual ones have asked for since this was asked last, in order.
    pub fn take_requests(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.residents.blocks.requests)
    }

    /// Whether blocks have completed that [`take_completed`](Sm::take_completed) has not returned.
    #[inline]
    pub fn has_completed(&self) -> bool {
        self.residents.blocks.completed() != 0
    }

    /// Whether the issue policy wants to hear when no block is left to be handed out.
    pub fn hears_of_last_block(&self) -> bool {
        self.residents.books.policy.hears_blocks()
    }

    /// Takes the number of blocks completed since this was asked last.
    pub fn take_completed(&mut self) -> u32 {
        self.residents.blocks.take_completed()
    }

    /// Deepest reconvergence stack so far.
    pub fn deepest_stack(&self) -> u32 {
        self.residents.model.deepest()
    }

    /// Blocks of this launch that have ended, in order.
    pub fn ended(&self) -> &[Ended] {
        self.residents.blocks.ended()
    }

    /// Cycle in which a warp retired last.
    pub fn last_retired(&self) -> Cycle {
        self.residents.blocks.last_retired()
    }

    /// Counters.
    pub fn stats(&self) -> &SmStats {
        &self.residents.books.stats
    }

    /// Architectural state.
    pub fn threads(&self) -> &Threads {
        &self.residents.threads
    }

    /// Whether it has stored what others have not seen.
    #[inline]
    pub fn has_stored(&self) -> bool {
        !self.leavings.stores.is_empty()
    }

    /// Whether any block is resident or on its way.
    #[inline]
    pub fn has_blocks(&self) -> bool {
        self.residents.blocks.any()
    }

    /// Whether nothing is resident or on its way.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.memory.is_empty() && !self.has_blocks()
    }

    /// The cycle behind the last in which there was something to do.
    #[inline]
    pub fn moved_to(&self) -> Cycle {
        self.clock.moved
    }

    /// The first cycle that has not run.
    #[inline]
    pub fn ran_to(&self) -> Cycle {
        self.clock.ran
    }

    /// Performs an atomic access that has reached the L2.
    pub fn perform_atomic(&mut self, token: u32, image: &mut GlobalMemory) -> Result<(), SmFault> {
        self.memory.perform_atomic(token, image)
    }

    /// Every warp that has not finished, and what it waits for.
    pub fn stuck_warps(&self, launched: &Launched) -> Vec<StuckWarp> {
        let memory = self.memory.describe();
        self.residents.stuck(self.id, &memory, launched)
    }

    /// What the load/store unit has under way, if anything.
    pub fn memory_under_way(&self) -> Option<String> {
        let memory = &self.memory;
        (!memory.is_empty())
            .then(|| format!("SM {} load/store unit: {}", self.id, memory.describe()))
    }

    /// What the gates of every lane are in cycle `at`, by side and lane, where power is looked at.
    pub fn gates(&mut self, at: Cycle) -> Option<Vec<Vec<Gate>>> {
        self.units.power().map(|power| power.states(at))
    }
}
