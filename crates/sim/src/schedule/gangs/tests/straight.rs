//! Who goes where slices of one class alone are ready, found without the plan for all slices: the same as by it.

use super::super::order::{Chooser, Order, Singles};
use super::super::table::Table;
use super::fetching::{Dice, HOMES, table};
use super::lockstep::check;
use crate::bench::kernel;
use crate::config::{Machine, ReadMachine};
use crate::divergence::Groups;
use crate::place::Layout;
use crate::schedule::{IssueView, Place, Together};
use crate::time::Cycle;

/// What is first by the plan, where these warps are ready, by domain: its home warp and slices.
fn first(chooser: &Chooser, table: &Table, ready: &[u64]) -> Option<(u16, u8)> {
    let set = ["warps=i-vws".to_string()];
    let layout = Layout::of(&Machine::resolve("vws", &set).expect("a machine"));
    let singles = Singles::new(Order::BigFirst, 8, 8);
    let groups = &Groups::new(8 * HOMES as usize);
    let first = |open| {
        let view = IssueView {
            now: Cycle::new(5),
            ready,
            alike: false,
            open,
            groups,
            layout,
        };
        let first = chooser.first(table, &singles, &view);
        first.map(|(home, part)| (home, part.slices))
    };
    assert_eq!(first(open(ready)), first(u8::MAX), "it makes no difference");
    first(u8::MAX)
}

/// The slices with any of these warps.
fn open(ready: &[u64]) -> u8 {
    (0..8).fold(0, |all, d| all | u8::from(ready[d] != 0) << d)
}

/// Home warps that are divided somehow, one of which has issued last, and the slices of a part.
fn drawn(dice: &mut Dice) -> (Table, Chooser, u8) {
    let table = table(dice);
    let mut chooser = Chooser::new(Order::BigFirst);
    let mut part = || {
        let home = (dice.draw() % u64::from(HOMES)) as u16;
        let parts = table.get(home).parts;
        (home, parts[dice.draw() as usize % parts.len()])
    };
    let (home, recent) = part();
    chooser.issued(home, &recent, true);
    let slices = part().1.slices;
    (table, chooser, slices)
}

#[test]
fn a_gang_in_all_slices_that_are_ready_is_first_if_it_is_by_the_plan() {
    let mut dice = Dice(5);
    let mut found = 0;
    for _ in 0..2000 {
        let (table, chooser, slices) = drawn(&mut dice);
        if slices.is_power_of_two() {
            continue;
        }
        let ready = dice.draw();
        let in_slice = |d: usize| if slices >> d & 1 != 0 { ready } else { 0 };
        let sets: Vec<u64> = (0..8).map(in_slice).collect();
        let planned = first(&chooser, &table, &sets).filter(|(_, its)| *its == slices);
        let straight = chooser.first_in(&table, slices, ready);
        assert_eq!(straight, planned.map(|(home, _)| home));
        found += u32::from(straight.is_some());
    }
    assert!((300..2000).contains(&found), "{found} of them found one");
}

#[test]
fn no_warp_can_issue_if_the_plan_names_none() {
    let mut dice = Dice(7);
    let mut found = 0;
    for _ in 0..2000 {
        let (table, chooser, _) = drawn(&mut dice);
        let closed = dice.draw() & dice.draw();
        let in_slice = |d: u64| (closed >> d & 1).wrapping_sub(1) & dice.draw();
        let sets: Vec<u64> = (0..8).map(in_slice).collect();
        let single = (0..8).any(|d| sets[d] & table.single[d] != 0);
        let any = single || first(&chooser, &table, &sets).is_some();
        assert_eq!(table.any_ready(&sets, open(&sets)), any);
        assert_eq!(table.any_ready(&sets, u8::MAX), any);
        found += u32::from(any);
    }
    assert!((200..1800).contains(&found), "{found} of them found one");
}

#[test]
fn a_part_is_found_from_whichever_slice_its_warps_are_counted() {
    let table = table(&mut Dice(1));
    for domain in 0..8 {
        let place = Place { domain, index: 3 };
        assert_eq!(table.part_of(Together::alone(place)), (3, 1 << domain));
        assert_eq!(
            table.part_of(table.places(3, 1 << domain)),
            (3, 1 << domain)
        );
    }
    assert_eq!(table.part_of(table.places(5, 0b0110)), (5, 0b0110));
}

/// Bodies in which warps of some slices alone have something to do for a while.
const BODIES: &[(&str, &str)] = &[
    (
        "the first warp goes on in a loop of its own",
        "and.b32 %r2, %r1, 31; mov.u32 %r3, 0; setp.ge.u32 %p1, %r2, 4; @%p1 bra END;
        mul.wide.u32 %rd3, %r1, 36; add.u64 %rd4, %rd2, %rd3; LOOP: ld.global.u32 %r4, [%rd4];
        add.u32 %r3, %r3, 1; st.shared.u32 [0], %r4; setp.lt.u32 %p2, %r3, 9; @%p2 bra LOOP;
        END: add.u32 %r5, %r3, 1;",
    ),
    (
        "a half goes on, and waits for the other at a barrier",
        "and.b32 %r2, %r1, 16; mov.u32 %r3, 0; setp.eq.u32 %p1, %r2, 0; @%p1 bra END;
        LOOP: add.u32 %r3, %r3, 1; mul.lo.u32 %r4, %r3, %r3; setp.lt.u32 %p2, %r3, 7; @%p2 bra LOOP;
        END: bar.sync 0; add.u32 %r5, %r3, 1; ld.shared.u32 %r6, [4]; bar.sync 0;",
    ),
    (
        "single warps go on side by side, and meet",
        "and.b32 %r2, %r1, 31; shr.u32 %r2, %r2, 2; mov.u32 %r3, 0; mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd4, %rd2, %rd3; LOOP: add.u32 %r3, %r3, 1; add.u32 %r4, %r4, %r3; setp.lt.u32 %p1, %r3, %r2;
        @%p1 bra LOOP; ld.global.u32 %r5, [%rd4]; add.u32 %r5, %r5, %r4; bar.sync 0; st.shared.u32 [8], %r5;",
    ),
    (
        "parts go on side by side",
        "and.b32 %r2, %r1, 31; shr.u32 %r2, %r2, 3; mov.u32 %r3, 0; mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd4, %rd2, %rd3; LOOP: setp.lt.u32 %p1, %r3, %r2; @%p1 bra NEXT; ld.global.u32 %r4, [%rd4];
        add.u32 %r5, %r4, %r3; NEXT: add.u32 %r3, %r3, 1; sin.approx.f32 %f1, %f1; setp.lt.u32 %p2, %r3, 5;
        @%p2 bra LOOP; red.global.add.u32 [%rd4], %r3;",
    ),
];

#[test]
fn statistics_are_those_of_the_plan() {
    let names = [
        "i-vws",
        "e-vws",
        "i-vws-8",
        "i-vws-lpc",
        "i-vws-impatient",
        "e-vws-sync20",
    ];
    for (what, body) in BODIES {
        let ptx = kernel(1024, body);
        for name in names {
            for threads in [1, 7, 128, 72] {
                check(&[&format!("warps={name}")], &ptx, 5, threads, what);
            }
        }
        // Units that some slices share, and a memory pipeline that is soon full.
        for set in [
            "unit.sp.per=sm",
            "sm.result_buses=1",
            "latency.int_mul=[10,4]",
        ] {
            check(&["warps=i-vws", set], &ptx, 3, 128, what);
        }
    }
}
