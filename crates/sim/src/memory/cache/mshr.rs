//! Miss status holding registers: which fetches are under way and who waits for each.
//!
//! A waiter is a `u32` that means something to the owner of the table. An entry lives from
//! the first miss on a key until the last of its waiters has been handed out:
//!
//! 1. [`MshrTable::admit`] says whether a miss on a key would open an entry, join one, or
//!    must wait; [`MshrTable::add`] does it.
//! 2. When the fetch arrives, [`MshrTable::fill`] makes the entry's waiters ready. From then
//!    on the key counts as not outstanding: another miss on it opens a fresh entry.
//! 3. [`MshrTable::pop_ready`] hands waiters out one by one: entries in the order of their
//!    fills, waiters in the order they came. The entry is free again after its last waiter.
//!
//! Entries are allocated when the table is built, and as many places for waiters as any real
//! machine has; a table with more gets them as they are used. Keys are found by chained buckets,
//! about one comparison per lookup.

/// What would become of a miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The key has no entry and one is free: a fetch must be sent.
    Fresh,
    /// The key's fetch is under way and can take another waiter.
    Merge,
    /// The key has no entry and none is free.
    TableFull,
    /// The key's entry has all the waiters it can hold.
    MergesFull,
}

const NONE: u32 = u32::MAX;

/// Places for waiters that a table has from the start; those beyond come when they are needed, so
/// that large limits cost nothing by themselves.
const WAITERS_AT_ONCE: usize = 1 << 5;

/// Bytes of the host's memory that a table takes for each of its entries, about.
pub const BYTES_PER_ENTRY: u64 = size_of::<Entry>() as u64 + 4 * size_of::<u32>() as u64;

/// Half a line of the host's cache, with all that an entry with one waiter needs: most have one.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Entry {
    key: u64,
    /// Next entry in the bucket, in the ready list or in the free list.
    next: u32,
    /// Waiters in all, and the token of the first.
    waiters: u32,
    token: u32,
    /// The list of the others.
    first: u32,
    last: u32,
}

/// A waiter behind the first.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    token: u32,
    next: u32,
}

/// The table.
#[derive(Clone, Debug)]
pub struct MshrTable {
    entries: Vec<Entry>,
    waiters: Vec<Waiter>,
    buckets: Vec<u32>,
    bucket_shift: u32,
    free_entry: u32,
    free_waiter: u32,
    ready_first: u32,
    ready_last: u32,
    merges: u32,
    used: u32,
}

impl MshrTable {
    /// A table of `entries`, each with up to `merges` waiters, the first included.
    pub fn new(entries: u32, merges: u32) -> MshrTable {
        let waiters = (entries as usize).saturating_mul(merges as usize);
        let waiters = waiters.min(WAITERS_AT_ONCE);
        let buckets = (entries.max(1) as usize * 2).next_power_of_two();
        let link = |i: usize, n: usize| if i + 1 < n { i as u32 + 1 } else { NONE };
        MshrTable {
            entries: (0..entries as usize)
                .map(|i| Entry {
                    key: 0,
                    next: link(i, entries as usize),
                    waiters: 0,
                    token: 0,
                    first: NONE,
                    last: NONE,
                })
                .collect(),
            waiters: (0..waiters)
                .map(|i| Waiter {
                    token: 0,
                    next: link(i, waiters),
                })
                .collect(),
            buckets: vec![NONE; buckets],
            bucket_shift: 64 - buckets.ilog2(),
            free_entry: if entries > 0 && merges > 0 { 0 } else { NONE },
            free_waiter: if waiters > 0 { 0 } else { NONE },
            ready_first: NONE,
            ready_last: NONE,
            merges,
            used: 0,
        }
    }

