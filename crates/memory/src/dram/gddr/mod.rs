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

use super::DramRequest;
use crate::divide::Divisor;
use crate::stats::DramCounters;
use crate::time::Tick;
use bank::{Bank, Entries, NONE};
pub use flying::Flying;
use timing::{Distances, Earliest};
use warpsim_machine::{Dram, GroupBits};

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
}

/// The group of a bank.
fn group_of(index: usize, banks: usize, groups: usize, bits: GroupBits) -> u16 {
    let group = match bits {
        GroupBits::Low => index % groups,
        GroupBits::High => index / (banks / groups).max(1),
    };
    group as u16
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
                .map(|index| Bank::new(group_of(index, banks, groups, config.group_bits)))
                .collect(),
            earliest: Earliest::new(groups),
            idle_with_work: 0,
            column: 0,
            row: 0,
            turn: 0,
            taken_in: Tick::NEVER,
            next_command: Tick::NEVER,
        }
    }

    /// The queue has no room.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.queued >= self.capacity
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

    /// The next clock in which a command may go out.
    #[inline]
    pub fn next_command(&self) -> Tick {
        self.next_command
    }

    /// Clocks from the last command for a read to its completion.
    pub fn read_to_done(config: &Dram) -> u64 {
        Distances::new(config).read_to_done
    }

    /// Sends at most one command in clock `tick`. Requests whose last command is out are `flying`.
    #[inline(always)] // its one caller in the simulation is the channel's tick
    pub fn step(&mut self, tick: Tick, flying: &mut Flying, stats: &mut DramCounters) {
        if tick >= self.next_command {
            self.command(tick, flying, stats);
        }
    }

    /// At the end of clock `tick`, after the last push: does what the next clock would begin with
    /// and finds out whether it has anything else to do.
    #[inline(always)] // as `step`
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
