use super::super::UnitPlan;
use super::*;
use crate::power::Buffered;
use crate::sm::operands::Issued;

/// Units of a machine with lanes that may be off, and ideal collectors before them.
struct Bench {
    units: Units,
    collectors: Collectors,
    facts: std::sync::Arc<[OpFacts]>,
    order: u64,
    now: u64,
    /// The cycle in which each instruction was written back, in that order.
    written: Vec<u64>,
    /// Active warps that are about to use each side.
    waiting: [u32; 2],
}

/// Adds an integer, adds a float (`%r` registers hold either), looks a value up.
const BODY: &str = "add.s32 %r1, %r1, 1; add.f32 %r2, %r2, %r2; sin.approx.f32 %r3, %r3; ret;";
const INT: usize = 0;
const FP: usize = 1;
const SFU: usize = 2;

impl Bench {
    fn new(set: &[&str]) -> Bench {
        let set = [&["collector.ideal=true"], set].concat();
        let machine = crate::sm::testing::machine(&set);
        let plan = UnitPlan::of(&machine);
        let facts = crate::sm::testing::launched(&machine, BODY, 32).facts;
        let collectors = Collectors::new(&machine.collector, &plan);
        let mut units = Units::new(&machine, plan, false);
        units.begin(Cycle::ZERO, &[]);
        Bench {
            units,
            collectors,
            facts,
            order: 0,
            now: 0,
            written: Vec::new(),
            waiting: [0; 2],
        }
    }

    /// Cycles up to, not including, `to`.
    fn run(&mut self, to: u64) {
        while self.now < to {
            let now = Cycle::new(self.now);
            let buffered = Buffered {
                sides: self.waiting,
                ..Buffered::default()
            };
            if let Some(power) = self.units.power() {
                power.catch_up(now, buffered, self.order);
            }
            while self.units.pop(now).is_some() {
                self.written.push(self.now);
            }
            self.units.step(now, &mut self.collectors, &self.facts);
            self.now += 1;
        }
    }

    /// An instruction has its operands in cycle `at`.
    fn collected(&mut self, pc: usize, lanes: u32, at: u64) {
        self.run(at);
        self.order += 1;
        self.note(self.order, pc, lanes);
        self.send(self.order, pc);
    }

    /// An instruction is issued; its operands are not there yet.
    fn note(&mut self, order: u64, pc: usize, lanes: u32) {
        let facts = &self.facts[pc];
        let now = Cycle::new(self.now);
        self.units.note_lanes(order, lanes, 0, facts, now);
    }

    /// Now they are.
    fn send(&mut self, order: u64, pc: usize) {
        let issued = Issued {
            pc: pc as u32,
            order,
            ..Issued::default()
        };
        self.collectors.issue(0, self.facts[pc].unit, issued);
        self.collectors.step(&self.facts, ());
    }

    fn counters(&mut self) -> [crate::stats::PipeCounters; 2] {
        self.units.pipe_counters(Cycle::new(self.now))
    }
}

/// From entry to writeback of an addition.
const ADD: u64 = 4 + EXIT_STAGES;

/// When an addition that has its operands in cycle `at`, and nothing before it, is written back.
fn written_back(set: &[&str], at: u64) -> u64 {
    let mut bench = Bench::new(set);
    bench.collected(INT, !0, at);
    bench.run(at + 200);
    assert_eq!(bench.written.len(), 1);
    bench.written[0]
}

const CONVENTIONAL: &str = "gating=conventional";

#[test]
fn lanes_that_are_off_are_waited_for() {
    for set in [&["gating.watch=true"][..], &[]] {
        assert_eq!(written_back(set, 20), 20 + ADD);
    }
    // Idle from 0 to 4, and off from 5 on.
    assert_eq!(written_back(&[CONVENTIONAL], 4), 4 + ADD);
    assert_eq!(written_back(&[CONVENTIONAL], 5), 5 + 3 + ADD);
    assert_eq!(
        written_back(&[CONVENTIONAL, "gating.wake_up=9"], 20),
        20 + 9 + ADD
    );
    let by_lane = [CONVENTIONAL, "gating.by=lane", "gating.idle_detect=16"];
    assert_eq!(written_back(&by_lane, 15), 15 + ADD);
    assert_eq!(written_back(&by_lane, 16), 16 + 3 + ADD);
}

/// When an addition that is issued in cycle 20 and has its operands `later` is written back.
fn issued_before(set: &[&str], later: u64) -> u64 {
    let mut bench = Bench::new(set);
    bench.run(20);
    bench.order = 1;
    bench.note(1, INT, !0);
    bench.run(20 + later);
    bench.send(1, INT);
    bench.run(200);
    bench.written[0]
}

#[test]
fn lanes_asked_for_at_issue_wake_up_while_operands_are_collected() {
    for by in ["gating.by=domain", "gating.by=lane"] {
        let at_entry = [CONVENTIONAL, by];
        let at_issue = [CONVENTIONAL, by, "gating.request=issue"];
        for later in 0..8 {
            assert_eq!(issued_before(&at_entry, later), 20 + later + 3 + ADD);
            let wakes = 20 + later.max(3);
            assert_eq!(issued_before(&at_issue, later), wakes + ADD, "{later}");
        }
    }
}

