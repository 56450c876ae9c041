//! Toy components: machines with random connections, latencies and habits come to the same, message by message, in turn and on several threads.

use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use warpsim_engine::{Component, Crew, Engine, Input, Link, Place, Ran, Signal};

/// Cycles by which all clocks move.
const STEP: u64 = 4;

/// A message: when it arrives, the sender, and what it says.
type Message = (u64, usize, u64);

/// Where a message goes, after how long.
struct Output {
    link: Arc<Link<Message>>,
    latency: u64,
}

/// A component that now and then has to know the clock of another one, which it does not wait for otherwise.
struct Habit {
    on: usize,
    clock: Arc<Signal>,
    /// It has to know in every step whose number is a multiple.
    every: u64,
}

/// A component that answers messages in the order of their times.
struct Toy {
    number: usize,
    at: u64,
    inputs: Vec<Arc<Link<Message>>>,
    outputs: Vec<Output>,
    habit: Option<Habit>,
    clock: Arc<Signal>,
    waiting: Vec<Message>,
    state: u64,
    /// All messages that it has dealt with, and what it was then.
    log: Vec<(Message, u64)>,
    /// It ends the window here.
    ends_at: u64,
    /// It lingers, at other times in every run.
    lingers: bool,
}

fn mix(a: u64, b: u64) -> u64 {
    (a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .rotate_left(23)
        .wrapping_mul(0xd6e8_feb8_6659_fd93)
}

impl Toy {
    /// Deals with all messages that arrive before cycle `to`.
    fn deal(&mut self, to: u64) {
        for input in &self.inputs {
            input.receive(&mut self.waiting);
        }
        self.waiting.sort_unstable();
        let due = self.waiting.partition_point(|message| message.0 < to);
        for message in self.waiting.drain(..due) {
            assert!(
                message.0 >= self.at,
                "{message:?} comes to {} late",
                self.at
            );
            self.log.push((message, self.state));
            self.state = mix(self.state, mix(message.0, message.2));
            // One in eight is not passed on, so that there are not more and more.
            let Some(output) = self
                .outputs
                .get(self.state as usize % (self.outputs.len() + 1))
            else {
                continue;
            };
            let later = self.state >> 32 & 7;
            let answer = (message.0 + output.latency + later, self.number, self.state);
            output.link.send(&mut vec![answer]);
        }
        self.at = to;
    }
}

impl Component<()> for Toy {
    fn clock(&self) -> u64 {
        self.at
    }

    fn run(&mut self, to: u64, (): &()) -> Ran {
        if self.lingers {
            use std::hash::{BuildHasher, RandomState};
            let chance = RandomState::new().hash_one(()) % 512;
            if chance < 48 {
                std::thread::sleep(std::time::Duration::from_micros(chance));
            }
        }
        assert_eq!(to % STEP, 0);
        while self.at < to {
            let at = self.at;
            if let Some(habit) = &self.habit
                && (at / STEP).is_multiple_of(habit.every)
                && habit.clock.read() < at
            {
                return Ran::Waits(habit.on);
            }
            if at == self.ends_at {
                return Ran::Ends;
            }
            self.deal(at + STEP);
            self.clock.publish(self.at);
        }
        Ran::On
    }
}

/// What a machine is like.
#[derive(Clone, Debug)]
struct Plan {
    toys: usize,
    /// From, to, latency in steps.
    links: Vec<(usize, usize, u64)>,
    /// Who has to know whose clock, and how often.
    habits: Vec<(usize, usize, u64)>,
    first: Vec<(usize, u64)>,
    /// The windows' ends, in steps.
    windows: Vec<u64>,
    /// How far the last toy is ahead.
    ahead: u64,
    stride: u64,
    ends: Option<(usize, u64)>,
}

fn plan() -> impl Strategy<Value = Plan> {
    (2usize..7).prop_flat_map(|toys| {
        (
            prop::collection::vec((0..toys, 0..toys, 1u64..6), 1..14),
            prop::collection::vec((0..toys, 0..toys, 1u64..5), 0..4),
            prop::collection::vec((0..toys, 0u64..40), 1..12),
            prop::collection::vec(1u64..20, 1..6),
            0u64..3,
            1u64..8,
            prop::option::weighted(0.2, (0..toys, 1u64..60)),
        )
            .prop_map(
                move |(links, habits, first, windows, ahead, stride, ends)| Plan {
                    toys,
                    links,
                    habits,
                    first,
                    windows,
                    ahead,
                    stride,
                    ends,
                },
            )
    })
}

/// Of each toy the messages that it has dealt with, and the ends of the windows.
type Outcome = (Vec<Vec<(Message, u64)>>, Vec<u64>);

/// Runs a machine, in which only the last toy may be ahead.
fn run(plan: &Plan, helpers: usize, lingers: bool) -> Outcome {
    let clocks: Vec<Arc<Signal>> = (0..plan.toys).map(|_| Arc::default()).collect();
    let last = plan.toys - 1;
    let mut toys: Vec<Toy> = (0..plan.toys)
        .map(|number| Toy {
            number,
            at: 0,
            inputs: Vec::new(),
            outputs: Vec::new(),
            habit: None,
            clock: clocks[number].clone(),
            waiting: Vec::new(),
            state: number as u64,
            log: Vec::new(),
            ends_at: plan
                .ends
                .filter(|ends| ends.0 % last == number)
                .map_or(u64::MAX, |ends| ends.1 * STEP),
            lingers,
        })
        .collect();
    let mut places = vec![
        Place {
            work: 1,
            ..Place::default()
        };
        plan.toys
    ];
    places[last].ahead = plan.ahead * STEP;
    for &(from, to, latency) in &plan.links {
        let link: Arc<Link<Message>> = Arc::default();
        // What the last toy sends can be far ahead only of those that it need not hear from.
        let latency = latency * STEP + if to == last { plan.ahead * STEP } else { 0 };
        places[to].inputs.push(Input { from, latency });
        toys[to].inputs.push(link.clone());
        toys[from].outputs.push(Output { link, latency });
    }
    for &(who, on, every) in &plan.habits {
        // Toys wait for those before them only, and the last, which is ahead of others, for none.
        if on < who && who != last {
            let clock = clocks[on].clone();
            toys[who].habit = Some(Habit { on, clock, every });
        }
    }
    for (token, &(to, at)) in plan.first.iter().enumerate() {
        toys[to].waiting.push((at, plan.toys, token as u64));
    }
    let mut engine = Engine::new(places, plan.stride * STEP, Crew::new(helpers));
    let (mut end, mut ends) = (0, Vec::new());
    for window in &plan.windows {
        end += window * STEP;
        let components = toys.iter_mut().map(|toy| toy as &mut dyn Component<()>);
        let ended = engine.run(components, end, &());
        ends.push(ended);
        if ended < end {
            break;
        }
    }
    // Where a window was ended early some have come further than others had to.
    let before = ends.last().copied().unwrap_or(0);
    let logs = toys.into_iter().map(|mut toy| {
        toy.log.retain(|((at, ..), _)| *at < before);
        toy.log
    });
    (logs.collect(), ends)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn on_several_threads_as_in_turn(plan in plan()) {
        let in_turn = run(&plan, 0, false);
        for helpers in [1, 3] {
            let together = run(&plan, helpers, true);
            prop_assert_eq!(&in_turn, &together);
        }
    }

    #[test]
    fn whatever_the_stride_and_the_windows(plan in plan(), stride in 1u64..40) {
        let all = plan.windows.iter().sum();
        let other = Plan { stride, windows: vec![all], ..plan.clone() };
        let (logs, ends) = run(&plan, 0, false);
        let (same, other_ends) = run(&other, 0, false);
        prop_assert_eq!(logs, same);
        prop_assert_eq!(ends.last(), other_ends.last());
    }
}

/// A component that does this.
struct Odd<F>(u64, F);

impl<F: FnMut(&mut u64, u64) -> Ran + Send> Component<()> for Odd<F> {
    fn clock(&self) -> u64 {
        self.0
    }

    fn run(&mut self, to: u64, (): &()) -> Ran {
        (self.1)(&mut self.0, to)
    }
}

fn both<'a>(
    one: &'a mut dyn Component<()>,
    other: &'a mut dyn Component<()>,
) -> [&'a mut dyn Component<()>; 2] {
    [one, other]
}

