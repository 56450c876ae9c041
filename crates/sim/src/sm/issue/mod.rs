//! Issue: each scheduler picks at most one warp per cycle. What its instruction then does is in
//! `execute`.

mod execute;
mod gang;
mod gather;
mod lockstep;
mod operand;
mod parts;
mod rooms;
mod straight;
#[cfg(test)]
mod tests;
mod whole;

use super::facts::{OpFacts, Traffic};
use super::launch::{Launched, SmFault, View};
use super::limits::MOST_DOMAINS;
use super::memory::LoadStore;
use super::operands::{Collectors, Issued};
use super::residents::{Residents, Special};
use super::units::Units;
use super::warps::WarpTable;
use crate::config::Machine;
use crate::exec::state::Effect;
use crate::place::{Place, each};
use crate::schedule::Together;
use crate::time::Cycle;
use gather::Gathered;
pub use gather::memory_ahead;
use rooms::Rooms;
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
    /// finding those of one takes no check.
    ready: [u64; MOST_DOMAINS],
    /// Of those, the ones with room at their units, for policies that plan.
    plannable: [u64; MOST_DOMAINS],
    rooms: Rooms,
    /// The active lanes of the warps that execute an instruction together.
    active: u32,
    /// What the instruction under way did.
    effect: Effect,
    /// Number of the last instruction issued.
    order: u64,
    gathered: Gathered,
    /// The lanes that issue memory instructions in a cycle make one access.
    gathers: bool,
    /// A scheduler sees what those before it in the same cycle have let go.
    looks_late: bool,
    /// Instructions take their lanes for several cycles.
    long_slots: bool,
    /// For tests: block, warp of the block, lane and PC of every thread that issued.
    #[cfg(test)]
    pub log: Option<Vec<(u64, u16, u8, Pc)>>,
}

