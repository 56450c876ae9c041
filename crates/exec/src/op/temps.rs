//! Temporary rows: operands that no register holds as the instruction wants them, and results
//! that go to registers of another width.

use warpsim_ptx::isa::Special;

use super::regs::{Regs, Value, rows_of_temp};
use crate::grid::Grid;
use crate::rows::{words, words_mut};
use crate::state::{LANES, Lanes, Moment, Threads, lanes_of};

/// A temporary row filled before the instruction.
pub(crate) struct Fill {
    pub temp: u8,
    pub wide: bool,
    pub from: FillFrom,
}

/// What fills a temporary row.
pub(crate) enum FillFrom {
    Special(Special),
    /// A 64-bit register at this word offset, of which the low half is used.
    LowHalf(u32),
    /// A 32-bit register zero-extended.
    Extended(u32),
}

/// A temporary row copied to a register of another width after the instruction.
pub(crate) struct Drain {
    pub temp: u8,
    pub to: u32,
    /// The register has 64 bits, the value 32 (else the other way round).
    pub widen: bool,
    pub signed: bool,
}

impl Fill {
    /// Fills the row, also on lanes that do not execute.
    pub fn run(
        &self,
        regs: &mut Regs<'_>,
        lanes: &Lanes,
        threads: &Threads,
        grid: &Grid,
        now: Moment,
    ) {
        let row = words_mut(&mut regs.temps[rows_of_temp(self.temp)]);
        let row = u64::row_mut(row);
        match self.from {
            FillFrom::Special(s) => {
                let values = super::special::values(s, lanes, regs.mask, threads, grid, now);
                self.put(row, |lane| values[lane]);
            }
            FillFrom::LowHalf(at) => {
                let from = u64::row(&words(regs.rows)[at as usize..]);
                self.put(row, |lane| u64::get(from, lane));
            }
            FillFrom::Extended(at) => {
                let from = u32::row(&words(regs.rows)[at as usize..]);
                self.put(row, |lane| u64::from(from[lane]));
            }
        }
    }

    #[inline(always)]
    fn put(&self, row: &mut <u64 as Value>::Row, value: impl Fn(usize) -> u64) {
        match self.wide {
            true => (0..LANES).for_each(|lane| u64::put(row, lane, value(lane))),
            false => (0..LANES).for_each(|lane| row[lane] = value(lane) as u32),
        }
    }
}

impl Drain {
    /// Copies the row, on lanes that execute.
    pub fn run(&self, regs: &mut Regs<'_>) {
        let row = words(&regs.temps[rows_of_temp(self.temp)]);
        for lane in lanes_of(regs.mask) {
            let to = self.to as usize;
            if self.widen {
                let low = row[lane];
                words_mut(regs.rows)[to + 2 * lane] = low;
                words_mut(regs.rows)[to + 2 * lane + 1] = if self.signed {
                    ((low as i32) >> 31) as u32
                } else {
                    0
                };
            } else {
                words_mut(regs.rows)[to + lane] = row[2 * lane];
            }
        }
    }
}
