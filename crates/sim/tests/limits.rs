//! Launches that do not end in time, or not at all: each ends with what its warps wait for, the same text however it is simulated.

use crate::common;

use common::{Bench, kernel, machine};
use warpsim_sim::config::Machine;
use warpsim_sim::divergence::MODELS;
use warpsim_sim::gpu::{Options, SimError};

/// Threads take different ways through a loop, meet, and wait for each other; then some take another way home.
const BRANCHES_AND_BARRIERS: &str = "\
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1; mov.u32 %r5, 6;\n\
    mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;\n\
    ROUND: and.b32 %r6, %r1, %r5; setp.eq.u32 %p1, %r6, 0; @%p1 bra EVEN;\n\
    ld.global.u32 %r7, [%rd5]; add.u32 %r8, %r8, %r7; setp.gt.u32 %p2, %r6, 3; @%p2 bra MEET;\n\
    mad.lo.u32 %r8, %r8, 3, %r6; bra MEET;\n\
    EVEN: add.u32 %r8, %r8, 1;\n\
    MEET: bar.sync 0; sub.u32 %r5, %r5, 1; setp.ne.u32 %p3, %r5, 0; @%p3 bra ROUND;\n\
    setp.lt.u32 %p4, %r1, 5; @%p4 bra FEW; st.global.u32 [%rd4], %r8; bra END;\n\
    FEW: st.global.u32 [%rd4], %r4; END:";

/// Two barriers behind a branch, for more threads than there are.
const DEADLOCK: &str = "\
    and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;\n\
    bar.sync 1, 128; bra END;\n\
    EVEN: bar.sync 2, 128; END:";

fn model(preset: &str, model: &str) -> Machine {
    let scheduler = match model.starts_with("dwf") {
        true => "scheduler=majority",
        false => "scheduler=lrr",
    };
    let model = format!("divergence={model}");
    machine(preset, &["gpu.sms=2", &model, scheduler])
}

/// How a run is simulated: the threads, and whether it is skipped.
const WAYS: [(usize, bool); 5] = [(1, true), (1, false), (3, true), (9, true), (3, false)];

