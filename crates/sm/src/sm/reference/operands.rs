//! Operand collection: an issued instruction waits for a free collector, the collector reads the sources from the banks
//! of the register file, and the instruction leaves it with its operands.
//!
//! A bank serves one read per cycle, the oldest that waits for it, and none in a cycle in which it is written.

use crate::config::Collector as Config;
use crate::sm::facts::{Banks, OpFacts};
use crate::sm::units::{Group as Plan, UnitPlan};
use std::collections::VecDeque;

/// Ideal collectors let so many instructions wait before their units.
const IDEAL: usize = 8;

/// An issued instruction on its way to a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Issued {
    /// Its warp.
    pub slot: u16,
    pub pc: u32,
    /// Instructions are numbered as they issue.
    pub order: u64,
    /// The number of its memory instruction, if it is one.
    pub memory: Option<u32>,
}

/// A collector that is taken.
#[derive(Clone, Copy, Debug)]
struct Taken {
    op: Issued,
    /// Reads that the banks have not served.
    reads: u32,
}

/// The collectors of one set of units.
#[derive(Debug)]
struct Group {
    ports: usize,
    /// Instructions that wait for a collector.
    before: VecDeque<Issued>,
    collectors: Vec<Option<Taken>>,
    /// By port: the collector that left by it last.
    last: Vec<usize>,
    /// Instructions with all their operands, the oldest first.
    behind: Vec<Issued>,
    memory: bool,
}

/// A read that waits for its bank.
#[derive(Clone, Copy, Debug)]
struct Read {
    bank: usize,
    group: usize,
    collector: usize,
}

/// The collectors of an SM.
#[derive(Debug)]
pub(super) struct Collectors {
    ideal: bool,
    groups: Vec<Group>,
    /// By domain, then by kind of units: the group.
    routes: Vec<Vec<usize>>,
    /// In the order in which they were asked for.
    reads: Vec<Read>,
    /// Memory instructions may issue, as far as the load/store unit has a say.
    memory_may_issue: bool,
    /// By bank: whether it is written in this cycle.
    written: Vec<bool>,
}

impl Collectors {
    /// All are free.
    pub fn new(config: &Config, plan: &UnitPlan) -> Collectors {
        let group = |group: &Plan| {
            let collectors = group.collectors as usize;
            let last = match config.starts_behind_first {
                true => 0,
                false => collectors.saturating_sub(1),
            };
            Group {
                ports: group.ports as usize,
                before: VecDeque::new(),
                collectors: vec![None; collectors],
                last: vec![last; group.ports as usize],
                behind: Vec::new(),
                memory: group.memory,
            }
        };
        let route = |kinds: &[u8; 4]| kinds.iter().map(|group| usize::from(*group)).collect();
        Collectors {
            ideal: config.ideal,
            groups: plan.groups.iter().map(group).collect(),
            routes: plan.routes.iter().map(route).collect(),
            reads: Vec::new(),
            memory_may_issue: true,
            written: vec![false; config.banks as usize],
        }
    }

    /// Whether a warp of a domain may issue an instruction for a kind of units.
    pub fn has_room(&self, domain: usize, kind: u8) -> bool {
        let group = &self.groups[self.routes[domain][usize::from(kind)]];
        group.before.len() < group.ports && (self.memory_may_issue || !group.memory)
    }

    /// Whether memory instructions may issue, as far as the load/store unit has a say.
    pub fn let_memory_issue(&mut self, may: bool) {
        self.memory_may_issue = may;
    }

    /// Takes an instruction that issues.
    pub fn issue(&mut self, domain: usize, kind: u8, op: Issued) {
        self.groups[self.routes[domain][usize::from(kind)]]
            .before
            .push_back(op);
    }

    /// Instructions of a group that have their operands, the oldest first.
    pub fn collected(&mut self, group: usize) -> &mut Vec<Issued> {
        &mut self.groups[group].behind
    }

    /// The numbers of the instructions of a group that have their operands: those that have left their collectors, and those
    /// for which there is no room behind them.
    pub fn all_collected(&self, group: usize) -> Vec<u64> {
        let group = &self.groups[group];
        let most = if self.ideal { IDEAL } else { group.ports };
        let before = group.before.iter().filter(|_| self.ideal);
        let complete = group
            .collectors
            .iter()
            .flatten()
            .filter(|taken| taken.reads == 0);
        let without_room = complete.map(|taken| &taken.op).chain(before);
        let without_room = without_room.filter(|_| group.behind.len() >= most);
        group
            .behind
            .iter()
            .chain(without_room)
            .map(|op| op.order)
            .collect()
    }

