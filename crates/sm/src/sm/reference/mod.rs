//! The reference SM: what a streaming multiprocessor does, one cycle after the other, in the plainest way. Read this
//! first.
//!
//! It is a second opinion on the SM that runs by default, which does the same in a fraction of the time: it keeps warps as
//! bit sets, skips cycles in which nothing happens, and counts many cycles at once. This one keeps a plain struct for
//! each warp, steps through every cycle and looks at everything in each. Both use the same issue policies, fetch
//! policies, divergence models, caches and execution of instructions, and both count the same statistics, which
//! have to be equal (`crates/workloads/tests/golden/reference.rs`). `warpsim run --reference` runs this one.
//!
//! # A cycle
//!
//! An instruction goes through the stages from top to bottom, each a file:
//!
//! | stage | file | what happens |
//! |---|---|---|
//! | fetch | `fetch` | for one warp, the next instructions are read from the instruction cache (`icache`, `lines`) |
//! | decode | `decode` | a cycle later they are in the warp's instruction buffer |
//! | issue | `issue` | each scheduler takes one warp: the first, in its policy's order, whose next instruction is there, is owed no register (`scoreboard`) and has room at its unit. Its threads execute it at once (`perform`) |
//! | operand collect | `operands` | a collector reads its sources from the banks of the register file |
//! | execute | `execute` | it enters a pipeline, if the entry and a result bus are free |
//! | memory | `memory` | or the load/store unit, which sends its accesses through the caches and to the network |
//! | writeback | `writeback` | its registers are written; instructions that wait for them may issue in this cycle |
//!
//! Around the pipeline: `warp` is what an SM keeps for each warp, and `places` where warps sit. `blocks` come and leave;
//! `barriers` hold their warps until all have come, `sync` those whose threads wait for each other; `control` is where warps
//! go on, as the divergence model says. `accounting` counts what each warp and each scheduler does in each cycle. `outside`
//! is what the GPU asks of an SM, `stuck` what warps wait for that do not go on.
//!
//! Some machines have more: `gather` makes one access of the memory instructions of a cycle, `gangs` of narrow warps issue
//! together and are fetched for together (`gang_fetch`), `lanes` and `power` switch lanes off, `virtual_blocks` run for
//! several logical ones.
//!
//! The stages run back to front within a cycle ([`Sm::cycle`]), so that what one frees is there for the one before it, and
//! an instruction takes at least a cycle for each.

mod accounting;
mod barrier;
mod barriers;
mod blocks;
mod control;
mod decode;
mod execute;
mod fetch;
mod gang_fetch;
mod gangs;
mod gather;
mod icache;
mod issue;
mod lanes;
mod lines;
mod memory;
mod operands;
mod outside;
mod perform;
mod places;
mod power;
mod replace;
mod scoreboard;
mod stuck;
mod sync;
mod virtual_blocks;
mod warp;
mod writeback;

use crate::config::{Machine, Scoreboard as ScoreboardKind};
use crate::divergence::{DivergenceModel, Groups};
use crate::exec::memory::image::GlobalMemory;
use crate::exec::memory::store_buffer::StoreBuffer;
use crate::exec::state::{Effect, HomeBlock, HomeWarp, LANES, Threads};
use crate::memory::network::inbox::Inbox;
use crate::place::Layout;
use crate::schedule::IssuePolicy;
use crate::sm::launch::{Launched, Leavings, SmFault};
use crate::sm::memory::{Port, TokenKind, untoken};
use crate::sm::residents::{Coming, Ended, Request};
use crate::sm::units::UnitPlan;
use crate::stats::SmStats;
use crate::time::Cycle;
use blocks::Block;
use execute::Pipelines;
use fetch::Fetch;
use gang_fetch::GangFetch;
use memory::LoadStore;
use operands::Collectors;
use std::collections::VecDeque;
use std::sync::Arc;
use sync::{CopiesUnderWay, Meeting};
use warp::Warp;

/// What an SM sees of the world while it runs.
pub struct World<'a> {
    /// The kernel.
    pub launched: &'a Launched,
    /// Global memory as of the period's start.
    pub image: &'a GlobalMemory,
    /// Replies that have come for this SM.
    pub inbox: &'a mut Inbox,
}

/// A streaming multiprocessor.
pub struct Sm {
    id: u16,
    machine: Arc<Machine>,
    layout: Layout,
    one_in_flight: bool,
    /// The hardware warps, by slot.
    warps: Vec<Warp>,
    /// By scheduler: how many of its warps are here.
    here: Vec<u32>,
    /// By slot: copies that a warp has under way.
    copies: Vec<CopiesUnderWay>,
    /// Which threads each slot holds, and what decides about that. In a pool warps belong to no block.
    groups: Groups,
    model: Box<dyn DivergenceModel>,
    pools: bool,
    /// What the threads have in their registers and memories.
    threads: Threads,
    policy: Box<dyn IssuePolicy>,
    /// The policy plans what all schedulers issue.
    plans: bool,
    /// When the phase of a policy ends that goes by the power of the lanes.
    phase_ends: Cycle,
    /// By scheduler: the first cycle in which it may issue.
    issue_free: Vec<Cycle>,
    /// Instructions issued.
    issued: u64,
    /// Blocks by their slots, and those on their way.
    blocks: Vec<Option<Block>>,
    arrivals: VecDeque<(Cycle, Coming)>,
    next_age: u64,
    /// Blocks completed since the dispatcher last looked, and how those of the launch have run.
    completed: u32,
    ended: Vec<Ended>,
    /// Logical blocks that virtual ones have asked for.
    requests: Vec<Request>,
    last_retired: Cycle,
    /// Cycles in which the schedulers' turn has rested, and the first one without a block.
    rested: u64,
    empty_from: Cycle,
    /// The last block has left, or a fence was passed: the data cache may have to forget its lines.
    emptied: bool,
    fence_passed: bool,
    meetings: Vec<Meeting>,
    /// Warps that sleep, and until when.
    sleepers: Vec<(Cycle, u16)>,
    fetch: Fetch,
    gang_fetch: GangFetch,
    collectors: Collectors,
    pipelines: Pipelines,
    memory: LoadStore,
    effect: Effect,
    /// The cycle behind the last that has run.
    ran: Cycle,
    /// The cycle behind the last in which something happened.
    moved: Cycle,
    /// Way to the network.
    pub port: Port,
    /// What it leaves for others.
    pub leavings: Leavings,
    stats: SmStats,
}

