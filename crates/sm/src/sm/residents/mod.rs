//! What is on the SM: blocks, their threads, the warps that these are grouped into, and what each
//! warp does next.
//!
//! The pipeline stages do not call each other; they tell the residents what has happened (an
//! instruction has executed, is complete, a store was acknowledged) and the residents bring
//! warps, groups and blocks in line. What the divergence model changes in answer is followed up
//! as a list of work ([`follow`](Residents::follow)) after each such event.

mod arrivals;
mod blocks;
mod copies;
mod effects;
mod follow;
mod gang;
mod gang_exits;
mod iterate;
mod ownership;
mod parked;
mod paths;
mod plan;
mod progress;
mod rendezvous;

use super::launch::Launched;
use super::observe::{Books, StuckWarp};
use super::warps::WarpTable;
use crate::config::Machine;
use crate::divergence::{DivergenceModel, Groups};
use crate::exec::state::{HomeBlock, HomeWarp, LANES, Threads};
use crate::place::Layout;
use crate::time::Cycle;
use blocks::Blocks;
pub use blocks::{Coming, Ended, summarise};
pub use effects::{Executed, Special};
pub use iterate::Request;
pub use ownership::BarrierAt;
use ownership::Ownership;
use rendezvous::Meeting;
use warpsim_ptx::kernel::Pc;

/// The residents of an SM.
pub struct Residents {
    /// The hardware warps.
    pub warps: WarpTable,
    /// Where their cycles are written down.
    pub books: Books,
    /// Architectural state.
    pub threads: Threads,
    /// What each slot holds.
    pub groups: Groups,
    /// Decides what each slot holds.
    pub model: Box<dyn DivergenceModel>,
    /// The blocks.
    pub blocks: Blocks,
    ownership: &'static dyn Ownership,
    /// `.sync` operations whose threads have not all come.
    meetings: Vec<Meeting>,
    /// Warps that sleep, and until when.
    sleepers: Vec<(Cycle, u16)>,
    copies: Vec<copies::UnderWay>,
    /// The last block has left: parts that keep something for the residents may forget it.
    emptied: bool,
    /// Fences wait for stores, else for registers.
    fences_wait_for_stores: bool,
    /// A warp has passed a fence that makes the data cache forget its lines.
    fence_passed: bool,
    model_ticks: bool,
    /// The divergence model has to hear of branches that all lanes of a warp take, or none.
    model_hears_agreed: bool,
    /// A warp that runs on with other lanes is followed like all that changes: warps are in a pool, or what
    /// comes next is in the buffer at once.
    follows_all: bool,
    /// Reused by [`follow`](Residents::follow).
    changed: Vec<u16>,
}

