//! Operand collection: instructions wait here until the banked register file has given them
//! their sources. Order within a cycle (as on the reference machine): collectors that are
//! complete leave, every bank serves its oldest read, waiting instructions take free
//! collectors. So an instruction issued at t takes a collector at t+1, reads at t+2 and leaves
//! at t+3, one cycle earlier when it reads no register; sources in one bank take turns, and a
//! bank that is written in a cycle serves no read in it.

use super::opinfo::{Banks, OpInfo, Unit};
use crate::config::Collector as Config;

/// An issued instruction on its way to a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Issued {
    /// Hardware warp.
    pub slot: u16,
    /// Index of the memory operation, for loads and stores.
    pub memory: u16,
    /// Instruction.
    pub pc: u32,
    /// Order of issue: the oldest is served first.
    pub order: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct CollectorUnit {
    op: Issued,
    /// Its entries among the readers.
    reading: u8,
}

/// Reads of a collector that wait at different banks. One that reads a bank several times has
/// as many of these, one behind the other.
#[derive(Clone, Copy, Debug)]
struct Reader {
    collector: u8,
    /// The banks, as in [`Banks::of`].
    banks: u64,
}

/// The pipeline registers before or behind the collectors: a few, oldest first.
#[derive(Debug, Default)]
struct Registers {
    ops: [Issued; Registers::MOST],
    count: u8,
}

impl Registers {
    /// As many as a group may have ports.
    const MOST: usize = 16;

    #[inline]
    fn push(&mut self, op: Issued) {
        // By order of issue: collectors may finish out of it.
        let mut at = self.count as usize;
        while at > 0 && self.ops[at - 1].order > op.order {
            self.ops[at] = self.ops[at - 1];
            at -= 1;
        }
        self.ops[at] = op;
        self.count += 1;
    }

    #[inline]
    fn pop(&mut self) -> Issued {
        let op = self.ops[0];
        self.count -= 1;
        for i in 0..self.count as usize {
            self.ops[i] = self.ops[i + 1];
        }
        op
    }
}

/// The number of a group's unit among all, below 256.
#[inline]
fn number_of(group: usize, unit: usize) -> usize {
    (group << 6 | unit & 63) & 255
}

/// The collectors of one unit group, with the pipeline registers before and behind them.
#[derive(Debug)]
struct Group {
    ports: u8,
    before: Registers,
    behind: Registers,
    /// Bit i: unit i is free.
    free: u64,
    /// Bit i: unit i has all its operands.
    complete: u64,
    /// Unit that left last, for each port: the search goes on behind it.
    last: [u8; Registers::MOST],
}

/// Sets of groups, a bit each: what can move is an AND of these.
#[derive(Debug)]
struct Having {
    /// Instructions that wait for a collector.
    waiting: u8,
    /// Free collectors.
    free: u8,
    /// Complete collectors.
    complete: u8,
    /// Room behind the collectors.
    open: u8,
    /// Instructions behind the collectors.
    collected: u8,
}

/// The groups of the ALU pipelines.
const ALUS: u8 = 1 << Unit::Sp as u8 | 1 << Unit::Sfu as u8;

/// All collectors of an SM.
#[derive(Debug)]
pub struct Collectors {
    having: Having,
    /// Bit g: another instruction of group g may issue.
    room: u8,
    ideal: bool,
    /// See [`stand_still`](Collectors::stand_still).
    still: bool,
    /// The banks that are written this cycle, as in [`Banks::of`].
    written: u64,
    /// Oldest first.
    readers: Vec<Reader>,
    groups: [Group; 3],
    /// Unit u of group g is number 64 g + u.
    units: Box<[CollectorUnit; 256]>,
}

impl Collectors {
    /// Collectors as configured.
    pub fn new(config: &Config) -> Collectors {
        let group = |units: u32, ports: u32| {
            let units = if config.ideal { 0 } else { units };
            Group {
                ports: ports as u8,
                before: Registers::default(),
                behind: Registers::default(),
                free: if units == 64 { !0 } else { (1u64 << units) - 1 },
                complete: 0,
                last: [units.saturating_sub(1) as u8; Registers::MOST],
            }
        };
        Collectors {
            having: Having {
                waiting: 0,
                free: 0b111,
                complete: 0,
                open: 0b111,
                collected: 0,
            },
            room: 0b111,
            ideal: config.ideal,
            still: true,
            written: 0,
            readers: Vec::new(),
            groups: [
                group(config.sp_units, config.sp_ports),
                group(config.sfu_units, config.sfu_ports),
                group(config.mem_units, config.mem_ports),
            ],
            units: Box::new([CollectorUnit::default(); 256]),
        }
    }

    /// The units (a bit each) for which an instruction may issue this cycle.
    #[inline]
    pub fn room(&self) -> u8 {
        self.room
    }

    /// Takes an issued instruction; the caller has asked for room.
    #[inline]
    pub fn issue(&mut self, unit: Unit, op: Issued) {
        let group = &mut self.groups[unit as usize];
        group.before.push(op);
        if group.before.count >= group.ports {
            self.room &= !(1 << unit as u8);
        }
        self.having.waiting |= 1 << unit as u8;
        self.still = self.cannot_move();
    }

    /// The oldest instruction that is ready to enter one of `unit`'s pipelines.
    #[inline]
    pub fn oldest(&self, unit: Unit) -> Option<&Issued> {
        let waits = self.having.collected >> unit as u8 & 1 != 0;
        waits.then(|| &self.groups[unit as usize].behind.ops[0])
    }

