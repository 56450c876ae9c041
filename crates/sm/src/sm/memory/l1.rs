//! A first-level cache of an SM: tags, misses outstanding, and the queue of requests that
//! wait for the network. Used for data, instructions, constants and textures.

use super::unused::{Unused, Uses};
use crate::config::{Cache as Config, DataCache, WritePolicy};
use crate::memory::cache::mshr::{Admission, Fetch, MshrTable};
use crate::memory::cache::tags::{Evicted, Geometry, Lookup, Place, Slot, TagArray};
use crate::memory::packet::Request;
use crate::memory::ring::Ring;
use crate::replacement::{self, Replacement};

/// What became of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The line is here.
    Hit,
    /// A request was queued; the waiter is told when the line comes.
    Miss,
    /// The line is on its way already; the waiter is told when it comes.
    Merged,
    /// Nothing was done: no MSHR, merge, way or queue room. Try again.
    Stall,
}

/// What the access that stalled last waits for. Until that happens, trying it again is useless:
/// a third of all lookups in breadth-first search were such tries while any line that came and
/// any waiter that left counted.
#[derive(Clone, Copy, Debug)]
enum Wait {
    /// A line of this set: every way is taken until one comes.
    Set(usize),
    /// This line: every place for its waiters is taken until it comes.
    Line(u64),
    /// An MSHR, which is free when its last waiter has been handed out.
    Entry,
    /// A request to leave the queue.
    Send,
}

/// The cache.
#[derive(Debug)]
pub struct L1 {
    tags: TagArray,
    mshrs: MshrTable,
    queue: Ring<Request>,
    queue_limit: usize,
    line: u64,
    /// Whether evictions can need room in the queue (data caches).
    writes: bool,
    global_write: WritePolicy,
    local_write: WritePolicy,
    /// The line that the last miss pushed out.
    pushed_out: Option<u64>,
    /// What the access that stalled last waits for, and whether it has happened.
    wait: Wait,
    retry: bool,
    /// Lines that were prefetched and not used yet, from the first prefetch on.
    unused: Option<Box<Unused>>,
}

impl L1 {
    /// A cache that is only read.
    pub fn new(config: &Config) -> L1 {
        let policy = replacement::make(&config.replacement, config.sets, config.ways);
        let tags = TagArray::with(Geometry::of(config), policy);
        L1 {
            mshrs: MshrTable::new(config.mshrs, config.merges, tags.places()),
            tags,
            queue: Ring::new(),
            queue_limit: config.miss_queue as usize,
            line: config.line as u64,
            writes: false,
            global_write: WritePolicy::WriteEvict,
            local_write: WritePolicy::WriteEvict,
            pushed_out: None,
            wait: Wait::Send,
            retry: true,
            unused: None,
        }
    }

    /// Puts a replacement policy for so many sets and ways in place of the configured one, before anything is looked
    /// up.
    pub fn replace_policy(&mut self, make: &dyn Fn(usize, usize) -> Box<dyn Replacement>) {
        let (sets, ways) = self.tags.shape();
        self.tags.decide_by(make(sets, ways));
    }

    /// Whether a replacement policy hears of every lookup, so that each has to be made, in its time.
    #[inline]
    pub fn policy_hears(&self) -> bool {
        self.tags.is_told()
    }

    /// A cache that is written, too.
    pub fn data(config: &DataCache) -> L1 {
        L1 {
            writes: true,
            global_write: config.global_write,
            local_write: config.local_write,
            ..L1::new(&config.cache)
        }
    }

    /// The line that the last miss pushed out, if there was one.
    pub fn pushed_out(&self) -> Option<u64> {
        self.pushed_out
    }

    /// First byte of the line of `addr`.
    #[inline]
    pub fn line_of(&self, addr: u64) -> u64 {
        addr & !(self.line - 1)
    }

    /// Bytes of a line.
    #[inline]
    pub fn line_bytes(&self) -> u64 {
        self.line
    }

