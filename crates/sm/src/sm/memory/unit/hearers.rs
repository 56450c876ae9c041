//! Who hears what loads find in the L1 data cache: an issue policy, an observer.

use super::{LoadStore, MemoryEvent, Surroundings};
use crate::observe::WarpEvent;
use crate::schedule::CacheEvent;
use crate::sm::memory::l1::Outcome;
use std::collections::HashMap;

/// What is kept for them. Most often there are none.
#[derive(Debug, Default)]
pub(super) struct Hearers {
    /// For a policy: which warps asked for the lines of the cache.
    asked_by: Option<HashMap<u64, u16>>,
    /// For an observer: warp, instruction and whether it was a hit.
    lookups: Option<Vec<(u16, u32, bool)>>,
}

impl Hearers {
    /// The cache has no line any more.
    pub fn forget_lines(&mut self) {
        if let Some(asked_by) = &mut self.asked_by {
            asked_by.clear();
        }
    }

    /// Whether there are any.
    #[inline]
    pub fn any(&self) -> bool {
        self.asked_by.is_some() || self.lookups.is_some()
    }
}

impl LoadStore {
    /// Whether a policy wants to hear what happens in the L1 data cache.
    pub fn tell_of_cache(&mut self, tell: bool) {
        self.hearers.asked_by = tell.then(HashMap::new);
    }

    /// An observer listens, or none does.
    pub fn watch(&mut self, on: bool) {
        self.hearers.lookups = on.then(Vec::new);
    }

    /// What an observer is told of lookups since it was last told.
    pub fn take_lookups(&mut self) -> impl Iterator<Item = (u16, WarpEvent)> + '_ {
        let lookups = self.hearers.lookups.iter_mut();
        let lookups = lookups.flat_map(|list| list.drain(..));
        lookups.map(|(slot, pc, hit)| (slot, WarpEvent::LookedUp { pc, hit }))
    }

    /// Tells what a load found in the L1 data cache.
    #[cold]
    pub(super) fn tell_lookup(
        &mut self,
        op: u16,
        addr: u64,
        lanes: u32,
        outcome: Outcome,
        with: &mut Surroundings,
    ) {
        let what = match outcome {
            Outcome::Hit => CacheEvent::Hit,
            Outcome::Miss => CacheEvent::Miss,
            Outcome::Merged => CacheEvent::Merged,
            Outcome::Stall => return,
        };
        let record = self.ops.get(op);
        let (slot, pc) = (record.slot_for(lanes), record.pc);
        if let Some(lookups) = &mut self.hearers.lookups {
            lookups.push((slot, pc, outcome == Outcome::Hit));
        }
        let line = self.caches.data.line_of(addr);
        let Some(asked_by) = &mut self.hearers.asked_by else {
            return;
        };
        with.events.push(MemoryEvent::Cache { slot, what, line });
        if outcome == Outcome::Miss {
            // The line that it pushes out belonged to a warp.
            if let Some(line) = self.caches.data.pushed_out()
                && let Some(slot) = asked_by.remove(&line)
            {
                let what = CacheEvent::Evicted;
                with.events.push(MemoryEvent::Cache { slot, what, line });
            }
            asked_by.insert(line, slot);
        }
    }

    /// Tells that a prefetch has pushed out a line of the L1 data cache, if it has.
    pub(super) fn tell_pushed_out(&mut self, with: &mut Surroundings) {
        if let (Some(asked_by), Some(line)) =
            (&mut self.hearers.asked_by, self.caches.data.pushed_out())
            && let Some(slot) = asked_by.remove(&line)
        {
            let what = CacheEvent::Evicted;
            with.events.push(MemoryEvent::Cache { slot, what, line });
        }
    }

    /// Tells that a line of the L1 data cache has come.
    pub(super) fn tell_fill(&mut self, line: u64, with: &mut Surroundings) {
        let line = self.caches.data.line_of(line);
        let asked_by = self.hearers.asked_by.as_ref();
        if let Some(&slot) = asked_by.and_then(|by| by.get(&line)) {
            let what = CacheEvent::Fill;
            with.events.push(MemoryEvent::Cache { slot, what, line });
        }
    }
}
