//! Collectors that read a banked register file: how they are taken, get their sources from the banks, and leave.

use super::{
    ALL, COLLECTED, COMPLETE, CollectorUnit, Collectors, GROUPS, MOST_COLLECTORS, READING, WAITING,
    number_of,
};
use crate::sm::facts::{Banks, OpFacts};

/// Reads of a collector that wait at different banks. One that reads a bank several times has
/// as many of these, one behind the other.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// Its number among all.
    pub collector: u16,
    /// The banks, as in [`Banks::of`].
    pub banks: u64,
}

impl Collectors {
    /// One cycle.
    #[inline(always)] // its one caller is the cycle
    pub(super) fn move_on(&mut self, facts: &[OpFacts]) {
        if self.wants & self.may & (ALL * COMPLETE) != 0 {
            self.dispatch();
        }
        if self.wants & READING != 0 {
            self.read();
        }
        if self.wants & self.may & (ALL * WAITING) != 0 {
            self.allocate(facts);
        }
    }

    /// Complete collectors move on, as far as there is room behind.
    #[inline(always)]
    fn dispatch(&mut self) {
        let mut moving = self.wants & self.may & (ALL * COMPLETE);
        while moving != 0 {
            let bit = moving & moving.wrapping_neg();
            moving ^= bit;
            let g = (bit / COMPLETE).trailing_zeros() as usize;
            let group = &mut self.groups[g % GROUPS];
            for last in &mut group.last {
                let later = group.complete & (!0 << *last << 1);
                let next = if later != 0 { later } else { group.complete };
                let unit = next.trailing_zeros() as u8 % 64;
                *last = unit;
                group.complete ^= 1 << unit;
                group.free |= 1 << unit;
                group.behind.push(self.units[number_of(g, unit)].op);
                if group.complete == 0 || group.behind.count >= group.ports {
                    break; // there are no more registers behind than ports
                }
            }
            if group.complete == 0 {
                self.wants ^= bit;
            }
            if group.behind.count >= group.ports {
                self.may ^= bit;
            }
            self.wants |= COLLECTED << g;
            self.may |= WAITING << g;
        }
    }

    /// Every bank that is not written serves its oldest read.
    #[inline(always)]
    fn read(&mut self) {
        if let [only] = self.readers[..]
            && only.banks & self.written == 0
        {
            self.readers.clear();
            self.wants &= !READING;
            return self.served(only.collector);
        }
        let Collectors {
            readers,
            units,
            groups,
            wants,
            ..
        } = self;
        let mut taken = self.written;
        readers.retain_mut(|reader| {
            let unserved = reader.banks & taken;
            taken |= reader.banks;
            if unserved != 0 {
                reader.banks = unserved;
                return true;
            }
            let collector = reader.collector as usize % (GROUPS * MOST_COLLECTORS);
            let unit = &mut units[collector];
            unit.reading -= 1;
            if unit.reading == 0 {
                let (g, at) = (collector / MOST_COLLECTORS, collector % MOST_COLLECTORS);
                groups[g].complete |= 1 << at;
                *wants |= COMPLETE << g;
            }
            false
        });
        if readers.is_empty() {
            *wants &= !READING;
        }
    }

    /// One of the entries of a collector among the readers has been served.
    #[inline]
    fn served(&mut self, collector: u16) {
        let collector = collector as usize % (GROUPS * MOST_COLLECTORS);
        let unit = &mut self.units[collector];
        unit.reading -= 1;
        if unit.reading == 0 {
            let (g, at) = (collector / MOST_COLLECTORS, collector % MOST_COLLECTORS);
            self.groups[g].complete |= 1 << at;
            self.wants |= COMPLETE << g;
        }
    }

    /// Waiting instructions take free collectors and ask the banks for their sources.
    #[inline(always)]
    fn allocate(&mut self, facts: &[OpFacts]) {
        let mut moving = self.wants & self.may & (ALL * WAITING);
        while moving != 0 {
            let bit = moving & moving.wrapping_neg();
            moving ^= bit;
            let g = bit.trailing_zeros() as usize;
            let group = &mut self.groups[g % GROUPS];
            // No more than the ports wait.
            while group.before.count != 0 && group.free != 0 {
                let op = group.before.pop();
                let unit = group.free.trailing_zeros() as u8 % 64;
                group.free &= group.free - 1;
                let its = &facts[op.pc as usize];
                let collector = number_of(g, unit);
                self.units[collector] = CollectorUnit {
                    op,
                    reading: its.reads,
                };
                if its.reads == 0 {
                    group.complete |= 1 << unit;
                    self.wants |= COMPLETE << g;
                    continue;
                }
                self.wants |= READING;
                self.readers.push(Reader {
                    collector: collector as u16,
                    banks: its.read_banks.of(op.slot),
                });
                if its.reads > 1 {
                    read_again(&mut self.readers, collector as u16, op.slot, its);
                }
            }
            if group.before.count == 0 {
                self.wants ^= bit;
            }
            if group.free == 0 {
                self.may ^= bit;
            }
            self.room |= bit as u32; // at least one has left
        }
    }
}

/// The further reads of an instruction that reads a bank several times.
#[inline(never)]
fn read_again(readers: &mut Vec<Reader>, collector: u16, slot: u16, facts: &OpFacts) {
    let reader = |banks: &Banks| Reader {
        collector,
        banks: banks.of(slot),
    };
    let again = facts.further().map_or(&[][..], |f| &f.read_again);
    readers.extend(again.iter().map(reader));
}