impl Residents {
    /// No blocks and no warps.
    pub fn new(machine: &Machine) -> Residents {
        let layout = Layout::of(machine);
        let homes = (machine.sm.max_threads as usize).div_ceil(LANES);
        let mut model = crate::divergence::make(machine, layout.slots_for(homes));
        let pools = model.pool().is_some();
        let slots = if pools {
            crate::divergence::pool::slots(machine)
        } else {
            layout.slots_for(homes)
        };
        let policy = crate::schedule::make(machine, layout.domains());
        Residents {
            warps: WarpTable::new(machine, slots),
            follows_all: pools || machine.fetch.ideal,
            books: Books::new(policy),
            threads: Threads {
                warps: vec![HomeWarp::default(); homes],
                blocks: vec![HomeBlock::default(); machine.sm.max_blocks as usize],
                ..Threads::default()
            },
            groups: Groups::new(slots),
            ownership: ownership::of(pools),
            model_ticks: model.ticks(),
            model_hears_agreed: model.hears_agreed_branches(),
            emptied: false,
            fences_wait_for_stores: machine.sm.fences_wait_for_stores,
            fence_passed: false,
            model,
            blocks: Blocks::new(machine),
            meetings: Vec::new(),
            sleepers: Vec::new(),
            copies: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// Puts another model in place of the configured one, before anything runs.
    pub fn replace_model(&mut self, model: Box<dyn DivergenceModel>) {
        let pools = self.model.pool().is_some();
        self.model_ticks = model.ticks();
        self.model_hears_agreed = model.hears_agreed_branches();
        self.model = model;
        assert!(
            self.model.pool().is_some() == pools,
            "slots were made for the other kind"
        );
    }

    /// A launch begins in cycle `now`.
    pub fn begin(&mut self, launched: &Launched, now: Cycle) {
        // One more than there are: see `iterate`.
        let tokens = usize::from(launched.grid.virtual_blocks.is_some());
        let registers = launched.kernel.registers.len() + tokens;
        self.warps.begin(now, registers, &self.books);
        self.blocks.control = blocks::control::of(&launched.grid);
        self.blocks.ended.clear();
        self.books.policy.blocks_left(true);
        self.books.stats = Default::default();
        self.model.begin();
        self.blocks.active_from = now;
        self.blocks.last_retired = now;
        if self.books.plans() {
            self.begin_plan(launched);
        }
    }

    /// Counts the cycles before `to` in which warps were resident; called before any comes or
    /// leaves.
    pub fn count_active(&mut self, to: Cycle) {
        let from = self.blocks.active_from;
        if from < to {
            let active = self.ownership.is_active(self) as u64;
            self.books.stats.counters.active_cycles += (to - from) * active;
            self.blocks.active_from = to;
        }
    }

    /// The set of barriers that a warp arrives at.
    fn barrier_set(&self, block: u16, slot: u16) -> usize {
        let Some(resident) = self.blocks.get(block) else {
            return 0;
        };
        let first = resident.arrival.homes.start;
        let warp = self.groups.get(slot).first_home().saturating_sub(first);
        self.blocks.control.barrier_set(resident, warp)
    }

    /// Whether the divergence model has to hear of branches that all lanes of a warp take, or none.
    #[inline]
    pub fn model_hears_agreed_branches(&self) -> bool {
        self.model_hears_agreed
    }

    /// Whether the divergence model wants to be called in every cycle.
    #[inline]
    pub fn model_ticks(&self) -> bool {
        self.model_ticks
    }

    /// The policy looks at the warps of every scheduler.
    pub fn ask_policy(&mut self) {
        for d in 0..self.warps.layout().domains() {
            self.warps.consider(d, &mut self.books);
        }
    }

    /// Accounts for the cycles before `to` that are not yet accounted for, of all schedulers.
    pub fn account_to(&mut self, to: Cycle) {
        for d in 0..self.warps.layout().domains() {
            self.warps.pass(d, to, &mut self.books);
        }
    }

    /// The divergence model and the issue policy do what they do by themselves.
    #[inline]
    pub fn tick(&mut self, now: Cycle, launched: &Launched) {
        if self.model_ticks && self.model.next() <= now {
            self.warps.touch_all(&mut self.books);
            self.model.tick(now, &mut self.groups);
            self.follow(launched);
        }
        if self.books.ticks() && self.books.policy.next() <= now {
            self.warps.touch_all(&mut self.books);
            self.books.policy.tick(now);
        }
    }

    /// The next cycle in which something happens that no stage of the pipeline knows of: in the
    /// divergence model, in the issue policy, or a sleeper wakes up. It may have passed.
    #[inline]
    pub fn next(&self) -> Cycle {
        let mut next = self.next_waking();
        if self.model_ticks {
            next = next.min(self.model.next());
        }
        if self.books.ticks() || self.books.plans() {
            next = next.min(self.books.policy.next());
        }
        next
    }

    /// Whether the data cache may have to forget its lines: the last block has left, or a warp has
    /// passed a fence.
    #[inline]
    pub fn may_forget_lines(&self) -> bool {
        self.emptied | self.fence_passed
    }

    /// Whether the last block has left since this was asked last.
    pub fn take_emptied(&mut self) -> bool {
        std::mem::take(&mut self.emptied)
    }

    /// Whether a warp has passed a fence that makes the data cache forget its lines.
    pub fn take_fence_passed(&mut self) -> bool {
        std::mem::take(&mut self.fence_passed)
    }

    /// A branch has left the pipeline: fetch goes on where it leads.
    pub fn resolve(&mut self, slot: u16) {
        let pc = self.groups.get(slot).pc;
        self.warps.edit(slot, &mut self.books).resolve(pc);
    }

    /// Reports that a warp issued, and which threads and paths it holds where that has changed.
    #[cold]
    pub fn tell_issue(&mut self, now: Cycle, slot: u16, pc: Pc, lanes: u32, execute: u32) {
        self.tell_paths_of(slot);
        let Residents {
            groups,
            threads,
            blocks,
            books,
            ..
        } = self;
        let name = |home| name_of(home, threads, blocks);
        books.watch.tell_holds(now, slot, groups.get(slot), name);
        books.watch.tell_issue(now, slot, pc, lanes, execute);
    }

    /// Every warp that has not finished, and what it waits for; see [`Ownership::stuck`].
    pub fn stuck(&self, sm: u16, memory: &str, launched: &Launched) -> Vec<StuckWarp> {
        self.ownership.stuck(self, sm, memory, launched)
    }

    /// The number in the grid of a home warp's block, and the warp's number there.
    pub fn name_of(&self, home: u16) -> (u64, u16) {
        name_of(home, &self.threads, &self.blocks)
    }
}

fn name_of(home: u16, threads: &Threads, blocks: &Blocks) -> (u64, u16) {
    let warp = &threads.warps[home as usize];
    let block = blocks.get(warp.block);
    (block.map_or(0, |b| b.number), warp.index)
}
