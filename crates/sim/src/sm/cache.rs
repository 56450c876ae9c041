//! A first-level cache of an SM: tags, misses outstanding, and the queue of requests that
//! wait for the network. Used for data, instructions, constants and textures.

use crate::config::{Cache as Config, WritePolicy};
use crate::memory::mshr::{Admission, MshrTable};
use crate::memory::packet::Request;
use crate::memory::tags::{Evicted, Geometry, Lookup, TagArray};
use std::collections::VecDeque;

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

/// What a stalled access waits for. Until that happens, trying again is useless: half of all
/// lookups in breadth-first search were such tries while anything that happened counted.
#[derive(Clone, Copy, Debug)]
enum Wait {
    /// A line to come: every way, or every place for a waiter, is taken until then.
    Fill,
    /// A waiter to be handed out, which may free an MSHR.
    Ready,
    /// A request to leave the queue.
    Send,
}

/// The cache.
#[derive(Debug)]
pub struct L1 {
    tags: TagArray,
    mshrs: MshrTable,
    queue: VecDeque<Request>,
    queue_limit: usize,
    line: u64,
    /// Whether evictions can need room in the queue (data caches).
    writes: bool,
    global_write: WritePolicy,
    local_write: WritePolicy,
    /// How often each of what an access may wait for has happened, and what the access that
    /// stalled last waits for.
    happened: [u64; 3],
    wait: Wait,
}

impl L1 {
    /// A cache as configured.
    pub fn new(config: &Config) -> L1 {
        L1 {
            tags: TagArray::new(Geometry::of(config)),
            mshrs: MshrTable::new(config.mshrs, config.merges),
            queue: VecDeque::with_capacity(config.miss_queue as usize + 2),
            queue_limit: config.miss_queue as usize,
            line: config.line as u64,
            writes: config.global_write != WritePolicy::ReadOnly,
            global_write: config.global_write,
            local_write: config.local_write,
            happened: [0; 3],
            wait: Wait::Fill,
        }
    }

    /// First byte of the line of `addr`.
    pub fn line_of(&self, addr: u64) -> u64 {
        addr & !(self.line - 1)
    }

    /// Bytes of a line.
    pub fn line_bytes(&self) -> u64 {
        self.line
    }

    /// Looks up a read. `waiter` is handed out by [`next_ready`](L1::next_ready) when the line
    /// has come; `request` makes what is queued on a miss, from the line's address. Dirty lines pushed out are queued as `evict`
    /// makes them.
    pub fn read(
        &mut self,
        addr: u64,
        waiter: u32,
        request: impl FnOnce(u64) -> Request,
        evict: impl FnOnce(Evicted) -> Request,
    ) -> Outcome {
        let line = self.line_of(addr);
        match self.tags.lookup(line) {
            Lookup::Hit(slot) => {
                self.tags.touch(slot);
                Outcome::Hit
            }
            Lookup::Pending(slot) => {
                if self.mshrs.add(line, waiter) != Admission::Merge {
                    return self.stall(Wait::Fill);
                }
                self.tags.touch(slot);
                Outcome::Merged
            }
            Lookup::Blocked => self.stall(Wait::Fill),
            // A store to a missing local line allocates nothing, so a partly written line
            // cannot be here; treat it as what it is, a line to fetch.
            Lookup::Miss(slot) | Lookup::SectorMiss(slot) | Lookup::PartlyWritten(slot) => {
                // An eviction may need a second place in the queue.
                if self.queue.len() + self.writes as usize >= self.queue_limit {
                    return self.stall(Wait::Send);
                }
                match self.mshrs.admit(line) {
                    Admission::Fresh => {}
                    Admission::TableFull => return self.stall(Wait::Ready),
                    _ => return self.stall(Wait::Fill),
                }
                if let Some(evicted) = self.tags.replace(slot, line) {
                    self.queue.push_back(evict(evicted));
                }
                self.tags.reserve(slot, line);
                self.mshrs.add_fresh(line, waiter);
                self.queue.push_back(request(line));
                Outcome::Miss
            }
        }
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
            self.tags.touch(slot);
            return Some(Stored {
                hit: true,
                kept: true,
            });
        }
        if self.queue.len() >= self.queue_limit {
            self.stall(Wait::Send);
            return None;
        }
        if hit.is_some() && policy == WritePolicy::WriteEvict {
            self.tags.invalidate(line);
        }
        self.queue.push_back(request);
        Some(Stored {
            hit: hit.is_some(),
            kept: false,
        })
    }

    /// A whole line has come.
    pub fn fill(&mut self, addr: u64) {
        let line = self.line_of(addr);
        self.tags.fill(line);
        self.mshrs.fill(line);
        self.happened[Wait::Fill as usize] += 1;
    }

    fn stall(&mut self, wait: Wait) -> Outcome {
        self.wait = wait;
        Outcome::Stall
    }

    /// A number that changes whenever something happens that may let the access proceed that
    /// stalled last: until then, trying it again is useless.
    #[inline]
    pub fn changes(&self) -> u64 {
        self.happened[self.wait as usize]
    }

    /// The next waiter whose line has come.
    pub fn next_ready(&mut self) -> Option<u32> {
        if !self.mshrs.has_ready() {
            return None;
        }
        self.happened[Wait::Ready as usize] += 1;
        self.mshrs.pop_ready().map(|(_, waiter)| waiter)
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
        self.happened[Wait::Send as usize] += 1;
        self.queue.pop_front()
    }

    /// Forgets all lines. Nothing is outstanding then.
    pub fn invalidate(&mut self) {
        self.tags.invalidate_all();
    }

    /// Fetches outstanding.
    pub fn outstanding(&self) -> u32 {
        self.mshrs.used()
    }
}

/// What became of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The line was here.
    pub hit: bool,
    /// The cache keeps the data; no request was queued.
    pub kept: bool,
}
