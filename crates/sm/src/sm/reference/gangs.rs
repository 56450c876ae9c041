//! Gangs: warps of the same 32 threads, each in another slice, that issue together. A policy plans what all schedulers
//! issue; here is what it sees and hears, and how its gangs issue.

use super::gather::{Joint, Kind, kind_of};
use super::warp::Warp;
use super::{Sm, World};
use crate::divergence::GroupState;
use crate::exec::state::Effect;
use crate::place::Place;
use crate::schedule::{GangView, IssuePlan, IssueView, Together};
use crate::sm::facts::{OpFacts, Traffic};
use crate::sm::launch::{Launched, SmFault};
use crate::stats::SmCounters;
use crate::time::Cycle;
use warpsim_ptx::kernel::{NO_PC, Pc};

/// A memory instruction to which the warps that issue in a cycle add their accesses.
struct Open {
    kind: Kind,
    slot: u16,
    pc: Pc,
    joint: Joint,
}

impl Sm {
    /// A launch begins: the policy hears where sides of branches meet.
    pub(super) fn begin_plan(&mut self, launched: &Launched) {
        let code = &launched.kernel.code;
        let mut meeting_points = vec![false; code.len()];
        for instr in code.iter().filter(|instr| instr.reconverge != NO_PC) {
            meeting_points[instr.reconverge as usize] = true;
        }
        if let Some(plan) = self.policy.plan() {
            plan.begin(meeting_points);
        }
    }

    /// Cycle `now` begins for a policy that plans. Warps that it has joined, and that did not all have their next
    /// instruction, lose what they have: it is fetched for them together.
    pub(super) fn tick_plan(&mut self, now: Cycle, launched: &Launched) {
        let clears = self.show_plan(now, launched, |plan, view, counters| {
            plan.tick(view, counters)
        });
        while clears == Some(true)
            && let Some(place) = self.policy.plan().and_then(|plan| plan.next_to_clear())
        {
            let slot = self.layout.slot_at(place);
            let pc = self.groups.get(slot).pc;
            let warp = &mut self.warps[usize::from(slot)];
            if warp.head().is_some() {
                warp.unresolved = false;
                warp.flush(pc);
            }
        }
    }

    fn show_plan<T>(
        &mut self,
        now: Cycle,
        launched: &Launched,
        tell: impl FnOnce(&mut dyn IssuePlan, &GangView, &mut SmCounters) -> T,
    ) -> Option<T> {
        let Sm {
            warps,
            groups,
            layout,
            policy,
            stats,
            one_in_flight,
            ..
        } = self;
        let warp = |place: Place| &warps[usize::from(layout.slot_at(place))];
        let view = GangView {
            now,
            groups,
            layout: *layout,
            waits_for_data: &|place| waits_for_data(warp(place), launched, *one_in_flight),
            lacks_instruction: &|place| {
                let next = groups.get(layout.slot_at(place)).pc;
                warp(place).is_running() && !warp(place).has_next(next)
            },
            waits_for_threads: &|place| warp(place).waits.barrier || warp(place).waits.members,
        };
        let plan = policy.plan()?;
        Some(tell(plan, &view, &mut stats.counters))
    }

    /// A load of a warp is complete: the policy hears if that has made it ready, and it wants to.
    pub(super) fn complete_load(&mut self, slot: u16, facts: &OpFacts, launched: &Launched) {
        let hears = self.policy.plan().is_some_and(|plan| plan.hears_memory());
        let waits =
            |sm: &Sm| waits_for_data(&sm.warps[usize::from(slot)], launched, sm.one_in_flight);
        let waited = hears && waits(self);
        self.complete(slot, facts);
        if waited && !waits(self) {
            let place = self.layout.place_of(slot);
            if let Some(plan) = self.policy.plan() {
                plan.made_ready(place);
            }
        }
    }

    /// A warp no longer waits for other threads.
    pub(super) fn tell_release(&mut self, slot: u16) {
        let place = self.layout.place_of(slot);
        if let Some(plan) = self.policy.plan() {
            plan.let_go(Together::alone(place));
        }
    }

