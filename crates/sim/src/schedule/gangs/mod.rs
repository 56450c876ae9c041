//! The warp ganging unit (Rogers, Johnson, O'Connor and Keckler, "A Variable Warp Size
//! Architecture", ISCA 2015): narrow warps of a home warp fetch and issue together, in gangs, as
//! long as they go the same way.
//!
//! - [`table`]: which warps go together. A block's warps come as original gangs, one for each
//!   home warp.
//! - [`shapes`]: the gangs that have their warps in the same slices, looked at together.
//! - [`order`]: a gang issues when all its warps are ready. Up to so many issue in a cycle, on
//!   slices that do not overlap; then the slices that are left take single warps.
//! - [`split`]: gangs fall apart at branches, and perhaps when memory answers some warps first.
//! - [`reform`]: parts of an original gang that stand at one PC may be joined again.

mod order;
mod reform;
mod shapes;
mod split;
mod table;
#[cfg(test)]
mod tests;

use super::{
    FetchView, GangView, IssuePlan, IssuePolicy, IssueView, Place, Policy, Together, WholeFetch,
};
use crate::mechanism::{Info, Integer, OneOf};
use crate::place::Layout;
use crate::stats::SmCounters;
use crate::time::Cycle;
use order::{Chooser, Order, Singles};
use reform::Reform;
use split::MemorySplit;
use table::{BINS, Table};
use warpsim_ptx::kernel::Pc;

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
        let all = values.get(&REFORM_WIDTH);
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
            reform: (reform != Reforming::Never).then(|| Reform::new(all)),
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
    /// The original gang that was fetched for last.
    fetched: u16,
    /// The last cycle that has been looked at, and the table's sizes before blocks came in this.
    ticked: Cycle,
    sizes_before: Option<[u32; BINS]>,
}

impl Gangs {
    /// Lets the single warps of each slice choose.
    fn choose_singles(&mut self, view: &IssueView) {
        self.has_chosen = true;
        self.chosen.clear();
        let table = &self.table;
        if !table.any_single() {
            return;
        }
        for d in 0..table.single.len() {
            let among = view.ready(d) & table.single[d] & !table.waiting[d];
            if among == 0 {
                continue;
            }
            let Some(index) = self.singles.first(d, among, table, view) else {
                continue;
            };
            let place = Place {
                domain: d as u8,
                index,
            };
            let age = table.get(table.home_of(place).0).age;
            self.chosen.push((age, place));
        }
        order::oldest_last(&mut self.chosen);
    }

    /// The single warp that a slice issues, of these and where no other slice has any, if that does not depend on more.
    #[inline]
    fn first_single_in(&self, slice: u8, ready: u64) -> Option<u8> {
        let table = &self.table;
        let among = ready & table.single[slice as usize] & !table.waiting[slice as usize];
        let plain = !matches!(self.singles, Singles::LowestPc(_)) && among != 0;
        let policy = plain.then(|| self.singles.policy())?;
        policy.first(slice.into(), among)
    }

    /// Looks at the original gangs in which warps have moved.
    fn regroup(&mut self, view: &GangView, counters: &mut SmCounters) {
        let until = view.now + self.sync_cycles;
        while let Some(home) = self.table.next_stirred() {
            let (points, cycles) = (&self.meeting_points, self.sync_cycles);
            let meets = |pc: u32| points.get(pc as usize).is_some_and(|meets| *meets);
            let waits = |pc| (cycles != 0 && meets(pc)).then_some(until);
            split::by_pc(&mut self.table, home, view, waits, counters);
        }
    }

    /// Parts that have waited long enough go on.
    fn end_waits(&mut self, now: Cycle) {
        for home in 0..self.table.len() {
            let mut parts = self.table.get(home).parts;
            let over = |waits: Option<Cycle>| waits.is_some_and(|until| until <= now);
            if !parts.iter().any(|part| over(part.waits)) {
                continue;
            }
            for part in parts.iter_mut().filter(|part| over(part.waits)) {
                part.waits = None;
            }
            self.table.set_parts(home, parts);
        }
    }

    fn any_waits(&self) -> bool {
        self.table.waiting.iter().any(|set| *set != 0)
    }
}

/// Counts warps by the size of their gang for so many cycles.
#[inline]
fn count_sizes(sizes: [u32; BINS], cycles: u64, counters: &mut SmCounters) {
    let [eight, above, four, below, one] = sizes;
    counters.gang_warps_8 += u64::from(eight) * cycles;
    counters.gang_warps_5_7 += u64::from(above) * cycles;
    counters.gang_warps_4 += u64::from(four) * cycles;
    counters.gang_warps_2_3 += u64::from(below) * cycles;
    counters.gang_warps_1 += u64::from(one) * cycles;
}

