//! Collectors that read a banked register file: how they are taken, get their sources from the banks, and leave.

use super::{ALL, COLLECTED, COMPLETE, Collectors, GROUPS, MOST_COLLECTORS, READING, WAITING};
use crate::sm::facts::{Banks, OpFacts};

/// Reads of a collector that wait at different banks. One that reads a bank several times has
/// as many of these, one behind the other.
#[derive(Clone, Copy, Debug)]
struct Reader {
    /// Its number among all: that of its group, and that in it in the low bits.
    collector: u16,
    /// The banks, as in [`Banks::of`].
    banks: u64,
}

/// Those that wait. They come and go in every cycle: their number is kept beside the places that there are for
/// them, as a `Vec` is shortened by a call.
#[derive(Debug, Default)]
pub struct Readers {
    /// The first so many places are taken, oldest first.
    count: usize,
    places: Vec<Reader>,
}

impl Readers {
    #[inline(always)]
    fn push(&mut self, reader: Reader) {
        match self.places.get_mut(self.count) {
            Some(place) => *place = reader,
            None => self.places.push(reader),
        }
        self.count += 1;
    }
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
                group.behind.push(group.units[unit as usize].op);
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
        let Collectors {
            readers,
            groups,
            wants,
            written,
            ..
        } = self;
        let (mut taken, mut kept) = (*written, 0);
        let all = &mut readers.places[..readers.count];
        for at in 0..all.len() {
            let Reader { collector, banks } = all[at];
            let unserved = banks & taken;
            taken |= banks;
            if unserved != 0 {
                all[kept] = Reader {
                    collector,
                    banks: unserved,
                };
                kept += 1;
                continue;
            }
            let (g, unit) = (
                collector as usize / MOST_COLLECTORS % GROUPS,
                collector as usize % MOST_COLLECTORS,
            );
            let group = &mut groups[g];
            let reading = &mut group.units[unit].reading;
            *reading -= 1;
            if *reading == 0 {
                group.complete |= 1 << unit;
                *wants |= COMPLETE << g;
            }
        }
        readers.count = kept;
        if kept == 0 {
            *wants &= !READING;
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
                let unit = group.free.trailing_zeros() as usize % MOST_COLLECTORS;
                group.free &= group.free - 1;
                let taken = &mut group.units[unit];
                taken.op = group.before.ops[0];
                group.before.pop();
                let its = &facts[taken.op.pc as usize];
                taken.reading = its.reads;
                if its.reads == 0 {
                    group.complete |= 1 << unit;
                    self.wants |= COMPLETE << g;
                    continue;
                }
                self.wants |= READING;
                let (collector, slot) = ((g * MOST_COLLECTORS + unit) as u16, taken.op.slot);
                self.readers.push(Reader {
                    collector,
                    banks: its.read_banks.of(slot),
                });
                if its.reads > 1 {
                    read_again(&mut self.readers, collector, slot, its);
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
fn read_again(readers: &mut Readers, collector: u16, slot: u16, facts: &OpFacts) {
    let reader = |banks: &Banks| Reader {
        collector,
        banks: banks.of(slot),
    };
    let again = facts.further().map_or(&[][..], |f| &f.read_again);
    again.iter().for_each(|banks| readers.push(reader(banks)));
}