    /// One cycle of all schedulers, as the policy plans it.
    pub(super) fn issue_planned(&mut self, now: Cycle, world: &World) -> Result<(), SmFault> {
        let (domains, launched) = (self.layout.domains(), world.launched);
        let ready: Vec<u64> = (0..domains).map(|d| self.ready(d, launched)).collect();
        let mut turned = vec![false; domains];
        let mut open: Option<Open> = None;
        let (mut any, mut settles) = (false, false);
        loop {
            let mut may: Vec<u64> = Vec::new();
            for d in 0..domains {
                let room = if turned[d] {
                    0
                } else {
                    self.room(d, now, launched)
                };
                let others = open
                    .as_ref()
                    .map_or(0, |open| self.other_kinds(d, open.kind, launched));
                may.push(ready[d] & room & !others);
            }
            if may.iter().all(|set| *set == 0) {
                break;
            }
            let view = IssueView {
                now,
                ready: &may,
                groups: &self.groups,
                layout: self.layout,
            };
            let Some(members) = self.policy.plan().and_then(|plan| plan.next(&view)) else {
                break;
            };
            any = true;
            members
                .iter()
                .for_each(|place| turned[usize::from(place.domain)] = true);
            settles |= self.issue_members(members, &mut open, now, world)?;
            if !self.machine.sm.gather_memory {
                self.close(&mut open, now, launched);
            }
        }
        self.close(&mut open, now, launched);
        let turn = self.turn(now);
        for d in (0..domains)
            .map(|i| (turn + i) % domains)
            .filter(|d| !turned[*d])
        {
            let room = self.room(d, now, launched);
            self.issue_nothing(d, room, now, launched);
        }
        self.stats.counters.issue_cycles += u64::from(any);
        if any && self.machine.sm.gather_memory {
            self.hold_all_slots(now);
        }
        if settles {
            self.show_plan(now, launched, |plan, view, counters| {
                plan.settle(view, counters)
            });
        }
        Ok(())
    }

    /// Warps of a scheduler that are to access memory with an instruction of another kind, a bit each.
    fn other_kinds(&self, d: usize, kind: Kind, launched: &Launched) -> u64 {
        self.those(d, |_, warp| {
            let head = warp
                .head()
                .filter(|head| launched.facts[*head as usize].is_memory());
            head.is_some_and(|head| kind_of(head, launched) != kind)
        })
    }

    /// The warps that the policy has named issue the instruction that they have in common. Says whether the policy wants
    /// to settle for that.
    fn issue_members(
        &mut self,
        members: Together,
        open: &mut Option<Open>,
        now: Cycle,
        world: &World,
    ) -> Result<bool, SmFault> {
        let launched = world.launched;
        let slots: Vec<u16> = members.slots(self.layout).collect();
        let pc = self.groups.get(slots[0]).pc;
        for slot in &slots {
            let d = usize::from(self.layout.place_of(*slot).domain);
            let room = self.room(d, now, launched);
            self.begin_turn(*slot, pc, room, now, launched);
        }
        let memory = launched.facts[pc as usize].is_memory();
        let (mut lanes, mut last) = (0, Effect::default());
        for slot in &slots {
            let mut effect = Effect::default();
            self.execute_for(*slot, pc, &mut effect, now, world)?;
            if memory {
                let open = open.get_or_insert_with(|| Open {
                    kind: kind_of(pc, launched),
                    slot: *slot,
                    pc,
                    joint: Joint::new(),
                });
                open.joint
                    .add(*slot, pc, &self.groups.get(*slot).lanes, &effect);
            }
            self.move_on(*slot, pc, &effect, now, world)?;
            lanes |= effect.executed;
            if effect.executed != 0 {
                last = effect;
            }
        }
        if !memory {
            last.executed = lanes;
            self.send_members(&slots, pc, &mut last, now, launched);
        }
        self.stats.counters.gang_issues += u64::from(slots.len() > 1);
        let (group, warp) = (
            self.groups.get(slots[0]),
            &self.warps[usize::from(slots[0])],
        );
        let goes_on = group.state == GroupState::Running
            && slots.len() == 1
            && !(warp.waits.barrier || warp.waits.members);
        let at = goes_on.then_some(group.pc);
        Ok(self
            .policy
            .plan()
            .is_some_and(|plan| plan.went_on(members, at)))
    }

    /// Warps that share their units are one instruction to these; those that have their own send it there.
    fn send_members(
        &mut self,
        slots: &[u16],
        pc: Pc,
        effect: &mut Effect,
        now: Cycle,
        launched: &Launched,
    ) {
        let facts = &launched.facts[pc as usize];
        if facts.traffic == Traffic::Operand {
            self.issued += 1;
            return self.read_operand(slots, pc, effect, now, launched);
        }
        let group = |sm: &Sm, slot: u16| {
            let domain = usize::from(sm.layout.place_of(slot).domain);
            sm.pipelines.plan.routes[domain][usize::from(facts.unit)]
        };
        let mut sets: Vec<Vec<u16>> = Vec::new();
        for &slot in slots {
            let its = group(self, slot);
            match sets.iter_mut().find(|set| group(self, set[0]) == its) {
                Some(set) => set.push(slot),
                None => sets.push(vec![slot]),
            }
        }
        for set in sets {
            self.send(set[0], pc, None, effect, now, launched);
            self.pipelines.note_gang(self.issued, set[1..].to_vec());
        }
    }

    /// Makes one memory instruction of what has been gathered, if anything has.
    fn close(&mut self, open: &mut Option<Open>, now: Cycle, launched: &Launched) {
        if let Some(open) = open.take() {
            self.send_joint(open.slot, open.pc, open.joint, now, launched);
        }
    }
}

/// Whether the next instruction of a warp is not there or waits for data.
fn waits_for_data(warp: &Warp, launched: &Launched, one_in_flight: bool) -> bool {
    let head = warp.head().map(|head| &launched.facts[head as usize]);
    head.is_none_or(|facts| warp.hazard(facts, one_in_flight).any)
}
