//! The state of a scheduler's warps as bit sets: ready is an AND. What the warps wait for is counted in
//! `accounting`, the heads of their buffers are kept in `heads`.

mod accounting;
mod domains;
mod heads;

use crate::sm::limits::MOST_KINDS;
use crate::time::Cycle;
pub use accounting::Idle;
pub(super) use domains::Domains;

/// All kinds of units, a bit each. They are numbered by two bits.
const ALL_KINDS: u8 = (1 << MOST_KINDS) - 1;
const _: () = assert!(MOST_KINDS == 4);

/// What a warp can wait for other than instructions, data or units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// A barrier.
    Barrier,
    /// A fence.
    Fence,
    /// An atomic, or copies that it asked to wait for.
    Atomic,
    /// The end of its sleep.
    Asleep,
    /// Threads that its `.sync` operation names.
    Members,
    /// Its next logical block, in `vtw.next_tb`.
    NextBlock,
    /// Siblings that are two iterations behind what it asks for, in `vtw.next_tb`.
    Siblings,
}

/// Whether fetch passes over warps at a barrier: as a set, all of them or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiters(u64);

impl Waiters {
    /// Warps at a barrier are passed over, or not.
    pub fn passed_over(yes: bool) -> Waiters {
        Waiters(if yes { !0 } else { 0 })
    }
}

/// Bit i of each set is the warp with index i in the domain. In this order, what is looked at
/// together is in one line of the host's cache: what issue asks, what else accounting asks, what
/// else fetch asks, and what is rare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Domain {
    /// Has threads that go on.
    pub(super) running: u64,
    /// Waits for something other than instructions, data or units, see [`hold`](Domain::hold).
    pub(super) held: u64,
    /// Has an instruction in its buffer.
    pub(super) head: u64,
    /// That instruction is the one to execute next (else it is on the wrong path).
    pub(super) matched: u64,
    /// Nothing it reads or writes is owed by an earlier instruction.
    pub(super) clear: u64,
    /// The kind of units that the buffered instruction needs: the low and the high bit of its
    /// number.
    pub(super) kind: [u64; 2],

    /// First cycle in which the issue slot is free.
    pub(super) issue_free: Cycle,
    /// When issue has something to do as of its last look, see [`issue_due`](Domain::issue_due).
    pub(super) due: Cycle,
    /// First cycle that is not accounted for. Cycles are accounted for together as long as the
    /// state of none of the warps changes.
    pub(super) accounted: Cycle,
    /// The warps that had room at their unit in the cycles not accounted for.
    pub(super) room: u64,
    /// Belongs to a resident block.
    pub(super) resident: u64,
    /// What is owed is owed by memory.
    pub(super) wait_memory: u64,
    /// Waits for the target of a branch.
    pub(super) control: u64,
    /// Fetch waits for a branch to leave the pipeline.
    pub(super) unresolved: u64,

    /// May be fetched for as far as the buffer goes.
    pub(super) wants_fetch: u64,
    /// Waits for an instruction-cache miss.
    pub(super) missing: u64,
    /// All threads done.
    pub(super) finished: u64,
    /// Finished with nothing in flight and no store on its way, and fetch has yet to notice.
    pub(super) leaving: u64,
    /// Has left: fetch has noticed.
    pub(super) retired: u64,
    /// Waits at a barrier.
    pub(super) barrier: u64,
    /// Held by the divergence model.
    pub(super) stopped: u64,
    /// Its next instruction reads a register owed by a global, local or texture load.
    pub(super) long_wait: u64,
    /// The buffered instruction accesses memory.
    pub(super) accesses: u64,

    /// Of those held by the divergence model, the ones that have something in flight, and of
    /// these the ones that have an access to memory in flight.
    pub(super) settling: u64,
    #[allow(missing_docs)]
    pub(super) settling_memory: u64,
    /// Waits at a fence.
    pub(super) fence: u64,
    /// Waits for an atomic.
    pub(super) atomic: u64,
    /// Sleeps.
    pub(super) asleep: u64,
    /// Waits for threads that its `.sync` operation names.
    pub(super) members: u64,
    /// Waits for its next logical block.
    pub(super) next_block: u64,
    /// Waits for siblings before it may ask for that.
    pub(super) siblings: u64,
}