impl IssuePolicy for Gangs {
    fn launched(&mut self, place: Place, age: u64, block: u16) {
        self.sizes_before.get_or_insert(self.table.sizes);
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
            self.sizes_before.get_or_insert(self.table.sizes);
            self.table.add_back(place);
        }
    }

    // Who issues has been noted when it was named.
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

    fn ranks_alike(&self, domains: u64, among: u64) -> bool {
        self.singles.ranks_alike(domains, among)
    }

    fn next(&self) -> Cycle {
        if self.reform.is_some() && self.table.any_mergeable() {
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

impl IssuePlan for Gangs {
    fn next(&mut self, view: &IssueView) -> Option<Together> {
        if self.cycle != view.now {
            (self.cycle, self.gangs, self.has_chosen) = (view.now, 0, false);
        }
        if !self.has_chosen
            && self.gangs < self.most
            && let Some((home, part)) = self.chooser.first(&self.table, &self.singles, view)
        {
            self.chooser.issued(home, &part, self.gangs == 0);
            self.gangs += 1;
            return Some(self.table.places(home, part.slices));
        }
        if !self.has_chosen {
            self.choose_singles(view);
        }
        while let Some((_, place)) = self.chosen.pop() {
            // Its slice issues nothing if there is no room for it any more.
            if view.is_ready(place) {
                self.singles.issued(place);
                return Some(Together::alone(place));
            }
        }
        None
    }

    fn next_whole(&mut self, ready: u64) -> Option<u8> {
        let home = self.chooser.first_in_all(&self.table, ready)?;
        self.chooser
            .issued(home, &self.table.get(home).parts[0], true);
        Some(home as u8)
    }

    fn next_in(&mut self, slices: u8, ready: u64) -> Option<Together> {
        if slices.is_power_of_two() {
            let domain = slices.trailing_zeros() as u8;
            let index = self.first_single_in(domain, ready)?;
            self.singles.issued(Place { domain, index });
            return Some(self.table.places(u16::from(index), slices));
        }
        let home = self.chooser.first_in(&self.table, slices, ready)?;
        self.chooser
            .issued(home, self.table.part(home, slices), true);
        Some(self.table.places(home, slices))
    }

    fn names_whole_alone(&self) -> bool {
        self.table.all_whole() && !self.table.any_single()
    }

    fn names_any(&self, ready: &[u64], open: u8) -> bool {
        self.table.any_ready(ready, open)
    }

    fn went_on(&mut self, members: Together, at: Option<Pc>) -> bool {
        let (home, slices) = self.table.part_of(members);
        let moved = match at {
            Some(pc) if slices == self.table.slices => {
                self.table.move_whole(home, pc);
                true
            }
            // A part may have come to where it waits for others.
            Some(pc) if self.sync_cycles == 0 => self.table.move_part(home, slices, pc),
            _ => false,
        };
        if !moved {
            self.table.stir(home);
        }
        // What else is to be looked at is where a single warp has issued.
        !moved || slices.is_power_of_two() && self.table.any_stirred()
    }

    fn hears_memory(&self) -> bool {
        self.memory_split != MemorySplit::Never
    }

    fn begin(&mut self, meeting_points: Vec<bool>) {
        self.meeting_points = meeting_points;
    }

    fn made_ready(&mut self, place: Place) {
        self.made_ready.push(place);
    }

    // Where a cycle leaves the gangs as they are.
    fn rests(&mut self, now: Cycle, counters: &mut SmCounters) -> bool {
        let stays = self.reform.is_none() && self.sync_cycles == 0 && self.sizes_before.is_none();
        let rests = stays && !self.table.any_stirred() && self.made_ready.is_empty();
        if rests {
            let cycles = now.since(self.ticked).max(1);
            self.ticked = now;
            count_sizes(self.table.sizes, cycles, counters);
        }
        rests
    }

    fn tick(&mut self, view: &GangView, counters: &mut SmCounters) -> bool {
        let skipped = view.now.since(self.ticked).saturating_sub(1);
        self.ticked = view.now;
        let before = self.sizes_before.take().unwrap_or(self.table.sizes);
        count_sizes(before, skipped, counters);
        self.regroup(view, counters);
        if self.sync_cycles != 0 && self.any_waits() {
            self.end_waits(view.now);
        }
        if let Some(reform) = &mut self.reform {
            reform.step(&mut self.table, view, &mut self.to_clear, counters);
        }
        if !self.made_ready.is_empty() {
            let (table, how) = (&mut self.table, self.memory_split);
            split::by_memory(table, &self.made_ready, how, view, counters);
            self.made_ready.clear();
        }
        count_sizes(self.table.sizes, 1, counters);
        !self.to_clear.is_empty()
    }

    fn settle(&mut self, view: &GangView, counters: &mut SmCounters) {
        self.regroup(view, counters);
    }

    fn next_regrouped(&mut self) -> Option<(Place, u8)> {
        self.table.next_regrouped()
    }

    fn next_to_clear(&mut self) -> Option<Place> {
        self.to_clear.pop()
    }

    fn fetched_together(&self) -> &[u64] {
        &self.table.ganged
    }

    fn fetched_together_in_all(&self) -> u64 {
        self.table.ganged_in_all
    }

    fn fetches(&self) -> u32 {
        self.most
    }

    fn next_whole_fetch(&mut self, wanting: u64, whole: u64) -> WholeFetch {
        let next = self.table.next_whole_wanting(wanting, whole, self.fetched);
        if let WholeFetch::Gang(index) = next {
            self.fetched = u16::from(index);
        }
        next
    }

    fn next_fetch(&mut self, view: &FetchView) -> Option<Together> {
        let (home, slices) = self.table.next_wanting(view, self.fetched)?;
        self.fetched = home;
        Some(self.table.places(home, slices))
    }
}
