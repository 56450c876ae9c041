//! Changing a warp's bits. An [`Edit`] is only made once the cycles behind it are accounted for.

use super::Rules;
use super::accounting::Residency;
use super::buffer::Buffer;
use super::domain::{Domain, Hold, assign};
use super::flight::hazard;
use super::scoreboard::Scoreboard;
use super::warp::Warp;
use crate::config::Fetch;
use crate::divergence::GroupState;
use crate::sm::facts::OpFacts;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

/// A warp whose state may change: see [`WarpTable::edit`](super::WarpTable::edit).
pub struct Edit<'a> {
    pub(super) domain: &'a mut Domain,
    pub(super) warp: &'a mut Warp,
    pub(super) scoreboard: &'a Scoreboard,
    pub(super) rules: &'a Rules,
    /// Set by whatever may give fetch something to do.
    pub(super) stirs_fetch: &'a mut bool,
    /// Cycles that warps have been here, see [`Residency`].
    pub(super) residency: &'a mut Residency,
    pub(super) slot: u16,
    pub(super) index: u8,
}

impl Edit<'_> {
    #[inline]
    fn bit(&self) -> u64 {
        1 << self.index
    }

    /// Sets or clears what the warp waits for.
    #[inline]
    pub fn hold(&mut self, what: Hold, value: bool) {
        *self.stirs_fetch = true;
        self.domain.hold(what, self.index, value);
    }

    /// A warp of `block` comes here; `age` grows with every warp that comes.
    pub fn arrive(&mut self, block: u16, age: u64, now: Cycle) {
        *self.warp = Warp {
            age,
            ..Warp::new(self.warp.place, block, now)
        };
        self.clear();
        self.begin_residence();
    }

    /// A warp is here from now on.
    fn begin_residence(&mut self) {
        if self.domain.resident & self.bit() == 0 {
            self.domain.resident |= self.bit();
            self.residency.begins(self.domain.accounted);
        }
    }

    /// A warp is formed here, whose first thread is of `block`, and goes on at `pc`. Stores that
    /// others sent from here are still on their way.
    pub fn form(&mut self, block: u16, now: Cycle, pc: Pc) {
        let stores = self.warp.stores;
        *self.warp = Warp {
            stores,
            ..Warp::new(self.warp.place, block, now)
        };
        self.warp.buffer.flush(pc);
        self.begin_residence();
    }

    /// The warp has left.
    pub fn clear(&mut self) {
        if self.domain.resident & self.bit() != 0 {
            self.residency.ends(1, self.domain.accounted);
        }
        self.domain.clear_warp(self.index);
    }

    /// Fetch has noticed that the warp has finished.
    pub fn retire(&mut self) {
        let bit = self.bit();
        self.domain.leaving &= !bit;
        self.domain.retired |= bit;
    }

    /// The group of a warp that belongs to a block is in `state` and goes on at `pc`.
    pub fn follow_static(&mut self, state: GroupState, pc: Pc, end: Pc) {
        *self.stirs_fetch = true;
        let (domain, index, bit) = (&mut *self.domain, self.index, 1u64 << self.index);
        let restarts = domain.stopped & bit != 0;
        assign(&mut domain.running, index, state == GroupState::Running);
        assign(&mut domain.stopped, index, state == GroupState::Stopped);
        assign(&mut domain.finished, index, state == GroupState::Finished);
        domain.leaving &= !bit;
        domain.settling &= !bit;
        domain.settling_memory &= !bit;
        let buffer = &mut self.warp.buffer;
        if state != GroupState::Running {
            if buffer.head().is_some() {
                domain.unresolved &= !bit;
            }
            buffer.flush(pc);
        } else if self.rules.fetch.ideal {
            buffer.flush(pc);
            buffer.fill(pc, 1, end, 1);
        } else if restarts || buffer.is_untouched() || self.rules.fetch.oracle {
            buffer.go_on_at(pc);
        }
    }

    /// The group of a pooled warp is in `state` and goes on at `pc`. Returns whether it waited
    /// at a barrier.
    pub fn follow_pooled(&mut self, state: GroupState, pc: Pc, end: Pc) -> bool {
        *self.stirs_fetch = true;
        let (domain, index, bit) = (&mut *self.domain, self.index, 1u64 << self.index);
        let waited = domain.barrier & bit != 0;
        assign(&mut domain.running, index, state == GroupState::Running);
        assign(&mut domain.stopped, index, state == GroupState::Stopped);
        domain.hold(Hold::Barrier, index, state == GroupState::Held);
        let buffer = &mut self.warp.buffer;
        if state == GroupState::Running && buffer.head() != Some(pc) {
            buffer.flush(pc);
            domain.unresolved &= !bit;
            if self.rules.fetch.ideal {
                buffer.fill(pc, 1, end, 1);
            }
        }
        domain.settling &= !bit;
        domain.settling_memory &= !bit;
        waited
    }

    /// So many lanes of the warp are active.
    pub fn set_lanes(&mut self, lanes: u32) {
        self.warp.lanes = lanes;
    }

    /// Puts what was fetched from `pc` into the buffer. A warp whose wrong path ran off the end
    /// of the code goes on at `next`. Returns whether fetch waits for a branch in it.
    #[inline(always)]
    pub fn decode(&mut self, pc: Pc, next: Pc, code: &[OpFacts]) -> bool {
        let (fetch, end) = (&self.rules.fetch, code.len() as Pc);
        let buffer = &mut self.warp.buffer;
        // On most machines it is empty, and branches are not looked for.
        if buffer.head().is_none() && !fetch.wait_for_branch && pc < end {
            buffer.begin(pc, fetch.width.min(fetch.buffer).min(end - pc));
            return false;
        }
        let waits = decode_behind(buffer, pc, next, code, fetch);
        self.domain.unresolved |= u64::from(waits) << self.index;
        waits
    }

    /// A branch has left the pipeline: fetch goes on at `pc`, where it leads.
    pub fn resolve(&mut self, pc: Pc) {
        *self.stirs_fetch = true;
        let bit = self.bit();
        self.domain.unresolved &= !bit;
        let buffer = &mut self.warp.buffer;
        if buffer.head() != Some(pc) {
            buffer.flush(pc);
            self.domain.head &= !bit;
            self.domain.wants_fetch |= bit; // it is empty
        }
    }

    /// The warp went elsewhere than to the next instruction, and waits for what is there, unless fetch has known that.
    #[inline]
    pub fn wait_for_target(&mut self) {
        self.domain.control |= u64::from(!self.rules.fetch.oracle) << self.index;
    }

    /// The warp goes on at `next`: with fetch that knows where branches go, nothing else is in its buffer, or on its way
    /// there.
    #[inline(always)]
    pub fn follow_path(&mut self, next: Pc) {
        if self.rules.fetch.oracle {
            self.warp.buffer.go_on_at(next);
        }
    }

    /// What is in the buffer is on the wrong path: the warp goes on at `pc`.
    pub fn drop_wrong_path(&mut self, pc: Pc) {
        *self.stirs_fetch = true;
        self.warp.buffer.flush(pc);
        let bit = self.bit();
        self.domain.control |= bit;
        // A branch on the wrong path will never resolve.
        self.domain.unresolved &= !bit;
    }

    /// What is in the buffer is to be fetched anew: a branch that fetch waits for, too, which has not issued.
    pub fn clear_buffer(&mut self, pc: Pc) {
        if self.warp.buffer.head().is_some() {
            self.domain.unresolved &= !self.bit();
        }
        self.warp.buffer.flush(pc);
    }

    /// With ideal fetch the instruction at `pc` is there at once.
    #[inline]
    pub fn supply(&mut self, pc: Pc, end: Pc) {
        self.warp.buffer.flush(pc);
        self.warp.buffer.fill(pc, 1, end, 1);
    }

    /// Finds out anew everything that depends on the head of the buffer; `next` is the
    /// instruction to execute next.
    #[inline(always)]
    pub fn refresh_head(&mut self, next: Pc, code: &[OpFacts]) {
        let Some(buffered) = self.warp.buffer.head() else {
            self.domain.wants_fetch |= self.bit();
            *self.stirs_fetch = true;
            self.domain.empty_head(self.index);
            if self.domain.stopped & self.bit() != 0 {
                note_settling(self.domain, self.warp, self.index);
            }
            return;
        };
        let facts = &code[buffered as usize];
        if self
            .warp
            .buffer
            .wants_more(&self.rules.fetch, code.len() as Pc)
        {
            self.domain.wants_fetch |= self.bit();
            *self.stirs_fetch = true;
        } else {
            self.domain.wants_fetch &= !self.bit();
        }
        self.domain
            .set_head(self.index, facts.unit, buffered == next);
        if self.rules.heads_are_seen {
            assign(&mut self.domain.accesses, self.index, facts.is_memory());
            self.warp.through = facts.through;
        }
        let held = match self.warp.is_owed_nothing() {
            true => Some(false),
            false => self.scoreboard.glance(self.slot, facts),
        };
        if let Some(held) = held
            && !self.rules.one_in_flight
        {
            debug_assert_eq!(self.scoreboard.check(self.slot, facts).any, held);
            return self.domain.hold_back_plainly(self.index, held);
        }
        let hazard = hazard(self.slot, self.warp, facts, self.scoreboard, self.rules);
        self.domain.hold_back(self.index, hazard);
    }

    /// Notes what a stopped warp has in flight.
    pub(super) fn note_settling(&mut self) {
        note_settling(self.domain, self.warp, self.index);
    }
}

/// Puts what was fetched into a buffer that may have something in it, up to a branch that fetch waits for, if it does;
/// says whether there is one.
#[inline(never)]
fn decode_behind(buffer: &mut Buffer, pc: Pc, next: Pc, code: &[OpFacts], fetch: &Fetch) -> bool {
    // With `eligible = "room"` there may be room for less than a fetch brings.
    let mut count = fetch.width.min(fetch.buffer - buffer.len() as u32);
    let mut waits = false;
    if fetch.wait_for_branch {
        let ahead = code[pc as usize..].iter().take(count as usize);
        if let Some(at) = ahead.map(|facts| facts.control).position(|c| c) {
            count = at as u32 + 1;
            waits = true;
        }
    }
    buffer.fill(pc, count, code.len() as Pc, fetch.buffer);
    if buffer.head().is_none() {
        buffer.flush(next);
    }
    waits
}

// Not handed the whole `Edit`, which then need not lie in memory where heads are refreshed.
#[inline(never)]
pub(super) fn note_settling(domain: &mut Domain, warp: &Warp, index: u8) {
    let (any, memory) = warp.settling();
    assign(&mut domain.settling, index, any);
    assign(&mut domain.settling_memory, index, memory);
}
