//! What completed instructions let a warp do.

use super::Residents;
use crate::divergence::GroupState;
use crate::exec::state::LANES;
use crate::schedule::Together;
use crate::sm::facts::OpFacts;
use crate::sm::facts::Traffic;
use crate::sm::launch::Launched;
use crate::sm::memory::{MemOp, MemoryEvent};
use crate::sm::warps::{Hold, Landed};
use crate::time::Cycle;

impl Residents {
    /// An instruction is complete: registers are free, its warp may be waiting for that.
    #[inline(never)] // several call it
    pub fn complete(&mut self, slot: u16, facts: &OpFacts, launched: &Launched) {
        if self.books.watch.hears_details() {
            self.tell_written(slot, facts);
        }
        self.complete_here(slot, facts, launched);
    }

    /// [Completes](Residents::complete) an instruction that no observer hears of, compiled in line where most instructions
    /// complete.
    #[inline(always)]
    pub fn complete_here(&mut self, slot: u16, facts: &OpFacts, launched: &Launched) {
        let Landed { quiet, held } =
            self.warps
                .completed(slot, facts, &launched.facts, &mut self.books);
        if quiet {
            self.settle_quiet(slot, held);
        } else if held && !self.fences_wait_for_stores {
            self.leave_fence(slot);
        }
    }

    /// A fence: waits for the stores of its warp, or, as on the reference, for the registers that
    /// are owed to it.
    pub(super) fn fence(&mut self, slot: u16) {
        self.hold(slot, Hold::Fence);
        if !self.fences_wait_for_stores {
            self.leave_fence(slot);
        }
    }

    /// A warp with nothing in flight any more may leave a fence, be regrouped, or retire.
    #[inline(always)]
    pub(super) fn settle(&mut self, slot: u16) {
        if self.warps.is_quiet(slot) {
            self.settle_quiet(slot, self.warps.is_held(slot));
        }
    }

    #[inline(always)]
    pub(super) fn settle_quiet(&mut self, slot: u16, held: bool) {
        if held || self.groups.get(slot).state != GroupState::Running {
            self.settle_waiting(slot);
        }
    }

    /// Settles a warp that does not just go on.
    #[inline(never)]
    fn settle_waiting(&mut self, slot: u16) {
        if self.warps.is_held(slot) {
            self.leave_fence(slot);
        }
        match self.groups.get(slot).state {
            GroupState::Stopped => self.settle_stopped(slot),
            GroupState::Finished => self.warps.check_leaving(slot),
            _ => {}
        }
    }

    /// Lets a warp go that waits at a fence, if what it waits for is done.
    #[cold]
    pub(super) fn leave_fence(&mut self, slot: u16) {
        if !self.warps.is_at_fence(slot) {
            return;
        }
        let done = match self.fences_wait_for_stores {
            true => self.warps.is_settled(slot),
            false => self.warps.is_owed_nothing(slot),
        };
        if done {
            let mut edit = self.warps.edit(slot, &mut self.books);
            edit.hold(Hold::Fence, false);
            self.fence_passed |= !self.fences_wait_for_stores;
        }
    }

    /// The threads of a stopped warp may go elsewhere once nothing holds them any more: a warp
    /// that stops right behind a barrier, say, waits there first.
    #[inline(never)]
    fn settle_stopped(&mut self, slot: u16) {
        self.warps.check_settling(slot, &mut self.books);
        if !self.warps.is_held(slot) {
            self.model.settled(slot, &mut self.groups);
            self.note_paths(slot);
        }
    }

    /// A warp no longer waits for `what`.
    pub(super) fn let_go(&mut self, what: Hold, slot: u16) {
        self.warps.edit(slot, &mut self.books).hold(what, false);
        if matches!(what, Hold::Barrier | Hold::Members) && self.books.plans() {
            self.tell_plan_of_release(Together::alone(self.warps.place(slot)));
        }
        self.settle(slot);
    }

    /// Sleepers whose time is up.
    #[inline]
    pub fn wake(&mut self, now: Cycle, launched: &Launched) {
        if !self.sleepers.is_empty() && self.next_waking() <= now {
            self.wake_up(now, launched);
        }
    }

