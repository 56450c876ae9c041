//! What a gang issues as one is complete when it would be if each of its warps had issued it alone.

use super::*;
use crate::config::{Machine, ReadMachine};
use crate::sm::launch::Launched;
use crate::sm::operands::Collectors;
use crate::sm::testing::launched;
use crate::sm::units::UnitPlan;

const ADD: u32 = 0;
const SINE: u32 = 1;

/// Cycles from the issue of an addition to its writeback: two through the collectors, its latency and the
/// way out.
const ADD_TAKES: u64 = 2 + 10 + EXIT_STAGES;

/// An instruction that a gang issues.
struct Issues {
    cycle: u64,
    pc: u32,
    slices: u8,
}

/// Collectors and pipelines of eight slices.
struct Slices {
    collectors: Collectors,
    units: Units,
    launched: Launched,
}

/// The home warp's warp in the first slice.
const FIRST: u16 = 8;

impl Slices {
    fn new() -> Slices {
        let machine = Machine::resolve("vws", &["warps=i-vws".into()]).expect("a machine");
        let plan = UnitPlan::of(&machine);
        let body = "add.u32 %r1, %r1, 1; sin.approx.f32 %r2, %r1; ret;";
        Slices {
            collectors: Collectors::new(&machine.collector, &plan),
            units: Units::new(&machine, plan, false),
            launched: launched(&machine, body, 32),
        }
    }

    /// Issues these, each as one or warp by warp. Returns the results: cycle, slice and instruction.
    fn results(&mut self, issues: &[Issues], as_one: bool) -> Vec<(u64, u16, u32)> {
        let mut results = Vec::new();
        let mut order = 0;
        for cycle in 0..150 {
            let now = Cycle::new(cycle);
            while let Some(Done { slot, slices, pc }) = self.units.pop(now) {
                let gang = if slices == 0 { 1 } else { slices };
                let slice = |s| (cycle, slot - FIRST + s as u16, pc);
                results.extend(each(gang.into()).map(slice));
            }
            let facts = &self.launched.facts;
            self.units.step(now, &mut self.collectors, facts);
            self.collectors.step(facts, ());
            for issue in issues.iter().filter(|i| i.cycle == cycle) {
                order += 1;
                self.issue(issue, order, as_one);
            }
        }
        assert!(self.collectors.stand_still());
        results.sort_unstable();
        results
    }

    fn issue(&mut self, issue: &Issues, order: u64, as_one: bool) {
        let &Issues { pc, slices, .. } = issue;
        let kind = self.launched.facts[pc as usize].unit;
        let room = |d| self.collectors.room_for(d) >> kind & 1 != 0;
        assert!(each(slices.into()).all(room), "it may issue");
        let op = |slot| Issued {
            slot,
            memory: 0,
            pc,
            order,
        };
        if as_one && !slices.is_power_of_two() {
            assert!(self.units.takes_gangs());
            let first = self.collectors.takes_gangs(kind).expect("it does");
            let op = op(FIRST);
            self.collectors.issue_gang(GangIssued { op, first, slices });
            let room = |d| self.collectors.room_for(d) >> kind & 1 != 0;
            assert!(!each(slices.into()).any(room), "its slices have issued");
            return;
        }
        for slice in each(slices.into()) {
            self.collectors.issue(slice, kind, op(FIRST + slice as u16));
        }
    }
}

/// The results of what gangs issue as one: they are those of what their warps issue one by one.
fn results(issues: &[Issues]) -> Vec<(u64, u16, u32)> {
    let as_one = Slices::new().results(issues, true);
    assert_eq!(as_one, Slices::new().results(issues, false));
    as_one
}

fn issues<const N: usize>(those: [(u64, u32, u8); N]) -> [Issues; N] {
    those.map(|(cycle, pc, slices)| Issues { cycle, pc, slices })
}

/// The results of one instruction in these slices.
fn at<const N: usize>(cycle: u64, pc: u32, slices: [u16; N]) -> Vec<(u64, u16, u32)> {
    slices.map(|slice| (cycle, slice, pc)).to_vec()
}

#[test]
fn a_part_with_gaps_is_complete_in_its_cycle_and_not_before() {
    let all = results(&issues([(3, ADD, 0b1101)]));
    assert_eq!(all, at(3 + ADD_TAKES, ADD, [0, 2, 3]));
}

#[test]
fn gangs_on_other_slices_go_beside_each_other() {
    let beside = [(0, ADD, 0b1101), (0, ADD, 0b10_0010), (0, ADD, 0b1_0000)];
    let then = [(1, ADD, 0b1010_0100), (1, ADD, 0b1001)];
    let all = results(&issues([beside[0], beside[1], beside[2], then[0], then[1]]));
    let first = at(ADD_TAKES, ADD, [0, 1, 2, 3, 4, 5]);
    let second = at(ADD_TAKES + 1, ADD, [0, 2, 3, 5, 7]);
    assert_eq!(all, [first, second].concat());
}

#[test]
fn a_slice_whose_pipeline_is_busy_has_the_gangs_instruction_later() {
    let alone = results(&issues([(1, SINE, 0b1101)]));
    let t = alone[0].0;
    assert_eq!(alone, at(t, SINE, [0, 2, 3]));
    // The entry of the pipeline in slice 2 is held by the warp before.
    let interval = Slices::new().launched.facts[SINE as usize].interval as u64;
    assert!(interval > 1);
    let all = results(&issues([(0, SINE, 0b0100), (1, SINE, 0b1101)]));
    let [before, on_time] = [at(t - 1, SINE, [2]), at(t, SINE, [0, 3])];
    let later = at(t - 1 + interval, SINE, [2]);
    assert_eq!(all, [before, on_time, later].concat());
}

#[test]
fn a_gang_waits_behind_others_in_their_slice_alone() {
    let before = [(0, SINE, 0b0100), (1, SINE, 0b0100)];
    let gangs = [(2, SINE, 0b1101), (2, SINE, 0b11_0000)];
    let all = results(&issues([before[0], before[1], gangs[0], gangs[1]]));
    let t = all[0].0;
    let of_gangs: Vec<_> = all.iter().filter(|r| r.0 == t + 2).map(|r| r.1).collect();
    assert_eq!(of_gangs, [0, 3, 4, 5]);
    let interval = Slices::new().launched.facts[SINE as usize].interval as u64;
    let in_third: Vec<_> = all.iter().filter(|r| r.1 == 2).map(|r| r.0 - t).collect();
    assert_eq!(in_third, [0, interval, 2 * interval]);
}
