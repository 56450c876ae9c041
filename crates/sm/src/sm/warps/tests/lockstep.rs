use super::super::domain::Hold;
use crate::config::{Machine, ReadMachine};
use crate::divergence::GroupState;
use crate::place::Place;
use crate::schedule::Together;
use crate::sm::launch::Launched;
use crate::sm::residents::Residents;
use crate::sm::testing::{launched, residents};
use crate::time::Cycle;

const BODY: &str = "mov.u32 %r1, 3; add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; ret;";

/// The residents of an SM with eight slices, for which three home warps have come.
fn slices() -> (Launched, Residents) {
    let set = ["warps=i-vws".to_string()];
    let machine = Machine::resolve("vws", &set).expect("a machine");
    let launched = launched(&machine, BODY, 96);
    let residents = residents(&machine, &launched);
    (launched, residents)
}

/// Such residents, the first domain standing for all.
fn joined() -> (Launched, Residents) {
    let (launched, mut residents) = slices();
    residents.warps.join(&mut residents.books);
    assert!(residents.warps.alike());
    (launched, residents)
}

/// All sets and statistics.
fn state(residents: &mut Residents) -> (Vec<super::super::Domain>, String) {
    residents.warps.part();
    let domains = residents.warps.domains().to_vec();
    (domains, format!("{:?}", residents.books.stats))
}

/// The warps of a home warp on these slices.
fn gang(index: u8, slices: u8) -> Together {
    Together::new(Place { domain: 0, index }, 1, slices)
}

#[test]
fn slices_that_hold_the_same_are_kept_as_one_until_a_warp_goes_its_own_way() {
    let (_, mut r) = joined();
    assert_eq!(r.warps.leaders(), 1);
    assert_eq!(r.warps.sets(5).running, 0b111);
    r.warps.edit(9, &mut r.books).hold(Hold::Barrier, true);
    assert_eq!(r.warps.leaders(), 0b11, "the others stay together");
    assert_eq!((r.warps.members(0), r.warps.members(1)), (!2 & 0xff, 2));
    assert!(r.warps.is_held(9) && !r.warps.is_held(8) && !r.warps.is_held(10));
    r.warps.join(&mut r.books);
    assert!(!r.warps.alike(), "one of them is held");
    r.warps.edit(9, &mut r.books).hold(Hold::Barrier, false);
    r.warps.join(&mut r.books);
    assert!(r.warps.alike());
}

#[test]
fn a_part_of_a_gang_takes_its_slices_with_it() {
    let (_, mut r) = joined();
    r.warps
        .hold_gang(gang(1, 0x0f), Hold::Barrier, true, &mut r.books);
    assert_eq!((r.warps.members(0), r.warps.members(4)), (0x0f, 0xf0));
    r.warps
        .hold_gang(gang(2, 0x3c), Hold::Barrier, true, &mut r.books);
    let classes: Vec<_> = (0..8).map(|d| r.warps.leader_of(d)).collect();
    assert_eq!(classes, [0, 0, 2, 2, 4, 4, 6, 6]);
    r.warps
        .hold_gang(gang(1, 0x0f), Hold::Barrier, false, &mut r.books);
    r.warps.join(&mut r.books);
    assert_eq!((r.warps.members(0), r.warps.members(2)), (0xc3, 0x3c));
}

#[test]
fn what_a_whole_gang_does_is_what_its_warps_do() {
    let (launched, mut one) = joined();
    let (_, mut each) = slices();
    let code = &launched.facts;
    for (cycle, first) in [(3, 8), (4, 0), (9, 8)] {
        let now = Cycle::new(cycle);
        for r in [&mut one, &mut each] {
            r.warps.start_cycle(now);
        }
        let pc = (cycle == 9) as u32;
        let facts = &code[pc as usize];
        // The instruction is decoded, issues, and is done, as one,
        let all = one.warps.whole_gang(first);
        one.warps.gang_fetch_under_way(all);
        one.warps.decode_gang(all, pc, pc, code, &mut one.books);
        one.warps
            .take_class_turn(all.leader(), 1, !0, &mut one.books);
        one.warps.gang_issued(all, facts);
        one.warps
            .refresh_gang(all, false, pc + 1, code, &mut one.books);
        one.warps.gang_completed(all, facts, code, &mut one.books);
        assert!(one.warps.alike());
        // and warp by warp.
        for slot in first..first + 8 {
            let place = each.warps.place(slot);
            each.warps.fetch_under_way(place);
            let mut edit = each.warps.edit(slot, &mut each.books);
            edit.decode(pc, pc, code);
            edit.refresh_head(pc, code);
        }
        for slot in first..first + 8 {
            let place = each.warps.place(slot);
            each.warps.take_turn(place, 1, !0, &mut each.books);
            each.warps.issued(slot, facts);
            each.warps
                .edit(slot, &mut each.books)
                .refresh_head(pc + 1, code);
            each.warps.completed(slot, facts, code, &mut each.books);
        }
    }
    assert_eq!(state(&mut one), state(&mut each));
}

