//! A GDDR channel: banks with open rows behind one command bus and one data bus, scheduled
//! first-ready first-come-first-served.
//!
//! Each bank works on one request at a time, its *current* one. When it has none it takes the
//! oldest request to the row it last worked on, and only when there is none the oldest of
//! all: a row is drained before it is closed, without a cap. Requests of a bank wait in two
//! lists, those to that row and the rest, so nothing is searched but when the row changes.
//!
//! Each clock one command goes out: a column command if any bank can, else an activate or a
//! precharge, round robin over banks after the last one served. Between commands the channel
//! sleeps until a clock at which some bank's next command may be legal. A request is
//! complete when its last burst has left the bus.

use crate::config::{Dram, DramTiming};
use crate::memory::divide::Divisor;
use crate::memory::stats::DramCounters;
use crate::time::Tick;
use std::collections::VecDeque;

/// A request to a channel.
#[derive(Clone, Copy, Debug)]
pub struct DramRequest {
    /// Which of the channel's slices sent it.
    pub slice: u16,
    /// Bank.
    pub bank: u16,
    /// Write (else read).
    pub write: bool,
    /// Bytes.
    pub bytes: u16,
    /// Row.
    pub row: u64,
    /// Slice address, handed back when a read completes.
    pub local: u64,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    request: DramRequest,
    bursts: u32,
    next: u32,
}

/// A list of entries in arrival order.
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
struct Bank {
    /// A row is open.
    open: bool,
    /// Its bank group.
    group: u16,
    /// The row that is open, or that will be after the next activate.
    row: u64,
    current: u32,
    /// Waiting requests to `row`, and to other rows.
    hits: List,
    rest: List,
    /// Earliest clocks for a read, write, precharge and activate as far as the bank decides.
    read_at: Tick,
    write_at: Tick,
    precharge_at: Tick,
    activate_at: Tick,
}

/// Minimum distances in clocks that follow from the timing parameters.
#[derive(Clone, Copy, Debug)]
struct Distances {
    /// From a write command to a read command: write latency, burst, then CDLR.
    write_to_read: u64,
    /// From a read to a write command: the write's data must follow the read's with two
    /// clocks to turn the bus round.
    read_to_write: u64,
    /// From a write command to a precharge: write latency, burst, then write recovery.
    write_to_precharge: u64,
    /// From a read command to a precharge of the same bank: the burst.
    read_to_precharge: u64,
    /// From activate to write: its data comes `wl` clocks after the command, so the command
    /// may go that much before the row is there.
    activate_to_write: u64,
}

const BUS_TURN_CLOCKS: u64 = 2;

impl Distances {
    fn new(t: &DramTiming, burst: u64) -> Distances {
        let [cl, wl, cdlr, wr, rcd] = [t.cl, t.wl, t.cdlr, t.wr, t.rcd].map(u64::from);
        Distances {
            write_to_read: wl + burst + cdlr,
            read_to_write: (cl + burst + BUS_TURN_CLOCKS).saturating_sub(wl),
            write_to_precharge: wl + burst + wr,
            read_to_precharge: burst,
            activate_to_write: rcd.saturating_sub(wl + 1),
        }
    }
}

/// One channel's banks, queue and buses. Times are DRAM clocks.
#[derive(Clone, Debug)]
pub struct Gddr {
    timing: DramTiming,
    distances: Distances,
    burst_bytes: Divisor,
    burst_clocks: u64,
    capacity: u32,
    queued: u32,
    entries: Vec<Entry>,
    free: u32,
    banks: Vec<Bank>,
    /// Earliest column command and precharge by bank group.
    group_column_at: Vec<Tick>,
    group_precharge_at: Vec<Tick>,
    /// Banks without a current request that have some waiting; banks whose next command is a
    /// column command; banks that must activate or precharge first. A bit each.
    idle_with_work: u64,
    column: u64,
    row: u64,
    column_at: Tick,
    activate_at: Tick,
    read_at: Tick,
    write_at: Tick,
    /// The bank that is asked first.
    turn: u32,
    command_at: Tick,
    /// Reads and writes on their way, each in order, by the clock they complete.
    reads: VecDeque<(Tick, DramRequest)>,
    writes: VecDeque<(Tick, DramRequest)>,
    /// The clock in which the first of them completes.
    done_at: Tick,
}

