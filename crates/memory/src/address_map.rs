//! Which channel, L2 slice, DRAM bank and row an address belongs to.
//!
//! Consecutive chunks of `interleave` bytes go to consecutive channels, and the chunks of a
//! channel to its slices in turn. What is left after taking the channel out is the channel
//! address (on the GTX 480 `((addr >> 8) / 6) << 8 | addr & 255`); taking the slice out as
//! well gives the slice address, which indexes the L2's sets. A row of DRAM is contiguous in
//! the channel address but for the slice bits: those are the lowest bank bits, so that each
//! slice has banks of its own. With 16 banks, two slices and 4 KB rows the bank is bits
//! {15, 14, 13, 8} of the channel address and the row bits 16 and up.

use super::divide::Divisor;
use warpsim_machine::Machine;

/// Where an address lives on the way to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// L2 slice, counted over the whole GPU; slices of a channel are neighbours.
    pub slice: u32,
    /// Address within the slice.
    pub local: u64,
}

/// Where an address lives within a DRAM channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramLocation {
    /// Bank.
    pub bank: u32,
    /// Row of that bank.
    pub row: u64,
}

/// The address mapping of a machine.
#[derive(Clone, Copy, Debug)]
pub struct AddressMap {
    channels: Divisor,
    slices: Divisor,
    interleave: Divisor,
    row_bytes: Divisor,
    /// Banks that a slice has to itself.
    banks_per_slice: Divisor,
}

impl AddressMap {
    /// The mapping that `machine` describes.
    pub fn new(machine: &Machine) -> AddressMap {
        let slices = u64::from(machine.l2.slices_per_channel.max(1));
        AddressMap {
            channels: Divisor::new(u64::from(machine.dram.channels.max(1))),
            slices: Divisor::new(slices),
            interleave: Divisor::new(u64::from(machine.dram.interleave.max(1))),
            row_bytes: Divisor::new(u64::from(machine.dram.row_bytes.max(1))),
            banks_per_slice: Divisor::new((u64::from(machine.dram.banks) / slices).max(1)),
        }
    }

    /// Slices of the whole GPU.
    pub fn slices(&self) -> usize {
        (self.channels.get() * self.slices.get()) as usize
    }

    /// Slice and slice address of a global address.
    pub fn locate(&self, addr: u64) -> Location {
        let (chunk, low) = self.interleave.divide(addr);
        let (rest, channel) = self.channels.divide(chunk);
        let (rest, slice) = self.slices.divide(rest);
        Location {
            slice: (channel * self.slices.get() + slice) as u32,
            local: rest * self.interleave.get() + low,
        }
    }

    /// The global address of a slice address: the inverse of [`AddressMap::locate`], which proves
    /// that no two addresses share a place.
    #[cfg(test)]
    pub fn global(&self, at: Location) -> u64 {
        let (channel, slice) = self.slices.divide(u64::from(at.slice));
        let (rest, low) = self.interleave.divide(at.local);
        let chunk = (rest * self.slices.get() + slice) * self.channels.get() + channel;
        chunk * self.interleave.get() + low
    }

    /// Bank and row of a slice address.
    pub fn dram(&self, at: Location) -> DramLocation {
        // In the slice address the slice bits are gone, so columns are contiguous, then
        // banks, then rows.
        let (row_in_slice, _) = self.row_bytes.divide(at.local);
        let (row, bank_in_slice) = self.banks_per_slice.divide(row_in_slice);
        let (_, slice) = self.slices.divide(u64::from(at.slice));
        DramLocation {
            bank: (bank_in_slice * self.slices.get() + slice) as u32,
            row,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::gtx480;

    #[test]
    fn gtx480_follows_the_documented_bits() {
        let map = AddressMap::new(&gtx480());
        let mut addr = 0x1234_5678_u64;
        for _ in 0..10_000 {
            addr = addr.wrapping_mul(6364136223846793005).wrapping_add(97) % (1 << 34);
            let channel = (addr >> 8) % 6;
            let a = (((addr >> 8) / 6) << 8) | (addr & 255);
            let at = map.locate(addr);
            assert_eq!(u64::from(at.slice), 2 * channel + (a >> 8 & 1));
            let without_bit_8 = ((a >> 9) << 8) | (a & 255);
            assert_eq!(at.local, without_bit_8);
            let dram = map.dram(at);
            let bank = (a >> 13 & 7) << 1 | (a >> 8 & 1);
            assert_eq!(u64::from(dram.bank), bank);
            assert_eq!(dram.row, a >> 16);
            assert_eq!(map.global(at), addr);
        }
    }

    #[test]
    fn one_channel_with_one_slice_keeps_the_address() {
        let mut machine = gtx480();
        machine.dram.channels = 1;
        machine.l2.slices_per_channel = 1;
        let map = AddressMap::new(&machine);
        let at = map.locate(0xdead_beef);
        assert_eq!((at.slice, at.local), (0, 0xdead_beef));
        assert_eq!(map.slices(), 1);
    }
}
