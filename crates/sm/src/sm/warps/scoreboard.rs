//! Which registers of which warp are owed by an instruction in flight. Registers are tracked
//! by name, so that slot reuse in the simulator makes no hazards the hardware has not.

use crate::sm::facts::{OpFacts, RegisterWord};

/// A word of registers of a warp, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// A launch has ended and nothing has been owed since: all words are clear.
    settled: bool,
    /// Something is owed that no instruction in flight will give back.
    lasting: bool,
}

/// What holds an instruction back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hazard {
    /// Something it reads or writes is owed.
    pub any: bool,
    /// Some of that by memory.
    pub memory: bool,
    /// The instruction reads a register owed by a long load.
    pub long: bool,
}

impl Scoreboard {
    /// An empty scoreboard for `slots` warps and `registers` register names.
    pub fn reset(&mut self, slots: usize, registers: usize) {
        self.words = registers.div_ceil(64).max(1);
        if !std::mem::take(&mut self.settled) {
            self.owed.clear();
            self.lasting = false;
        }
        debug_assert!(self.owed.iter().all(|word| *word == Owed::default()));
        let words = slots * self.words;
        self.owed
            .resize(words.max(self.owed.len()), Owed::default());
    }

    /// A launch has ended: everything that was in flight has given back what it owed.
    pub fn settle(&mut self) {
        self.settled = !self.lasting;
    }

    /// What holds back an instruction of `slot`.
    #[inline(always)]
    pub fn check(&self, slot: u16, facts: &OpFacts) -> Hazard {
        let part = &facts.registers;
        let owed = self.word(slot, part);
        let parts = part.reads | part.writes;
        let mut hazard = Hazard::default();
        // Most often nothing is owed, and most instructions have one word.
        if owed.any & parts != 0 {
            hazard = Hazard {
                any: true,
                memory: owed.memory & parts != 0,
                long: owed.long & part.reads != 0,
            };
        }
        if let Some(further) = facts.further() {
            self.check_further(slot, &further.registers, &mut hazard);
        }
        hazard
    }

    /// Whether something holds back an instruction of `slot`, if none of that is owed by memory and most of its
    /// kind need not look further.
    #[inline(always)]
    pub fn glance(&self, slot: u16, facts: &OpFacts) -> Option<bool> {
        let part = &facts.registers;
        let owed = self.word(slot, part);
        let parts = part.reads | part.writes;
        if owed.memory & parts != 0 || facts.further().is_some() {
            return None;
        }
        Some(owed.any & parts != 0)
    }

    /// Whether the same registers are owed to two warps.
    #[inline]
    pub fn owes_alike(&self, a: u16, b: u16) -> bool {
        self.words_of(a) == self.words_of(b)
    }

    /// What is owed to one warp is owed to another.
    #[inline]
    pub fn copy(&mut self, from: u16, to: u16) {
        let (from, to) = (from as usize * self.words, to as usize * self.words);
        for word in 0..self.words {
            self.owed[to + word] = self.owed[from + word];
        }
    }

    #[inline]
    fn words_of(&self, slot: u16) -> &[Owed] {
        let from = slot as usize * self.words;
        &self.owed[from..from + self.words]
    }

    #[inline]
    fn check_further(&self, slot: u16, registers: &[RegisterWord], hazard: &mut Hazard) {
        for part in registers {
            let owed = self.word(slot, part);
            let parts = part.reads | part.writes;
            hazard.any |= owed.any & parts != 0;
            hazard.memory |= owed.memory & parts != 0;
            hazard.long |= owed.long & part.reads != 0;
        }
    }

    #[inline(always)]
    fn word(&self, slot: u16, part: &RegisterWord) -> &Owed {
        &self.owed[slot as usize * self.words + part.word as usize]
    }

    #[inline(always)]
    fn word_mut(&mut self, slot: u16, part: &RegisterWord) -> &mut Owed {
        &mut self.owed[slot as usize * self.words + part.word as usize]
    }

    /// Register number `register` is owed to `slot`, or not any more.
    pub fn owe(&mut self, slot: u16, register: usize, owed: bool) {
        let word = &mut self.owed[slot as usize * self.words + register / 64];
        super::domain::assign(&mut word.any, (register % 64) as u8, owed);
        self.lasting = true;
    }

    /// An instruction of `slot` has issued: it owes its destinations.
    #[inline(always)]
    pub fn reserve(&mut self, slot: u16, facts: &OpFacts) {
        self.reserve_word(slot, &facts.registers, facts);
        if facts.further().is_some() {
            for part in facts.further_written() {
                self.reserve_word(slot, part, facts);
            }
        }
    }

    #[inline(always)]
    fn reserve_word(&mut self, slot: u16, part: &RegisterWord, facts: &OpFacts) {
        let word = self.word_mut(slot, part);
        word.any |= part.writes;
        if facts.is_memory() {
            word.memory |= part.writes;
            word.long |= if facts.long { part.writes } else { 0 };
        }
    }

    /// The destinations are written.
    #[inline(always)]
    pub fn release(&mut self, slot: u16, facts: &OpFacts) {
        self.release_word(slot, &facts.registers, facts);
        if facts.further().is_some() {
            for part in facts.further_written() {
                self.release_word(slot, part, facts);
            }
        }
    }

    #[inline(always)]
    fn release_word(&mut self, slot: u16, part: &RegisterWord, facts: &OpFacts) {
        let word = self.word_mut(slot, part);
        word.any &= !part.writes;
        // Only memory sets these, and no other instruction writes what it owes meanwhile.
        if facts.is_memory() {
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
        facts.all_registers().flat_map(move |part| {
            let owed = self.owed[base + part.word as usize].any & (part.reads | part.writes);
            let bits = (0..64).filter(move |b| owed >> b & 1 != 0);
            bits.map(|b| part.word as usize * 64 + b)
        })
    }
}