    /// Looks up a read. Where the line is still to come, `waiter` makes the waiter that is handed out by
    /// [`next_ready`](L1::next_ready) when it has; `request` makes what is queued on a miss, from the
    /// line's address and what [`fill`](L1::fill) is to know. Dirty lines pushed out are queued as `evict` makes them.
    #[inline(always)]
    pub fn read(
        &mut self,
        addr: u64,
        waiter: impl FnOnce() -> u32,
        request: impl FnOnce(u64, Fetch) -> Request,
        evict: impl FnOnce(Evicted) -> Request,
    ) -> Outcome {
        let line = self.line_of(addr);
        let found = self.tags.lookup(line);
        if let Lookup::Hit(slot) = found {
            self.tags.touch(slot);
            if let Some(unused) = &mut self.unused {
                unused.used(slot, false);
            }
            return Outcome::Hit;
        }
        self.read_otherwise(line, found, waiter, request, evict)
    }

    /// Looks up a read of a line that is here; if it is not, nothing has happened.
    #[inline]
    pub fn hit(&mut self, addr: u64) -> bool {
        let found = self.tags.find(self.line_of(addr));
        if let Some(slot) = found {
            self.tags.touch(slot);
        }
        found.is_some()
    }

    /// Reads from a line that cannot be read at once.
    #[inline(never)]
    fn read_otherwise(
        &mut self,
        line: u64,
        found: Lookup,
        waiter: impl FnOnce() -> u32,
        request: impl FnOnce(u64, Fetch) -> Request,
        evict: impl FnOnce(Evicted) -> Request,
    ) -> Outcome {
        match found {
            Lookup::Hit(_) => Outcome::Hit,
            Lookup::Pending(slot) => {
                if !self.mshrs.join(self.tags.place(slot, line), waiter) {
                    return self.stall(Wait::Line(line));
                }
                self.tags.touch(slot);
                if let Some(unused) = &mut self.unused {
                    unused.used(slot, true);
                }
                Outcome::Merged
            }
            Lookup::Blocked => self.stall(Wait::Set(self.tags.set_of(line))),
            // A store to a missing local line allocates nothing, so a partly written line
            // cannot be here; treat it as what it is, a line to fetch.
            Lookup::Miss(slot) | Lookup::SectorMiss(slot) | Lookup::PartlyWritten(slot) => {
                if !self.has_room_to_fetch() {
                    return self.stall(Wait::Send);
                }
                match self.mshrs.admit(line) {
                    Admission::Fresh => {}
                    Admission::TableFull => return self.stall(Wait::Entry),
                    Admission::Lost => return self.stall(Wait::Line(line)),
                }
                let place = self.make_room(slot, line, evict);
                let fetch = self.mshrs.open(line, place, waiter());
                self.queue.push_back(request(line, fetch));
                Outcome::Miss
            }
        }
    }

    /// Whether the queue has room for a fetch.
    fn has_room_to_fetch(&self) -> bool {
        // An eviction may need a second place in the queue; a queue of one place must
        // still let a fetch through.
        let places = (1 + self.writes as usize).min(self.queue_limit);
        self.queue.len() + places <= self.queue_limit
    }

    /// A line that is to be fetched takes a slot.
    #[inline(always)] // of its two callers one is hot
    fn make_room(
        &mut self,
        slot: Slot,
        line: u64,
        evict: impl FnOnce(Evicted) -> Request,
    ) -> Place {
        self.pushed_out = self.tags.occupant(slot);
        if let Some(unused) = &mut self.unused {
            unused.left(slot);
        }
        if let Some(evicted) = self.tags.replace(slot, line) {
            self.queue.push_back(evict(evicted));
        }
        self.tags.reserve(slot, line);
        self.tags.place(slot, line)
    }

    /// Fetches a line for which no access waits, if that holds up no other access: with a free MSHR, room in the queue and
    /// a way that may be replaced.
    pub fn prefetch(
        &mut self,
        addr: u64,
        request: impl FnOnce(u64, Fetch) -> Request,
        evict: impl FnOnce(Evicted) -> Request,
    ) -> Prefetched {
        let line = self.line_of(addr);
        let slot = match self.tags.lookup(line) {
            Lookup::Hit(_) | Lookup::Pending(_) => return Prefetched::There,
            Lookup::Blocked => return Prefetched::Dropped,
            Lookup::Miss(slot) | Lookup::SectorMiss(slot) | Lookup::PartlyWritten(slot) => slot,
        };
        if !self.has_room_to_fetch() || self.mshrs.admit(line) != Admission::Fresh {
            return Prefetched::Dropped;
        }
        let place = self.make_room(slot, line, evict);
        let slots = self.tags.slots();
        let unused = self.unused.get_or_insert_with(|| Unused::new(slots).into());
        unused.prefetched(slot);
        let fetch = self.mshrs.open_without_waiter(line, place);
        self.queue.push_back(request(line, fetch));
        Prefetched::Sent
    }