#[test]
fn a_blackout_lasts_until_break_even_and_a_wake_up_then_is_critical() {
    let naive = [
        "gating=blackout",
        "gating.coordinated=false",
        "gating.adaptive=false",
    ];
    for (at, wakes, critical) in [(6, 19, 1), (18, 19, 1), (19, 19, 1), (20, 20, 0)] {
        // Off from 5 to 18 at least.
        assert_eq!(written_back(&naive, at), wakes + 3 + ADD, "{at}");
        let mut bench = Bench::new(&naive);
        bench.collected(INT, !0, at);
        bench.run(60);
        let [int, fp] = bench.counters();
        assert_eq!((int.critical_wakes, fp.critical_wakes), (critical, 0));
    }
}

#[test]
fn an_instruction_goes_to_lanes_that_are_on_before_any_are_woken() {
    let mut bench = Bench::new(&[CONVENTIONAL]);
    // The first SP is kept busy, the second falls idle.
    for at in 0..40 {
        bench.collected(INT, !0, at);
    }
    bench.run(40);
    let [int, _] = bench.counters();
    assert_eq!(int.gatings, 32, "the second SP's lanes");
    assert_eq!(int.waking, 0);
    // The first SP takes one after the other as soon as the second SP would be awake.
    (0..4).for_each(|_| bench.collected(INT, !0, 40));
    bench.run(60);
    assert_eq!(
        bench.written[40..],
        [40, 41, 42, 43].map(|entered| entered + ADD)
    );
    assert_eq!(bench.counters()[0].waking, 0, "nothing would be gained");
    // One more, and it would be late: the second SP is woken for that.
    bench.collected(INT, !0, 60);
    bench.run(64);
    (0..5).for_each(|_| bench.collected(INT, !0, 64));
    bench.run(80);
    assert_eq!(
        bench.written[45..],
        [64, 65, 66, 67, 67].map(|entered| entered + ADD)
    );
    let [int, fp] = bench.counters();
    assert_eq!(
        int.waking,
        2 * 32 * 3,
        "the first SP at 60, the second at 64"
    );
    assert_eq!((int.issues, fp.issues), (50, 0));
}

#[test]
fn wake_ups_overlap() {
    // Off since 5, on both sides of both SPs.
    let mut bench = Bench::new(&[CONVENTIONAL]);
    bench.collected(INT, !0, 20);
    bench.collected(INT, !0, 20);
    bench.run(60);
    assert_eq!(bench.written, [23 + ADD, 23 + ADD], "both SPs wake up");
    let mut bench = Bench::new(&[CONVENTIONAL]);
    bench.collected(INT, !0, 20);
    bench.collected(FP, !0, 21);
    bench.run(60);
    assert_eq!(bench.written, [23 + ADD, 24 + ADD]);
    // Lanes of one SP, for one instruction after the other.
    let one_sp = [CONVENTIONAL, "gating.by=lane", "unit.sp.count=1"];
    let mut bench = Bench::new(&one_sp);
    for (i, lanes) in [0xf, 0xf0, 0xf00, 0xf000].into_iter().enumerate() {
        bench.collected(INT, lanes, 20 + i as u64);
    }
    bench.run(60);
    assert_eq!(bench.written, [23, 24, 25, 26].map(|entered| entered + ADD));
    assert_eq!(bench.counters()[0].waking, 16 * 3);
}

#[test]
fn nothing_is_switched_off_that_an_instruction_waits_for() {
    // An instruction has its operands and waits 39 cycles for the entry, which another keeps.
    let set = [
        CONVENTIONAL,
        "gating.by=lane",
        "unit.sp.count=1",
        "latency.fp32_add=[40, 40]",
    ];
    let mut bench = Bench::new(&set);
    bench.collected(INT, 0xff, 0);
    bench.collected(FP, !0, 2);
    bench.collected(INT, 0xff, 3);
    bench.run(100);
    assert_eq!(bench.written, [ADD, 42 + EXIT_STAGES, 42 + ADD]);
    let [int, _] = bench.counters();
    assert_eq!((int.gatings, int.waking), (32, 0), "each lane once");
}

#[test]
fn coordinated_blackout_leaves_one_on_while_warps_wait_for_it() {
    let set = ["gating=blackout", "gating.adaptive=false"];
    let mut bench = Bench::new(&set);
    bench.waiting = [1, 0];
    bench.run(30);
    let [int, fp] = bench.counters();
    assert_eq!(int.gatings, 32, "one of two");
    assert_eq!(fp.gatings, 64, "no warp waits for it");
    bench.waiting = [0, 0];
    bench.run(32);
    assert_eq!(bench.counters()[0].gatings, 64);
}

const FOLDING: [&str; 3] = [CONVENTIONAL, "gating.by=lane", "folding=phases"];