#[test]
fn a_gang_of_which_some_still_wait_for_data_is_not_kept_as_one() {
    let (launched, mut r) = joined();
    let code = &launched.facts;
    r.warps.start_cycle(Cycle::new(2));
    for pc in 0..2 {
        r.warps
            .decode_gang(gang(0, 0xff), pc, pc, code, &mut r.books);
        if pc == 0 {
            r.warps.gang_issued(gang(0, 0xff), &code[0]);
            r.warps
                .refresh_gang(gang(0, 0xff), false, 1, code, &mut r.books);
        }
    }
    let clear = |r: &Residents| {
        (0..8)
            .map(|d| r.warps.sets(d).clear & 1)
            .collect::<Vec<_>>()
    };
    assert_eq!(clear(&r), [0; 8], "%r1 is owed to all of them");
    r.warps.completed(2, &code[0], code, &mut r.books);
    assert!(!r.warps.alike());
    assert_eq!(clear(&r), [0, 0, 1, 0, 0, 0, 0, 0]);
}

#[test]
fn what_completes_and_was_not_waited_for_leaves_slices_together() {
    let body = "mov.u32 %r1, 3; mov.u32 %r2, 4; add.u32 %r3, %r1, 1; ret;";
    let set = ["warps=i-vws".to_string()];
    let machine = Machine::resolve("vws", &set).expect("a machine");
    let launched = launched(&machine, body, 96);
    let code = &launched.facts;
    let run = |keep: bool, all: u8, some: u8| {
        let mut r = residents(&machine, &launched);
        r.warps.join(&mut r.books);
        r.warps.start_cycle(Cycle::new(2));
        for pc in 0..3 {
            r.warps
                .decode_gang(gang(0, 0xff), pc, pc, code, &mut r.books);
            if pc < 2 {
                r.warps.gang_issued(gang(0, 0xff), &code[pc as usize]);
                r.warps
                    .refresh_gang(gang(0, 0xff), false, pc + 1, code, &mut r.books);
            }
        }
        r.warps.start_cycle(Cycle::new(7));
        if !keep {
            r.warps.part();
        }
        // The instruction that is next waits for the first, not for the second.
        r.warps.completed(3, &code[1], code, &mut r.books);
        r.warps
            .gang_completed(gang(0, some), &code[1], code, &mut r.books);
        assert_eq!(r.warps.alike(), keep);
        r.warps
            .gang_completed(gang(0, all), &code[0], code, &mut r.books);
        let clear = (0..8).fold(0, |set, d| set | (r.warps.sets(d).clear & 1) << d);
        assert_eq!(clear, u64::from(all));
        assert_eq!(r.warps.leaders().count_ones(), if keep { 2 } else { 8 });
        state(&mut r)
    };
    assert_eq!(run(true, 0x0f, 0xf0), run(false, 0x0f, 0xf0));
    assert_eq!(run(true, 0x3c, 0x06), run(false, 0x3c, 0x06));
}

#[test]
fn a_whole_gang_waits_at_a_barrier_and_goes_on_as_one() {
    let (_, mut r) = joined();
    r.warps
        .hold_gang(gang(1, 0xff), Hold::Barrier, true, &mut r.books);
    assert!(r.warps.alike());
    assert!((8..16).all(|slot| r.warps.is_held(slot)));
    assert!(!r.warps.is_held(0) && !r.warps.is_held(16));
    r.warps
        .hold_gang(gang(1, 0xff), Hold::Barrier, false, &mut r.books);
    assert!(r.warps.alike() && !r.warps.is_held(8));
    r.warps.part();
    r.warps
        .hold_gang(gang(1, 0xff), Hold::Barrier, true, &mut r.books);
    assert!((8..16).all(|slot| r.warps.is_held(slot)), "warp by warp");
}

