//! Miss status holding registers: which fetches are under way and which waiters each has.
//!
//! A waiter is a `u32` that means something to the owner of the table. An entry lives from
//! the first miss on a sector until the last of its waiters has been handed out:
//!
//! 1. [`MshrTable::admit`] says whether a miss may open an entry; [`MshrTable::open`] does it, for the
//!    sector's [place](super::tags::Place) in the cache. While that is being fetched, the tags say so, and
//!    [`MshrTable::join`] adds further waiters.
//! 2. When the fetch arrives, [`MshrTable::fill`] makes the entry's waiters ready. From then
//!    on the sector counts as not outstanding: another miss on it opens a fresh entry.
//! 3. [`MshrTable::pop_ready`] hands waiters out one by one: entries in the order of their
//!    fills, waiters in the order they came. The entry is free again after its last waiter.
//!
//! A prefetch has no waiter at first ([`MshrTable::open_without_waiter`]): requests may join it, and if none does the entry
//! is free with its fill.
//!
//! Entries are allocated when the table is built, and as many places for waiters as any real
//! machine has; a table with more gets them as they are used. Nothing is searched for: a sector that is
//! being fetched stays in its place, and for each place the table knows the entry. Only fetches whose lines are dropped
//! meanwhile ([`MshrTable::lose`]) are kept in a list, which is empty but for launches that begin with other lines than
//! the last left.

use super::tags::Place;

/// What would become of a miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// An entry is free: a fetch must be sent.
    Fresh,
    /// No entry is free.
    TableFull,
    /// The sector is on its way for a line that has been dropped, and has to come first.
    Lost,
}

/// A fetch that is under way: the number of its entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetch(pub u32);

const NONE: u32 = u32::MAX;

/// Places for waiters that a table has from the start; those beyond come when they are needed, so
/// that large limits cost nothing by themselves.
const WAITERS_AT_ONCE: usize = 1 << 5;

/// Bytes of the host's memory that a table takes for each of its entries.
pub const BYTES_PER_ENTRY: u64 = (size_of::<Entry>() + size_of::<u32>()) as u64;
/// Bytes of the host's memory that it takes for each place of the cache.
pub const BYTES_PER_PLACE: u64 = size_of::<u32>() as u64;

/// Half a line of the host's cache, with all that an entry with one waiter needs: most have one.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Entry {
    /// The sector's address.
    key: u64,
    /// Where in the cache it goes; nowhere if its line has been dropped.
    place: u32,
    /// Next entry in the ready list.
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
    /// The entry of each place that is being fetched; of others whatever was there.
    at_place: Vec<u32>,
    /// Fetches under way whose lines have been dropped.
    lost: Vec<u32>,
    /// Entries that are free; beside them, because those that were used last but one are cold.
    free: Vec<u32>,
    free_waiter: u32,
    ready_first: u32,
    ready_last: u32,
    merges: u32,
    used: u32,
}

impl MshrTable {
    /// A table of `entries`, each with up to `merges` waiters, the first included, for a cache of so many places.
    pub fn new(entries: u32, merges: u32, places: usize) -> MshrTable {
        let waiters = (entries as usize).saturating_mul(merges as usize);
        let waiters = waiters.min(WAITERS_AT_ONCE);
        let link = |i: usize, n: usize| if i + 1 < n { i as u32 + 1 } else { NONE };
        MshrTable {
            entries: vec![
                Entry {
                    key: 0,
                    place: NONE,
                    next: NONE,
                    waiters: 0,
                    token: 0,
                    first: NONE,
                    last: NONE,
                };
                entries as usize
            ],
            waiters: (0..waiters)
                .map(|i| Waiter {
                    token: 0,
                    next: link(i, waiters),
                })
                .collect(),
            at_place: vec![0; places],
            lost: Vec::new(),
            free: match merges {
                0 => Vec::new(),
                _ => (0..entries).rev().collect(),
            },
            free_waiter: if waiters > 0 { 0 } else { NONE },
            ready_first: NONE,
            ready_last: NONE,
            merges,
            used: 0,
        }
    }

