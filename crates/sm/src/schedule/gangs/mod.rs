//! The warp ganging unit (Rogers, Johnson, O'Connor and Keckler, "A Variable Warp Size
//! Architecture", ISCA 2015): narrow warps of a home warp fetch and issue together, in gangs, as
//! long as they go the same way.
//!
//! - [`plan`]: what all slices issue and fetch in a cycle.
//! - [`table`]: which warps go together. A block's warps come as original gangs, one for each
//!   home warp.
//! - [`shapes`]: the gangs that have their warps in the same slices, looked at together.
//! - [`order`]: a gang issues when all its warps are ready. Up to so many issue in a cycle, on
//!   slices that do not overlap; then the slices that are left take single warps.
//! - [`split`]: gangs fall apart at branches, and perhaps when memory answers some warps first.
//! - [`reform`]: parts of an original gang that stand at one PC may be joined again.

mod order;
mod plan;
mod reform;
mod shapes;
mod split;
mod table;
#[cfg(test)]
#[path = "tests/fetching.rs"]
mod tests;

use super::{IssuePlan, IssuePolicy, Place, Policy};
use crate::place::Layout;
use crate::time::Cycle;
use order::{Chooser, Order, Singles};
use reform::{Reform, Turn};
use split::MemorySplit;
use table::{BINS, Table};
use warpsim_machine::mechanism::{Info, Integer, OneOf};

const GANGS_PER_CYCLE: Integer = Integer {
    name: "gangs_per_cycle",
    low: 0,
    high: 4,
    default: 2,
    unit: "gangs",
    description: "gangs that issue in a cycle, and that are fetched for; 0 for as many as there can be",
};

const ORDER: OneOf<Order> = OneOf {
    name: "order",
    words: &["bgto", "gto", "lrr", "lpc", "lgto", "mwf", "saws"],
    meanings: &[
        Order::BigFirst,
        Order::Greedy,
        Order::RoundRobin,
        Order::LowestPc,
        Order::LittleFirst,
        Order::MostWaiting,
        Order::FirstArrival,
    ],
    description: "which gang goes first: big ones, the greedy and oldest, in turn, the lowest PC, little ones, \
                  of the block with most warps at a barrier, of the block that hit its barrier first",
};

const MEMORY_SPLIT: OneOf<MemorySplit> = OneOf {
    name: "memory_split",
    words: &["none", "impatient", "group"],
    meanings: &[
        MemorySplit::Never,
        MemorySplit::Impatient,
        MemorySplit::Group,
    ],
    description: "what becomes of a gang when memory answers some of its warps before others",
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reforming {
    Never,
    Opportunistic,
    Sync,
}

const REFORM: OneOf<Reforming> = OneOf {
    name: "reform",
    words: &["none", "opportunistic", "sync"],
    meanings: &[Reforming::Never, Reforming::Opportunistic, Reforming::Sync],
    description: "whether parts of an original gang at one PC are joined, and wait for that where branches meet",
};

const REFORM_WIDTH: OneOf<bool> = OneOf {
    name: "reform_width",
    words: &["2", "all"],
    meanings: &[false, true],
    description: "parts that are joined in a cycle",
};

// Section 4.5: "To perform opportunistic gang reformation, one original gang is selected each cycle, in round-robin
// order." It does not say: one of those that have split.
const REFORM_TURN: OneOf<Turn> = OneOf {
    name: "reform_turn",
    words: &["all", "split"],
    meanings: &[Turn::All, Turn::Split],
    description: "original gangs that are looked at in turn, one in a cycle, for parts to join: all that are \
                  resident (section 4.5 of the paper: \"one original gang is selected each cycle, in round-robin \
                  order\"), or those in several parts",
};

const SYNC_CYCLES: Integer = Integer {
    name: "sync_cycles",
    low: 1,
    high: 100_000,
    default: 50,
    unit: "cycles",
    description: "longest wait where branches meet, with reform = \"sync\"",
};

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "gangs",
        description: "narrow warps of 32 threads issue together while they go the same way (variable warp sizing)",
        parameters: &[
            &GANGS_PER_CYCLE,
            &ORDER,
            &MEMORY_SPLIT,
            &REFORM,
            &REFORM_WIDTH,
            &REFORM_TURN,
            &SYNC_CYCLES,
        ],
    },
    needs_pool: false,
    ranks_blocks: false,
    make: |values, machine, domains| {
        let order = values.get(&ORDER);
        let most = match values.get(&GANGS_PER_CYCLE) {
            0 => GANGS_PER_CYCLE.high,
            n => n,
        };
        let reform = values.get(&REFORM);
        let (all, turn) = (values.get(&REFORM_WIDTH), values.get(&REFORM_TURN));
        let table = Table::new(Layout::of(machine), domains);
        Box::new(Gangs {
            table: match reform {
                Reforming::Never => table.without_meetings(),
                _ => table,
            },
            chooser: Chooser::new(order),
            singles: Singles::new(order, machine.sm.max_blocks as usize, domains),
            most,
            memory_split: values.get(&MEMORY_SPLIT),
            reform: (reform != Reforming::Never).then(|| Reform::new(all, turn)),
            sync_cycles: match reform {
                Reforming::Sync => u64::from(values.get(&SYNC_CYCLES)),
                _ => 0,
            },
            meeting_points: Vec::new(),
            cycle: Cycle::NEVER,
            gangs: 0,
            chosen: Vec::new(),
            has_chosen: false,
            made_ready: Vec::new(),
            to_clear: Vec::new(),
            let_go: Vec::new(),
            fetched: 0,
            ticked: Cycle::ZERO,
            sizes_before: None,
        })
    },
};

