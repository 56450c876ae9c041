//! Issue: in every cycle each scheduler takes, of its warps that are ready, the one that comes first in the order of the
//! issue policy. A warp is ready if its next instruction is in its buffer, no register that it needs is owed, and
//! there is room at the unit.

use super::gather::Gathered;
use super::{Sm, World};
use crate::place::{Place, each};
use crate::schedule::{Facts, WarpInfo};
use crate::sm::launch::{Launched, SmFault};
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

impl Sm {
    /// The issue stage of cycle `now`: the schedulers take their turns, another one first in each cycle.
    pub(super) fn issue(&mut self, now: Cycle, world: &World) -> Result<(), SmFault> {
        let mut gathered = self.machine.sm.gather_memory.then(Gathered::default);
        let domains = self.layout.domains();
        let mut ready: Vec<u64> = (0..domains)
            .map(|d| self.ready(d, world.launched))
            .collect();
        let turn = self.turn(now);
        let mut any = false;
        for i in 0..domains {
            let d = (turn + i) % domains;
            if self.machine.sm.barriers_open_at_once {
                // It sees what the schedulers before it have let go in this cycle.
                ready[d] = self.ready(d, world.launched);
            }
            any |= self.take_turn(d, ready[d], &mut gathered, now, world)?;
        }
        if let Some(gathered) = gathered {
            any |= self.issue_gathered(gathered, now, world)?;
            if any {
                self.hold_all_slots(now);
            }
        }
        self.stats.counters.issue_cycles += u64::from(any);
        Ok(())
    }

    /// The warps of a scheduler that could issue if their units have room, a bit each, as far as its policy considers
    /// them.
    pub(super) fn ready(&mut self, d: usize, launched: &Launched) -> u64 {
        let considered = self.consider(d, launched);
        considered
            & self.those(d, |slot, warp| {
                let next = self.groups.get(slot).pc;
                let hazard =
                    |head: Pc| warp.hazard(&launched.facts[head as usize], self.one_in_flight);
                warp.is_candidate()
                    && warp.has_next(next)
                    && !warp.head().is_some_and(|head| hazard(head).any)
            })
    }

    /// The policy looks at the warps of a scheduler before it chooses, if it wants to: those that may issue, a bit each.
    fn consider(&mut self, d: usize, launched: &Launched) -> u64 {
        if self.policy.considers().is_none() {
            return !0;
        }
        let code = &launched.facts;
        let head = |slot: u16| self.warps[usize::from(slot)].head();
        let info = |index: u8| {
            let slot = self.slot(d, index);
            let warp = &self.warps[usize::from(slot)];
            let through = warp.head().map(|head| code[head as usize].through);
            WarpInfo {
                next: warp
                    .head()
                    .zip(through)
                    .map(|(head, through)| (head, through.pipe)),
                side: through.and_then(|through| through.side),
                lanes: warp.lanes,
                instructions: warp.instructions,
            }
        };
        let infos: Vec<WarpInfo> = (0..self.places()).map(info).collect();
        let facts = Facts {
            running: self.those(d, |_, warp| warp.is_running()),
            waiting: self.those(d, |_, warp| warp.waits.any()),
            long_wait: self.those(d, |_, warp| {
                let facts = warp.head().map(|head| &code[head as usize]);
                facts.is_some_and(|facts| warp.hazard(facts, self.one_in_flight).long)
            }),
            accesses: self.those(d, |slot, _| {
                head(slot).is_some_and(|pc| code[pc as usize].is_memory())
            }),
            known: self.those(d, |slot, warp| {
                warp.is_candidate() && warp.has_next(self.groups.get(slot).pc)
            }),
            warps: Some(&|index| infos[usize::from(index)]),
        };
        self.policy
            .considers()
            .map_or(!0, |policy| policy.consider(d, &facts))
    }

    /// The turn of a scheduler, with these warps ready but for room. Says whether one issues. A memory instruction waits
    /// for the end of the turns where those of a cycle are `gathered`.
    fn take_turn(
        &mut self,
        d: usize,
        ready: u64,
        gathered: &mut Option<Gathered>,
        now: Cycle,
        world: &World,
    ) -> Result<bool, SmFault> {
        let launched = world.launched;
        let room = self.room(d, now, launched);
        let Some(index) = self.policy.first(d, ready & room) else {
            self.issue_nothing(d, room, now, launched);
            return Ok(false);
        };
        let slot = self.slot(d, index);
        let pc = self.groups.get(slot).pc;
        if let Some(gathered) = gathered
            && launched.facts[pc as usize].is_memory()
        {
            gathered.choose(self.warps[usize::from(slot)].age, slot, room);
            return Ok(false);
        }
        self.begin_turn(slot, pc, room, now, launched);
        let result = self.issue_one(slot, pc, now, world);
        self.policy.issued(self.layout.place_of(slot));
        result.map(|()| true)
    }

    /// The warps of a scheduler with room at the units that their next instructions need, a bit each.
    pub(super) fn room(&self, d: usize, now: Cycle, launched: &Launched) -> u64 {
        match self.issue_free[d] <= now {
            true => self.those(d, |_, warp| {
                let kind = warp.head().map(|head| launched.facts[head as usize].unit);
                kind.is_some_and(|kind| self.collectors.has_room(d, kind))
            }),
            false => 0, // an instruction still goes through the lanes, a part of its warp per cycle
        }
    }

    /// The turn of a scheduler, in which no warp issues.
    pub(super) fn issue_nothing(&mut self, d: usize, room: u64, now: Cycle, launched: &Launched) {
        self.account(d, None, room, now, launched);
        self.drop_wrong_paths(d, None);
    }

    /// The turn of a scheduler, in which the warp in `slot` issues the instruction at `pc`.
    pub(super) fn begin_turn(
        &mut self,
        slot: u16,
        pc: Pc,
        room: u64,
        now: Cycle,
        launched: &Launched,
    ) {
        let Place { domain, index } = self.layout.place_of(slot);
        let d = usize::from(domain);
        self.account(d, Some(index), room, now, launched);
        self.issue_free[d] = now + u64::from(launched.facts[pc as usize].passes);
        self.drop_wrong_paths(d, Some(index));
    }

    /// Warps that the scheduler has looked at before it took `winner`, and that have a wrong path in their buffer, lose it.
    fn drop_wrong_paths(&mut self, d: usize, winner: Option<u8>) {
        let wrong = self.those(d, |slot, warp| {
            warp.is_on_wrong_path(self.groups.get(slot).pc)
        });
        for index in each(wrong).map(|index| index as u8) {
            if winner.is_none_or(|winner| self.policy.before(d, index, winner)) {
                let slot = self.slot(d, index);
                let pc = self.groups.get(slot).pc;
                let warp = &mut self.warps[usize::from(slot)];
                warp.flush(pc);
                warp.awaits_target = true;
                warp.unresolved = false; // a branch on the wrong path never leaves the pipeline
            }
        }
    }
}
