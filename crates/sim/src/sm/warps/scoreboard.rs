//! Which registers of which warp are owed by an instruction in flight. Registers are tracked
//! by name, so that slot reuse in the simulator makes no hazards the hardware has not.

use crate::sm::facts::{OpFacts, RegisterWord};

/// A word of registers of a warp, a bit each.
#[derive(Clone, Copy, Debug, Default)]
struct Owed {
    /// Owed.
    any: u64,
    /// Owed by memory.
    memory: u64,
    /// Owed by a load that takes long.
    long: u64,
}

/// The scoreboard of an SM.
#[derive(Debug, Default)]
pub struct Scoreboard {
    words: usize,
    /// The words of each warp, one warp's after the other's.
    owed: Vec<Owed>,
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
        self.owed.clear();
        self.owed.resize(slots * self.words, Owed::default());
    }

    /// What holds back an instruction of `slot`.
    #[inline(always)]
    pub fn check(&self, slot: u16, facts: &OpFacts) -> Hazard {
        let base = slot as usize * self.words;
        let word = |part: &RegisterWord| &self.owed[base + part.word as usize];
        let owed = |part: &RegisterWord| word(part).any & (part.reads | part.writes);
        if facts.registers.iter().fold(0, |all, part| all | owed(part)) == 0 {
            return Hazard::default();
        }
        let (mut memory, mut long) = (0, 0);
        for part in facts.registers.iter() {
            memory |= word(part).memory & (part.reads | part.writes);
            long |= word(part).long & part.reads;
        }
        Hazard {
            any: true,
            memory: memory != 0,
            long: long != 0,
        }
    }

    /// Register number `register` is owed to `slot`, or not any more.
    pub fn owe(&mut self, slot: u16, register: usize, owed: bool) {
        let word = &mut self.owed[slot as usize * self.words + register / 64];
        super::domain::assign(&mut word.any, (register % 64) as u8, owed);
    }

    /// An instruction of `slot` has issued: it owes its destinations.
    #[inline]
    pub fn reserve(&mut self, slot: u16, facts: &OpFacts) {
        let by = |yes: bool| u64::from(yes).wrapping_neg();
        let memory = by(facts.is_memory());
        let long = memory & by(facts.long);
        let base = slot as usize * self.words;
        for part in facts.written() {
            let word = &mut self.owed[base + part.word as usize];
            word.any |= part.writes;
            word.memory |= part.writes & memory;
            word.long |= part.writes & long;
        }
    }

    /// The destinations are written.
    #[inline]
    pub fn release(&mut self, slot: u16, facts: &OpFacts) {
        let base = slot as usize * self.words;
        for part in facts.written() {
            let word = &mut self.owed[base + part.word as usize];
            word.any &= !part.writes;
            word.memory &= !part.writes;
            word.long &= !part.writes;
        }
    }

    /// Whether no register of `slot` is owed.
    pub fn is_clear(&self, slot: u16) -> bool {
        let base = slot as usize * self.words;
        let words = &self.owed[base..base + self.words];
        words.iter().all(|word| word.any == 0)
    }

    /// Registers that an instruction of `slot` needs and that are owed.
    pub fn owed<'a>(&'a self, slot: u16, facts: &'a OpFacts) -> impl Iterator<Item = usize> + 'a {
        let base = slot as usize * self.words;
        facts.registers.iter().flat_map(move |part| {
            let owed = self.owed[base + part.word as usize].any & (part.reads | part.writes);
            let bits = (0..64).filter(move |b| owed >> b & 1 != 0);
            bits.map(|b| part.word as usize * 64 + b)
        })
    }
}