    #[cold]
    fn wake_up(&mut self, now: Cycle, launched: &Launched) {
        self.warps.touch_all(&mut self.books);
        let mut sleepers = std::mem::take(&mut self.sleepers);
        sleepers.retain(|&(until, slot)| {
            if until <= now {
                self.let_go(Hold::Asleep, slot);
            }
            until > now
        });
        self.sleepers = sleepers;
        self.follow(launched);
    }

    /// When the first sleeper wakes up.
    #[inline]
    pub fn next_waking(&self) -> Cycle {
        match self.sleepers.is_empty() {
            true => Cycle::NEVER,
            false => self.first_waking(),
        }
    }

    #[inline(never)] // most often no warp sleeps
    fn first_waking(&self) -> Cycle {
        let times = self.sleepers.iter().map(|&(until, _)| until);
        times.fold(Cycle::NEVER, Cycle::min)
    }

    /// Something happened in the load/store unit. `record` gives the record of an instruction
    /// that is under way there.
    #[inline(always)] // its one caller is the cycle
    pub fn memory_event<'a>(
        &mut self,
        event: MemoryEvent,
        record: impl Fn(u16) -> &'a MemOp,
        launched: &Launched,
    ) {
        match event {
            MemoryEvent::Loaded { slots, pc } => {
                let facts = &launched.facts[pc as usize];
                for slot in slots.iter() {
                    if facts.traffic == Traffic::Copy {
                        self.copy_ended(slot);
                    }
                    self.complete_load(slot, facts, launched);
                }
            }
            MemoryEvent::Stored { slots } => {
                for slot in slots.iter() {
                    self.warps
                        .store_sent(slot, &launched.facts, &mut self.books);
                    self.settle(slot);
                }
            }
            MemoryEvent::StoresSent { slots, count } => {
                for slot in slots.iter() {
                    self.warps.warp_mut(slot).stores += count;
                }
            }
            MemoryEvent::Acknowledged { slot } => {
                self.warps.warp_mut(slot).stores -= 1;
                self.settle(slot);
            }
            MemoryEvent::Cache { slot, what, line } => {
                self.warps.touch_all(&mut self.books); // the policy may see its warps in another order now
                let place = self.warps.place(slot);
                if let Some(policy) = self.books.policy.hears_cache() {
                    policy.cache(place, what, line);
                }
            }
            MemoryEvent::SharedAtomicDone { op } => {
                let record = record(op);
                for owner in record.owners.iter() {
                    for slot in record.slots(owner).iter() {
                        self.let_go(Hold::Atomic, slot);
                    }
                }
            }
            MemoryEvent::AtomicBack { op, lanes } => {
                self.atomic_back(record(op), lanes, launched);
            }
        }
    }

    /// An acknowledgement comes by. If it is not the last that any of its warps waits for it is
    /// counted, and no part has to wake up for it.
    #[inline]
    pub fn acknowledged_by_the_way(&mut self, slots: &[u16]) -> bool {
        let more = slots.iter().all(|s| self.warps.warp(*s).stores > 1);
        if more {
            for slot in slots {
                self.warps.warp_mut(*slot).stores -= 1;
            }
        }
        more
    }

    /// Old values of an atomic have come: they are in the registers before a warp that waits
    /// for them can issue.
    #[inline(never)]
    fn atomic_back(&mut self, record: &MemOp, lanes: u32, launched: &Launched) {
        if let Some(data) = record.atomic.as_deref() {
            for lane in (0..LANES).filter(|l| lanes >> l & 1 != 0) {
                launched.code.complete_atomic(
                    &data.lanes,
                    &data.what,
                    lane,
                    data.old[lane],
                    &mut self.threads,
                );
            }
        }
        // This access still counts as pending.
        for owner in record.owners.iter() {
            if owner.lanes & lanes != 0 && owner.pending == 1 {
                for slot in record.slots(owner).iter() {
                    self.let_go(Hold::Atomic, slot);
                }
            }
        }
    }
}