#[test]
fn gangs_are_found_in_a_list_of_slots() {
    let (_, mut r) = joined();
    let slots: Vec<u16> = (8..24).collect();
    let first = |r: &Residents, slots: &[u16]| {
        let found = r.warps.first_gang(slots);
        found.map(|(gang, others)| (gang.index(), gang.domains(), others.len()))
    };
    assert_eq!(first(&r, &slots), Some((1, 0xff, 8)));
    assert_eq!(first(&r, &slots[8..]), Some((2, 0xff, 0)));
    assert_eq!(first(&r, &slots[5..]), Some((1, 0xe0, 8)), "a part");
    assert_eq!(first(&r, &[8, 10, 11]), None, "one behind another");
    assert_eq!(first(&r, &[15, 16, 17]), None, "of one home warp");
    assert_eq!(first(&r, &[]), None);
    r.warps.keep_in_step(true);
    assert_eq!(first(&r, &slots), None, "each is heard of");
}

#[test]
fn a_store_of_a_whole_gang_leaves_as_those_of_its_warps() {
    let body = "mov.u32 %r1, 3; st.shared.u32 [%r1], %r1; add.u32 %r2, %r1, 1; ret;";
    let set = ["warps=i-vws".to_string()];
    let machine = Machine::resolve("vws", &set).expect("a machine");
    let launched = launched(&machine, body, 64);
    let code = &launched.facts;
    let stored = |whole: bool| {
        let mut r = residents(&machine, &launched);
        r.warps.join(&mut r.books);
        r.warps.start_cycle(Cycle::new(2));
        r.warps.decode_gang(gang(1, 0xff), 1, 1, code, &mut r.books);
        r.warps.gang_issued(gang(1, 0xff), &code[1]);
        r.warps
            .refresh_gang(gang(1, 0xff), false, 2, code, &mut r.books);
        if whole {
            r.warps.gang_store_sent(gang(1, 0xff), code, &mut r.books);
        } else {
            (8..16).for_each(|slot| r.warps.store_sent(slot, code, &mut r.books));
        }
        assert_eq!(r.warps.alike(), whole);
        assert!((8..16).all(|slot| r.warps.is_settled(slot)));
        state(&mut r)
    };
    assert_eq!(stored(true), stored(false));
}

#[test]
fn a_gang_that_exits_leaves_as_its_warps_do_and_stays_one() {
    let exited = |as_one: bool| {
        let (launched, mut r) = joined();
        let (code, all) = (&launched.facts, gang(1, 0xff));
        r.warps.start_cycle(Cycle::new(2));
        r.warps.decode_gang(all, 3, 3, code, &mut r.books);
        r.warps.gang_issued(all, &code[3]);
        if as_one {
            assert!(r.warps.finish_gang(all, 3, &mut r.books));
        } else {
            for slot in 8..16 {
                let mut edit = r.warps.edit(slot, &mut r.books);
                edit.follow_static(GroupState::Finished, 3, code.len() as u32);
                edit.refresh_head(3, code);
            }
        }
        r.warps.refresh_gang(all, true, 3, code, &mut r.books);
        r.warps.check_leaving_in(0xff, 1);
        assert_eq!(r.warps.sets(3).leaving, 0, "the exit is in flight");
        r.warps.warp_mut(10).stores = 1;
        r.warps.gang_completed(all, &code[3], code, &mut r.books);
        if as_one {
            assert!(r.warps.alike());
            r.warps.check_leaving_in(r.warps.finished_at(1), 1);
        } else {
            (8..16).for_each(|slot| r.warps.check_leaving(slot));
        }
        let leaving = (0..8).filter(|d| r.warps.sets(*d).leaving == 1 << 1);
        assert_eq!(leaving.collect::<Vec<_>>(), [0, 1, 3, 4, 5, 6, 7]);
        state(&mut r)
    };
    assert_eq!(exited(true), exited(false));
}
