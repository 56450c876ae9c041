//! Programs end: a gang waits for no thread that waits for one of its own.

use super::{bench, names, quiet};
use crate::common::generate::Generator;
use crate::common::{check_laws, kernel, machine};
use warpsim_sim::observe::WarpEvent;
use warpsim_sim::stats::SmCounters;

/// Settings of fetch that decide what is in warps' buffers when they join and part.
const FETCH: &[&[&str]] = &[
    &[],
    &["fetch.wait_for_branch=true"],
    &["fetch.oracle=true"],
    &["fetch.buffer=4", "fetch.width=2"],
    &[
        "fetch.buffer=4",
        "fetch.width=3",
        "fetch.wait_for_branch=true",
    ],
    &["fetch.buffer=3", "fetch.eligible=room"],
    &[
        "fetch.buffer=4",
        "fetch.eligible=room",
        "fetch.width=2",
        "fetch.wait_for_branch=true",
    ],
    &["fetch.cache_ports=1", "fetch.l0_bytes=128"],
    &["fetch.ideal=true"],
];

/// Ways of warps whose single warps have four threads: those with another width come where they may, whatever order they name.
fn narrow() -> Vec<String> {
    let narrow =
        |name: &String| !name.ends_with("-8") && !["ws8", "ws16", "ws32"].contains(&&name[..]);
    names().into_iter().filter(narrow).collect()
}

/// Each thread stores `%r10`.
const STORE: &str =
    "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r10;";

/// What 32 threads have stored, and the counters, with a name for the ways of warps and settings beside.
fn stored(name: &str, set: &[&str], body: &str) -> (Vec<u32>, SmCounters) {
    let ptx = kernel(0, body);
    let warps = format!("warps={name}");
    let set = [&[warps.as_str()][..], set].concat();
    let mut bench = quiet("vws", &set, &ptx, true);
    bench.launch(1, 32);
    check_laws(bench.report(), &machine("vws", &set));
    let mut stepped = bench_of(&set, &ptx);
    stepped.launch(1, 32);
    assert_eq!(
        bench.report(),
        stepped.report(),
        "{set:?}, watched and stepped"
    );
    let counters = bench.report().totals.sm.counters.clone();
    (bench.output()[..32].to_vec(), counters)
}

fn bench_of(set: &[&str], ptx: &str) -> crate::common::Bench {
    bench("vws", set, ptx, false)
}

#[test]
fn a_warp_is_not_joined_with_those_that_wait_until_it_exits() {
    // Slice 0 goes past an operation that names all threads, to where the others wait behind it; they go on when it
    // has exited.
    let body = format!(
        "mov.u32 %r10, 0; setp.lt.u32 %p1, %r1, 4; @%p1 bra BEHIND;
        shfl.sync.idx.b32 %r10, %r1, 5, 31, 0xffffffff;
        BEHIND: {STORE}"
    );
    let expected: Vec<u32> = (0..32).map(|i| if i < 4 { 0 } else { 5 }).collect();
    for name in narrow() {
        let (stored, _) = stored(&name, &[], &body);
        assert_eq!(stored, expected, "{name}");
    }
}

#[test]
fn a_gang_of_which_some_warps_wait_for_threads_falls_apart() {
    // Slices 0 and 1 come to an operation together, which names slice 2 for slice 0, and slice 1 alone for that. Slice
    // 2 comes there when slice 1 has come to another operation behind it.
    let body = format!(
        "mov.u32 %r10, 0; setp.eq.u32 %p4, %r1, %r1;
        shr.u32 %r3, %r1, 2; setp.gt.u32 %p1, %r3, 2; @%p1 bra END;
        setp.eq.u32 %p2, %r3, 2; @%p2 bra SECOND;
        FIRST: setp.eq.u32 %p3, %r3, 1; selp.b32 %r2, 0xf0, 0xf0f, %p3;
        vote.sync.ballot.b32 %r11, %p4, %r2; add.u32 %r10, %r10, %r11;
        setp.ne.u32 %p5, %r3, 1; @%p5 bra END;
        SECOND: vote.sync.ballot.b32 %r11, %p4, 0xff0; add.u32 %r10, %r10, %r11;
        @%p2 bra FIRST;
        END: {STORE}"
    );
    let all = [0xf0f, 0xff0 + 0xf0, 0xff0 + 0xf0f, 0];
    let expected: Vec<u32> = (0..32usize).map(|i| all[(i / 4).min(3)]).collect();
    for name in narrow() {
        let (stored, _) = stored(&name, &[], &body);
        assert_eq!(stored, expected, "{name}");
    }
    let (_, counters) = stored("i-vws", &[], &body);
    // At the branches, and where slice 0 waits and slice 1 does not.
    assert!(counters.gang_splits >= 2, "{}", counters.gang_splits);
}