    /// What has become of lines that were prefetched, since this was asked last.
    #[inline]
    pub fn take_uses(&mut self) -> Option<Uses> {
        let unused = self.unused.as_mut()?;
        Some(std::mem::take(&mut unused.uses))
    }

    /// Looks up a store; `request` goes on to L2 unless the cache keeps the data. Returns
    /// whether the line was here, or `None` for a stall.
    pub fn write(&mut self, addr: u64, local: bool, request: Request) -> Option<Stored> {
        let line = self.line_of(addr);
        let policy = if local {
            self.local_write
        } else {
            self.global_write
        };
        let hit = match self.tags.lookup(line) {
            Lookup::Hit(slot) => Some(slot),
            _ => None,
        };
        if let (Some(slot), WritePolicy::WriteBack) = (hit, policy) {
            self.tags.dirty(slot, line);
            self.use_for_store(slot);
            return Some(Stored {
                hit: true,
                kept: true,
            });
        }
        if self.queue.len() >= self.queue_limit {
            self.stall(Wait::Send);
            return None;
        }
        if let (Some(slot), WritePolicy::WriteEvict) = (hit, policy) {
            if let Some(unused) = &mut self.unused {
                unused.left(slot);
            }
            self.tags.invalidate(line);
        }
        self.queue.push_back(request);
        Some(Stored {
            hit: hit.is_some(),
            kept: false,
        })
    }

    /// A store leaves its data in a line.
    fn use_for_store(&mut self, slot: Slot) {
        self.tags.touch(slot);
        if let Some(unused) = &mut self.unused {
            unused.used(slot, false);
        }
    }

    /// A whole line has come, that of this fetch.
    pub fn fill(&mut self, addr: u64, fetch: Fetch) {
        let line = self.line_of(addr);
        let used = self.mshrs.used();
        if let Some(place) = self.mshrs.fill(fetch) {
            self.tags.fill_place(place);
        }
        self.retry |= match self.wait {
            Wait::Set(set) => self.tags.set_of(line) == set,
            Wait::Line(awaited) => awaited == line,
            // The entry of a line for which no access waited is free at once.
            Wait::Entry => self.mshrs.used() < used,
            Wait::Send => false,
        };
    }

    fn stall(&mut self, wait: Wait) -> Outcome {
        (self.wait, self.retry) = (wait, false);
        Outcome::Stall
    }

    /// Whether something has happened that may let the access proceed that stalled last.
    #[inline]
    pub fn may_retry(&self) -> bool {
        self.retry
    }

    /// The next waiter whose line has come.
    pub fn next_ready(&mut self) -> Option<u32> {
        let used = self.mshrs.used();
        let waiter = self.mshrs.pop_ready()?;
        self.retry |= self.mshrs.used() < used && matches!(self.wait, Wait::Entry);
        Some(waiter)
    }

    /// Whether a waiter's line has come.
    #[inline]
    pub fn has_ready(&self) -> bool {
        self.mshrs.has_ready()
    }

    /// Whether a request waits for the network.
    #[inline]
    pub fn has_request(&self) -> bool {
        !self.queue.is_empty()
    }

    /// The request that waits for the network longest.
    #[inline]
    pub fn first_request(&self) -> Option<&Request> {
        self.queue.front()
    }

    /// Takes that request.
    pub fn send(&mut self) -> Option<Request> {
        self.retry |= matches!(self.wait, Wait::Send);
        self.queue.pop_front()
    }

    /// Forgets all lines.
    pub fn invalidate(&mut self) {
        if !self.mshrs.is_empty() {
            self.mshrs.lose(self.tags.pending_places());
        }
        if let Some(unused) = &mut self.unused {
            unused.all_left();
        }
        self.tags.invalidate_all();
        self.retry = true; // a way that was to be waited for is free
    }

    /// Fetches outstanding.
    pub fn outstanding(&self) -> u32 {
        self.mshrs.used()
    }
}

/// What became of a prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefetched {
    /// A request was queued.
    Sent,
    /// The line is here or on its way.
    There,
    /// There was no room: it is given up.
    Dropped,
}

/// What became of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The line was here.
    pub hit: bool,
    /// The cache keeps the data; no request was queued.
    pub kept: bool,
}

#[cfg(test)]
#[path = "l1_tests.rs"]
mod tests;