impl Gddr {
    /// An idle channel with all rows closed.
    pub fn new(config: &Dram) -> Gddr {
        let banks = config.banks.clamp(1, 64) as usize;
        let groups = config.bank_groups.max(1) as usize;
        // A bank's current request has left the queue but still has an entry.
        let entries = config.queue.max(1) as usize + banks;
        let nothing = DramRequest {
            slice: 0,
            bank: 0,
            row: 0,
            write: false,
            bytes: 0,
            local: 0,
        };
        Gddr {
            timing: config.timing.clone(),
            distances: Distances::new(&config.timing, u64::from(config.burst_clocks)),
            burst_bytes: Divisor::new(u64::from(config.burst_bytes.max(1))),
            burst_clocks: u64::from(config.burst_clocks),
            capacity: config.queue.max(1),
            queued: 0,
            entries: (0..entries)
                .map(|i| Entry {
                    request: nothing,
                    bursts: 0,
                    next: if i + 1 < entries { i as u32 + 1 } else { NONE },
                })
                .collect(),
            free: 0,
            banks: (0..banks)
                .map(|index| Bank {
                    open: false,
                    group: (index % groups) as u16,
                    row: u64::MAX,
                    current: NONE,
                    hits: EMPTY,
                    rest: EMPTY,
                    read_at: Tick::ZERO,
                    write_at: Tick::ZERO,
                    precharge_at: Tick::ZERO,
                    activate_at: Tick::ZERO,
                })
                .collect(),
            group_column_at: vec![Tick::ZERO; groups],
            group_precharge_at: vec![Tick::ZERO; groups],
            idle_with_work: 0,
            column: 0,
            row: 0,
            column_at: Tick::ZERO,
            activate_at: Tick::ZERO,
            read_at: Tick::ZERO,
            write_at: Tick::ZERO,
            turn: 0,
            command_at: Tick::NEVER,
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            done_at: Tick::NEVER,
        }
    }

    /// The queue has no room.
    pub fn is_full(&self) -> bool {
        self.queued >= self.capacity
    }

    /// Nothing queued and nothing on its way.
    pub fn is_empty(&self) -> bool {
        self.column | self.row | self.idle_with_work == 0
            && self.reads.is_empty()
            && self.writes.is_empty()
    }

    /// Requests waiting for their bank.
    pub fn queued(&self) -> u32 {
        self.queued
    }

    /// Puts a request in the queue in clock `tick`; the scheduler sees it in the next one.
    pub fn push(&mut self, tick: Tick, request: DramRequest) {
        let at = self.free;
        self.free = self.entries[at as usize].next;
        self.entries[at as usize] = Entry {
            request,
            bursts: (self.burst_bytes.divide_up(u64::from(request.bytes)) as u32).max(1),
            next: NONE,
        };
        self.queued += 1;
        let index = match usize::from(request.bank) {
            index if index < self.banks.len() => index,
            beyond => beyond % self.banks.len(),
        };
        let bank = &mut self.banks[index];
        let list = if bank.row == request.row {
            &mut bank.hits
        } else {
            &mut bank.rest
        };
        append(&mut self.entries, list, at);
        if bank.current == NONE {
            self.idle_with_work |= 1 << index;
            self.command_at = self.command_at.min(tick + 1);
        }
    }

    /// A request that has completed by `tick`: reads first, each kind in order.
    #[inline]
    pub fn completed(&mut self, tick: Tick) -> Option<DramRequest> {
        if self.done_at > tick {
            return None;
        }
        self.take_completed(tick)
    }

    fn take_completed(&mut self, tick: Tick) -> Option<DramRequest> {
        let due =
            |queue: &VecDeque<(Tick, DramRequest)>| queue.front().map_or(Tick::NEVER, |f| f.0);
        let queue = if due(&self.reads) <= tick {
            &mut self.reads
        } else {
            &mut self.writes
        };
        let done = queue.pop_front();
        self.done_at = due(&self.reads).min(due(&self.writes));
        done.map(|(_, request)| request)
    }

    /// The next clock in which a command may go out or a request completes.
    #[inline]
    pub fn next(&self) -> Tick {
        self.command_at.min(self.done_at)
    }

