//! Which registers of which warp are owed by an instruction in flight. Registers are tracked
//! by name, so that slot reuse in the simulator makes no hazards the hardware has not.

use super::opinfo::OpInfo;

/// The scoreboard of an SM.
#[derive(Debug, Default)]
pub struct Scoreboard {
    words: usize,
    /// For each warp, a bit for each register: owed.
    owed: Vec<u64>,
    /// Owed by memory.
    by_memory: Vec<u64>,
    /// Owed by a load that takes long.
    by_long: Vec<u64>,
}

/// What holds an instruction back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hazard {
    /// Something it reads or writes is owed.
    pub any: bool,
    /// Some of that by memory.
    pub memory: bool,
    /// It reads a register owed by a long load.
    pub long: bool,
}

impl Scoreboard {
    /// An empty scoreboard for `slots` warps and `registers` register names.
    pub fn reset(&mut self, slots: usize, registers: usize) {
        self.words = registers.div_ceil(64).max(1);
        for set in [&mut self.owed, &mut self.by_memory, &mut self.by_long] {
            set.clear();
            set.resize(slots * self.words, 0);
        }
    }

    #[inline]
    fn at(&self, slot: u16, register: u16) -> (usize, u64) {
        (
            slot as usize * self.words + register as usize / 64,
            1 << (register % 64),
        )
    }

    /// What holds back an instruction of `slot`.
    #[inline]
    pub fn check(&self, slot: u16, info: &OpInfo) -> Hazard {
        let mut hazard = Hazard::default();
        for &register in info.hazards.iter() {
            let (word, bit) = self.at(slot, register);
            if self.owed[word] & bit != 0 {
                hazard.any = true;
                hazard.memory |= self.by_memory[word] & bit != 0;
            }
        }
        if hazard.memory {
            hazard.long = info.sources.iter().any(|&register| {
                let (word, bit) = self.at(slot, register);
                self.by_long[word] & bit != 0
            });
        }
        hazard
    }

    /// An instruction of `slot` has issued: it owes its destinations.
    #[inline]
    pub fn reserve(&mut self, slot: u16, info: &OpInfo) {
        for &register in info.writes.iter() {
            let (word, bit) = self.at(slot, register);
            self.owed[word] |= bit;
            if info.unit == super::opinfo::Unit::Mem {
                self.by_memory[word] |= bit;
                if info.long {
                    self.by_long[word] |= bit;
                }
            }
        }
    }

    /// The destinations are written.
    #[inline]
    pub fn release(&mut self, slot: u16, info: &OpInfo) {
        for &register in info.writes.iter() {
            let (word, bit) = self.at(slot, register);
            self.owed[word] &= !bit;
            self.by_memory[word] &= !bit;
            self.by_long[word] &= !bit;
        }
    }
}
