//! Banks of the register file and what they serve when.

use super::{Collectors, Issued, Registers, Takers};
use crate::config::{Machine, ReadMachine};
use crate::sm::facts::OpFacts;
use crate::sm::facts::tests::reading;
use crate::sm::units::{Pipelines, UnitPlan};

/// No unit takes anything.
impl Takers for () {
    fn take_one(&mut self, _: &Pipelines, _: &Issued) -> bool {
        false
    }
    fn take(&mut self, _: &Pipelines, _: &mut Registers) {}
    fn take_further(&mut self, _: &Pipelines, _: &mut Registers) {}
}

/// Issues an instruction for each of the `reads` at once and gives back how many cycles each
/// takes to come out; in cycle c the banks `written[c]` of warp 0 are written.
fn cycles(reads: &[&[u32]], written: &[u32]) -> Vec<usize> {
    let machine = Machine::resolve("gtx480", &[]).expect("a preset");
    let banks = machine.collector.banks;
    let mut collectors = Collectors::new(&machine.collector, &UnitPlan::of(&machine));
    let facts: Vec<OpFacts> = reads.iter().map(|r| reading(r, banks)).collect();
    let mut out = vec![0; reads.len()];
    for (i, _) in reads.iter().enumerate() {
        let (pc, order) = (i as u32, i as u64);
        let op = Issued {
            slot: 0,
            memory: 0,
            pc,
            order,
        };
        collectors.issue(0, 0, op);
    }
    for cycle in 0..20 {
        if let Some(&bank) = written.get(cycle) {
            collectors.write(0, &reading(&[bank], banks).read_banks);
        }
        collectors.step(&facts, ());
        while collectors.collected(0).next().is_some() {
            out[collectors.leave(0).pc as usize] = cycle + 1;
        }
    }
    assert!(collectors.stand_still());
    out
}

#[test]
fn sources_in_one_bank_take_turns() {
    assert_eq!(cycles(&[&[]], &[]), [2]);
    assert_eq!(cycles(&[&[1, 2]], &[]), [3]);
    assert_eq!(cycles(&[&[1, 2, 1]], &[]), [4]);
    assert_eq!(cycles(&[&[5, 5, 5, 2]], &[]), [5]);
    assert_eq!(cycles(&[&[1, 2], &[2, 3]], &[]), [3, 4]);
    assert_eq!(cycles(&[&[1, 1], &[1]], &[]), [4, 5]);
}

#[test]
fn a_bank_that_is_written_serves_no_read() {
    assert_eq!(cycles(&[&[1, 2]], &[9, 1, 9]), [4]);
    assert_eq!(cycles(&[&[1, 2]], &[1, 9, 2]), [3]);
    assert_eq!(cycles(&[&[1, 1], &[2]], &[9, 1, 1]), [6, 3]);
}

/// The instructions behind two collectors that are complete in the same cycle, in the order in which they
/// leave through one port, and then those behind the next two.
fn order_of_leaving(behind_first: bool) -> Vec<u32> {
    let setting = format!("collector.starts_behind_first={behind_first}");
    let machine = Machine::resolve("gtx480", &[setting]).expect("a preset");
    let banks = machine.collector.banks;
    let plan = UnitPlan::of(&machine);
    let group = plan.groups.iter().position(|g| g.memory).expect("one");
    let kind = (0..).find(|&kind| plan.routes[0][kind] as usize == group);
    let mut collectors = Collectors::new(&machine.collector, &plan);
    // The first reads a bank twice and so waits for the second, which comes a cycle later.
    let facts = [&[1, 1][..], &[2]].map(|r| reading(r, banks));
    let mut left = Vec::new();
    for order in 0..12 {
        let pc = (order % 6) as u32;
        if pc < 2 {
            let op = Issued {
                pc,
                order,
                ..Issued::default()
            };
            collectors.issue(0, kind.expect("its kind") as u8, op);
        }
        collectors.step(&facts, ());
        if collectors.collected(group).next().is_some() {
            left.push(collectors.leave(group).pc);
        }
    }
    left
}

#[test]
fn collectors_that_are_complete_at_once_leave_in_turn() {
    // Each time the search goes on behind the one that left last.
    assert_eq!(order_of_leaving(false), [0, 1, 0, 1]);
    assert_eq!(order_of_leaving(true), [1, 0, 1, 0]);
}
