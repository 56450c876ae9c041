//! Operand collection: instructions wait here until the banked register file has given them
//! their sources. Order within a cycle (as on the reference machine): collectors that are
//! complete leave, every bank serves its oldest read, waiting instructions take free
//! collectors. So an instruction issued at t takes a collector at t+1, reads at t+2 and leaves
//! at t+3, one cycle earlier when it reads no register; sources in one bank take turns, and a
//! bank that is written in a cycle serves no read in it.

use super::opinfo::{OpInfo, Unit};
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
    /// Sources not yet read.
    missing: u8,
}

/// Reads that can wait at one bank: every unit's every source.
const QUEUE: usize = 256;

/// Reads waiting at a bank, oldest first: the collector of each.
#[derive(Clone, Debug)]
struct BankQueue {
    reads: Box<[u8; QUEUE]>,
    first: u8,
    count: u8,
}

impl BankQueue {
    fn new() -> BankQueue {
        BankQueue {
            reads: Box::new([0; QUEUE]),
            first: 0,
            count: 0,
        }
    }

    #[inline]
    fn push(&mut self, collector: u8) {
        let at = self.first.wrapping_add(self.count);
        self.reads[at as usize] = collector;
        self.count += 1;
    }

    #[inline]
    fn pop(&mut self) -> u8 {
        let read = self.reads[self.first as usize];
        self.first = self.first.wrapping_add(1);
        self.count -= 1;
        if self.count == 0 {
            self.first = 0; // what is used stays in one line of the host's cache
        }
        read
    }
}

/// The pipeline registers before or behind the collectors: a few, oldest first.
#[derive(Debug, Default)]
struct Registers {
    ops: [Issued; Registers::MOST],
    count: u8,
}

impl Registers {
    const MOST: usize = 8;

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
    ports: usize,
    before: Registers,
    behind: Registers,
    /// Bit i: unit i is free.
    free: u64,
    /// Bit i: unit i has all its operands.
    complete: u64,
    /// Unit that left last, for each port: the search goes on behind it.
    last: Vec<usize>,
}

/// All collectors of an SM.
#[derive(Debug)]
pub struct Collectors {
    groups: [Group; 3],
    /// Unit u of group g is number 64 g + u.
    units: Box<[CollectorUnit; 256]>,
    banks: Vec<BankQueue>,
    /// Bit i: bank i has reads waiting.
    reading: u64,
    /// Bit i: bank i is written this cycle.
    written: u64,
    ideal: bool,
    /// Instructions anywhere in here.
    inside: u32,
    /// Bit g: group g has instructions that wait for a collector.
    waiting: u8,
    /// Bit g: group g has complete collectors.
    complete: u8,
    /// Bit g: another instruction of group g may issue.
    room: u8,
    /// See [`stand_still`](Collectors::stand_still).
    still: bool,
}

