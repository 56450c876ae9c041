//! The state of a scheduler's warps as bit sets: ready is an AND, stall attribution a handful
//! of population counts.

mod domains;

use super::scoreboard::Hazard;
use crate::sm::limits::MOST_KINDS;
use crate::stats::{SchedulerState, WarpState, WarpStates};
use crate::time::Cycle;
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
    /// They are passed over, or not.
    pub fn passed_over(yes: bool) -> Waiters {
        Waiters(if yes { !0 } else { 0 })
    }
}

/// What the cycles of a scheduler that issued nothing count as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Warps are ready, but there is no room for them.
    Stalled,
    /// No warp is ready, and some wait for memory.
    Memory,
    /// No warp is ready, and none waits for memory.
    Other,
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
    /// It has left: fetch has noticed.
    pub(super) retired: u64,
    /// Waits at a barrier.
    pub(super) barrier: u64,
    /// Held by the divergence model.
    pub(super) stopped: u64,
    /// It reads a register owed by a global, local or texture load.
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

/// The head of a warp's buffer: of the sets of the same names, the warp's bit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    matched: u64,
    clear: u64,
    wait_memory: u64,
    long_wait: u64,
    accesses: u64,
    wants_fetch: u64,
    kind: [u64; 2],
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
    /// `always`, it has as soon as there is anybody to look at.
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

    /// Warps that wait for a branch: for siblings that have not come to it, for its way out of
    /// the pipeline, or for its target.
    #[inline]
    fn in_control(&self) -> u64 {
        self.stopped | self.on_the_way()
    }

    /// Of those, the ones that wait for no siblings.
    #[inline]
    fn on_the_way(&self) -> u64 {
        let target = (self.control | self.unresolved) & !self.head;
        self.head & !self.matched | target
    }

    /// Calls `f` with the state of every resident warp, as sets. Those that could issue are
    /// `Structural` here, whether their unit has room or not.
    #[inline(always)]
    pub fn classify(&self, f: impl FnMut(WarpState, u64)) {
        self.classify_asking(false, f);
    }

    /// The same; `asks`: first whether any has exited, which pays where most often nobody has.
    #[inline(always)]
    fn classify_asking(&self, asks: bool, mut f: impl FnMut(WarpState, u64)) {
        let mut rest = self.resident;
        let take = |rest: &mut u64, set: u64| {
            let taken = *rest & set;
            *rest &= !set;
            taken
        };
        // Most often every warp is one that the scheduler looks at.
        if rest & !self.candidates() != 0 {
            if !asks || rest & (self.retired | self.finished) != 0 {
                f(WarpState::ExitSiblings, take(&mut rest, self.retired));
                f(WarpState::ExitStores, take(&mut rest, self.finished));
            }
            if rest & self.held != 0 {
                let barrier = self.barrier | self.members;
                f(WarpState::Barrier, take(&mut rest, barrier));
                // Most often it is a barrier.
                if rest & self.held != 0 {
                    f(WarpState::ExitSiblings, take(&mut rest, self.siblings));
                    f(WarpState::NextBlock, take(&mut rest, self.next_block));
                    let memory = self.fence | self.atomic;
                    f(WarpState::DataMemory, take(&mut rest, memory));
                    f(WarpState::DataAlu, take(&mut rest, self.asleep));
                }
            }
            if rest & self.stopped != 0 {
                let memory = self.settling_memory;
                f(WarpState::DataMemory, take(&mut rest, memory));
                f(WarpState::DataAlu, take(&mut rest, self.settling));
                f(WarpState::Control, take(&mut rest, self.stopped));
            }
        }
        f(WarpState::Control, take(&mut rest, self.on_the_way()));
        f(WarpState::Fetch, take(&mut rest, !self.head));
        let memory = !self.clear & self.wait_memory;
        f(WarpState::DataMemory, take(&mut rest, memory));
        f(WarpState::DataAlu, take(&mut rest, !self.clear));
        f(WarpState::Structural, rest);
    }

    /// Accounts `cycles` cycles for every resident warp; says what they are if none issued.
    /// `issued` is the set that issued (all of them could) and `room` those whose unit has room.
    #[inline(always)] // a call would cost as much as the counting
    pub fn account(&self, issued: u64, room: u64, cycles: u64, states: &mut WarpStates) -> Idle {
        self.account_asking(false, issued, room, cycles, states)
    }

    /// As [`account`](Domain::account), for domains that stand for others. They are accounted for in every cycle, for
    /// those that they do not stand for differ from them, most often by who is at a barrier.
    #[inline(always)]
    pub fn account_class(
        &self,
        issued: u64,
        room: u64,
        cycles: u64,
        states: &mut WarpStates,
    ) -> Idle {
        self.account_asking(true, issued, room, cycles, states)
    }

    #[inline(always)]
    fn account_asking(
        &self,
        asks: bool,
        issued: u64,
        room: u64,
        cycles: u64,
        states: &mut WarpStates,
    ) -> Idle {
        // Counting nobody is cheaper than asking whether there is anybody.
        let mut count = |state, set: u64| states.count(state, set.count_ones() as u64 * cycles);
        let (mut ready, mut memory, mut alu) = (0, 0, 0);
        self.classify_asking(asks, |state, set| match state {
            WarpState::Structural => ready = set,
            WarpState::DataMemory => memory |= set,
            WarpState::DataAlu => alu |= set,
            _ => count(state, set),
        });
        count(WarpState::DataMemory, memory);
        count(WarpState::DataAlu, alu);
        count(WarpState::Structural, ready & !room & !issued);
        if (room | issued) != 0 {
            count(WarpState::Eligible, ready & room & !issued);
            count(WarpState::Issued, issued);
        }
        if ready != 0 {
            Idle::Stalled
        } else if memory != 0 {
            Idle::Memory
        } else {
            Idle::Other
        }
    }

    /// Why a scheduler that issued nothing did not, given the warp it ranks first.
    #[inline(always)] // as accounting asks it
    pub fn stall(&self, first: Option<u8>) -> SchedulerState {
        let Some(i) = first else {
            return if self.resident == 0 {
                SchedulerState::Idle
            } else {
                SchedulerState::Exit
            };
        };
        let is = |set: u64| set >> i & 1 != 0;
        if !is(self.candidates() & self.head & self.matched) {
            self.stall_otherwise(i)
        } else if is(self.clear) {
            SchedulerState::Structural
        } else if is(self.wait_memory) {
            SchedulerState::DataMemory
        } else {
            SchedulerState::DataAlu
        }
    }

    /// What a warp waits for that waits neither for data nor for room.
    #[inline(never)]
    fn stall_otherwise(&self, i: u8) -> SchedulerState {
        let is = |set: u64| set >> i & 1 != 0;
        if is(self.candidates()) {
            // None of what makes warps wait otherwise.
            return match is(self.in_control()) {
                true => SchedulerState::Control,
                false => SchedulerState::Fetch,
            };
        }
        if is(self.barrier | self.members) {
            SchedulerState::Barrier
        } else if is(self.next_block | self.siblings) {
            SchedulerState::Exit
        } else if is(self.fence | self.atomic) {
            SchedulerState::DataMemory
        } else if is(self.asleep) {
            SchedulerState::DataAlu
        } else if is(self.settling_memory) {
            SchedulerState::DataMemory
        } else if is(self.settling) {
            SchedulerState::DataAlu
        } else if is(self.in_control()) {
            SchedulerState::Control
        } else {
            debug_assert!(!is(self.head), "it waits for data or room");
            SchedulerState::Fetch
        }
    }

    /// The buffer of a warp is empty.
    #[inline]
    pub(super) fn empty_head(&mut self, index: u8) {
        let keep = !(1u64 << index);
        self.head &= keep;
        self.clear &= keep;
        self.wait_memory &= keep;
        self.long_wait &= keep;
    }

    /// A warp that runs loses the wrong path in its buffer, and is to be fetched for.
    #[inline]
    pub(super) fn drop_head(&mut self, index: u8) {
        let bit = 1u64 << index;
        debug_assert!(self.mismatched() & bit != 0 && self.stopped & bit == 0);
        self.control |= bit;
        // A branch on the wrong path will never resolve.
        self.unresolved &= !bit;
        self.wants_fetch |= bit;
        self.empty_head(index);
    }

    /// The buffer of a warp begins with an instruction for a kind of units, the one to execute next or one
    /// on the wrong path.
    #[inline]
    pub(super) fn set_head(&mut self, index: u8, kind: u8, right_path: bool) {
        let bit = 1u64 << index;
        self.head |= bit;
        if right_path {
            self.matched |= bit;
            self.control &= !bit;
        } else {
            self.matched &= !bit;
        }
        let [low, high] = &mut self.kind;
        assign(low, index, kind & 1 != 0);
        assign(high, index, kind & 2 != 0);
    }

    /// What is known of the head of a warp's buffer, if there is one.
    #[inline]
    pub(super) fn head_of(&self, index: u8) -> Option<Head> {
        let bit = 1u64 << index;
        (self.head & bit != 0).then(|| Head {
            matched: self.matched & bit,
            clear: self.clear & bit,
            wait_memory: self.wait_memory & bit,
            long_wait: self.long_wait & bit,
            accesses: self.accesses & bit,
            wants_fetch: self.wants_fetch & bit,
            kind: [self.kind[0] & bit, self.kind[1] & bit],
        })
    }

    /// The buffer of a warp begins as that of the one at the same index in another domain.
    #[inline(always)]
    pub(super) fn take_head(&mut self, index: u8, head: &Head) {
        let bit = 1u64 << index;
        let take = |set: &mut u64, its: u64| *set = *set & !bit | its;
        self.head |= bit;
        take(&mut self.matched, head.matched);
        take(&mut self.clear, head.clear);
        take(&mut self.wait_memory, head.wait_memory);
        take(&mut self.long_wait, head.long_wait);
        take(&mut self.accesses, head.accesses);
        take(&mut self.wants_fetch, head.wants_fetch);
        take(&mut self.kind[0], head.kind[0]);
        take(&mut self.kind[1], head.kind[1]);
        self.control &= !head.matched;
    }

    /// What holds back the instruction at the head of a warp's buffer, as last told.
    #[inline]
    pub fn held_back(&self, index: u8) -> Hazard {
        let is = |set: u64| set >> index & 1 != 0;
        Hazard {
            any: !is(self.clear),
            memory: is(self.wait_memory),
            long: is(self.long_wait),
        }
    }

    /// Of the warps that something holds back, those for which that is not this.
    #[inline]
    pub(super) fn differs_from(&self, hazard: Hazard) -> u64 {
        let all = |yes: bool| u64::from(yes).wrapping_neg();
        let memory = self.wait_memory ^ all(hazard.memory);
        all(!hazard.any) | memory | self.long_wait ^ all(hazard.long)
    }

    /// Whether this was told last of the instruction at the head of a warp's buffer.
    #[inline]
    pub(super) fn is_held_back_by(&self, index: u8, hazard: Hazard) -> bool {
        match hazard.any {
            true => self.held_back(index) == hazard,
            false => self.clear >> index & 1 != 0, // and so no more
        }
    }

    /// Tells what holds back the instruction at the head of a warp's buffer.
    #[inline(always)]
    pub(super) fn hold_back(&mut self, index: u8, hazard: Hazard) {
        let bit = 1u64 << index;
        debug_assert!(hazard.any || !hazard.memory);
        debug_assert!(hazard.memory || !hazard.long);
        match hazard.any {
            true => self.clear &= !bit,
            false => self.clear |= bit,
        }
        if hazard.memory {
            self.wait_memory |= bit;
            assign(&mut self.long_wait, index, hazard.long);
        } else {
            self.wait_memory &= !bit;
            self.long_wait &= !bit;
        }
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
