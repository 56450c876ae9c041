//! Collectors that read a banked register file: how they are taken, get their sources from the banks, and leave.

use super::{
    ALL, COLLECTED, COMPLETE, Collectors, GROUPS, MOST_COLLECTORS, Moves, READING, Registers,
    Takers, WAITING, place_before,
};
use crate::sm::facts::{Banks, OpFacts};

/// Collectors of all groups.
const ALL_COLLECTORS: usize = GROUPS * MOST_COLLECTORS;

/// A reader is not the only one of its collector.
const NOT_ALONE: u16 = 1 << 15;

const _: () = assert!(ALL_COLLECTORS <= NOT_ALONE as usize);

/// Reads of a collector that wait at different banks. One that reads a bank several times has
/// as many of these, one behind the other.
#[derive(Clone, Copy, Debug)]
struct Reader {
    /// Its number among all: that of its group, and that in it in the low bits; perhaps with `NOT_ALONE`.
    collector: u16,
    /// The banks, as in [`Banks::of`].
    banks: u64,
}

/// Instructions that wait for operands. They come and go in every cycle: their number is kept beside the places that there are for
/// them, as a `Vec` is shortened by a call.
#[derive(Debug)]
pub struct Readers {
    /// The first so many places are taken, oldest first.
    count: usize,
    places: Vec<Reader>,
    /// By collector with several: how many.
    of_collector: Box<[u8; ALL_COLLECTORS]>,
}

impl Default for Readers {
    fn default() -> Readers {
        Readers {
            count: 0,
            places: Vec::new(),
            of_collector: Box::new([0; ALL_COLLECTORS]),
        }
    }
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

    /// The readers of an instruction that reads a bank several times.
    #[inline(never)]
    fn push_several(&mut self, first: Reader, slot: u16, facts: &OpFacts) {
        let collector = first.collector | NOT_ALONE;
        self.of_collector[first.collector as usize % ALL_COLLECTORS] = facts.reads;
        self.push(Reader { collector, ..first });
        let reader = |banks: &Banks| Reader {
            collector,
            banks: banks.of(slot),
        };
        let again = facts.further().map_or(&[][..], |f| &f.read_again);
        again.iter().for_each(|banks| self.push(reader(banks)));
    }
}

impl Collectors {
    /// One cycle. Out of line: among all that the cycle keeps there are not enough registers for it.
    #[inline(never)]
    pub(super) fn move_on(&mut self, facts: &[OpFacts], mut units: impl Takers) {
        let mut moving = self.wants & self.may & (ALL * COMPLETE);
        if self.hands_over {
            moving |= (self.wants & self.compute) / (COLLECTED / COMPLETE);
        }
        if moving != 0 {
            self.dispatch(moving, &mut units);
        }
        if self.wants & READING != 0 {
            self.read();
        }
        let moving = self.wants & self.may & (ALL * WAITING);
        if moving != 0 {
            self.allocate(moving, facts);
        }
    }

    /// Complete collectors of these groups (bits for `COMPLETE`) move on, as far as there is room behind.
    #[inline(always)]
    fn dispatch(&mut self, mut moving: Moves, units: &mut impl Takers) {
        loop {
            let g = (moving / COMPLETE).trailing_zeros() as usize % GROUPS;
            self.dispatch_of(g, units);
            moving &= moving - 1;
            if moving == 0 {
                return;
            }
        }
    }

    /// Complete collectors of one group move on. Where the group hands its instructions over, the units take those behind.
    #[inline(always)]
    fn dispatch_of(&mut self, g: usize, units: &mut impl Takers) {
        let waited = self.behind[g].count;
        let complete = self.groups[g].complete;
        if waited == 0 && complete.is_power_of_two() {
            return self.dispatch_one(g, units);
        }
        if waited < self.groups[g].ports && self.groups[g].complete != 0 {
            for port in 0..Registers::MOST {
                self.leave_collector(g, port);
                let (group, behind) = (&self.groups[g], &self.behind[g]);
                if group.complete == 0 || behind.count >= group.ports {
                    break; // there are no more registers behind than ports
                }
            }
            if self.groups[g].complete == 0 {
                self.wants ^= COMPLETE << g;
            }
            self.may |= WAITING << g;
        }
        if self.groups[g].hands_over {
            units.take(&self.groups[g].pipelines, &mut self.behind[g]);
        }
        // Most often nothing was behind, and nothing is.
        if waited | self.behind[g].count != 0 {
            self.note_behind(g);
        }
    }

