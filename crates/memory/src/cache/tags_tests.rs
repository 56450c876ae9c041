use super::*;
use proptest::prelude::*;

fn array(sets: u32, ways: u32, line: u32, sector: u32) -> TagArray {
    TagArray::new(Geometry {
        sets,
        ways,
        line,
        sector,
        index: SetIndex::Modulo,
    })
}

/// The fetch of the sector of `addr` has arrived, if there is one.
fn fill(tags: &mut TagArray, addr: u64) -> Option<Slot> {
    let Lookup::Pending(slot) = tags.lookup(addr) else {
        return None;
    };
    tags.fill_place(tags.place(slot, addr));
    Some(slot)
}

/// Brings the sector of `addr` in, as a cache that reads it would.
fn bring(tags: &mut TagArray, addr: u64) -> Option<Evicted> {
    match tags.lookup(addr) {
        Lookup::Hit(slot) => {
            tags.touch(slot);
            None
        }
        Lookup::Miss(slot) => {
            let evicted = tags.replace(slot, addr);
            tags.reserve(slot, addr);
            assert_eq!(fill(tags, addr), Some(slot));
            evicted
        }
        Lookup::SectorMiss(slot) | Lookup::PartlyWritten(slot) => {
            tags.reserve(slot, addr);
            tags.touch(slot);
            assert_eq!(fill(tags, addr), Some(slot));
            None
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sector_goes_from_missing_over_pending_to_valid() {
    let mut tags = array(4, 2, 128, 32);
    let Lookup::Miss(slot) = tags.lookup(256) else {
        panic!("an empty array hit")
    };
    assert_eq!(tags.replace(slot, 256), None);
    assert_eq!(tags.lookup(256), Lookup::SectorMiss(slot));
    tags.reserve(slot, 256);
    assert_eq!(tags.lookup(256 + 31), Lookup::Pending(slot));
    assert_eq!(tags.lookup(256 + 32), Lookup::SectorMiss(slot));
    assert_eq!(fill(&mut tags, 256), Some(slot));
    assert_eq!(tags.lookup(256), Lookup::Hit(slot));
    assert_eq!(fill(&mut tags, 256), None, "nothing is pending any more");
}

#[test]
fn the_least_recently_used_way_goes() {
    let mut tags = array(1, 3, 128, 128);
    for line in 0..3 {
        bring(&mut tags, line * 128);
    }
    bring(&mut tags, 0);
    bring(&mut tags, 3 * 128);
    assert!(matches!(tags.lookup(128), Lookup::Miss(_)));
    for line in [0, 2, 3] {
        assert!(matches!(tags.lookup(line * 128), Lookup::Hit(_)), "{line}");
    }
}

#[test]
fn a_line_that_waits_for_a_fill_is_not_replaced() {
    let mut tags = array(1, 2, 128, 128);
    for addr in [0, 128] {
        let Lookup::Miss(slot) = tags.lookup(addr) else {
            panic!()
        };
        tags.replace(slot, addr);
        tags.reserve(slot, addr);
    }
    assert_eq!(tags.lookup(256), Lookup::Blocked);
    fill(&mut tags, 128);
    let Lookup::Miss(slot) = tags.lookup(256) else {
        panic!()
    };
    tags.replace(slot, 256);
    assert!(
        matches!(tags.lookup(0), Lookup::Pending(_)),
        "older, but pending"
    );
}

#[test]
fn a_line_of_256_bytes_counts_what_is_written_in_both_halves() {
    let mut tags = array(2, 1, 256, 256);
    let Lookup::Miss(slot) = tags.lookup(256) else {
        panic!()
    };
    tags.replace(slot, 256);
    tags.write(slot, 256, u128::MAX);
    assert_eq!(tags.lookup(256), Lookup::PartlyWritten(slot));
    tags.write(slot, 256 + 128, u128::MAX >> 1);
    assert_eq!(tags.lookup(256), Lookup::PartlyWritten(slot));
    tags.write(slot, 256 + 128, 1 << 127);
    assert_eq!(tags.lookup(256), Lookup::Hit(slot));
    tags.replace(slot, 768);
    tags.write(slot, 768 + 128, u128::MAX);
    assert_eq!(
        tags.lookup(768),
        Lookup::PartlyWritten(slot),
        "nothing is left of the other line"
    );
    // With sectors each half has its own.
    let mut tags = array(2, 1, 256, 64);
    let Lookup::Miss(slot) = tags.lookup(0) else {
        panic!()
    };
    tags.replace(slot, 0);
    tags.write(slot, 192, (u128::MAX >> 64) << 64);
    assert_eq!(tags.lookup(192), Lookup::Hit(slot));
    assert_eq!(tags.lookup(64), Lookup::SectorMiss(slot));
}

#[test]
fn writes_make_a_sector_readable_only_when_all_its_bytes_are_there() {
    let mut tags = array(1, 1, 128, 32);
    let Lookup::Miss(slot) = tags.lookup(0) else {
        panic!()
    };
    tags.replace(slot, 0);
    tags.write(slot, 32, 0xffff << 32);
    assert_eq!(tags.lookup(32), Lookup::PartlyWritten(slot));
    assert_eq!(
        tags.lookup(0),
        Lookup::SectorMiss(slot),
        "other sectors are as before"
    );
    tags.write(slot, 32, 0xffff << 48);
    assert_eq!(tags.lookup(32), Lookup::Hit(slot));
    // Reading another partly written sector fetches it; it stays dirty.
    tags.write(slot, 64, 1 << 64);
    tags.reserve(slot, 64);
    assert_eq!(tags.lookup(64), Lookup::Pending(slot));
    fill(&mut tags, 64);
    assert_eq!(tags.lookup(64), Lookup::Hit(slot));
    let evicted = tags.replace(slot, 4096).unwrap();
    assert_eq!((evicted.addr, evicted.dirty_sectors), (0, 0b110));
}

#[test]
fn a_write_to_a_pending_sector_leaves_it_dirty() {
    let mut tags = array(1, 1, 128, 32);
    let Lookup::Miss(slot) = tags.lookup(0) else {
        panic!()
    };
    tags.replace(slot, 0);
    tags.reserve(slot, 0);
    tags.write(slot, 0, 0xffff_ffff);
    assert_eq!(tags.lookup(0), Lookup::Pending(slot));
    fill(&mut tags, 0);
    assert_eq!(tags.replace(slot, 128).unwrap().dirty_sectors, 1);
}

#[test]
fn a_whole_line_can_be_one_sector_of_128_bytes() {
    let mut tags = array(1, 1, 128, 128);
    let Lookup::Miss(slot) = tags.lookup(0) else {
        panic!()
    };
    tags.replace(slot, 0);
    tags.write(slot, 0, u128::MAX >> 1);
    assert_eq!(tags.lookup(0), Lookup::PartlyWritten(slot));
    tags.write(slot, 0, 1 << 127);
    assert_eq!(tags.lookup(0), Lookup::Hit(slot));
}

#[test]
fn invalidation_forgets_even_what_is_pending() {
    let mut tags = array(2, 2, 64, 64);
    bring(&mut tags, 0);
    assert!(tags.invalidate(0));
    assert!(!tags.invalidate(0));
    let Lookup::Miss(slot) = tags.lookup(64) else {
        panic!()
    };
    tags.replace(slot, 64);
    tags.reserve(slot, 64);
    tags.invalidate_all();
    assert_eq!(fill(&mut tags, 64), None);
    assert!(matches!(tags.lookup(64), Lookup::Miss(_)));
}

#[test]
fn the_fermi_hash_xors_the_documented_bits() {
    let tags = TagArray::new(Geometry {
        sets: 32,
        ways: 4,
        line: 128,
        sector: 128,
        index: SetIndex::FermiHash,
    });
    for (bit, set) in [
        (7, 1),
        (11, 16),
        (12, 0),
        (13, 1),
        (14, 2),
        (15, 4),
        (16, 0),
        (17, 8),
        (18, 0),
        (19, 16),
        (20, 0),
    ] {
        assert_eq!(tags.set_of(1 << bit), set, "bit {bit}");
    }
    assert_eq!(tags.set_of(1 << 7 | 1 << 13), 0);
}

#[test]
fn installing_makes_the_named_sectors_valid() {
    let mut tags = array(1, 2, 128, 32);
    for line in 0..3 {
        tags.install(line * 128, 128);
    }
    assert!(matches!(tags.lookup(0), Lookup::Miss(_)));
    for sector in 4..12 {
        assert!(matches!(tags.lookup(sector * 32), Lookup::Hit(_)));
    }
    let mut tags = array(1, 2, 128, 32);
    tags.install(40, 30);
    let hit = [0, 32, 64, 96].map(|addr| matches!(tags.lookup(addr), Lookup::Hit(_)));
    assert_eq!(hit, [false, true, true, false]);
    tags.install(96, 1000);
    assert!(matches!(tags.lookup(96), Lookup::Hit(_)));
    assert!(matches!(tags.lookup(128), Lookup::Miss(_)), "one line only");
}

#[test]
fn a_cache_of_size_zero_never_takes_anything() {
    assert_eq!(array(0, 4, 128, 128).lookup(0), Lookup::Blocked);
}

proptest! {
    /// Against a list of lines in order of use for each set.
    #[test]
    fn behaves_as_a_list_in_order_of_use(
        lines in prop::collection::vec(0u64..64, 1..400), sets in 1u32..6, ways in 1u32..5,
    ) {
        let mut tags = array(sets, ways, 64, 64);
        let mut model: Vec<Vec<u64>> = vec![Vec::new(); sets as usize];
        for line in lines {
            let set = &mut model[(line % u64::from(sets)) as usize];
            let there = set.iter().position(|&l| l == line);
            prop_assert_eq!(matches!(tags.lookup(line * 64), Lookup::Hit(_)), there.is_some());
            if let Some(at) = there {
                set.remove(at);
            } else if set.len() == ways as usize {
                set.remove(0);
            }
            set.push(line);
            bring(&mut tags, line * 64);
        }
    }
}
