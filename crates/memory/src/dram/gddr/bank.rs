//! A bank, and the requests that wait for it.

use crate::cache::mshr::Fetch;
use crate::dram::DramRequest;
use crate::time::Tick;

/// No entry.
pub(super) const NONE: u32 = u32::MAX;

/// A place for a request, on a list or free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) request: DramRequest,
    /// Bursts that are still to be sent.
    pub(super) bursts: u32,
    /// The entry behind it on its list.
    behind: u32,
}

/// The entries of all banks of a channel.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    all: Vec<Entry>,
    /// The first free one.
    free: u32,
}

impl Entries {
    /// `count` free entries.
    pub(super) fn new(count: usize) -> Entries {
        let request = DramRequest {
            slice: 0,
            bank: 0,
            row: 0,
            write: false,
            bytes: 0,
            fetch: Fetch::default(),
        };
        let entry = |i: usize| Entry {
            request,
            bursts: 0,
            behind: if i + 1 < count { i as u32 + 1 } else { NONE },
        };
        Entries {
            all: (0..count).map(entry).collect(),
            free: 0,
        }
    }

    /// Puts a request in a free entry. There is one as long as the queue is not full.
    #[inline]
    pub(super) fn insert(&mut self, request: DramRequest, bursts: u32) -> u32 {
        let at = self.free;
        let entry = &mut self.all[at as usize];
        self.free = entry.behind;
        *entry = Entry {
            request,
            bursts,
            behind: NONE,
        };
        at
    }

    /// Frees an entry.
    #[inline]
    pub(super) fn release(&mut self, at: u32) {
        self.all[at as usize].behind = self.free;
        self.free = at;
    }

    #[inline]
    pub(super) fn get(&self, at: u32) -> &Entry {
        &self.all[at as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, at: u32) -> &mut Entry {
        &mut self.all[at as usize]
    }

    #[inline]
    fn append(&mut self, list: &mut List, at: u32) {
        if list.last == NONE {
            list.first = at;
        } else {
            self.all[list.last as usize].behind = at;
        }
        list.last = at;
    }
}

/// A list of entries in order of arrival.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

const EMPTY: List = List {
    first: NONE,
    last: NONE,
};

#[derive(Clone, Copy, Debug)]
pub(super) struct Bank {
    /// A row is open.
    pub(super) open: bool,
    /// Its bank group.
    pub(super) group: u16,
    /// The row that is open, or that will be after the next activate.
    row: u64,
    /// The entry it works on, and whether that is a write.
    pub(super) current: u32,
    pub(super) writes: bool,
    /// Waiting requests to `row`, and to other rows.
    hits: List,
    rest: List,
    /// Earliest clocks for a read, write, precharge and activate as far as the bank decides.
    pub(super) read_at: Tick,
    pub(super) write_at: Tick,
    pub(super) precharge_at: Tick,
    pub(super) activate_at: Tick,
}

impl Bank {
    /// An idle bank with no row open.
    pub(super) fn new(group: u16) -> Bank {
        Bank {
            open: false,
            group,
            row: u64::MAX,
            current: NONE,
            writes: false,
            hits: EMPTY,
            rest: EMPTY,
            read_at: Tick::ZERO,
            write_at: Tick::ZERO,
            precharge_at: Tick::ZERO,
            activate_at: Tick::ZERO,
        }
    }

    /// Requests wait for it.
    #[inline]
    pub(super) fn has_waiting(&self) -> bool {
        // With no bit missing in either, both lists are empty.
        self.hits.first & self.rest.first != NONE
    }

    /// Adds an entry to those that wait.
    #[inline]
    pub(super) fn wait(&mut self, entries: &mut Entries, at: u32) {
        let list = if self.row == entries.get(at).request.row {
            &mut self.hits
        } else {
            &mut self.rest
        };
        entries.append(list, at);
    }

    /// Makes the next of the waiting requests the current one. Returns whether it goes to the row
    /// that the bank last worked on.
    #[inline]
    pub(super) fn take_next(&mut self, entries: &mut Entries) -> bool {
        let hit = self.hits.first != NONE;
        if !hit {
            self.change_row(entries, entries.get(self.rest.first).request.row);
        }
        let at = self.hits.first;
        let entry = entries.get(at);
        (self.hits.first, self.writes) = (entry.behind, entry.request.write);
        if self.hits.first == NONE {
            self.hits.last = NONE;
        }
        self.current = at;
        hit
    }

    /// Makes `row` the row that the bank works on and sorts its waiting requests accordingly.
    #[inline(never)]
    fn change_row(&mut self, entries: &mut Entries, row: u64) {
        self.row = row;
        let mut at = self.rest.first;
        (self.hits, self.rest) = (EMPTY, EMPTY);
        while at != NONE {
            let behind = std::mem::replace(&mut entries.get_mut(at).behind, NONE);
            self.wait(entries, at);
            at = behind;
        }
    }
}