    /// The only complete collector of a group moves on, with nothing behind it: most often a unit takes its instruction at once.
    #[inline(always)]
    fn dispatch_one(&mut self, g: usize, units: &mut impl Takers) {
        let (group, behind) = (&mut self.groups[g], &mut self.behind[g]);
        let unit = group.complete.trailing_zeros() as usize % MOST_COLLECTORS;
        group.last[0] = unit as u8;
        group.free |= group.complete;
        group.complete = 0;
        self.wants ^= COMPLETE << g;
        self.may |= WAITING << g;
        let op = &self.inside[g * MOST_COLLECTORS + unit];
        if group.hands_over && units.take_one(&group.pipelines, op) {
            return;
        }
        behind.ops[0] = *op;
        behind.count = 1;
        if group.hands_over {
            units.take_further(&group.pipelines, behind);
        }
        if behind.count != 0 {
            self.note_behind(g);
        }
    }

    /// The number of instructions behind the collectors of a group may have changed.
    #[inline]
    fn note_behind(&mut self, g: usize) {
        let behind = self.behind[g].count;
        if behind == 0 {
            self.wants &= !(COLLECTED << g);
        } else {
            self.wants |= COLLECTED << g;
        }
        if behind < self.groups[g].ports {
            self.may |= COMPLETE << g;
        } else {
            self.may &= !(COMPLETE << g);
        }
    }

    /// The next complete collector of a group moves on by a port.
    #[inline(always)]
    fn leave_collector(&mut self, g: usize, port: usize) {
        let group = &mut self.groups[g];
        let last = &mut group.last[port];
        let later = group.complete & (!0 << *last << 1);
        let next = if later != 0 { later } else { group.complete };
        let unit = next.trailing_zeros() as usize % MOST_COLLECTORS;
        *last = unit as u8;
        group.complete ^= 1 << unit;
        group.free |= 1 << unit;
        self.behind[g].push(self.inside[g * MOST_COLLECTORS + unit]);
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
            let (number, alone) = (collector % NOT_ALONE, collector < NOT_ALONE);
            if alone || one_less(&mut readers.of_collector, number) {
                let g = number as usize / MOST_COLLECTORS % GROUPS;
                groups[g].complete |= 1 << (number as usize % MOST_COLLECTORS);
                *wants |= COMPLETE << g;
            }
        }
        readers.count = kept;
        if kept == 0 {
            *wants &= !READING;
        }
    }

    /// Waiting instructions of these groups (bits for `WAITING`) take free collectors and ask the banks for their sources.
    #[inline(always)]
    fn allocate(&mut self, mut moving: Moves, facts: &[OpFacts]) {
        self.room |= moving as u32; // at least one leaves each of them
        while moving != 0 {
            if self.take_collector(moving.trailing_zeros() as usize % GROUPS, facts) {
                moving &= moving - 1;
            }
        }
    }

    /// The first that waits in a group takes a collector. Returns whether no other can.
    #[inline(always)]
    fn take_collector(&mut self, g: usize, facts: &[OpFacts]) -> bool {
        let group = &mut self.groups[g];
        let unit = group.free.trailing_zeros() as usize % MOST_COLLECTORS;
        group.free &= group.free.wrapping_sub(1);
        let op = &self.before[place_before(g, group.took)];
        group.took = group.took.wrapping_add(1);
        let (none, all) = (group.took == group.came, group.free == 0);
        let collector = g * MOST_COLLECTORS + unit;
        let its = &facts[op.pc as usize];
        let slot = op.slot;
        self.inside[collector] = *op;
        if its.reads == 0 {
            group.complete |= 1 << unit;
            self.wants |= COMPLETE << g;
        } else {
            self.wants |= READING;
            let reader = Reader {
                collector: collector as u16,
                banks: its.read_banks.of(slot),
            };
            if its.reads == 1 {
                self.readers.push(reader);
            } else {
                self.readers.push_several(reader, slot, its);
            }
        }
        if none {
            self.wants ^= WAITING << g;
        }
        if all {
            self.may ^= WAITING << g;
        }
        none | all
    }
}

/// A collector with several readers has one less. Returns whether that was the last one.
#[inline(never)]
fn one_less(readers: &mut [u8; ALL_COLLECTORS], collector: u16) -> bool {
    let left = &mut readers[collector as usize % ALL_COLLECTORS];
    *left -= 1;
    *left == 0
}
