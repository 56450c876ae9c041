//! How far apart commands have to be, and how long their data takes.

use crate::time::Tick;
use warpsim_machine::Dram;

/// Clocks from one event of a channel to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distances {
    /// What a burst takes on the data bus.
    pub(super) burst: u64,
    /// Between column commands, and between those to one bank group.
    pub(super) column_to_column: u64,
    pub(super) column_to_column_in_group: u64,
    /// From a write command to a read command: write latency, burst, then CDLR.
    pub(super) write_to_read: u64,
    /// From a read to a write command: the write's data must follow the read's with two
    /// clocks to turn the bus round.
    pub(super) read_to_write: u64,
    /// From a write command to a precharge: write latency, burst, then write recovery.
    pub(super) write_to_precharge: u64,
    /// From a read command to a precharge of the same bank, the burst, and of the same bank group.
    pub(super) read_to_precharge: u64,
    pub(super) read_to_precharge_in_group: u64,
    pub(super) precharge_to_activate: u64,
    pub(super) activate_to_read: u64,
    /// From activate to write: its data comes `wl` clocks after the command, so the command
    /// may go that much before the row is there.
    pub(super) activate_to_write: u64,
    pub(super) activate_to_precharge: u64,
    /// Between activates of any two banks, and of one.
    pub(super) activate_to_activate: u64,
    pub(super) activate_to_activate_of_bank: u64,
    /// From a read command until its sector is back, and from a write command until it is over.
    pub(super) read_to_done: u64,
    pub(super) write_to_done: u64,
}

const BUS_TURN_CLOCKS: u64 = 2;

impl Distances {
    pub(super) fn new(config: &Dram) -> Distances {
        let (t, burst) = (&config.timing, u64::from(config.burst_clocks));
        let [cl, wl, cdlr, wr, rcd] = [t.cl, t.wl, t.cdlr, t.wr, t.rcd].map(u64::from);
        Distances {
            burst,
            column_to_column: t.ccd.into(),
            column_to_column_in_group: t.ccdl.into(),
            write_to_read: wl + burst + cdlr,
            read_to_write: (cl + burst + BUS_TURN_CLOCKS).saturating_sub(wl),
            write_to_precharge: wl + burst + wr,
            read_to_precharge: burst,
            read_to_precharge_in_group: t.rtpl.into(),
            precharge_to_activate: t.rp.into(),
            activate_to_read: rcd,
            activate_to_write: rcd.saturating_sub(wl + 1),
            activate_to_precharge: t.ras.into(),
            activate_to_activate: t.rrd.into(),
            activate_to_activate_of_bank: t.rc.into(),
            read_to_done: cl + if config.returns_early { 1 } else { burst },
            write_to_done: wl + burst,
        }
    }
}

/// The first clocks for commands, as far as what was sent to other banks decides.
#[derive(Clone, Debug)]
pub(super) struct Earliest {
    pub(super) column: Tick,
    pub(super) read: Tick,
    pub(super) write: Tick,
    pub(super) activate: Tick,
    /// Column command and precharge by bank group.
    pub(super) column_in: Vec<Tick>,
    pub(super) precharge_in: Vec<Tick>,
}

impl Earliest {
    /// Any time, with so many bank groups.
    pub(super) fn new(groups: usize) -> Earliest {
        Earliest {
            column: Tick::ZERO,
            read: Tick::ZERO,
            write: Tick::ZERO,
            activate: Tick::ZERO,
            column_in: vec![Tick::ZERO; groups],
            precharge_in: vec![Tick::ZERO; groups],
        }
    }
}
