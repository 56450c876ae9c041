//! What all slices issue and fetch in a cycle, and how gangs change from one to the next.

use super::super::{FetchView, GangView, IssuePlan, IssueView, Place, Together};
use super::Gangs;
use super::order;
use super::split::{self, MemorySplit};
use super::table::BINS;
use crate::stats::SmCounters;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

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

    pub(super) fn any_waits(&self) -> bool {
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

    // One gang that goes on as a whole is as it was.
    fn let_go(&mut self, members: Together) {
        let (home, slices) = self.table.part_of(members);
        match self.table.get(home).parts[..] {
            [part] if part.slices & !slices == 0 => {}
            _ if self.let_go.last() == Some(&home) => {}
            _ => self.let_go.push(home),
        }
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
        let told = !self.made_ready.is_empty() || !self.let_go.is_empty();
        let rests = stays && !told && !self.table.any_stirred();
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
        while let Some(home) = self.let_go.pop() {
            self.table.stir(home);
        }
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

    fn fetches(&self) -> u32 {
        self.most
    }

    fn next_fetch(&mut self, view: &FetchView) -> Option<Together> {
        let (home, slices) = self.table.next_wanting(view, self.fetched)?;
        self.fetched = home;
        Some(self.table.places(home, slices))
    }
}
