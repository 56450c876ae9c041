//! Banks of the register file and what they serve when.

use super::{Collectors, Issued};
use crate::config::Machine;
use crate::sm::facts::OpFacts;
use crate::sm::facts::tests::reading;
use crate::sm::units::UnitPlan;

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
        collectors.step(&facts);
        while collectors.oldest(0).is_some() {
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