    /// No read completes before this clock, given that none is sent a command before `tick`.
    #[inline]
    pub fn no_read_before(&self, tick: Tick) -> Tick {
        let after_command = u64::from(self.timing.cl) + self.burst_clocks;
        self.done_at.min(tick.saturating_add(after_command))
    }

    /// Sends at most one command in clock `tick`.
    #[inline]
    pub fn step(&mut self, tick: Tick, stats: &mut DramCounters) {
        if tick >= self.command_at {
            self.command(tick, stats);
        }
    }

    fn command(&mut self, tick: Tick, stats: &mut DramCounters) {
        if self.idle_with_work != 0 {
            self.take_requests(stats);
        }
        let mut next = Tick::NEVER;
        let issued =
            self.column_command(tick, &mut next, stats) || self.row_command(tick, &mut next, stats);
        self.command_at = if self.column | self.row | self.idle_with_work == 0 {
            Tick::NEVER
        } else if issued {
            tick + 1
        } else {
            next
        };
    }

    /// At the end of clock `tick`, after the last push: does what the next clock would begin with
    /// and finds out whether it has anything else to do.
    #[inline]
    pub fn look_ahead(&mut self, tick: Tick, stats: &mut DramCounters) {
        if self.command_at == tick + 1 {
            if self.idle_with_work != 0 {
                self.take_requests(stats);
            }
            self.command_at = self.no_command_before().max(tick + 1);
        }
    }

    /// No command is legal before this clock; every bank with requests has a current one.
    fn no_command_before(&self) -> Tick {
        let mut clock = if self.column != 0 {
            self.column_at
        } else {
            Tick::NEVER
        };
        let mut rows = self.row;
        while rows != 0 {
            let bank = &self.banks[rows.trailing_zeros() as usize];
            clock = clock.min(self.row_command_at(bank));
            rows &= rows - 1;
        }
        clock
    }

    /// The first clock for the precharge or activate that the bank needs.
    #[inline]
    fn row_command_at(&self, bank: &Bank) -> Tick {
        if bank.open {
            bank.precharge_at
                .max(self.group_precharge_at[usize::from(bank.group)])
        } else {
            bank.activate_at.max(self.activate_at)
        }
    }

    /// Gives every bank without a current request its next one.
    fn take_requests(&mut self, stats: &mut DramCounters) {
        while self.idle_with_work != 0 {
            let index = self.idle_with_work.trailing_zeros() as usize;
            self.idle_with_work &= self.idle_with_work - 1;
            let bank = &mut self.banks[index];
            if bank.hits.first == NONE {
                let row = self.entries[bank.rest.first as usize].request.row;
                change_row(&mut self.entries, bank, row);
                // The row that is still open is not the one the bank now works on.
                self.row |= 1 << index;
                stats.row_misses += 1;
            } else {
                // A bank without a current request never has its row closed.
                self.column |= 1 << index;
                stats.row_hits += 1;
            }
            let at = bank.hits.first;
            bank.hits.first = self.entries[at as usize].next;
            if bank.hits.first == NONE {
                bank.hits.last = NONE;
            }
            bank.current = at;
            self.queued -= 1;
        }
    }

    fn column_command(&mut self, tick: Tick, next: &mut Tick, stats: &mut DramCounters) -> bool {
        if self.column == 0 {
            return false;
        }
        if self.column_at > tick {
            *next = (*next).min(self.column_at);
            return false;
        }
        for index in rotated(self.column, self.turn) {
            let bank = &self.banks[index];
            let write = self.entries[bank.current as usize].request.write;
            let ready = if write {
                bank.write_at.max(self.write_at)
            } else {
                bank.read_at.max(self.read_at)
            }
            .max(self.group_column_at[usize::from(bank.group)]);
            if ready <= tick {
                self.issue_column(tick, index, stats);
                return true;
            }
            *next = (*next).min(ready);
        }
        false
    }