    /// What would become of a miss on `key`, which the tags do not say is being fetched.
    #[inline]
    pub fn admit(&self, key: u64) -> Admission {
        if !self.lost.is_empty() && self.is_lost(key) {
            Admission::Lost
        } else if self.free.is_empty() {
            Admission::TableFull
        } else {
            Admission::Fresh
        }
    }

    /// Whether that of `key` is among the fetches whose lines have been dropped.
    #[cold]
    fn is_lost(&self, key: u64) -> bool {
        let is = |&at: &u32| self.entries[at as usize].key == key;
        self.lost.iter().any(is)
    }

    /// Makes `token` wait for `key`, for which [`MshrTable::admit`] has just said `Fresh` and which goes to `place`.
    #[inline]
    pub fn open(&mut self, key: u64, place: Place, token: u32) -> Fetch {
        self.open_with(key, place, 1, token)
    }

    /// As [`open`](MshrTable::open), without a waiter.
    pub fn open_without_waiter(&mut self, key: u64, place: Place) -> Fetch {
        self.open_with(key, place, 0, NONE)
    }

    #[inline(always)] // of its two callers one is hot
    fn open_with(&mut self, key: u64, place: Place, waiters: u32, token: u32) -> Fetch {
        debug_assert_eq!(self.admit(key), Admission::Fresh);
        let at = self.free.pop().unwrap_or(0);
        self.entries[at as usize] = Entry {
            key,
            place: place.0,
            next: NONE,
            waiters,
            token,
            first: NONE,
            last: NONE,
        };
        self.at_place[place.0 as usize] = at;
        self.used += 1;
        Fetch(at)
    }

    /// The fetch to a place for which one is under way.
    #[inline]
    pub fn fetch_to(&self, place: Place) -> Fetch {
        Fetch(self.at_place[place.0 as usize])
    }

    /// Makes a waiter wait for a place for which a fetch is under way. False, and nothing has changed nor
    /// was the waiter made, if the entry has all the waiters it can hold.
    #[inline]
    pub fn join(&mut self, place: Place, token: impl FnOnce() -> u32) -> bool {
        let at = self.fetch_to(place).0;
        let entry = &mut self.entries[at as usize];
        if entry.waiters >= self.merges {
            return false;
        }
        entry.waiters += 1;
        if entry.waiters == 1 {
            entry.token = token();
            return true;
        }
        self.wait_behind(at, token());
        true
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

    /// A fetch has arrived: its waiters become ready. Returns where it goes, unless its line was dropped
    /// meanwhile.
    #[inline]
    pub fn fill(&mut self, fetch: Fetch) -> Option<Place> {
        let at = fetch.0;
        if self.entries[at as usize].waiters == 0 {
            self.free.push(at);
            self.used -= 1;
        } else {
            match self.ready_last {
                NONE => self.ready_first = at,
                last => self.entries[last as usize].next = at,
            }
            self.ready_last = at;
        }
        let place = self.entries[at as usize].place;
        if place == NONE {
            self.lost.retain(|&lost| lost != at);
            return None;
        }
        Some(Place(place))
    }

    /// The lines to which these places belong, for each of which a fetch is under way, are dropped.
    #[cold]
    pub fn lose(&mut self, places: impl Iterator<Item = Place>) {
        for place in places {
            let at = self.fetch_to(place).0;
            self.entries[at as usize].place = NONE;
            self.lost.push(at);
        }
    }

    /// Some waiter is ready.
    #[inline]
    pub fn has_ready(&self) -> bool {
        self.ready_first != NONE
    }

    /// Hands out the next ready waiter.
    #[inline]
    pub fn pop_ready(&mut self) -> Option<u32> {
        let at = self.ready_first;
        let entry = self.entries.get_mut(at as usize)?;
        let token = entry.token;
        entry.waiters -= 1;
        if entry.waiters != 0 {
            self.move_up(at);
            return Some(token);
        }
        self.ready_first = entry.next;
        self.free.push(at);
        self.used -= 1;
        if self.ready_first == NONE {
            self.ready_last = NONE;
        }
        Some(token)
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

    /// Nothing outstanding and no waiter ready.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }
}

#[cfg(test)]
#[path = "mshr_tests.rs"]
mod tests;
