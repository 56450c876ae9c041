//! Units to which instructions are handed over do what they do if they ask for them.

use super::*;
use crate::config::ReadMachine;
use crate::sm::facts::tests::reading;
use crate::sm::testing::Dice;

/// Every result of a random stream of instructions, with its cycle.
fn results(handed_over: bool, seed: u64, preset: &str) -> Vec<(u64, u16, u32)> {
    let machine = Machine::resolve(preset, &[]).expect("a preset");
    let plan = UnitPlan::of(&machine);
    let computing = plan.groups.iter().filter(|g| g.computes && !g.memory);
    let kinds: Vec<u8> = computing.map(|g| g.kind).collect();
    let mut collectors = Collectors::new(&machine.collector, &plan);
    let mut units = Units::new(&machine, plan, false);
    if handed_over {
        collectors.hand_over();
    }
    let mut dice = Dice(seed);
    let banks = machine.collector.banks;
    let facts: Vec<OpFacts> = (0..40)
        .map(|_| {
            let reads: Vec<u32> = (0..dice.below(4))
                .map(|_| dice.below(banks.into()) as u32)
                .collect();
            let mut facts = reading(&reads, banks);
            facts.unit = kinds[dice.below(kinds.len() as u64) as usize];
            facts.latency = 1 + dice.below(6) as u16;
            facts.interval = [1, 1, 1, 2, 8][dice.below(5) as usize];
            facts
        })
        .collect();
    let (mut out, mut order) = (Vec::new(), 0);
    for cycle in 0..2000 {
        let now = Cycle::new(cycle);
        let first = out.len();
        while let Some(done) = units.pop(now) {
            out.push((cycle, done.slot, done.pc));
            let written = &facts[done.pc as usize].read_banks;
            collectors.write(done.slot, written);
        }
        out[first..].sort_unstable();
        if collectors.are_to_be_asked() {
            units.step(now, &mut collectors, &facts);
        }
        if collectors.stand_still() {
            collectors.end_cycle();
        } else {
            let (units, facts) = (&mut units, &facts[..]);
            collectors.step(facts, NextCycle { units, facts, now });
        }
        for _ in 0..dice.below(4) * u64::from(cycle < 1900) {
            let (pc, slot) = (dice.below(40) as u32, dice.below(48) as u16);
            let kind = facts[pc as usize].unit;
            if collectors.room_for(0) >> kind & 1 != 0 {
                order += 1;
                let memory = 0;
                let op = Issued {
                    slot,
                    memory,
                    pc,
                    order,
                };
                collectors.issue(0, kind, op);
            }
        }
    }
    assert_eq!(out.len() as u64, order, "all have come out");
    out
}

#[test]
fn handing_over_makes_no_difference() {
    for preset in ["gtx480", "big"] {
        for seed in 0..50 {
            let asked = results(false, seed, preset);
            assert_eq!(asked, results(true, seed, preset), "{preset}, seed {seed}");
        }
    }
}
