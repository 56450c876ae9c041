//! The issue stage alone: instructions are put into the warps' buffers, and taken from behind the
//! collectors at once.

use super::{Issue, Surroundings};
use crate::config::{Machine, ReadMachine};
use crate::exec::memory::image::GlobalMemory;
use crate::exec::memory::store_buffer::StoreBuffer;
use crate::place::Layout;
use crate::schedule::POLICIES;
use crate::sm::launch::{Launched, Leavings, View};
use crate::sm::memory::LoadStore;
use crate::sm::operands::Collectors;
use crate::sm::residents::Residents;
use crate::sm::testing;
use crate::sm::units::{UnitPlan, Units};
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

struct Bench {
    issue: Issue,
    residents: Residents,
    collectors: Collectors,
    units: Units,
    memory: LoadStore,
    launched: Launched,
    now: Cycle,
    /// Room behind issue is made in every cycle.
    moves: bool,
}

impl Bench {
    /// Four warps that all have the first two instructions of this body in their buffers.
    fn new(body: &str) -> Bench {
        Bench::on(&testing::machine(&[]), body, 4)
    }

    /// So many warps on a machine.
    fn on(machine: &Machine, body: &str, warps: u16) -> Bench {
        let launched = testing::launched(machine, body, 32 * u32::from(warps));
        let plan = UnitPlan::of(machine);
        let mut bench = Bench {
            issue: Issue::new(machine, Layout::of(machine).domains()),
            residents: testing::residents(machine, &launched),
            collectors: Collectors::new(&machine.collector, &plan),
            units: Units::new(machine, plan, false),
            memory: LoadStore::new(machine, 0),
            launched,
            now: Cycle::new(1),
            moves: true,
        };
        bench.issue.log = Some(Vec::new());
        for slot in 0..warps {
            let Residents { warps, books, .. } = &mut bench.residents;
            let mut edit = warps.edit(slot, books);
            edit.decode(0, 0, &bench.launched.facts);
            edit.refresh_head(0, &bench.launched.facts);
        }
        bench
    }

    /// A cycle passes; the warps that issued in it, with their PCs.
    fn step(&mut self) -> Vec<(u16, Pc)> {
        self.residents.warps.start_cycle(self.now);
        if self.moves {
            self.collectors.step(&self.launched.facts, ());
            while self.collectors.collected(0).next().is_some() {
                self.collectors.leave(0);
            }
        }
        let image = GlobalMemory::new();
        let mut leavings = Leavings {
            stores: StoreBuffer::default(),
            prints: Vec::new(),
        };
        let Residents { warps, books, .. } = &mut self.residents;
        let acts = self.issue.may_act(self.now, warps, books, &self.collectors);
        let mut view = View {
            launched: &self.launched,
            image: &image,
            leavings: &mut leavings,
            sm: 0,
            core_mhz: 700,
        };
        let mut with = Surroundings {
            residents: &mut self.residents,
            collectors: &mut self.collectors,
            units: &mut self.units,
            memory: &mut self.memory,
            view: &mut view,
        };
        if acts {
            self.issue.step(self.now, &mut with).expect("no fault");
        }
        self.residents.warps.end_turns();
        self.now += 1;
        let log = self.issue.log.as_mut().expect("it is kept");
        let mut issued: Vec<_> = log.drain(..).map(|(_, warp, _, pc)| (warp, pc)).collect();
        issued.sort_unstable();
        issued.dedup();
        issued
    }

    /// The result of a warp's instruction is written.
    fn complete(&mut self, slot: u16, pc: Pc) {
        let facts = &self.launched.facts[pc as usize];
        self.residents.complete(slot, facts, &self.launched);
        self.residents.follow(&self.launched);
    }
}

/// Each of two schedulers takes the oldest of its warps, even slots the first and odd ones the second.
#[test]
fn each_scheduler_issues_one_warp_per_cycle() {
    let mut bench = Bench::new("add.s32 %r1, %r1, 1; add.s32 %r1, %r1, 1; ret;");
    assert_eq!(bench.step(), [(0, 0), (1, 0)]);
    assert_eq!(bench.step(), [(2, 0), (3, 0)]);
}

#[test]
fn an_instruction_waits_until_its_source_is_written() {
    let mut bench = Bench::new("add.s32 %r1, %r1, 1; add.s32 %r1, %r1, 1; ret;");
    bench.step();
    bench.step();
    assert_eq!(bench.step(), [], "all wait for %r1");
    bench.complete(2, 0);
    assert_eq!(bench.step(), [(2, 1)]);
    assert_eq!(bench.step(), []);
}

#[test]
fn an_instruction_that_needs_nothing_issues_in_the_next_cycle() {
    let mut bench = Bench::new("add.s32 %r1, %r1, 1; add.s32 %r2, %r2, 1; ret;");
    assert_eq!(bench.step(), [(0, 0), (1, 0)]);
    assert_eq!(bench.step(), [(0, 1), (1, 1)], "greedy, then oldest");
}

#[test]
fn nothing_issues_without_room_at_its_unit() {
    let mut bench = Bench::new("add.s32 %r1, %r1, 1; add.s32 %r2, %r2, 1; ret;");
    bench.moves = false;
    assert_eq!(bench.step(), [(0, 0), (1, 0)]);
    assert_eq!(bench.step(), [], "the collectors have taken nothing yet");
    bench.moves = true;
    assert_eq!(bench.step(), [(0, 1), (1, 1)]);
}

/// Of three warps the last comes to their barrier, which lets the others go, in the second cycle. A warp of the other scheduler
/// issues in that cycle if its turn is still to come and the machine says so; whatever the policy, and with or without an observer.
#[test]
fn a_barrier_opens_at_once_for_schedulers_whose_turn_is_still_to_come() {
    let body = "bar.sync 0; add.s32 %r1, %r1, 1; ret;";
    let mut policies = 0;
    for policy in POLICIES {
        let settings = |opens_at_once: bool| {
            [
                format!("scheduler={}", policy.info.name),
                format!("sm.barriers_open_at_once={opens_at_once}"),
            ]
        };
        if Machine::resolve("gtx480", &settings(true)).is_err() {
            continue; // it plans for all schedulers, or needs a pool of warps
        }
        for opens_at_once in [true, false] {
            let set = settings(opens_at_once);
            let machine = Machine::resolve("gtx480", &set).expect("a machine");
            policies += 1;
            for (begin, heard) in [(1, false), (2, false), (1, true), (2, true)] {
                let mut bench = Bench::on(&machine, body, 3);
                bench.now = Cycle::new(begin);
                let Residents { warps, books, .. } = &mut bench.residents;
                books.watch.switch(heard, false, warps.slots());
                warps.keep_in_step(books.want_step());
                assert_eq!(bench.step(), [(0, 0), (1, 0)], "{set:?}");
                let other_goes_first = bench.residents.blocks.turns.number(bench.now) % 2 == 1;
                let expected = match opens_at_once && !other_goes_first {
                    true => &[(1, 1), (2, 0)][..],
                    false => &[(2, 0)],
                };
                assert_eq!(
                    bench.step(),
                    expected,
                    "{set:?}, heard {heard}, cycle {begin}"
                );
            }
        }
    }
    assert!(policies > 20, "{policies}");
}

#[test]
fn a_plan_for_all_schedulers_is_refused_where_barriers_open_at_once() {
    let set = ["scheduler=gangs", "sm.barriers_open_at_once=true"].map(String::from);
    let refused = Machine::resolve("gtx480", &set).expect_err("it is refused");
    let text = refused.to_string();
    assert!(
        text.contains("--set sm.barriers_open_at_once=false"),
        "{text}"
    );
}
