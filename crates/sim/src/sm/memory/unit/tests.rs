//! The load/store unit alone: instructions enter it as if they had executed, and a fake memory
//! answers when it is told to.

use super::*;
use crate::exec::state::{Access as Touched, Effect, EffectKind, Lanes};
use crate::sm::launch::Launched;
use crate::sm::memory::{Executed, Owner};
use crate::sm::residents::Residents;
use crate::sm::testing;
use crate::sm::units::UnitPlan;

struct Bench {
    unit: LoadStore,
    collectors: Collectors,
    port: Port,
    residents: Residents,
    launched: Launched,
    now: Cycle,
}

impl Bench {
    fn new() -> Bench {
        let machine = testing::machine(&[]);
        let launched = testing::launched(&machine, "ld.shared.u32 %r1, [%r2]; ret;", 32);
        Bench {
            unit: LoadStore::new(&machine, 0),
            collectors: Collectors::new(&machine.collector, &UnitPlan::of(&machine)),
            port: Port::new(&machine),
            residents: testing::residents(&machine, &launched),
            launched,
            now: Cycle::ZERO,
        }
    }

    /// A load of a word by each lane, `stride` bytes apart, enters at the end of this cycle.
    fn enter(&mut self, shared: bool, stride: u64) {
        let op = self.open(shared, stride, &[owner(0, !0)]);
        self.unit.enter(op, self.now);
    }

    /// The record of such a load, by these warps.
    fn open(&mut self, shared: bool, stride: u64, owners: &[Owner]) -> u16 {
        let lanes = if shared { (!0, 0) } else { (0, !0) };
        let effect = Effect {
            executed: !0,
            kind: EffectKind::Access(Touched {
                store: false,
                shared_atomic: false,
                steps: None,
                element: 4,
                count: 1,
                shared: lanes.0,
                global: lanes.1,
                local: 0,
                other: Space::Generic,
            }),
            address: std::array::from_fn(|lane| lane as u64 * stride),
            ..Effect::default()
        };
        let executed = Executed {
            pc: 0,
            effect: &effect,
            owners,
            shapes: &[],
            lanes: &Lanes::Static(0),
            threads: &self.residents.threads,
            launched: &self.launched,
        };
        let counters = &mut self.residents.books.stats.counters;
        self.unit.open(&executed, counters)
    }

    /// A cycle passes; whether a load was completed in it.
    fn step(&mut self) -> bool {
        self.now += 1;
        let mut events = Vec::new();
        let mut with = Surroundings {
            collectors: &mut self.collectors,
            facts: &self.launched.facts,
            port: &mut self.port,
            stats: &mut self.residents.books.stats.counters,
            events: &mut events,
        };
        self.unit.write_back(self.now, &mut with);
        with.collectors.end_cycle();
        self.unit.cycle(self.now, &mut with);
        events.contains(&MemoryEvent::Loaded {
            slots: Slots::one(0),
            pc: 0,
        })
    }

    /// Cycles until a load is completed.
    fn cycles(&mut self) -> u64 {
        let begin = self.now;
        for _ in 0..1000 {
            if self.step() {
                return self.now - begin;
            }
        }
        panic!("it is never completed");
    }
}

fn owner(slot: u16, lanes: u32) -> Owner {
    Owner {
        slot,
        pc: 0,
        lanes,
        pending: 0,
    }
}

/// The warps of a gang are one owner if all of its accesses are for each of them; else each is its own.
#[test]
fn warps_that_wait_for_the_same_are_one_owner() {
    let gang: Vec<Owner> = (0..8).map(|s| owner(8 + s, 0xf << (4 * s))).collect();
    let owners = |stride, warps: &[Owner]| {
        let mut bench = Bench::new();
        let op = bench.open(false, stride, warps);
        let record = bench.unit.record(op);
        let owners = record.owners.iter();
        owners
            .map(|o| (record.slots(o).iter(), o.lanes, o.pending))
            .collect::<Vec<_>>()
    };
    assert_eq!(owners(4, &gang), [(8..16, !0, 1)], "one line for all");
    let each = gang.iter().map(|o| (o.slot..o.slot + 1, o.lanes, 1));
    let each: Vec<_> = each.collect();
    assert_eq!(owners(32, &gang), each, "a line for each");
    let apart = [owner(8, 0xffff), owner(10, 0xffff_0000)];
    assert_eq!(owners(4, &apart).len(), 2, "not one behind the other");
}

/// A load from shared memory that is issued at t enters at t+3 and is usable at t+31; every further
/// cycle that its banks take makes it a cycle later.
#[test]
fn a_bank_conflict_takes_a_cycle() {
    for (stride, ways) in [(4, 1), (8, 2), (16, 4), (128, 32)] {
        let mut bench = Bench::new();
        bench.enter(true, stride);
        assert_eq!(bench.cycles(), 27 + ways, "a stride of {stride} bytes");
    }
}

/// One access per cycle: the unit takes the next instruction when the last access has left.
#[test]
fn the_unit_is_busy_for_a_cycle_per_line() {
    for (stride, lines) in [(4, 1), (8, 2), (128, 32)] {
        let mut bench = Bench::new();
        bench.enter(false, stride);
        for _ in 1..lines {
            bench.step();
            assert!(!bench.unit.accepts(), "a stride of {stride} bytes");
        }
        bench.step();
        assert!(bench.unit.accepts(), "a stride of {stride} bytes");
    }
}

/// A load that is issued at t and hits is usable at t+39: 36 cycles after it has entered. One that misses asks for
/// its line in the cycle of the lookup's end.
#[test]
fn a_hit_comes_after_the_queue_to_the_lookup() {
    let mut bench = Bench::new();
    bench.enter(false, 4);
    while bench.port.sent.is_empty() {
        assert!(!bench.step(), "it cannot be completed yet");
    }
    let (_, request) = bench.port.sent.remove(0);
    bench.unit.take_reply(
        Reply {
            kind: RequestKind::Read,
            addr: request.addr,
            bytes: request.bytes,
            last: true,
            token: request.token,
        },
        bench.now,
    );
    bench.cycles();
    assert!(bench.unit.is_empty());
    bench.enter(false, 4);
    assert_eq!(bench.cycles(), 36);
}