// A power of two, so that one is found by its number with a shift.
const _: () = assert!(size_of::<Domain>() == 256);

/// Sets that others may read.
macro_rules! readable {
    ($($set:ident)*) => {
        impl Domain {$(
            /// Read only: see the field.
            #[inline]
            pub fn $set(&self) -> u64 {
                self.$set
            }
        )*}
    };
}

readable! { stopped barrier fence atomic asleep members next_block siblings missing head clear
wait_memory leaving accesses }

impl Domain {
    /// Whether it holds the same as another from cycle `now` on, once it is accounted for up to there.
    /// What issue found when it last looked is not asked: where that makes a difference, it looks
    /// again, and says what room there is, before `now` is accounted for.
    pub(super) fn is_like(&self, other: &Domain, now: Cycle) -> bool {
        let &Domain {
            accounted,
            due,
            room,
            ..
        } = self;
        let mut other = other.clone();
        if self.issue_free.max(now) == other.issue_free.max(now) {
            other.issue_free = self.issue_free;
        }
        *self
            == Domain {
                accounted,
                due,
                room,
                ..other
            }
    }

    /// Waits for something other than instructions, data or units.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.held
    }

    /// Warps that wait until other threads come to where they are: at a barrier or in a `.sync` operation.
    #[inline]
    pub fn waits_for_threads(&self) -> u64 {
        self.barrier | self.members
    }

    /// Sets or clears what a warp waits for.
    #[inline]
    pub(super) fn hold(&mut self, what: Hold, index: u8, value: bool) {
        let set = match what {
            Hold::Barrier => &mut self.barrier,
            Hold::Fence => &mut self.fence,
            Hold::Atomic => &mut self.atomic,
            Hold::Asleep => &mut self.asleep,
            Hold::Members => &mut self.members,
            Hold::NextBlock => &mut self.next_block,
            Hold::Siblings => &mut self.siblings,
        };
        assign(set, index, value);
        let virtual_ = self.next_block | self.siblings;
        self.held = self.barrier | self.fence | self.atomic | self.asleep | self.members | virtual_;
    }

    /// Warps that the scheduler looks at.
    #[inline]
    pub fn candidates(&self) -> u64 {
        self.running & !self.waiting()
    }

    /// Warps that could issue if their unit has room.
    #[inline]
    pub fn issuable(&self) -> u64 {
        self.candidates() & self.head & self.matched & self.clear
    }

    /// Warps of which the first in order is why the scheduler does not issue.
    #[inline]
    pub fn ranked(&self) -> u64 {
        self.running | self.stopped
    }

    /// Warps that the scheduler looks at and whose next instruction is in their buffer.
    pub fn next_known(&self) -> u64 {
        self.candidates() & self.head & self.matched
    }

    /// Warps with the wrong path in their buffer.
    #[inline]
    pub fn mismatched(&self) -> u64 {
        self.candidates() & self.head & !self.matched
    }

    /// Warps that do not wait for what is in flight, to exit, to be regrouped or behind a fence.
    #[inline]
    pub fn going_on(&self) -> u64 {
        self.running & !self.fence
    }

    /// Warps that issue would do something about: they could issue, or lose a wrong path.
    #[inline]
    pub fn moving(&self) -> u64 {
        self.candidates() & self.head & (self.clear | !self.matched)
    }

    /// Of those ([`moving`](Domain::moving)), the ones that could issue if their unit has room.
    #[inline]
    pub fn issuable_of(&self, moving: u64) -> u64 {
        debug_assert_eq!(moving, self.moving());
        moving & self.matched
    }

    /// The first cycle in which issue has something to do here if nothing changes; one that has
    /// passed stands for "at once", [`Cycle::NEVER`] for "never". `room` has a bit for each unit; if
    /// `always`, it has as soon as there is a warp to look at.
    #[inline]
    pub fn issue_due(&self, room: u8, always: bool) -> Cycle {
        let moving = self.moving();
        if moving == 0 {
            Cycle::NEVER
        } else if always || moving & !self.matched != 0 {
            Cycle::ZERO
        } else if moving & self.with_room(room) != 0 {
            self.issue_free
        } else {
            Cycle::NEVER
        }
    }

    /// Warps that fetch would do something about: to be fetched for, or to be found finished.
    #[inline]
    pub fn concerns_fetch(&self, waiters: Waiters) -> u64 {
        self.fetchable(waiters) | self.leaving
    }

    /// Warps whose buffered instruction has room at its unit; `room` has a bit for each kind.
    #[inline]
    pub fn with_room(&self, room: u8) -> u64 {
        if room & ALL_KINDS == ALL_KINDS {
            return !0;
        }
        let has = |kind: u8| u64::from(room >> kind & 1).wrapping_neg();
        let choose = |by: u64, no: u64, yes: u64| no & !by | yes & by;
        let [low, high] = self.kind;
        choose(
            high,
            choose(low, has(0), has(1)),
            choose(low, has(2), has(3)),
        )
    }

    /// Warps that have room at their unit in cycle `now`: none while an instruction holds the issue slot.
    #[inline(always)]
    pub fn with_room_at(&self, now: Cycle, room: u8) -> u64 {
        match self.is_free(now) {
            true => self.with_room(room),
            false => 0,
        }
    }

    /// Warps that are ready in cycle `now`, room at their units aside.
    #[inline(always)]
    pub fn ready_at(&self, now: Cycle) -> u64 {
        let free = u64::from(self.is_free(now)).wrapping_neg();
        self.issuable() & free
    }

    /// Whether the issue slot is free in cycle `now`.
    #[inline]
    pub fn is_free(&self, now: Cycle) -> bool {
        self.issue_free <= now
    }

    /// Warps to fetch for.
    #[inline]
    pub fn fetchable(&self, waiters: Waiters) -> u64 {
        let waits = self.barrier & waiters.0;
        self.running & self.wants_fetch & !self.missing & !self.unresolved & !waits
    }

    /// Warps without the instruction that they execute next in their buffer.
    #[inline]
    pub fn lacking(&self) -> u64 {
        self.running & !(self.head & self.matched)
    }

    /// All threads of a warp that ran have exited. `fetched_on`: what it has in its buffer is behind that.
    pub(super) fn finish(&mut self, index: u8, fetched_on: bool) {
        let bit = 1u64 << index;
        debug_assert!(self.running & bit != 0 && self.stopped & bit == 0);
        self.running &= !bit;
        self.finished |= bit;
        if fetched_on {
            self.unresolved &= !bit;
        }
        self.wants_fetch |= bit;
        self.empty_head(index);
    }

    /// Forgets a warp.
    pub(super) fn clear_warp(&mut self, index: u8) {
        let keep = !(1u64 << index);
        for set in [
            &mut self.resident,
            &mut self.running,
            &mut self.stopped,
            &mut self.settling,
            &mut self.settling_memory,
            &mut self.finished,
            &mut self.leaving,
            &mut self.retired,
            &mut self.barrier,
            &mut self.fence,
            &mut self.atomic,
            &mut self.asleep,
            &mut self.members,
            &mut self.next_block,
            &mut self.siblings,
            &mut self.held,
            &mut self.head,
            &mut self.matched,
            &mut self.clear,
            &mut self.wait_memory,
            &mut self.long_wait,
            &mut self.accesses,
            &mut self.control,
            &mut self.wants_fetch,
            &mut self.missing,
            &mut self.unresolved,
        ] {
            *set &= keep;
        }
        for set in &mut self.kind {
            *set &= keep;
        }
    }
}

/// Sets or clears bit `index`.
#[inline]
pub(super) fn assign(set: &mut u64, index: u8, value: bool) {
    let all = u64::from(value).wrapping_neg();
    *set ^= (*set ^ all) & 1 << index;
}

#[cfg(test)]
#[path = "domain_tests.rs"]
mod tests;