    /// Takes the oldest instruction that has its operands and goes to the load/store unit. In each group it has to be
    /// the oldest.
    pub fn take_for_memory(&mut self) -> Option<Issued> {
        let first = |group: &&mut Group| {
            group
                .behind
                .first()
                .filter(|op| op.memory.is_some())
                .copied()
        };
        let groups = self.groups.iter_mut().filter(|group| group.memory);
        let with = groups.filter_map(|group| first(&group).map(|op| (op, group)));
        let (op, group) = with.min_by_key(|(op, _)| op.order)?;
        group.behind.remove(0);
        Some(op)
    }

    /// A result of a unit is written.
    pub fn write(&mut self, slot: u16, banks: &Banks) {
        for bank in each_bank(banks.of(slot), self.written.len()) {
            self.written[bank] = true;
        }
    }

    /// What was loaded is written, if no bank that it needs is written in this cycle; says whether.
    pub fn try_write(&mut self, slot: u16, banks: &Banks) -> bool {
        let mut its = each_bank(banks.of(slot), self.written.len());
        let free = self.ideal || !its.any(|bank| self.written[bank]);
        if free {
            self.write(slot, banks);
        }
        free
    }

    /// One cycle: collectors that are complete leave, the banks serve reads, waiting instructions take free collectors.
    pub fn step(&mut self, code: &[OpFacts]) {
        if self.ideal {
            self.groups.iter_mut().for_each(Group::pass_through);
        } else {
            self.groups.iter_mut().for_each(Group::leave);
            self.read();
            for number in 0..self.groups.len() {
                self.allocate(number, code);
            }
        }
        self.written.fill(false);
    }

    fn read(&mut self) {
        let (groups, busy) = (&mut self.groups, &mut self.written);
        self.reads.retain(|read| {
            let waits = std::mem::replace(&mut busy[read.bank], true);
            if !waits && let Some(taken) = &mut groups[read.group].collectors[read.collector] {
                taken.reads -= 1;
            }
            waits
        });
    }

    fn allocate(&mut self, number: usize, code: &[OpFacts]) {
        let group = &mut self.groups[number];
        while let Some(collector) = group.collectors.iter().position(Option::is_none)
            && let Some(op) = group.before.pop_front()
        {
            let facts = &code[op.pc as usize];
            let again = facts
                .further()
                .map_or(&[][..], |further| &further.read_again);
            let mut reads = 0;
            for banks in std::iter::once(&facts.read_banks).chain(again) {
                for bank in each_bank(banks.of(op.slot), self.written.len()) {
                    reads += 1;
                    self.reads.push(Read {
                        bank,
                        group: number,
                        collector,
                    });
                }
            }
            group.collectors[collector] = Some(Taken { op, reads });
        }
    }
}

impl Group {
    /// Collectors with all their operands leave, as many as there are ports and places behind. The search for the next
    /// goes on behind the one that left by the port last.
    fn leave(&mut self) {
        for port in 0..self.ports {
            if self.behind.len() >= self.ports {
                return;
            }
            let count = self.collectors.len();
            let mut from_last = (1..=count).map(|i| (self.last[port] + i) % count);
            let complete = |at: &usize| self.collectors[*at].is_some_and(|taken| taken.reads == 0);
            let Some(at) = from_last.find(complete) else {
                return;
            };
            self.last[port] = at;
            if let Some(Taken { op, .. }) = self.collectors[at].take() {
                self.behind.push(op);
            }
            self.behind.sort_by_key(|op| op.order);
        }
    }

    /// Operands are there at once.
    fn pass_through(&mut self) {
        while self.behind.len() < IDEAL
            && let Some(op) = self.before.pop_front()
        {
            self.behind.push(op);
        }
    }
}

/// The numbers of the banks in a set, of so many that there are.
fn each_bank(set: u64, banks: usize) -> impl Iterator<Item = usize> {
    (0..banks).filter(move |bank| set >> bank & 1 != 0)
}