#[test]
fn a_folded_instruction_takes_its_unit_twice_as_long_and_writes_once() {
    let one_sp = [
        "unit.sp.count=1",
        "gating.idle_detect=1000",
        "folding.skip=cluster",
    ];
    let set = [&FOLDING[..], &one_sp].concat();
    let mut bench = Bench::new(&set);
    bench.collected(INT, !0, 10);
    bench.collected(INT, !0, 10);
    bench.run(60);
    // Two stages for shifting, one initiation interval for the second half.
    assert_eq!(bench.written, [10 + 1 + 2 + ADD, 12 + 1 + 2 + ADD]);
    let [int, _] = bench.counters();
    assert_eq!((int.issues, int.folded, int.shifts), (2, 2, 4));
    // The first 120 cycles of a phase; then in one piece again, for which the upper lanes, which
    // were switched off at once, wake up.
    let mut bench = Bench::new(&set);
    bench.collected(INT, !0, 119);
    bench.collected(INT, !0, 121);
    bench.collected(INT, 0x3333_3333, 302);
    bench.run(400);
    let whole = 2 + ADD;
    assert_eq!(
        bench.written,
        [119 + 1 + whole, 121 + 3 + whole, 302 + whole]
    );
    assert_eq!(bench.counters()[0].folded, 1);
    assert_eq!(bench.counters()[0].folding_cycles, 120 + 100);
}

#[test]
fn upper_lanes_are_off_while_warps_are_folded() {
    let mut bench = Bench::new(&[&FOLDING[..], &["unit.sp.count=1"]].concat());
    let off = |bench: &mut Bench, now| {
        bench.run(now);
        let all = bench.units.power().expect("gated").states(Cycle::new(now));
        let of = |gate: &crate::power::lanes::Gate| {
            matches!(gate, crate::power::lanes::Gate::Off(_)) as u32
        };
        all.map_gates(of)
    };
    for at in (0..60).step_by(2) {
        bench.collected(INT, !0, at);
        if at > 4 {
            let [int, fp] = off(&mut bench, at + 1);
            assert_eq!(int, 0xcccc_cccc, "at {at}");
            assert_eq!(fp, !0, "idle since the launch began");
        }
    }
}

/// One word of bits for each side of the only SP.
trait MapGates<T> {
    fn map_gates(&self, f: impl Fn(&T) -> u32) -> [u32; 2];
}

impl<T> MapGates<T> for Vec<Vec<T>> {
    fn map_gates(&self, f: impl Fn(&T) -> u32) -> [u32; 2] {
        [0, 1].map(|side: usize| {
            let lanes = self[side].iter().enumerate();
            lanes.fold(0, |all, (lane, gate)| all | f(gate) << lane)
        })
    }
}

#[test]
fn special_functions_have_no_lanes_to_wake() {
    let mut bench = Bench::new(&[CONVENTIONAL]);
    bench.collected(SFU, !0, 50);
    bench.run(100);
    assert_eq!(bench.written, [50 + 8 + EXIT_STAGES]);
    let mut bench = Bench::new(&[CONVENTIONAL]);
    bench.collected(FP, !0, 50);
    bench.run(100);
    assert_eq!(bench.written, [50 + 3 + ADD]);
    let [int, fp] = bench.counters();
    assert_eq!((int.issues, fp.issues), (0, 1));
}

/// An instruction waits for its lanes for as long as waking up takes, and no longer: whatever lanes it needs, and
/// however they have been switched off.
#[test]
fn whatever_lanes_an_instruction_needs_it_waits_for_one_wake_up_at_most() {
    for wake_up in [0, 1, 3, 9] {
        let wake = format!("gating.wake_up={wake_up}");
        for detect in ["gating.idle_detect=0", "gating.idle_detect=5"] {
            let set = [CONVENTIONAL, "gating.by=lane", &wake, detect];
            let mut bench = Bench::new(&set);
            let mut random = 5u32;
            for done in 1..=500 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let lanes = (random >> 3) & random.rotate_left(9) | 1;
                let at = bench.now + u64::from(random >> 29);
                bench.collected(INT, lanes, at);
                bench.run(at + wake_up + ADD + 1);
                assert_eq!(bench.written.len(), done, "{set:?}");
            }
        }
    }
}

#[test]
fn each_side_may_have_an_entry_of_its_own() {
    let set = [
        "unit.sp.count=1",
        "latency.int_add=[8, 8]",
        "gating.watch=true",
    ];
    let written = |more: &[&str]| {
        let mut bench = Bench::new(&[&set[..], more].concat());
        bench.collected(INT, !0, 10);
        bench.collected(INT, !0, 10);
        bench.collected(FP, !0, 11);
        bench.run(60);
        bench.written
    };
    let int = |entered: u64| entered + 8 + EXIT_STAGES;
    assert_eq!(written(&[]), [int(10), int(18), 26 + ADD]);
    let own = ["pipes.entries=own"];
    assert_eq!(written(&own), [11 + ADD, int(10), int(18)]);
}
