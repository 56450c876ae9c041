//! Which command goes out, and what it means for those to come.

use super::bank::{Bank, NONE};
use super::{Flying, Gddr};
use crate::stats::DramCounters;
use crate::time::Tick;

impl Gddr {
    /// Sends the first command that is legal in clock `tick`, if one is, and finds out when to
    /// look again.
    #[inline]
    pub(super) fn command(&mut self, tick: Tick, flying: &mut Flying, stats: &mut DramCounters) {
        if self.idle_with_work != 0 && self.taken_in != tick {
            self.take_request(tick, stats);
        }
        let mut next = Tick::NEVER;
        let issued = if self.row_beside_column {
            self.both_commands(tick, &mut next, flying, stats)
        } else {
            self.column_command(tick, &mut next, flying, stats)
                || self.row_command(tick, &mut next, stats)
        };
        self.next_command = if self.column | self.row | self.idle_with_work == 0 {
            Tick::NEVER
        } else if issued || self.idle_with_work != 0 {
            tick + 1
        } else {
            next
        };
    }

    /// No command is legal before this clock where every bank with requests has a current one.
    pub(super) fn no_command_before(&self) -> Tick {
        let mut clock = if self.column != 0 {
            self.earliest.column
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
                .max(self.earliest.precharge_in[usize::from(bank.group)])
        } else {
            bank.activate_at.max(self.earliest.activate)
        }
    }

    /// Gives a bank without a current request its next one: one per clock, banks in turn.
    #[inline(always)]
    pub(super) fn take_request(&mut self, tick: Tick, stats: &mut DramCounters) {
        self.taken_in = tick;
        let Some(index) = rotated(self.idle_with_work, self.turn).next() else {
            return;
        };
        self.turn = self.after(self.turn as usize);
        self.idle_with_work &= !(1 << index);
        let bank = &mut self.banks[index];
        if bank.take_next(&mut self.entries) {
            // A bank without a current request never has its row closed.
            self.column |= 1 << index;
            stats.row_hits += 1;
        } else {
            // The row that is still open is not the one the bank now works on.
            self.row |= 1 << index;
            stats.row_misses += 1;
        }
        self.queued -= 1;
    }

    /// Sends a column command if one is legal; else lowers `next` to when one may be.
    #[inline]
    fn column_command(
        &mut self,
        tick: Tick,
        next: &mut Tick,
        flying: &mut Flying,
        stats: &mut DramCounters,
    ) -> bool {
        if self.column == 0 {
            return false;
        }
        if self.earliest.column > tick {
            *next = (*next).min(self.earliest.column);
            return false;
        }
        for index in rotated(self.column, self.turn) {
            let ready = self.column_command_at(&self.banks[index]);
            if ready <= tick {
                self.issue_column(tick, index, flying, stats);
                self.turn = self.after(index);
                return true;
            }
            *next = (*next).min(ready);
        }
        false
    }

    /// The first clock for the column command that the bank needs, other banks' aside.
    #[inline]
    fn column_command_at(&self, bank: &Bank) -> Tick {
        let ready = if bank.writes {
            bank.write_at.max(self.earliest.write)
        } else {
            bank.read_at.max(self.earliest.read)
        };
        ready.max(self.earliest.column_in[usize::from(bank.group)])
    }

    /// Asks the banks in turn: the first that can sends a precharge or an activate, and those
    /// behind it may still send a column command. Without any, lowers `next` to when one may go.
    fn both_commands(
        &mut self,
        tick: Tick,
        next: &mut Tick,
        flying: &mut Flying,
        stats: &mut DramCounters,
    ) -> bool {
        let mut row_sent = false;
        for index in rotated(self.column | self.row, self.turn) {
            let bank = &self.banks[index];
            if self.column >> index & 1 != 0 {
                let ready = self.column_command_at(bank).max(self.earliest.column);
                if ready <= tick {
                    self.issue_column(tick, index, flying, stats);
                    return true;
                }
                *next = (*next).min(ready);
            } else if !row_sent {
                let ready = self.row_command_at(bank);
                row_sent = ready <= tick;
                if row_sent {
                    self.issue_row(tick, index, stats);
                } else {
                    *next = (*next).min(ready);
                }
            }
        }
        row_sent
    }

    fn issue_column(
        &mut self,
        tick: Tick,
        index: usize,
        flying: &mut Flying,
        stats: &mut DramCounters,
    ) {
        let (distances, earliest) = (&self.distances, &mut self.earliest);
        let bank = &mut self.banks[index];
        let group = usize::from(bank.group);
        let at = bank.current;
        let entry = self.entries.get_mut(at);
        let request = entry.request;
        earliest.column = tick + distances.column_to_column;
        earliest.column_in[group] = tick + distances.column_to_column_in_group;
        stats.busy_clocks += distances.burst;
        let to_precharge = if request.write {
            earliest.read = tick + distances.write_to_read;
            distances.write_to_precharge
        } else {
            earliest.write = tick + distances.read_to_write;
            earliest.precharge_in[group] = tick + distances.read_to_precharge_in_group;
            distances.read_to_precharge
        };
        bank.precharge_at = bank.precharge_at.max(tick + to_precharge);
        entry.bursts -= 1;
        if entry.bursts > 0 {
            return;
        }
        let bit = 1u64 << index;
        self.column &= !bit;
        bank.current = NONE;
        if bank.has_waiting() {
            self.idle_with_work |= bit;
        }
        self.entries.release(at);
        let to_done = if request.write {
            stats.writes += 1;
            stats.write_bytes += u64::from(request.bytes);
            distances.write_to_done
        } else {
            stats.reads += 1;
            stats.read_bytes += u64::from(request.bytes);
            distances.read_to_done
        };
        flying.push(tick + to_done, &request);
    }

    /// Sends a precharge or activate if one is legal; else lowers `next` to when one may be.
    #[inline]
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
            self.issue_row(tick, index, stats);
            return true;
        }
        false
    }

    fn issue_row(&mut self, tick: Tick, index: usize, stats: &mut DramCounters) {
        let (bank, distances) = (&mut self.banks[index], &self.distances);
        if bank.open {
            bank.open = false;
            bank.activate_at = bank.activate_at.max(tick + distances.precharge_to_activate);
            stats.precharges += 1;
        } else {
            bank.open = true;
            bank.read_at = tick + distances.activate_to_read;
            bank.write_at = tick + distances.activate_to_write;
            bank.precharge_at = bank
                .precharge_at
                .max(tick + distances.activate_to_precharge);
            bank.activate_at = tick + distances.activate_to_activate_of_bank;
            self.earliest.activate = tick + distances.activate_to_activate;
            self.row &= !(1 << index);
            self.column |= 1 << index;
            stats.activates += 1;
        }
        self.turn = self.after(index);
    }

    /// The bank behind this one.
    #[inline]
    fn after(&self, index: usize) -> u32 {
        match index + 1 {
            next if next < self.banks.len() => next as u32,
            _ => 0,
        }
    }
}

/// The set bits of `mask` from `turn` upward, then those below.
#[inline]
fn rotated(mask: u64, turn: u32) -> impl Iterator<Item = usize> {
    let mut left = mask.rotate_right(turn);
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let index = (left.trailing_zeros() + turn) as usize % 64;
        left &= left - 1;
        Some(index)
    })
}