/// Goes as far as it may.
fn goes(at: &mut u64, to: u64) -> Ran {
    *at = to;
    Ran::On
}

/// A component that hears of the first one after so long.
fn hears(latency: u64) -> Place {
    Place {
        inputs: vec![Input { from: 0, latency }],
        work: 1,
        ..Place::default()
    }
}

#[test]
fn a_component_goes_as_far_as_its_inputs_latency_says_and_no_further() {
    let clock = Signal::new(0);
    let mut engine = Engine::new(vec![Place::default(), hears(7)], 20, Crew::new(0));
    let mut first = Odd(0, |at: &mut u64, to| {
        clock.publish(to);
        goes(at, to)
    });
    let mut second = Odd(7, |at: &mut u64, to| {
        assert_eq!(to, (clock.read() + 7).min(100));
        goes(at, to)
    });
    assert_eq!(engine.run(both(&mut first, &mut second), 100, &()), 100);
    assert_eq!((first.0, second.0), (100, 100));
}

#[test]
fn components_that_wait_for_each_other_are_an_error_that_names_their_clocks() {
    let mut engine = Engine::new(vec![Place::default(); 2], 100, Crew::new(0));
    let stops = |cycle, on| {
        move |at: &mut u64, _| {
            *at = cycle;
            Ran::Waits(on)
        }
    };
    // The second goes on, as the first has come further, but never past cycle 8.
    let (mut a, mut b) = (Odd(0, stops(9, 1)), Odd(7, stops(8, 0)));
    let result = catch_unwind(AssertUnwindSafe(|| {
        engine.run(both(&mut a, &mut b), 100, &())
    }));
    let message = result.expect_err("no component can go on");
    let message = message.downcast_ref::<String>().expect("a message");
    assert!(message.contains("(9, 1)"), "{message}");
}

#[test]
fn a_component_that_panics_lets_the_others_go() {
    for helpers in [0, 1, 3] {
        let mut engine = Engine::new(vec![hears(100), hears(1)], 10, Crew::new(helpers));
        let lost = |_: &mut u64, _| -> Ran { panic!("lost") };
        let (mut bad, mut other) = (Odd(0, lost), Odd(0, goes));
        let run = || engine.run(both(&mut bad, &mut other), 100, &());
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}