#[test]
fn a_branch_that_is_fetched_anew_is_waited_for_anew() {
    // Parts that meet where one has a branch in its buffer, and the other nothing.
    let body = format!(
        "mov.u32 %r10, 0; mov.u32 %r2, 0; and.b32 %r3, %r1, 28;
        LOOP: setp.lt.u32 %p1, %r2, %r3; @!%p1 bra ODD; add.u32 %r10, %r10, 3; bra NEXT;
        ODD: add.u32 %r10, %r10, 1;
        NEXT: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 32; @%p2 bra LOOP; {STORE}"
    );
    let expected: Vec<u32> = (0..32).map(|i| 32 + 2 * (i & 28)).collect();
    for name in names() {
        for fetch in FETCH {
            let (stored, _) = stored(&name, fetch, &body);
            assert_eq!(stored, expected, "{name}, {fetch:?}");
        }
    }
}

/// Numbers that follow from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) % u64::from(n)) as u32
    }
}

/// A program for 32 threads in which some go one way and some another, take part in operations among those that go
/// theirs and those that have left or will, and leave; and what each stores.
fn meetings(seed: u64) -> (String, Vec<u32>) {
    let dice = &mut Dice(seed);
    let mut body = String::from("mov.u32 %r10, 0; setp.eq.u32 %p4, %r1, %r1;\n");
    let (mut stored, mut here) = ([0u32; 32], u32::MAX);
    // A condition on the thread's number: its bit in `mask`.
    let condition = |p: u32, mask: u32| {
        format!(
            "mov.b32 %r20, {mask:#x}; shr.u32 %r20, %r20, %r1; and.b32 %r20, %r20, 1; setp.ne.u32 %p{p}, %r20, 0;\n"
        )
    };
    let whole_slices = |dice: &mut Dice| {
        let slices = dice.below(1 << 8);
        (0..8)
            .filter(|s| slices >> s & 1 != 0)
            .fold(0u32, |all, s| all | 0xf << (4 * s))
    };
    let any = |dice: &mut Dice| match dice.below(3) {
        0 => dice.below(1 << 16) << 16 | dice.below(1 << 16),
        _ => whole_slices(dice),
    };
    let ballot = |mask: u32, takers: u32, stored: &mut [u32; 32]| {
        let those = (0..32).filter(|t| takers >> t & 1 != 0);
        those.for_each(|t| stored[t] = stored[t].wrapping_mul(3).wrapping_add(takers));
        format!("vote.sync.ballot.b32 %r11, %p4, {mask:#x}; mad.lo.u32 %r10, %r10, 3, %r11;\n")
    };
    for stage in 0..2 + dice.below(4) {
        // A delay that is not the same for all.
        let (shift, turns) = (dice.below(4), 1 + dice.below(7));
        body += &format!(
            "shr.u32 %r21, %r1, {shift}; and.b32 %r21, %r21, {turns};\nD{stage}: setp.eq.u32 %p6, %r21, 0; @%p6 bra E{stage};
            sub.u32 %r21, %r21, 1; bra D{stage};\nE{stage}:\n"
        );
        let left = here & any(dice);
        let right = here & !left;
        body += &condition(1, left);
        body += &format!("@%p1 bra L{stage};\n");
        // Those that have left by now may be named.
        let gone = !here & any(dice);
        if right != 0 {
            for _ in 0..dice.below(3) {
                body += &ballot(right | gone, right, &mut stored);
            }
        }
        body += &format!("bra.uni J{stage};\nL{stage}:\n");
        if left != 0 {
            for _ in 0..dice.below(3) {
                body += &ballot(left | gone, left, &mut stored);
            }
        }
        body += &format!("J{stage}:\n");
        if dice.below(3) == 0 {
            let leave = here & any(dice) & any(dice);
            body += &condition(2, leave);
            body += &format!("@!%p2 bra S{stage};\n{STORE}\nexit;\nS{stage}:\n");
            here &= !leave;
        }
    }
    // Some go past an operation that names all, to where the others wait behind it.
    let past = here & whole_slices(dice);
    body += &condition(3, past);
    body += "@%p3 bra BEHIND;\n";
    let takers = here & !past;
    body += &ballot(u32::MAX, takers, &mut stored);
    body += &format!("BEHIND: {STORE}");
    (body, stored.to_vec())
}