    fn bucket(&self, key: u64) -> usize {
        // Fibonacci hashing: the high bits of the product depend on all bits of the key.
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.bucket_shift) as usize
    }

    fn find(&self, key: u64) -> Option<u32> {
        let mut at = self.buckets[self.bucket(key)];
        while at != NONE {
            let entry = &self.entries[at as usize];
            if entry.key == key {
                return Some(at);
            }
            at = entry.next;
        }
        None
    }

    /// What would become of a miss on `key`.
    pub fn admit(&self, key: u64) -> Admission {
        match self.find(key) {
            Some(at) if self.entries[at as usize].waiters < self.merges => Admission::Merge,
            Some(_) => Admission::MergesFull,
            None if self.free_entry != NONE => Admission::Fresh,
            None => Admission::TableFull,
        }
    }

    /// Makes `token` wait for `key`. Answers as [`MshrTable::admit`] would have; nothing has
    /// changed when the answer is `TableFull` or `MergesFull`.
    pub fn add(&mut self, key: u64, token: u32) -> Admission {
        self.add_with(key, || token)
    }

    /// The same, for a token that is made when there is a place for it.
    #[inline]
    pub fn add_with(&mut self, key: u64, token: impl FnOnce() -> u32) -> Admission {
        let (at, admission) = match self.find(key) {
            Some(at) if self.entries[at as usize].waiters < self.merges => (at, Admission::Merge),
            Some(_) => return Admission::MergesFull,
            None if self.free_entry == NONE => return Admission::TableFull,
            None => (self.open(key), Admission::Fresh),
        };
        self.wait(at, token());
        admission
    }

    /// Makes `token` wait for `key`, for which [`MshrTable::admit`] has just said `Fresh`.
    pub fn add_fresh(&mut self, key: u64, token: u32) {
        debug_assert_eq!(self.admit(key), Admission::Fresh);
        let at = self.open(key);
        self.wait(at, token);
    }

    #[inline]
    fn wait(&mut self, at: u32, token: u32) {
        let entry = &mut self.entries[at as usize];
        entry.waiters += 1;
        if entry.waiters == 1 {
            entry.token = token;
        } else {
            self.wait_behind(at, token);
        }
    }

    /// Makes `token` the last of an entry's waiters.
    fn wait_behind(&mut self, at: u32, token: u32) {
        if self.free_waiter == NONE {
            self.add_place();
        }
        let node = self.free_waiter;
        self.free_waiter = self.waiters[node as usize].next;
        self.waiters[node as usize] = Waiter { token, next: NONE };
        let entry = &mut self.entries[at as usize];
        if entry.last == NONE {
            entry.first = node;
        } else {
            self.waiters[entry.last as usize].next = node;
        }
        entry.last = node;
    }

    /// Another place for a waiter. Their limits are each entry's; this is not one.
    #[cold]
    fn add_place(&mut self) {
        self.free_waiter = self.waiters.len() as u32;
        self.waiters.push(Waiter {
            token: 0,
            next: NONE,
        });
    }

    fn open(&mut self, key: u64) -> u32 {
        let at = self.free_entry;
        let bucket = self.bucket(key);
        self.free_entry = self.entries[at as usize].next;
        self.entries[at as usize] = Entry {
            key,
            next: self.buckets[bucket],
            waiters: 0,
            token: 0,
            first: NONE,
            last: NONE,
        };
        self.buckets[bucket] = at;
        self.used += 1;
        at
    }

    /// The fetch of `key` has arrived: its waiters become ready. Says whether there was one.
    pub fn fill(&mut self, key: u64) -> bool {
        let bucket = self.bucket(key);
        let (mut at, mut before) = (self.buckets[bucket], NONE);
        while at != NONE && self.entries[at as usize].key != key {
            (before, at) = (at, self.entries[at as usize].next);
        }
        if at == NONE {
            return false;
        }
        let next = self.entries[at as usize].next;
        if before == NONE {
            self.buckets[bucket] = next;
        } else {
            self.entries[before as usize].next = next;
        }
        self.entries[at as usize].next = NONE;
        if self.ready_last == NONE {
            self.ready_first = at;
        } else {
            self.entries[self.ready_last as usize].next = at;
        }
        self.ready_last = at;
        true
    }

    /// Some waiter is ready.
    pub fn has_ready(&self) -> bool {
        self.ready_first != NONE
    }

    /// Hands out the next ready waiter, with its key.
    pub fn pop_ready(&mut self) -> Option<(u64, u32)> {
        let at = self.ready_first;
        let entry = self.entries.get_mut(at as usize)?;
        let (key, token) = (entry.key, entry.token);
        entry.waiters -= 1;
        if entry.waiters != 0 {
            self.move_up(at);
            return Some((key, token));
        }
        self.ready_first = entry.next;
        entry.next = self.free_entry;
        self.free_entry = at;
        self.used -= 1;
        if self.ready_first == NONE {
            self.ready_last = NONE;
        }
        Some((key, token))
    }

    /// The second of an entry's waiters becomes the first.
    fn move_up(&mut self, at: u32) {
        let entry = &mut self.entries[at as usize];
        let node = entry.first;
        let Waiter { token, next } = self.waiters[node as usize];
        self.waiters[node as usize].next = self.free_waiter;
        self.free_waiter = node;
        (entry.token, entry.first) = (token, next);
        if next == NONE {
            entry.last = NONE;
        }
    }

    /// Entries in use, those with ready waiters included.
    pub fn used(&self) -> u32 {
        self.used
    }

    /// Nothing outstanding and nobody ready.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }
}

#[cfg(test)]
#[path = "mshr_tests.rs"]
mod tests;
