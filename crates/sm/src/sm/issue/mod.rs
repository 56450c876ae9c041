//! Issue: each scheduler picks at most one warp per cycle. What its instruction then does is in
//! `execute`.
//!
//! Most policies rank the warps of each scheduler, and the schedulers take their turns one by one (here); where the lanes
//! make one access per cycle, memory instructions wait for the last of them (`gather`). Other policies plan what all
//! schedulers issue (`planned`): the warps that these name issue one instruction together (`gang`). What a turn does to
//! the warps of a scheduler is in `turns`.

mod execute;
mod gang;
mod gather;
mod operand;
mod planned;
#[cfg(test)]
mod tests;
mod turns;

use super::facts::{OpFacts, Traffic};
use super::launch::{Launched, SmFault, View};
use super::limits::MOST_DOMAINS;
use super::memory::LoadStore;
use super::observe::Books;
use super::operands::{Collectors, Issued};
use super::residents::{Residents, Special};
use super::units::Units;
use super::warps::WarpTable;
use crate::config::Machine;
use crate::exec::state::Effect;
use crate::place::Place;
use crate::schedule::Together;
use crate::time::Cycle;
use gather::Gathered;
pub use gather::memory_ahead;
use planned::Plannable;
use turns::Turns;
use warpsim_ptx::kernel::Pc;

/// The issue stage.
pub struct Issue {
    special: Special,
    /// Fetch, decode and issue take one cycle.
    ideal_fetch: bool,
    /// When issue has something to do as of its last look, and the room at the units then. Until
    /// a warp changes or the room does, it would find the same.
    next: Cycle,
    room_seen: u32,
    domains: usize,
    /// Warps that can issue, by domain. There is room for the most that an SM may have, so that
    /// finding the warps of one takes no check.
    ready: [u64; MOST_DOMAINS],
    /// Of those, the ones that a plan may name.
    plannable: Plannable,
    /// The active lanes of the warps that execute an instruction together.
    active: u32,
    /// What the instruction under way did.
    effect: Effect,
    /// Number of the last instruction issued.
    order: u64,
    gathered: Gathered,
    /// The lanes that issue memory instructions in a cycle make one access.
    gathers: bool,
    /// A scheduler sees what schedulers before it have let go in the same cycle.
    looks_late: bool,
    /// Instructions take their lanes for several cycles.
    long_slots: bool,
    /// For tests: block, warp of the block, lane and PC of every thread that issued.
    #[cfg(test)]
    pub log: Option<Vec<(u64, u16, u8, Pc)>>,
}

/// What issue works with in a cycle.
pub struct Surroundings<'a> {
    /// The warps, their threads, and what an executed instruction means for them.
    pub residents: &'a mut Residents,
    /// Where instructions go.
    pub collectors: &'a mut Collectors,
    /// What is told of gangs, and of the lanes that instructions take.
    pub units: &'a mut Units,
    /// Where memory instructions are kept.
    pub memory: &'a mut LoadStore,
    /// What threads see of memory. It lies apart: what is handed on as a whole has to lie in memory, and the
    /// others need not.
    pub view: &'a mut View<'a>,
}

/// The next instruction of a warp.
struct Next<'a> {
    place: Place,
    slot: u16,
    pc: Pc,
    facts: &'a OpFacts,
}

impl<'a> Next<'a> {
    /// The next instruction of the ready warp at a place.
    #[inline]
    fn at(place: Place, warps: &WarpTable, launched: &'a Launched) -> Next<'a> {
        let slot = warps.slot_at(place);
        let pc = warps.next_instruction(slot);
        Next {
            place,
            slot,
            pc,
            facts: &launched.facts[pc as usize],
        }
    }
}

impl Issue {
    /// The stage, for this many domains.
    pub fn new(machine: &Machine, domains: usize) -> Issue {
        Issue {
            special: Special {
                core_mhz: machine.gpu.core_mhz,
                atomics_block_warp: machine.sm.atomics_block_warp,
            },
            ideal_fetch: machine.fetch.ideal,
            next: Cycle::ZERO,
            room_seen: 0,
            domains,
            ready: [0; MOST_DOMAINS],
            plannable: Plannable::default(),
            active: 0,
            effect: Effect::default(),
            order: 0,
            gathered: Gathered::default(),
            gathers: machine.sm.gather_memory,
            looks_late: machine.sm.barriers_open_at_once,
            long_slots: machine.unit.values().any(|u| u.lanes < 32),
            #[cfg(test)]
            log: None,
        }
    }