    /// Takes out what `oldest` returned.
    #[inline]
    pub fn leave(&mut self, unit: Unit) -> Issued {
        let group = &mut self.groups[unit as usize];
        let op = group.behind.pop();
        if group.behind.count == 0 {
            self.having.collected &= !(1 << unit as u8);
        }
        if group.behind.count < group.ports {
            self.having.open |= 1 << unit as u8;
        }
        self.still = self.cannot_move();
        op
    }

    /// Whether nothing in here changes until an instruction comes, or a memory instruction
    /// leaves: nothing is read, and what is complete or waits has no room to move on.
    #[inline]
    pub fn stand_still(&self) -> bool {
        self.still
    }

    #[inline]
    fn cannot_move(&self) -> bool {
        let has = &self.having;
        if self.ideal {
            return has.waiting | has.collected == 0;
        }
        let moving = has.waiting & has.free | has.complete & has.open | has.collected & ALUS;
        moving == 0 && self.readers.is_empty()
    }

    /// Whether no instruction waits to enter an ALU pipeline.
    #[inline]
    pub fn none_collected(&self) -> bool {
        self.having.collected & ALUS == 0
    }

    /// Marks banks as written in this cycle.
    #[inline]
    pub fn write(&mut self, slot: u16, banks: &Banks) {
        self.written |= banks.of(slot);
    }

    /// Marks banks as written if none of them is already; a load's result tries again.
    #[inline]
    pub fn try_write(&mut self, slot: u16, banks: &Banks) -> bool {
        let wanted = banks.of(slot);
        if self.ideal || self.written & wanted == 0 {
            self.written |= wanted;
            return true;
        }
        false
    }

    /// Ends a cycle in which [`step`](Collectors::step) has nothing to do.
    #[inline]
    pub fn end_cycle(&mut self) {
        self.written = 0;
    }

    /// One cycle. `infos` gives the facts of an instruction.
    pub fn step(&mut self, infos: &[OpInfo]) {
        if self.ideal {
            self.pass_through();
        } else {
            self.dispatch();
            self.read();
            self.allocate(infos);
        }
        self.written = 0;
        self.still = self.cannot_move();
    }

    #[cold]
    fn pass_through(&mut self) {
        /// Ideal collectors let as many wait before their units.
        const IDEAL: u8 = 8;
        for (g, group) in self.groups.iter_mut().enumerate() {
            while group.before.count != 0 && group.behind.count < IDEAL {
                let op = group.before.pop();
                group.behind.push(op);
                self.having.collected |= 1 << g;
            }
            if group.before.count == 0 {
                self.having.waiting &= !(1 << g);
            }
            if group.before.count < group.ports {
                self.room |= 1 << g;
            }
        }
    }

    /// Complete collectors move on, as far as there is room behind.
    #[inline]
    fn dispatch(&mut self) {
        let mut moving = self.having.complete & self.having.open;
        while moving != 0 {
            let g = moving.trailing_zeros() as usize;
            let bit = 1u8 << g;
            moving &= moving - 1;
            let group = &mut self.groups[g];
            for last in &mut group.last[..group.ports as usize] {
                let later = group.complete & (!0 << *last << 1);
                let next = if later != 0 { later } else { group.complete };
                let unit = next.trailing_zeros();
                *last = unit as u8;
                group.complete &= !(1 << unit);
                group.free |= 1 << unit;
                group.behind.push(self.units[number_of(g, unit as usize)].op);
                if group.behind.count >= group.ports {
                    self.having.open &= !bit;
                    break;
                }
                if group.complete == 0 {
                    break;
                }
            }
            if group.complete == 0 {
                self.having.complete &= !bit;
            }
            self.having.collected |= bit;
            self.having.free |= bit;
        }
    }

    /// Every bank that is not written serves its oldest read.
    #[inline]
    fn read(&mut self) {
        let mut idle = !self.written;
        let mut left = 0;
        for i in 0..self.readers.len() {
            let Reader { collector, banks } = self.readers[i];
            let unserved = banks & !idle;
            idle &= !banks;
            if unserved != 0 {
                self.readers[left] = Reader {
                    collector,
                    banks: unserved,
                };
                left += 1;
                continue;
            }
            let unit = &mut self.units[collector as usize];
            unit.reading -= 1;
            if unit.reading == 0 {
                let g = collector >> 6;
                self.groups[g as usize].complete |= 1 << (collector & 63);
                self.having.complete |= 1 << g;
            }
        }
        self.readers.truncate(left);
    }

    /// Waiting instructions take free collectors and ask the banks for their sources.
    #[inline]
    fn allocate(&mut self, infos: &[OpInfo]) {
        let mut moving = self.having.waiting & self.having.free;
        while moving != 0 {
            let g = moving.trailing_zeros() as usize;
            let bit = 1u8 << g;
            moving &= moving - 1;
            let group = &mut self.groups[g];
            for _ in 0..group.ports {
                let op = group.before.pop();
                let unit = group.free.trailing_zeros();
                let collector = number_of(g, unit as usize);
                group.free &= !(1 << unit);
                let info = &infos[op.pc as usize];
                self.units[collector] = CollectorUnit {
                    op,
                    reading: info.reads,
                };
                let mut read = |banks: Banks| {
                    self.readers.push(Reader {
                        collector: collector as u8,
                        banks: banks.of(op.slot),
                    });
                };
                if info.reads != 0 {
                    read(info.read_banks);
                } else {
                    group.complete |= 1 << unit;
                    self.having.complete |= bit;
                }
                if info.reads > 1 {
                    info.read_again.iter().for_each(|&banks| read(banks));
                }
                if group.before.count == 0 || group.free == 0 {
                    break;
                }
            }
            if group.before.count == 0 {
                self.having.waiting &= !bit;
            }
            if group.free == 0 {
                self.having.free &= !bit;
            }
            self.room |= bit; // at least one has left
        }
    }
}