fn run(
    machine: &Machine,
    ptx: &str,
    way: (usize, bool),
    limit: Option<u64>,
) -> Result<u64, String> {
    let options = Options {
        max_cycles: limit,
        threads: way.0,
        skip: way.1,
        ..Options::default()
    };
    let mut bench = Bench::unobserved(machine.clone(), ptx, options);
    match bench.try_launch([12, 1, 1], [96, 1, 1], 0) {
        Ok(()) => Ok(bench.report().totals.cycles),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_launch_may_take_as_many_cycles_as_its_limit_and_no_more() {
    let ptx = kernel(0, BRANCHES_AND_BARRIERS);
    for preset in ["gtx480", "gtx480-ref", "fx5800", "vws"] {
        for set in [&["gpu.sms=2"][..], &["gpu.sms=9"]] {
            let machine = machine(preset, set);
            let cycles = run(&machine, &ptx, (1, true), None).expect("it ends");
            for way in WAYS {
                assert_eq!(
                    run(&machine, &ptx, way, Some(cycles)),
                    Ok(cycles),
                    "{preset} {way:?}"
                );
            }
            // Near its end, where warps have exited; in the middle of it; and as it begins.
            let limits = [
                cycles - 1,
                cycles - 2,
                cycles - 47,
                cycles / 2,
                cycles / 3,
                1,
                0,
            ];
            for limit in limits {
                let text =
                    run(&machine, &ptx, (1, true), Some(limit)).expect_err("it takes longer");
                let begins = format!("kernel k did not end within {limit} cycles");
                assert!(text.starts_with(&begins), "{preset}: {text}");
                for way in WAYS {
                    let same = run(&machine, &ptx, way, Some(limit));
                    assert_eq!(same, Err(text.clone()), "{preset} {way:?} {set:?}");
                }
            }
        }
    }
}

#[test]
fn who_listens_hears_everything_up_to_the_limit() {
    let ptx = kernel(0, BRANCHES_AND_BARRIERS);
    let heard = |limit: Option<u64>| {
        let options = Options {
            max_cycles: limit,
            ..Options::default()
        };
        let mut bench = Bench::with(machine("gtx480", &["gpu.sms=2"]), &ptx, options);
        let ended = bench.try_launch([12, 1, 1], [96, 1, 1], 0).is_ok();
        (ended, bench.events())
    };
    let (_, all) = heard(None);
    let limit = all.last().expect("something happened").0 / 2;
    let before = |events: Vec<common::Event>| {
        let mut events: Vec<String> = (events.iter())
            .filter(|e| e.0 < limit)
            .map(|e| format!("{e:?}"))
            .collect();
        events.sort();
        events
    };
    let (ended, cut) = heard(Some(limit));
    assert!(!ended);
    assert_eq!(before(cut), before(all));
}

/// A loop that takes longer than a few hundred cycles is named as a whole, even one of almost two thousand.
#[test]
fn the_loop_of_a_warp_that_spins_is_seen_whole() {
    for slow in [6, 12] {
        let slow = "rem.u32 %r2, %r2, %r3; ".repeat(slow);
        let body = format!(
            "mov.u32 %r3, 7;\nSPIN: add.u32 %r2, %r2, 1; // @first\n{slow}\nbra SPIN; // @last"
        );
        let ptx = kernel(0, &body);
        let options = Options {
            max_cycles: Some(30_000),
            ..Options::default()
        };
        let mut bench = Bench::unobserved(machine("gtx480", &[]), &ptx, options);
        let error = bench
            .try_launch([1, 1, 1], [32, 1, 1], 0)
            .expect_err("it spins");
        let SimError::CycleLimit { loops, ended, .. } = *error else {
            panic!("{error}");
        };
        let line = |mark: &str| {
            let tail = format!("// @{mark}");
            let at = ptx.lines().position(|l| l.ends_with(&tail));
            at.expect("a line") as u32 + 1
        };
        let lines = loops.first().map(|l| (l.first_line, l.last_line));
        assert_eq!(lines, Some((line("first"), line("last"))), "{loops:?}");
        assert_eq!(ended, None);
    }
}

#[test]
fn under_every_divergence_model_a_launch_that_is_cut_short_says_where_its_warps_are() {
    let ptx = kernel(0, BRANCHES_AND_BARRIERS);
    for info in MODELS.iter().map(|m| m.info) {
        for preset in ["gtx480", "fx5800"] {
            let machine = model(preset, info.name);
            let cycles = run(&machine, &ptx, (1, true), None).expect("it ends");
            let limits = (0..cycles).step_by(cycles as usize / 40 + 1);
            for limit in limits {
                let text =
                    run(&machine, &ptx, (1, true), Some(limit)).expect_err("it takes longer");
                // At first there is nothing to wait for, and at last nothing is left but stores on their way.
                let waits = limit >= 100 && limit + 600 <= cycles;
                assert!(
                    text.contains("waits for") || !waits,
                    "{}: {text}",
                    info.name
                );
                let stepped = run(&machine, &ptx, (1, false), Some(limit));
                assert_eq!(stepped, Err(text), "{} {limit}", info.name);
            }
        }
    }
}

/// A grid of which most blocks have come and gone, whatever is where they were.
#[test]
fn under_every_divergence_model_blocks_that_have_ended_are_not_looked_at() {
    let ptx = kernel(0, "");
    for info in MODELS.iter().map(|m| m.info) {
        let options = Options {
            max_cycles: Some(100),
            ..Options::default()
        };
        let mut bench = Bench::unobserved(model("gtx480", info.name), &ptx, options);
        let error = bench
            .try_launch([6000, 1, 1], [32, 1, 1], 0)
            .expect_err("too long");
        assert!(
            error.to_string().contains("blocks have not started"),
            "{error}"
        );
    }
}

#[test]
fn under_every_divergence_model_a_deadlock_ends_and_names_both_sides() {
    let ptx = kernel(0, DEADLOCK);
    for info in MODELS.iter().map(|m| m.info) {
        for preset in ["gtx480", "fx5800"] {
            let machine = model(preset, info.name);
            let text = run(&machine, &ptx, (1, true), None).expect_err("it never ends");
            assert!(
                text.starts_with("deadlock in kernel k"),
                "{}: {text}",
                info.name
            );
            assert!(text.contains("barrier"), "{}: {text}", info.name);
            assert!(
                text.contains("of 128 threads have arrived"),
                "{}: {text}",
                info.name
            );
            for way in WAYS {
                let same = run(&machine, &ptx, way, None);
                assert_eq!(same, Err(text.clone()), "{} {way:?}", info.name);
            }
        }
    }
}

/// A kernel whose threads wait at random barriers for random numbers of others, some of them in loops and behind branches.
fn random_barriers(random: &mut Dice) -> String {
    let mut body = String::new();
    for part in 0..1 + random.below(4) {
        let (id, count) = (random.below(3), 32 * (1 + random.below(3)));
        let barrier = match random.below(4) {
            0 => format!("bar.arrive {id}, {};", count.max(64)),
            1 => "bar.sync 0;".to_string(),
            _ => format!("bar.sync {id}, {count};"),
        };
        let (low, apart) = (random.below(96), random.below(64) + 1);
        body += &match random.below(4) {
            0 => format!("{barrier}\n"),
            1 => format!(
                "setp.lt.u32 %p1, %r1, {low}; @%p1 bra OVER{part};\n{barrier}\nOVER{part}:\n"
            ),
            2 => format!(
                "rem.u32 %r2, %r1, {apart}; setp.eq.u32 %p1, %r2, 0; @%p1 bra ON{part};\n{barrier}\nbra OVER{part};\n\
                 ON{part}: add.u32 %r3, %r3, 1;\nOVER{part}:\n"
            ),
            _ => format!("setp.ge.u32 %p1, %r1, {low}; @%p1 exit;\n{barrier}\n"),
        };
    }
    body
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Whatever threads wait for, a launch ends: well, with a deadlock that says what they wait for, with a fault, or at its limit, and
/// alike in every way to simulate it. `WARPSIM_STUCK` says how many are drawn.
#[test]
fn launches_whose_threads_wait_at_random_end_alike() {
    let given = std::env::var("WARPSIM_STUCK").ok();
    let count = given.map_or(60, |text| text.parse().expect("a number"));
    let (mut stuck, mut ended) = (0, 0);
    for seed in 0..count {
        let random = &mut Dice(seed);
        let body = random_barriers(random);
        let info = MODELS[random.below(MODELS.len() as u64) as usize].info;
        let preset = ["gtx480", "fx5800", "gtx480-ref"][random.below(3) as usize];
        let machine = model(preset, info.name);
        let ptx = kernel(0, &body);
        let limit = Some(20_000);
        let first = run(&machine, &ptx, WAYS[0], limit);
        match &first {
            Ok(_) => ended += 1,
            Err(text) => {
                stuck += 1;
                let says = ["waits for", "did not end within", "bar"];
                assert!(says.iter().any(|s| text.contains(s)), "{seed}: {text}");
            }
        }
        for way in &WAYS[1..] {
            let same = run(&machine, &ptx, *way, limit);
            assert_eq!(
                same, first,
                "seed {seed}, {} on {preset}, {way:?}\n{body}",
                info.name
            );
        }
    }
    assert!(
        stuck > count / 20 && ended > count / 20,
        "{stuck} stuck, {ended} ended"
    );
}
