use super::*;
use crate::power::folding::lower;

const RULES: Rules = Rules {
    detect: Some(5),
    since: Cycle::ZERO,
    eager: None,
    break_even: 14,
};

struct Bench {
    lanes: Lanes,
    counters: PipeCounters,
    rules: Rules,
}

impl Bench {
    fn new(by_lane: bool) -> Bench {
        Bench {
            lanes: Lanes::new(8, !lower(4), by_lane),
            counters: PipeCounters::default(),
            rules: RULES,
        }
    }

    fn settle(&mut self, to: u64) {
        self.lanes
            .settle(Cycle::new(to), &self.rules, &mut self.counters);
    }

    fn enter(&mut self, lanes: u32, now: u64, latency: u64) {
        self.settle(now);
        let now = Cycle::new(now);
        assert!(self.lanes.are_on(lanes, now));
        let free = now + 1;
        self.lanes
            .enter(lanes, now, now + latency, free, &mut self.counters);
    }

    /// Whether all of these are on in a cycle.
    fn on(&mut self, lanes: u32, now: u64) -> bool {
        self.settle(now);
        self.lanes.are_on(lanes, Cycle::new(now))
    }

    fn sum(&self) -> u64 {
        let c = &self.counters;
        c.busy + c.idle + c.gated_early + c.gated + c.waking
    }
}

#[test]
fn lanes_are_off_after_exactly_the_idle_detect_time() {
    for by_lane in [false, true] {
        let mut bench = Bench::new(by_lane);
        bench.enter(0xff, 2, 4);
        // In it until cycle 5, idle from 6 to 10.
        assert!(bench.on(0xff, 10));
        assert!(!bench.on(0xff, 11));
        assert_eq!(bench.counters.gatings, 8);
        assert_eq!((bench.counters.busy, bench.counters.idle), (4 * 8, 7 * 8));
    }
}

#[test]
fn an_instruction_that_keeps_a_lane_busy_starts_the_count_again() {
    let mut bench = Bench::new(false);
    bench.enter(0x01, 0, 4);
    bench.enter(0x80, 3, 4);
    assert!(
        bench.on(0xff, 11),
        "one lane of the domain was busy until 6"
    );
    assert!(!bench.on(0xff, 12));
    let mut bench = Bench::new(true);
    bench.enter(0x01, 0, 4);
    bench.enter(0x80, 3, 4);
    assert!(bench.on(0x01, 8) && !bench.on(0x01, 9));
    assert!(bench.on(0x80, 11) && !bench.on(0x80, 12));
    assert!(
        !bench.on(0x7e, 12),
        "the others have been idle from the start"
    );
}

#[test]
fn waking_takes_its_time_and_lanes_are_idle_then() {
    let mut bench = Bench::new(true);
    bench.enter(0xff, 0, 1);
    assert!(!bench.on(0xff, 20));
    bench.lanes.wake(0x0f, Cycle::new(23));
    let usable = |lanes| {
        let woken = |since| since + 40;
        bench.lanes.usable(lanes, Cycle::new(20), woken)
    };
    assert_eq!(usable(0), Cycle::new(20));
    assert_eq!(usable(0x0f), Cycle::new(23));
    assert_eq!(usable(0xff), Cycle::new(6 + 40), "off since 6");
    assert!(!bench.on(0x0f, 22));
    assert!(bench.on(0x0f, 23));
    assert_eq!(bench.counters.waking, 3 * 4);
    assert!(
        bench.on(0x0f, 27) && !bench.on(0x0f, 28),
        "five idle cycles"
    );
    assert_eq!(bench.counters.gatings, 8 + 4);
}

#[test]
fn the_time_off_is_parted_at_break_even() {
    let mut bench = Bench::new(false);
    bench.enter(0xff, 0, 1);
    bench.settle(6 + 13);
    assert_eq!(
        (bench.counters.gated_early, bench.counters.gated),
        (13 * 8, 0)
    );
    bench.settle(6 + 20);
    assert_eq!(bench.counters.gated_early, 14 * 8);
    assert_eq!(bench.counters.gated, 6 * 8);
}

#[test]
fn a_lane_that_is_waited_for_is_not_switched_off() {
    let mut bench = Bench::new(true);
    bench.enter(0xff, 0, 1);
    for now in 4..30 {
        assert!(bench.on(0x0f, now));
        bench.lanes.hold_until(0x0f, Cycle::new(now + 2));
    }
    assert!(!bench.on(0xf0, 30));
    assert!(bench.on(0x0f, 30) && !bench.on(0x0f, 31));
}

#[test]
fn idle_upper_lanes_are_off_at_once_while_folding_lasts() {
    let mut bench = Bench::new(true);
    bench.rules.eager = Some((Cycle::new(10), Cycle::new(40)));
    bench.enter(0xff, 3, 9);
    assert!(bench.on(0xcc, 11) && !bench.on(0xcc, 12), "idle from 12 on");
    assert!(
        bench.on(0x33, 16) && !bench.on(0x33, 17),
        "the lower ones as ever"
    );
    bench.lanes.wake(0xff, Cycle::new(39));
    assert!(
        !bench.on(0xcc, 39),
        "and again as soon as they have woken up"
    );
    let mut bench = Bench::new(true);
    bench.rules.eager = Some((Cycle::new(10), Cycle::new(12)));
    bench.enter(0xff, 3, 9);
    assert!(bench.on(0xff, 16) && !bench.on(0xff, 17), "folding is over");
}

#[test]
fn bubbles_are_what_is_between_instructions_and_short_ones_below_ten_cycles() {
    let mut bench = Bench::new(false);
    bench.rules.detect = None;
    for now in [20, 21, 25, 36, 46] {
        bench.enter(0xff, now, 4);
    }
    assert_eq!(bench.counters.bubbles, 3 + 10 + 9);
    assert_eq!(bench.counters.short_bubbles, 3 + 9);
}

/// Whatever happens, every cycle of every lane is counted once, and it does not matter when.
#[test]
fn every_lane_cycle_is_in_one_state_and_settling_more_often_changes_nothing() {
    let mut random = 7u32;
    let mut next = move |below: u64| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u64::from(random >> 8) % below
    };
    for round in 0..200 {
        let by_lane = round % 2 == 0;
        let mut often = Bench::new(by_lane);
        if by_lane {
            often.rules.eager = Some((Cycle::new(30), Cycle::new(30 + next(90))));
        }
        let mut rarely = Bench::new(by_lane);
        rarely.rules = often.rules;
        let mut now = 0;
        for _ in 0..60 {
            let to = now + next(12);
            (now..=to).for_each(|t| often.settle(t));
            rarely.settle(to);
            now = to;
            let lanes = (next(255) + 1) as u32;
            let at = Cycle::new(now);
            let (on, wakes) = (often.lanes.are_on(lanes, at), Cycle::new(now + next(4)));
            let latency = 1 + next(9);
            for bench in [&mut often, &mut rarely] {
                match on {
                    true => bench.enter(lanes, now, latency),
                    false => bench.lanes.wake(lanes, wakes),
                }
            }
        }
        (now..=now + 100).for_each(|t| often.settle(t));
        rarely.settle(now + 100);
        assert_eq!(often.counters, rarely.counters, "round {round}");
        assert_eq!(often.lanes.gates(), rarely.lanes.gates(), "round {round}");
        assert_eq!(often.sum(), 8 * (now + 100), "round {round}");
    }
}