    /// Whether issue may have something to do in cycle `now`. Where a warp or the room has changed
    /// since its last look, stepping is as good as looking: schedulers that find no warp to issue
    /// from leave everything as it is, a policy that plans is not asked where no warp has room, and a glance
    /// at the warps tells that no warp can issue. Not so where all domains are looked at in step, because
    /// then a listener hears of every turn. That glance finds the warps that are ready, where no policy plans.
    #[inline(always)] // its one caller is the cycle
    pub fn may_act(
        &mut self,
        now: Cycle,
        warps: &mut WarpTable,
        books: &mut Books,
        collectors: &Collectors,
    ) -> bool {
        if warps.in_step() {
            return self.look(now, warps, books, collectors) <= now;
        }
        let may = self.next <= now || self.has_to_look(warps, collectors.room());
        match books.plans() {
            true => may && warps.any_moves(),
            false => may && self.look_where_warps_move(now, warps),
        }
    }

    /// Whether the next look may find something else than the last: a warp has changed, or the
    /// room at the units has.
    #[inline]
    pub fn has_to_look(&self, warps: &WarpTable, room: u32) -> bool {
        warps.stirs_issue() || self.room_seen != room
    }

    /// The next cycle at or after `now` in which issue has something to do if nothing changes.
    /// As long as the collectors stand still, warps that could issue but for room at their unit
    /// have nothing to do either: when memory is the bottleneck that is most of them most of the
    /// time, and their cycles are skipped like those of warps that wait for data.
    #[inline(always)] // most often there is nothing new
    pub fn look(
        &mut self,
        now: Cycle,
        warps: &mut WarpTable,
        books: &mut Books,
        collectors: &Collectors,
    ) -> Cycle {
        let room = collectors.room();
        if self.room_seen != room {
            self.room_seen = room;
            warps.stir_issue();
        }
        if warps.stirs_issue() {
            let (next, with_room) = warps.look_for_issue(now, collectors);
            self.next = next;
            if next > now && with_room {
                warps.note_no_room(now, books);
            }
        }
        self.next.max(now)
    }

    /// One cycle of all schedulers, which take their turns one by one; which goes first alternates.
    #[inline(always)] // its one caller is the cycle
    pub fn step(&mut self, now: Cycle, with: &mut Surroundings) -> Result<(), SmFault> {
        let (domains, launched) = (self.domains, with.view.launched);
        if with.residents.warps.in_step() {
            self.look_everywhere(&mut with.turns(now));
        }
        let looks_late = self.looks_late;
        let turn = with.residents.blocks.turns.number(now);
        let mut next = match domains.is_power_of_two() {
            true => turn & (domains - 1),
            false => turn % domains,
        };
        let mut any = false;
        for _ in 0..domains {
            let d = next;
            next = if d + 1 == domains { 0 } else { d + 1 };
            if looks_late {
                self.look_late(d, &mut with.turns(now));
            }
            let Some((place, room)) = self.choose(d, &mut with.turns(now)) else {
                continue;
            };
            any = true;
            let next = Next::at(place, &with.residents.warps, launched);
            if self.gathers && next.facts.is_memory() {
                self.gathered.choose(&next, room, &with.residents.warps);
                continue;
            }
            with.turns(now).take(&next, room);
            let result = self.issue_one(&next, now, with);
            with.residents.books.policy.issued(place);
            result?;
        }
        with.residents.books.stats.counters.issue_cycles += any as u64;
        match any && self.gathers {
            true => self.issue_chosen(now, with),
            false => Ok(()),
        }
    }