    fn issue_column(&mut self, tick: Tick, index: usize, stats: &mut DramCounters) {
        let t = &self.timing;
        self.turn = self.after(index);
        let bank = &mut self.banks[index];
        let group = usize::from(bank.group);
        let at = bank.current;
        let entry = &mut self.entries[at as usize];
        let request = entry.request;
        self.column_at = tick + u64::from(t.ccd);
        self.group_column_at[group] = tick + u64::from(t.ccdl);
        stats.busy_clocks += self.burst_clocks;
        if request.write {
            self.read_at = tick + self.distances.write_to_read;
            bank.precharge_at = bank
                .precharge_at
                .max(tick + self.distances.write_to_precharge);
        } else {
            self.write_at = tick + self.distances.read_to_write;
            bank.precharge_at = bank
                .precharge_at
                .max(tick + self.distances.read_to_precharge);
            self.group_precharge_at[group] = tick + u64::from(t.rtpl);
        }
        entry.bursts -= 1;
        if entry.bursts > 0 {
            return;
        }
        let bit = 1u64 << index;
        self.column &= !bit;
        bank.current = NONE;
        // With no bit missing in either, both lists are empty.
        if bank.hits.first & bank.rest.first != NONE {
            self.idle_with_work |= bit;
        }
        entry.next = self.free;
        self.free = at;
        let done = if request.write {
            stats.writes += 1;
            stats.write_bytes += u64::from(request.bytes);
            let done = tick + u64::from(t.wl) + self.burst_clocks;
            self.writes.push_back((done, request));
            done
        } else {
            stats.reads += 1;
            stats.read_bytes += u64::from(request.bytes);
            let done = tick + u64::from(t.cl) + self.burst_clocks;
            self.reads.push_back((done, request));
            done
        };
        self.done_at = self.done_at.min(done);
    }

    fn row_command(&mut self, tick: Tick, next: &mut Tick, stats: &mut DramCounters) -> bool {
        if self.row == 0 {
            return false;
        }
        for index in rotated(self.row, self.turn) {
            let ready = self.row_command_at(&self.banks[index]);
            if ready > tick {
                *next = (*next).min(ready);
                continue;
            }
            let bank = &mut self.banks[index];
            let t = &self.timing;
            if bank.open {
                bank.open = false;
                bank.activate_at = bank.activate_at.max(tick + u64::from(t.rp));
                stats.precharges += 1;
            } else {
                bank.open = true;
                bank.read_at = tick + u64::from(t.rcd);
                bank.write_at = tick + self.distances.activate_to_write;
                bank.precharge_at = bank.precharge_at.max(tick + u64::from(t.ras));
                bank.activate_at = tick + u64::from(t.rc);
                self.activate_at = tick + u64::from(t.rrd);
                self.row &= !(1 << index);
                self.column |= 1 << index;
                stats.activates += 1;
            }
            self.turn = self.after(index);
            return true;
        }
        false
    }

    /// The bank behind this one.
    fn after(&self, index: usize) -> u32 {
        match index + 1 {
            next if next < self.banks.len() => next as u32,
            _ => 0,
        }
    }
}

fn append(entries: &mut [Entry], list: &mut List, at: u32) {
    if list.last == NONE {
        list.first = at;
    } else {
        entries[list.last as usize].next = at;
    }
    list.last = at;
}

/// Makes `row` the row that the bank works on and sorts its waiting requests accordingly.
fn change_row(entries: &mut [Entry], bank: &mut Bank, row: u64) {
    bank.row = row;
    let mut at = bank.rest.first;
    (bank.hits, bank.rest) = (EMPTY, EMPTY);
    while at != NONE {
        let entry = &mut entries[at as usize];
        let next = std::mem::replace(&mut entry.next, NONE);
        let list = if entry.request.row == row {
            &mut bank.hits
        } else {
            &mut bank.rest
        };
        append(entries, list, at);
        at = next;
    }
}

/// The set bits of `mask` from `turn` upward, then those below.
fn rotated(mask: u64, turn: u32) -> impl Iterator<Item = usize> {
    let mut upper = mask & (u64::MAX << turn);
    let mut lower = mask & !(u64::MAX << turn);
    std::iter::from_fn(move || {
        let bits = if upper != 0 { &mut upper } else { &mut lower };
        if *bits == 0 {
            return None;
        }
        let index = bits.trailing_zeros() as usize;
        *bits &= *bits - 1;
        Some(index)
    })
}

#[cfg(test)]
#[path = "gddr_tests.rs"]
mod tests;
