//! The load/store unit alone: instructions enter it as if they had executed, and a fake memory
//! answers when it is told to.

use super::*;
use crate::exec::state::{Access as Touched, Effect, EffectKind, Lanes};
use crate::memory::network::crossbar::Backlog;
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
    /// Where the lanes of a load begin.
    base: u64,
}

impl Bench {
    fn new() -> Bench {
        Bench::on(&[])
    }

    fn on(settings: &[&str]) -> Bench {
        let machine = testing::machine(settings);
        let launched = testing::launched(&machine, "ld.shared.u32 %r1, [%r2]; ret;", 32);
        Bench {
            unit: LoadStore::new(&machine, 0),
            collectors: Collectors::new(&machine.collector, &UnitPlan::of(&machine)),
            port: Port::new(&machine),
            residents: testing::residents(&machine, &launched),
            launched,
            now: Cycle::ZERO,
            base: 0,
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
            address: std::array::from_fn(|lane| self.base + lane as u64 * stride),
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
        self.step_with_events().contains(&MemoryEvent::Loaded {
            slots: Slots::one(0),
            pc: 0,
        })
    }

    /// A cycle passes; what has happened in it.
    fn step_with_events(&mut self) -> Vec<MemoryEvent> {
        self.now += 1;
        let mut events = Vec::new();
        if !self.unit.is_awake(self.now) {
            return events;
        }
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
        events
    }

    /// Loads of all kinds enter whenever they can, are answered after a while, and now and then the cache forgets
    /// its lines: when the unit took instructions, sent requests and completed loads, and what it counted.
    fn traffic(&mut self, seed: u64, cycles: u64) -> (Vec<String>, SmCounters) {
        let mut random = seed;
        let mut any = move |of: u64| {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (random >> 33) % of
        };
        let (mut told, mut replies) = (Vec::new(), Vec::new());
        let forgets = 20 + any(400);
        for cycle in 0..cycles {
            let counters = &mut self.residents.books.stats.counters;
            if any(forgets) == 0 {
                self.unit.invalidate_data(self.now + 1, counters);
            }
            let (wait, due) = (20 + any(60), self.now);
            let first = replies.iter().position(|&(at, _)| at <= due);
            if let Some(number) = first.filter(|_| self.unit.accepts_reply()) {
                self.unit.take_reply(replies.remove(number).1, self.now + 1);
            }
            self.port.hear_backlog(
                Backlog {
                    flits: 0,
                    moving: 0,
                },
                self.now + 1,
            );
            if self.port.refill(self.now + 1) {
                self.unit.wake_up(self.now + 1);
            }
            let events = self.step_with_events();
            let sent = std::mem::take(&mut self.port.sent);
            replies.extend(
                sent.iter()
                    .map(|(_, request)| (self.now + wait, reply_to(request))),
            );
            let [stride, line, rare] = [any(4), any(12), any(3)];
            // What is under way comes to an end: stalls that are foreseen have been counted.
            if self.unit.accepts() && rare == 0 && cycle + 500 < cycles {
                self.base = line * 128;
                self.enter(false, [4, 32, 128, 260][stride as usize]);
                told.push(format!("{}: {stride} {line}", self.now));
            }
            if !events.is_empty() || !sent.is_empty() {
                told.push(format!("{}: {events:?} {sent:?}", self.now));
            }
        }
        (told, self.residents.books.stats.counters.clone())
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

/// The answer to a request.
fn reply_to(request: &Request) -> Reply {
    Reply {
        kind: request.kind,
        addr: request.addr,
        bytes: request.bytes,
        last: true,
        token: request.token,
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
    bench.unit.take_reply(reply_to(&request), bench.now);
    bench.cycles();
    assert!(bench.unit.is_empty());
    bench.enter(false, 4);
    assert_eq!(bench.cycles(), 36);
}

/// A unit that is watched sends and looks up one access per cycle. The results are the same, whatever room there is in
/// queues and caches, and although the cache forgets its lines at any time.
#[test]
fn accesses_in_rows_are_as_good_as_one_by_one() {
    let machines: [&[&str]; 7] = [
        &[],
        &["l1d.sets=4", "l1d.mshrs=6", "l1d.miss_queue=3"],
        &["l1d.sets=2", "l1d.latency=3", "l1d.merges=2"],
        &["l1d.sets=8", "l1d.latency=9", "l1d.mshrs=12"],
        &["l1d.sets=4", "l1d.replacement=srrip"],
        &[
            "l1d.sets=4",
            "l1d.prefetch=next-line",
            "l1d.prefetch.on=load",
            "l1d.prefetch.degree=3",
            "l1d.prefetch_queue=4",
        ],
        &[
            "l1d.sets=2",
            "l1d.mshrs=6",
            "l1d.prefetch=stride",
            "l1d.replacement=random",
        ],
    ];
    let (mut hits, mut stalls) = (0, 0);
    for seed in 0..200 {
        let told = [false, true].map(|watched| {
            let mut bench = Bench::on(machines[seed as usize % machines.len()]);
            bench.unit.watch(watched);
            bench.traffic(seed, 2000)
        });
        hits += told[0].1.l1d_hits;
        stalls += told[0].1.l1d_stalls;
        for (rows, singles) in told[0].0.iter().zip(&told[1].0) {
            assert_eq!(rows, singles, "seed {seed}");
        }
        assert_eq!(told[0].1.l1d_stalls, told[1].1.l1d_stalls, "seed {seed}");
        assert_eq!(
            format!("{:?}", told[0].1),
            format!("{:?}", told[1].1),
            "seed {seed}"
        );
    }
    assert!(hits > 1000 && stalls > 1000, "{hits} hits, {stalls} stalls");
}