impl Collectors {
    /// Collectors as configured.
    pub fn new(config: &Config) -> Collectors {
        let group = |units: u32, ports: u32| {
            let units = if config.ideal { 0 } else { units as usize };
            Group {
                ports: ports as usize,
                before: Registers::default(),
                behind: Registers::default(),
                free: if units == 64 { !0 } else { (1u64 << units) - 1 },
                complete: 0,
                last: vec![units.saturating_sub(1); ports as usize],
            }
        };
        debug_assert!(config.banks.is_power_of_two(), "validated");
        Collectors {
            groups: [
                group(config.sp_units, config.sp_ports),
                group(config.sfu_units, config.sfu_ports),
                group(config.mem_units, config.mem_ports),
            ],
            units: Box::new([CollectorUnit::default(); 256]),
            banks: vec![BankQueue::new(); config.banks as usize],
            reading: 0,
            written: 0,
            ideal: config.ideal,
            inside: 0,
            waiting: 0,
            complete: 0,
            room: 0b111,
            still: true,
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
        if group.before.count as usize >= group.ports {
            self.room &= !(1 << unit as u8);
        }
        self.waiting |= 1 << unit as u8;
        self.inside += 1;
        self.still = false;
    }

    /// The oldest instruction that is ready to enter one of `unit`'s pipelines.
    #[inline]
    pub fn oldest(&self, unit: Unit) -> Option<&Issued> {
        let behind = &self.groups[unit as usize].behind;
        (behind.count != 0).then(|| &behind.ops[0])
    }

    /// Takes out what `oldest` returned.
    #[inline]
    pub fn leave(&mut self, unit: Unit) -> Issued {
        self.inside -= 1;
        let op = self.groups[unit as usize].behind.pop();
        // For the others, this cycle's step is still to come.
        self.still = self.inside == 0 || unit == Unit::Mem && self.cannot_move();
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
        if self.inside == 0 {
            return true;
        }
        if self.reading != 0 || self.ideal || !self.none_collected() {
            return false;
        }
        self.groups.iter().all(|group| {
            let leaves = group.complete != 0 && (group.behind.count as usize) < group.ports;
            let enters = group.before.count != 0 && group.free != 0;
            !leaves && !enters
        })
    }

    /// Whether no instruction waits to enter an ALU pipeline.
    #[inline]
    pub fn none_collected(&self) -> bool {
        self.groups[Unit::Sp as usize].behind.count | self.groups[Unit::Sfu as usize].behind.count
            == 0
    }

    /// Marks banks as written in this cycle.
    #[inline]
    pub fn write(&mut self, slot: u16, banks: &[u8]) {
        for &number in banks {
            self.written |= 1 << self.bank(slot, number);
        }
    }

    /// Marks banks as written if none of them is already; a load's result tries again.
    #[inline]
    pub fn try_write(&mut self, slot: u16, banks: &[u8]) -> bool {
        let wanted = banks.iter().fold(0u64, |m, &n| m | 1 << self.bank(slot, n));
        if self.ideal || self.written & wanted == 0 {
            self.written |= wanted;
            return true;
        }
        false
    }

    #[inline]
    fn bank(&self, slot: u16, number: u8) -> usize {
        // A power of two, see the machine's validation.
        (number as usize + slot as usize) & (self.banks.len() - 1)
    }

    /// Ends a cycle in which [`step`](Collectors::step) has nothing to do.
    #[inline]
    pub fn end_cycle(&mut self) {
        self.written = 0;
    }

    /// One cycle. `info` gives the facts of an instruction.
    pub fn step(&mut self, infos: &[OpInfo]) {
        if self.inside != 0 {
            if self.ideal {
                self.pass_through();
            } else {
                if self.complete != 0 {
                    self.dispatch();
                }
                self.read();
                if self.waiting != 0 {
                    self.allocate(infos);
                }
            }
        }
        self.written = 0;
        self.still = self.cannot_move();
    }

    fn pass_through(&mut self) {
        for (g, group) in self.groups.iter_mut().enumerate() {
            while group.before.count != 0 && (group.behind.count as usize) < Registers::MOST {
                let op = group.before.pop();
                group.behind.push(op);
            }
            if (group.before.count as usize) < group.ports {
                self.room |= 1 << g;
            }
        }
    }

    /// Complete collectors move on, as far as there is room behind.
    #[inline]
    fn dispatch(&mut self) {
        let mut with_complete = self.complete;
        while with_complete != 0 {
            let g = with_complete.trailing_zeros() as usize;
            with_complete &= with_complete - 1;
            let group = &mut self.groups[g];
            let mut port = 0;
            while group.complete != 0 && port < group.ports {
                if group.behind.count as usize >= group.ports {
                    break;
                }
                let from = group.last[port] + 1;
                let later = if from >= 64 {
                    0
                } else {
                    group.complete & (!0 << from)
                };
                let unit =
                    if later != 0 { later } else { group.complete }.trailing_zeros() as usize;
                group.last[port] = unit;
                group.complete &= !(1 << unit);
                group.free |= 1 << unit;
                group.behind.push(self.units[number_of(g, unit)].op);
                port += 1;
            }
            if group.complete == 0 {
                self.complete &= !(1 << g);
            }
        }
    }

    /// Every bank that is not written serves its oldest read.
    #[inline]
    fn read(&mut self) {
        let mut serving = self.reading & !self.written;
        while serving != 0 {
            let bank = serving.trailing_zeros() as usize;
            serving &= serving - 1;
            let queue = &mut self.banks[bank];
            let collector = queue.pop();
            if queue.count == 0 {
                self.reading &= !(1 << bank);
            }
            let missing = &mut self.units[collector as usize].missing;
            *missing -= 1;
            if *missing == 0 {
                let group = collector >> 6;
                self.groups[group as usize].complete |= 1 << (collector & 63);
                self.complete |= 1 << group;
            }
        }
    }

    /// Waiting instructions take free collectors and ask the banks for their sources.
    #[inline]
    fn allocate(&mut self, infos: &[OpInfo]) {
        let last_bank = self.banks.len() as u32 - 1;
        let mut with_waiting = self.waiting;
        while with_waiting != 0 {
            let g = with_waiting.trailing_zeros() as usize;
            with_waiting &= with_waiting - 1;
            let group = &mut self.groups[g];
            let mut port = 0;
            while group.before.count != 0 && group.free != 0 && port < group.ports {
                port += 1;
                let op = group.before.pop();
                let unit = group.free.trailing_zeros();
                let collector = number_of(g, unit as usize);
                group.free &= !(1 << unit);
                let reads = &infos[op.pc as usize].read_banks;
                self.units[collector] = CollectorUnit {
                    op,
                    missing: reads.len() as u8,
                };
                if reads.is_empty() {
                    group.complete |= 1 << unit;
                    self.complete |= 1 << g;
                }
                for &number in reads.iter() {
                    let bank = (number as u32 + op.slot as u32) & last_bank;
                    self.banks[bank as usize].push(collector as u8);
                    self.reading |= 1 << bank;
                }
            }
            if (group.before.count as usize) < group.ports {
                self.room |= 1 << g;
            }
            if group.before.count == 0 {
                self.waiting &= !(1 << g);
            }
        }
    }
}