    /// A domain's turn: the warp that its scheduler takes, if one is ready and has room at its unit,
    /// and the set of its warps that have room.
    #[inline(always)]
    fn choose(&mut self, d: usize, turns: &mut Turns) -> Option<(Place, u64)> {
        let (now, warps) = (turns.now, &mut *turns.warps);
        let mut ready = self.ready[d % MOST_DOMAINS];
        let kinds = || turns.collectors.room_for(d);
        let room = if ready != 0 {
            debug_assert!(warps.domain(d).is_free(now), "or no warp is ready");
            warps.domain(d).with_room(kinds())
        } else if warps.domain(d).moving() == 0 && !warps.in_step() {
            warps.skip_turn(d);
            return None;
        } else {
            warps.domain(d).with_room_at(now, kinds())
        };
        ready &= room;
        if ready == 0 {
            turns.issue_nothing(d, room);
            self.ready[d % MOST_DOMAINS] = 0;
            return None;
        }
        warps.pass(d, now, turns.books);
        let index = if ready.is_power_of_two() {
            ready.trailing_zeros() as u8 // whatever the order
        } else {
            let index = turns.books.policy.first(d, ready);
            index.expect("every warp has a place in a policy's order")
        };
        debug_assert!(ready >> index & 1 != 0, "a policy picks only ready warps");
        let place = Place {
            domain: d as u8,
            index,
        };
        Some((place, room))
    }

    /// Finds out which warps are ready where domains are accounted for one by one. Returns whether issue
    /// would do something about any warp, room aside.
    #[inline(always)]
    fn look_where_warps_move(&mut self, now: Cycle, warps: &WarpTable) -> bool {
        let mut any = 0;
        for (d, domain) in warps.domains().iter().enumerate() {
            let moving = domain.moving();
            any |= moving;
            let free = u64::from(domain.is_free(now)).wrapping_neg();
            self.ready[d % MOST_DOMAINS] = domain.issuable_of(moving) & free;
        }
        any != 0
    }

    /// Looks at every domain, whether or not anything has changed in it.
    #[inline(never)]
    fn look_everywhere(&mut self, turns: &mut Turns) {
        for d in 0..self.domains {
            self.look_at(d, turns);
        }
    }

    /// Finds out which warps of a domain are ready that is looked at in every cycle.
    fn look_at(&mut self, d: usize, turns: &mut Turns) {
        let Turns {
            now, warps, books, ..
        } = turns;
        warps.pass(d, *now, books);
        let considered = match books.considers() {
            true => warps.consider(d, books),
            false => !0,
        };
        self.ready[d % MOST_DOMAINS] = warps.domain(d).ready_at(*now) & considered;
    }

    /// Looks at a domain again before its turn: that of another may have let a warp go.
    #[inline(never)]
    fn look_late(&mut self, d: usize, turns: &mut Turns) {
        match turns.warps.in_step() {
            true => self.look_at(d, turns),
            false => self.ready[d % MOST_DOMAINS] = turns.warps.domain(d).ready_at(turns.now),
        }
    }

    /// An instruction goes to the collectors; it is for these lanes.
    #[inline(always)]
    fn send(&mut self, next: &Next, memory: u16, lanes: u32, now: Cycle, with: &mut Surroundings) {
        self.order += 1;
        if !next.facts.is_memory() {
            if next.facts.traffic == Traffic::Operand {
                return self.read_operand(Together::alone(next.place), next.pc, lanes, now, with);
            }
            let domain = next.place.domain as usize;
            with.units
                .note_lanes(self.order, lanes, domain, next.facts, now);
        }
        let issued = Issued {
            slot: next.slot,
            memory,
            pc: next.pc,
            order: self.order,
        };
        with.collectors
            .issue(next.place.domain as usize, next.facts.unit, issued);
    }
}
