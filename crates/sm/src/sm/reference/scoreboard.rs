//! Scoreboard: an instruction issues only when no earlier one of its warp that is still in flight owes a register that
//! it reads or writes.

use super::warp::Warp;
use crate::sm::facts::{OpFacts, RegisterWord};

/// A register that is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owed {
    register: u32,
    /// By an instruction that accesses memory.
    by_memory: bool,
    /// By a load that takes long.
    by_long_load: bool,
}

/// The registers that are owed to a warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    owed: Vec<Owed>,
}

/// What holds an instruction back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hazard {
    /// Something that it reads or writes is owed.
    pub any: bool,
    /// Some of that by memory.
    pub memory: bool,
    /// It reads a register that a long load owes.
    pub long: bool,
}

impl Scoreboard {
    /// No register is owed.
    pub fn is_clear(&self) -> bool {
        self.owed.is_empty()
    }

    /// An instruction has issued: it owes what it writes.
    pub fn reserve(&mut self, facts: &OpFacts) {
        for register in registers(facts, |word| word.writes) {
            self.owed.push(Owed {
                register,
                by_memory: facts.is_memory(),
                by_long_load: facts.is_memory() && facts.long,
            });
        }
    }

    /// The instruction is complete: what it writes is there.
    pub fn release(&mut self, facts: &OpFacts) {
        self.owed
            .retain(|owed| !has(facts, owed.register, |word| word.writes));
    }

    /// A register is owed from now on, or not any more, by no instruction in flight.
    pub fn owe(&mut self, register: u32, owed: bool) {
        self.owed.retain(|other| other.register != register);
        if owed {
            self.owed.push(Owed {
                register,
                by_memory: false,
                by_long_load: false,
            });
        }
    }

    fn check(&self, facts: &OpFacts) -> Hazard {
        let mut hazard = Hazard::default();
        for owed in &self.owed {
            let reads = has(facts, owed.register, |word| word.reads);
            if reads || has(facts, owed.register, |word| word.writes) {
                hazard.any = true;
                hazard.memory |= owed.by_memory;
                hazard.long |= owed.by_long_load && reads;
            }
        }
        hazard
    }
}

impl Warp {
    /// What holds an instruction of the warp back. With `one_in_flight` it waits for all that is in flight.
    pub fn hazard(&self, facts: &OpFacts, one_in_flight: bool) -> Hazard {
        let mut hazard = self.scoreboard.check(facts);
        if one_in_flight {
            hazard.any |= self.in_flight != 0;
            hazard.memory |= self.memory_in_flight != 0;
        }
        hazard
    }
}

/// Whether an instruction has this register among some of its registers.
fn has(facts: &OpFacts, register: u32, some: fn(&RegisterWord) -> u64) -> bool {
    let mut words = facts.all_registers();
    words
        .any(|word| u32::from(word.word) == register / 64 && some(word) >> (register % 64) & 1 != 0)
}

/// Some of an instruction's registers.
fn registers(facts: &OpFacts, some: fn(&RegisterWord) -> u64) -> impl Iterator<Item = u32> {
    let of_word = move |word: &RegisterWord| {
        let (first, set) = (u32::from(word.word) * 64, some(word));
        (0..64)
            .filter(move |bit| set >> bit & 1 != 0)
            .map(move |bit| first + bit)
    };
    facts.all_registers().flat_map(of_word)
}
