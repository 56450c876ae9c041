//! What the timing parameters mean for pairs of commands.

use crate::config::DramTiming;

/// Minimum distances in clocks that follow from the timing parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distances {
    /// From a write command to a read command: write latency, burst, then CDLR.
    pub(super) write_to_read: u64,
    /// From a read to a write command: the write's data must follow the read's with two
    /// clocks to turn the bus round.
    pub(super) read_to_write: u64,
    /// From a write command to a precharge: write latency, burst, then write recovery.
    pub(super) write_to_precharge: u64,
    /// From a read command to a precharge of the same bank: the burst.
    pub(super) read_to_precharge: u64,
    /// From activate to write: its data comes `wl` clocks after the command, so the command
    /// may go that much before the row is there.
    pub(super) activate_to_write: u64,
}

const BUS_TURN_CLOCKS: u64 = 2;

impl Distances {
    pub(super) fn new(t: &DramTiming, burst: u64) -> Distances {
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