/// What issue works with in a cycle.
pub struct Surroundings<'a> {
    /// The warps, and which threads they hold.
    pub residents: &'a mut Residents,
    /// Where instructions go.
    pub collectors: &'a mut Collectors,
    /// Who has to know of gangs.
    pub units: &'a mut Units,
    /// Who keeps memory instructions.
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
    fn at(place: Place, with: &Surroundings<'a>) -> Next<'a> {
        let warps = &with.residents.warps;
        let slot = warps.slot_at(place);
        let pc = warps.next_instruction(slot);
        Next {
            place,
            slot,
            pc,
            facts: &with.view.launched.facts[pc as usize],
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
            plannable: [0; MOST_DOMAINS],
            rooms: Rooms::new(machine, domains),
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
        residents: &mut Residents,
        collectors: &Collectors,
    ) -> bool {
        let warps = &residents.warps;
        if warps.in_step() {
            return self.look(now, residents, collectors) <= now;
        }
        let may = self.next <= now || self.has_to_look(warps, collectors.room());
        match residents.books.plans() {
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
        residents: &mut Residents,
        collectors: &Collectors,
    ) -> Cycle {
        let room = collectors.room();
        if self.room_seen != room {
            self.room_seen = room;
            residents.warps.stir_issue();
        }
        if residents.warps.stirs_issue() {
            let (next, with_room) = residents.warps.look_for_issue(now, collectors);
            self.next = next;
            if next > now && with_room {
                residents.warps.note_no_room(now, &mut residents.books);
            }
        }
        self.next.max(now)
    }

    /// Whether schedulers take their turns one by one: no policy plans, and each access is one warp's.
    #[inline]
    pub fn is_plain(&self, residents: &Residents) -> bool {
        !residents.books.plans() && !self.gathers
    }

    /// One cycle of all schedulers, where they do not take their turns one by one.
    #[inline(always)]
    pub fn step_otherwise(&mut self, now: Cycle, with: &mut Surroundings) -> Result<(), SmFault> {
        if !with.residents.books.plans() {
            return self.step_gathered(now, with);
        }
        match self.step_whole(now, with)? {
            true => Ok(()),
            false => self.step_planned(now, with),
        }
    }

    /// One cycle of all schedulers; which goes first alternates.
    #[inline(always)] // its one caller is the cycle
    pub fn step(&mut self, now: Cycle, with: &mut Surroundings) -> Result<(), SmFault> {
        let domains = self.domains;
        let in_step = with.residents.warps.in_step();
        if in_step {
            self.look_everywhere(now, with.residents);
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
                self.look_late(d, now, with.residents);
            }
            let Some((leader, room)) = self.choose(d, now, with) else {
                continue;
            };
            any = true;
            let next = Next::at(leader, with);
            self.take_turn(&next, room, with);
            let result = self.issue_one(&next, now, with);
            with.residents.books.policy.issued(leader);
            result?;
        }
        with.residents.books.stats.counters.issue_cycles += any as u64;
        Ok(())
    }

    /// A domain's turn: the warp that its scheduler takes, if one is ready and has room at its unit,
    /// and the set of those that have room.
    #[inline(always)]
    fn choose(&mut self, d: usize, now: Cycle, with: &mut Surroundings) -> Option<(Place, u64)> {
        let warps = &mut with.residents.warps;
        let mut ready = self.ready[d % MOST_DOMAINS];
        let room = if ready != 0 {
            debug_assert!(warps.domain(d).is_free(now), "or no warp is ready");
            warps.domain(d).with_room(with.collectors.room_for(d))
        } else if warps.domain(d).moving() == 0 && !warps.in_step() {
            warps.skip_turn(d);
            return None;
        } else {
            self.room_of(d, now, with)
        };
        ready &= room;
        if ready == 0 {
            self.issue_nothing(d, room, now, with);
            return None;
        }
        let Residents { warps, books, .. } = &mut *with.residents;
        warps.pass(d, now, books);
        let index = if ready.is_power_of_two() {
            ready.trailing_zeros() as u8 // whatever the order
        } else {
            let index = books.policy.first(d, ready);
            index.expect("every warp has a place in a policy's order")
        };
        debug_assert!(ready >> index & 1 != 0, "a policy picks only ready warps");
        let place = Place {
            domain: d as u8,
            index,
        };
        Some((place, room))
    }

    /// The warps of a domain that have room at their units; none while an instruction holds the issue
    /// slot.
    #[inline(always)]
    fn room_of(&self, d: usize, now: Cycle, with: &Surroundings) -> u64 {
        let domain = with.residents.warps.domain(d);
        domain.with_room_at(now, with.collectors.room_for(d))
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

    /// As [`look_where_warps_move`](Issue::look_where_warps_move) where every domain is looked at
    /// in every cycle.
    #[inline(never)]
    fn look_everywhere(&mut self, now: Cycle, residents: &mut Residents) {
        for d in 0..self.domains {
            self.look_at(d, now, residents);
        }
    }

    /// Finds out which warps of a domain are ready that is looked at in every cycle.
    fn look_at(&mut self, d: usize, now: Cycle, residents: &mut Residents) {
        let Residents { warps, books, .. } = residents;
        warps.pass(d, now, books);
        let considered = match books.considers() {
            true => warps.consider(d, books),
            false => !0,
        };
        self.ready[d % MOST_DOMAINS] = warps.domain(d).ready_at(now) & considered;
    }

    /// Looks at a domain again before its turn: that of another may have let a warp go.
    #[inline(never)]
    fn look_late(&mut self, d: usize, now: Cycle, residents: &mut Residents) {
        match residents.warps.in_step() {
            true => self.look_at(d, now, residents),
            false => self.ready[d % MOST_DOMAINS] = residents.warps.domain(d).ready_at(now),
        }
    }

    /// The domain's turn, with no warp that is ready and has room.
    #[inline(always)]
    fn issue_nothing(&mut self, d: usize, room: u64, now: Cycle, with: &mut Surroundings) {
        let Residents { warps, books, .. } = &mut *with.residents;
        if !warps.in_step() && warps.domain(d).mismatched() == 0 {
            warps.stand_still(d, room, books);
        } else {
            warps.end_empty_turn(d, room, books);
            drop_wrong_paths(d, None, with.residents, with.view.launched);
            with.residents.books.policy.advance(d, now, now + 1);
        }
        self.ready[d % MOST_DOMAINS] = 0;
    }

    /// A warp is about to issue. `room` is the set of its domain's warps that have room at their
    /// unit.
    #[inline(always)]
    fn take_turn(&mut self, next: &Next, room: u64, with: &mut Surroundings) {
        let d = next.place.domain as usize;
        let Residents { warps, books, .. } = &mut *with.residents;
        warps.take_turn(next.place, next.facts.passes, room, books);
        drop_wrong_paths(
            d,
            Some(next.place.index),
            with.residents,
            with.view.launched,
        );
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

/// Warps that the scheduler looked at before it took `winner`, and found on the wrong path, lose
/// their buffer.
#[inline(always)]
fn drop_wrong_paths(d: usize, winner: Option<u8>, residents: &mut Residents, launched: &Launched) {
    let wrong = residents.warps.domain(d).mismatched();
    if wrong != 0 {
        drop_these(d, wrong, winner, residents, launched);
    }
}

#[inline(never)]
fn drop_these(
    d: usize,
    mut wrong: u64,
    winner: Option<u8>,
    residents: &mut Residents,
    launched: &Launched,
) {
    let Residents {
        warps,
        books,
        groups,
        ..
    } = residents;
    if let Some(winner) = winner {
        for index in each(wrong) {
            if !books.policy.before(d, index as u8, winner) {
                wrong &= !(1 << index);
            }
        }
        if wrong == 0 {
            return;
        }
    }
    warps.drop_wrong_paths(d, wrong, groups, &launched.facts, books);
}
