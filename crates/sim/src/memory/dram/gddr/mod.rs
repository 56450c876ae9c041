//! A GDDR channel: banks with open rows behind one command bus and one data bus, scheduled
//! first-ready first-come-first-served.
//!
//! Each bank works on one request at a time, its *current* one. When it has none it takes the
//! oldest request to the row it last worked on, and only when there is none the oldest of
//! all: a row is drained before it is closed, without a cap. Requests of a bank wait in two
//! lists, those to that row and the rest, so nothing is searched but when the row changes.
//!
//! Each clock one command goes out: a column command if any bank can, else an activate or a
//! precharge, round robin over banks after the last one served. (Or banks are asked in turn, for an
//! activate or precharge until one goes out and for a column command until one does, and only the
//! former pass the turn on: `row_beside_column`.) Between commands the channel
//! sleeps until a clock at which some bank's next command may be legal. A request is
//! complete when its last burst has left the bus.

mod bank;
mod command;
mod flying;
mod timing;

use super::{Done, DramRequest};
use crate::config::Dram;
use crate::memory::divide::Divisor;
use crate::memory::stats::DramCounters;
use crate::time::Tick;
use bank::{Bank, Entries, NONE};
use flying::Flying;
use timing::{Distances, Earliest};

/// One channel's banks, queue and buses. Times are DRAM clocks.
#[derive(Clone, Debug)]
pub struct Gddr {
    distances: Distances,
    burst_bytes: Divisor,
    row_beside_column: bool,
    capacity: u32,
    queued: u32,
    entries: Entries,
    banks: Vec<Bank>,
    earliest: Earliest,
    /// Banks without a current request that have some waiting; banks whose next command is a
    /// column command; banks that must activate or precharge first. One bit each.
    idle_with_work: u64,
    column: u64,
    row: u64,
    /// The bank that is asked first.
    turn: u32,
    /// The clock in which a bank was given a request last.
    taken_in: Tick,
    /// The next clock in which a command may go out.
    next_command: Tick,
    /// Reads and writes on their way.
    flying: Flying,
    /// The read whose last command has gone out in the last clock, and the clock in which it completes.
    sent: Option<(Tick, Done)>,
}

impl Gddr {
    /// An idle channel with all rows closed.
    pub fn new(config: &Dram) -> Gddr {
        let banks = config.banks.clamp(1, 64) as usize;
        let groups = config.bank_groups.max(1) as usize;
        // A bank's current request has left the queue but still has an entry.
        let entries = config.queue.max(1) as usize + banks;
        Gddr {
            distances: Distances::new(config),
            burst_bytes: Divisor::new(u64::from(config.burst_bytes.max(1))),
            row_beside_column: config.row_beside_column,
            capacity: config.queue.max(1),
            queued: 0,
            entries: Entries::new(entries),
            banks: (0..banks)
                .map(|index| Bank::new((index % groups) as u16))
                .collect(),
            earliest: Earliest::new(groups),
            idle_with_work: 0,
            column: 0,
            row: 0,
            turn: 0,
            taken_in: Tick::NEVER,
            next_command: Tick::NEVER,
            flying: Flying::new(),
            sent: None,
        }
    }

    /// The queue has no room.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.queued >= self.capacity
    }

    /// Nothing queued and nothing on its way.
    pub fn is_empty(&self) -> bool {
        self.column | self.row | self.idle_with_work == 0 && self.flying.is_empty()
    }

    /// Requests waiting for their bank.
    pub fn queued(&self) -> u32 {
        self.queued
    }

    /// Puts a request in the queue in clock `tick`; the scheduler sees it in the next one.
    #[inline]
    pub fn push(&mut self, tick: Tick, request: DramRequest) {
        let bursts = self.burst_bytes.divide_up(u64::from(request.bytes)) as u32;
        let at = self.entries.insert(request, bursts.max(1));
        self.queued += 1;
        let index = match usize::from(request.bank) {
            index if index < self.banks.len() => index,
            beyond => beyond % self.banks.len(),
        };
        let bank = &mut self.banks[index];
        bank.wait(&mut self.entries, at);
        if bank.current == NONE {
            self.idle_with_work |= 1 << index;
            self.next_command = self.next_command.min(tick + 1);
        }
    }

    /// A request that has completed by `tick`: reads first, each kind in order.
    #[inline]
    pub fn completed(&mut self, tick: Tick) -> Option<Done> {
        self.flying.completed(tick)
    }

    /// The next clock in which a command may go out.
    #[inline]
    pub fn next_command(&self) -> Tick {
        self.next_command
    }

    /// The next clock in which a request completes, and the one in which the last does.
    #[inline]
    pub fn next_done(&self) -> Tick {
        self.flying.next()
    }

    /// See [`next_done`](Gddr::next_done).
    #[inline]
    pub fn last_done(&self) -> Tick {
        self.flying.last()
    }

    /// No read that is sent a command in clock `tick` or later completes before this clock.
    #[inline]
    pub fn no_read_before(&self, tick: Tick) -> Tick {
        tick.saturating_add(self.distances.read_to_done)
    }

    /// Sends at most one command in clock `tick`. If it is the last that a read needs, returns when that completes.
    #[inline]
    pub fn step(&mut self, tick: Tick, stats: &mut DramCounters) -> Option<(Tick, Done)> {
        if tick < self.next_command {
            return None;
        }
        self.command(tick, stats);
        self.sent.take()
    }

    /// At the end of clock `tick`, after the last push: does what the next clock would begin with
    /// and finds out whether it has anything else to do.
    #[inline]
    pub fn look_ahead(&mut self, tick: Tick, stats: &mut DramCounters) {
        if self.next_command == tick + 1 {
            if self.idle_with_work != 0 {
                self.take_request(tick + 1, stats);
            }
            if self.idle_with_work == 0 {
                self.next_command = self.no_command_before().max(tick + 1);
            }
        }
    }
}

#[cfg(test)]
#[path = "gddr_tests.rs"]
mod tests;