/// Programs of a test: `WARPSIM_GANG_PROGRAMS` says how many.
fn programs() -> u64 {
    let text = std::env::var("WARPSIM_GANG_PROGRAMS").ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(40)
}

#[test]
fn operations_among_some_threads_end_and_are_right_under_all_gangs_and_fetch_settings() {
    let names = narrow();
    for seed in 0..programs() {
        let (body, expected) = meetings(seed);
        for i in 0..4 {
            // Every name with every setting, in turn.
            let turn = seed as usize * 4 + i;
            let (name, fetch) = (
                &names[turn % names.len()],
                FETCH[turn / names.len() % FETCH.len()],
            );
            let (stored, _) = stored(name, fetch, &body);
            assert_eq!(stored, expected, "seed {seed}, {name}, {fetch:?}\n{body}");
        }
    }
}

#[test]
fn programs_with_barriers_loops_and_exits_end_under_all_gangs_and_fetch_settings() {
    let names = names();
    for seed in 0..programs() {
        let threads = [64, 96, 70, 33][seed as usize % 4];
        let ptx = kernel(4 * threads, &Generator::body_with_breaks(seed, threads));
        let mut wide = quiet("vws", &[], &ptx, true);
        wide.launch(2, threads);
        for i in 0..2 {
            let turn = seed as usize * 2 + i;
            let (name, fetch) = (
                &names[turn % names.len()],
                FETCH[turn / names.len() % FETCH.len()],
            );
            let warps = format!("warps={name}");
            let set = [&[warps.as_str()][..], fetch].concat();
            let mut narrow = quiet("vws", &set, &ptx, true);
            narrow.launch(2, threads);
            assert!(
                narrow.output() == wide.output(),
                "seed {seed}, {set:?}\n{ptx}"
            );
            let mut stepped = quiet("vws", &set, &ptx, false);
            stepped.launch(2, threads);
            assert_eq!(
                narrow.report(),
                stepped.report(),
                "seed {seed}, {set:?}\n{ptx}"
            );
        }
    }
}

/// In which cycle each warp issued each instruction, in order.
fn issued(set: &[&str], ptx: &str) -> Vec<(u64, u16, u32)> {
    let mut bench = bench("vws", set, ptx, true);
    bench.launch(1, 32).launch(1, 32);
    let issued = |&(cycle, _, slot, event): &(u64, u16, u16, WarpEvent)| match event {
        WarpEvent::Issued { pc, .. } => Some((cycle, slot, pc)),
        _ => None,
    };
    bench.events().iter().filter_map(issued).collect()
}

#[test]
fn fetch_that_knows_where_branches_go_wastes_nothing_and_waits_for_none() {
    // Taken and not taken, by all and by some.
    let body = format!(
        "mov.u32 %r10, 0; mov.u32 %r2, 0; and.b32 %r3, %r1, 7;
        LOOP: add.u32 %r10, %r10, 1; bra.uni MIDDLE; MIDDLE: setp.gt.u32 %p1, %r2, %r3; @%p1 bra NEXT;
        add.u32 %r10, %r10, 5;
        NEXT: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 6; @%p2 bra LOOP; {STORE}"
    );
    let ptx = kernel(0, &body);
    for name in ["ws32", "ws8", "ws4"] {
        let warps = format!("warps={name}");
        let fetches = |set: &[&str]| {
            let set = [&[warps.as_str()][..], set].concat();
            let mut bench = quiet("vws", &set, &ptx, true);
            bench.launch(1, 96);
            let counters = bench.report().totals.sm.counters.clone();
            (counters.fetches, counters.warp_instructions)
        };
        let (fetched, issued) = fetches(&["fetch.oracle=true"]);
        assert_eq!(fetched, issued, "{name}");
        let (fetched, issued) = fetches(&[]);
        assert!(fetched > issued, "{name}");
    }
    // What is behind a branch comes two cycles later, as behind any other instruction.
    let issued = issued(&["warps=ws32", "fetch.oracle=true"], &ptx);
    let branches = ptx.matches("bra").count();
    assert!(branches > 0);
    let apart: Vec<u64> = issued
        .windows(2)
        .map(|pair| pair[1].0 - pair[0].0)
        .collect();
    let jumps = issued.windows(2).map(|pair| pair[1].2 != pair[0].2 + 1);
    let behind: Vec<u64> = jumps
        .zip(&apart)
        .filter(|(jump, _)| *jump)
        .map(|(_, a)| *a)
        .collect();
    assert!(
        !behind.is_empty() && behind.iter().all(|cycles| *cycles == 2),
        "{behind:?}"
    );
}