impl Sm {
    /// SM number `id` of a machine that has been validated.
    pub fn new(machine: &Arc<Machine>, id: u16) -> Sm {
        let layout = Layout::of(machine);
        let homes = (machine.sm.max_threads as usize).div_ceil(LANES);
        let mut model = crate::divergence::make(machine, layout.slots_for(homes));
        let pools = model.pool().is_some();
        let slots = match pools {
            true => crate::divergence::pool::slots(machine),
            false => layout.slots_for(homes),
        };
        let plan = UnitPlan::of(machine);
        let mut policy = crate::schedule::make(machine, layout.domains());
        let (plans, minded) = (policy.plan().is_some(), policy.minds_power().is_some());
        Sm {
            id,
            machine: machine.clone(),
            layout,
            one_in_flight: machine.sm.scoreboard == ScoreboardKind::OneInFlight,
            warps: (0..slots as u16)
                .map(|slot| Warp::empty(layout.place_of(slot)))
                .collect(),
            here: vec![0; layout.domains()],
            copies: vec![CopiesUnderWay::default(); slots],
            groups: Groups::new(slots),
            model,
            pools,
            threads: Threads {
                warps: vec![HomeWarp::default(); homes],
                blocks: vec![HomeBlock::default(); machine.sm.max_blocks as usize],
                ..Threads::default()
            },
            policy,
            phase_ends: Cycle::NEVER,
            issue_free: vec![Cycle::ZERO; layout.domains()],
            issued: 0,
            blocks: (0..machine.sm.max_blocks).map(|_| None).collect(),
            arrivals: VecDeque::new(),
            next_age: 0,
            completed: 0,
            ended: Vec::new(),
            requests: Vec::new(),
            last_retired: Cycle::ZERO,
            rested: 0,
            empty_from: Cycle::ZERO,
            emptied: false,
            fence_passed: false,
            meetings: Vec::new(),
            sleepers: Vec::new(),
            fetch: Fetch::new(machine, id),
            gang_fetch: GangFetch::default(),
            plans,
            collectors: Collectors::new(&machine.collector, &plan),
            pipelines: Pipelines::new(machine, plan, minded),
            memory: LoadStore::new(machine, id),
            effect: Effect::default(),
            ran: Cycle::ZERO,
            moved: Cycle::ZERO,
            port: Port::new(machine),
            leavings: Leavings {
                stores: StoreBuffer::new(),
                prints: Vec::new(),
            },
            stats: SmStats::default(),
        }
    }

    /// Gets ready for a launch that begins with cycle `now`.
    pub fn begin(&mut self, launched: &Launched, now: Cycle) {
        self.stats = SmStats::default();
        self.ended.clear();
        self.policy.blocks_left(true);
        self.model.begin();
        self.last_retired = now;
        (self.ran, self.moved) = (now, now);
        self.begin_power(now);
        self.begin_plan(launched);
        let tells = self.policy.hears_cache().is_some();
        self.memory.begin(tells);
    }

    /// Runs the cycles up to (not including) `to`.
    pub fn run(&mut self, to: Cycle, world: &mut World) -> Result<(), SmFault> {
        while self.ran < to {
            self.cycle(self.ran, world)?;
            self.ran += 1;
        }
        Ok(())
    }

    /// A cycle: the stages, back to front.
    fn cycle(&mut self, now: Cycle, world: &mut World) -> Result<(), SmFault> {
        let launched = world.launched;
        let before = self.done();
        self.power_stage(now, launched);
        self.take_arrivals(now, launched);
        self.count_active();
        self.take_reply(now, world.inbox);
        self.write_back(now, launched);
        self.pipelines
            .step(now, &mut self.collectors, &launched.facts);
        self.memory_stage(now, launched);
        self.tick(now, launched);
        match self.plans {
            true => self.issue_planned(now, world)?,
            false => self.issue(now, world)?,
        }
        self.decode(launched);
        self.fetch(now, launched);
        if self.has_moved(before, now) {
            self.moved = now + 1;
        }
        Ok(())
    }

    /// Takes a packet from the network, if one has come and there is room for it.
    fn take_reply(&mut self, now: Cycle, inbox: &mut Inbox) {
        let Some((_, reply)) = inbox.front().filter(|(at, _)| *at <= now) else {
            return;
        };
        if untoken(reply.token).0 == TokenKind::Instruction {
            self.fetch.cache.take_reply(reply);
        } else if self.memory.accepts_reply() {
            self.memory.take_reply(reply);
        } else {
            return;
        }
        inbox.pop();
        self.moved = now + 1;
    }

    /// Counts a cycle in which a warp is here.
    fn count_active(&mut self) {
        self.stats.counters.active_cycles += u64::from(!self.has_no_block());
    }
}