/// The policy.
#[derive(Debug)]
struct Gangs {
    table: Table,
    chooser: Chooser,
    singles: Singles,
    /// Gangs that may issue in a cycle.
    most: u32,
    memory_split: MemorySplit,
    reform: Option<Reform>,
    /// How long parts wait where branches meet; 0 for not at all.
    sync_cycles: u64,
    meeting_points: Vec<bool>,
    /// The cycle under way, the gangs that have issued in it, and, once the slices have chosen, the
    /// single warps that are to issue in it, with their ages.
    cycle: Cycle,
    gangs: u32,
    chosen: Vec<(u64, Place)>,
    has_chosen: bool,
    /// Warps that memory has made ready in this cycle.
    made_ready: Vec<Place>,
    /// Warps whose buffers are to be filled anew.
    to_clear: Vec<Place>,
    /// Original gangs of which warps no longer wait for other threads: they are looked at when the next cycle begins.
    let_go: Vec<u16>,
    /// The original gang that was fetched for last.
    fetched: u16,
    /// The last cycle that has been looked at, and the table's sizes before blocks came in this.
    ticked: Cycle,
    sizes_before: Option<[u32; BINS]>,
}

impl Gangs {
    /// Warps are about to come: cycles that were skipped are to be counted without them.
    fn note_before(&mut self) {
        if self.sizes_before.is_none() {
            self.sizes_before = Some(self.table.sizes);
            if let Some(reform) = &mut self.reform {
                reform.note_before(&self.table);
            }
        }
    }
}

impl IssuePolicy for Gangs {
    fn launched(&mut self, place: Place, age: u64, block: u16) {
        self.note_before();
        self.table.add(place, age);
        self.singles.policy_mut().launched(place, age, block);
    }

    fn finished(&mut self, place: Place) {
        self.table.remove(place);
        self.singles.policy_mut().finished(place);
    }

    // One that the model had stopped has been dropped.
    fn restarted(&mut self, place: Place) {
        if !self.table.has(place) {
            self.note_before();
            self.table.add_back(place);
        }
    }

    // A warp that issues has been noted when it was named.
    fn issued(&mut self, _: Place) {}

    fn waits(&mut self, place: Place, block: u16, now: Cycle) {
        self.singles.policy_mut().waits(place, block, now);
    }

    fn released(&mut self, block: u16, warps: &mut dyn Iterator<Item = Place>) {
        self.singles.policy_mut().released(block, warps);
    }

    fn iterated(&mut self, place: Place, block: u16) {
        self.singles.policy_mut().iterated(place, block);
    }

    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        self.singles.policy().before(domain, a, b)
    }

    fn first(&self, domain: usize, among: u64) -> Option<u8> {
        self.singles.policy().first(domain, among)
    }

    fn next(&self) -> Cycle {
        if !self.let_go.is_empty() || self.reform.is_some() && self.table.any_mergeable() {
            return Cycle::ZERO;
        }
        if !self.any_waits() {
            return Cycle::NEVER;
        }
        let parts = self.table.originals().flat_map(|(_, o)| o.parts.iter());
        let waits = parts.filter_map(|part| part.waits);
        waits.min().unwrap_or(Cycle::NEVER)
    }

    fn plan(&mut self) -> Option<&mut dyn IssuePlan> {
        Some(self)
    }
}
