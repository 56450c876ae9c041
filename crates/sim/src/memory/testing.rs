//! What the tests of this module share.

use super::choices::MECHANISMS;
use super::packet::{Request, RequestKind, Traffic};
use warpsim_machine::Machine;
use warpsim_machine::read::load::{Origin, load};

/// The GTX 480 preset.
pub fn gtx480() -> Machine {
    gtx480_with(&[])
}

/// The same with other settings. Nothing but memory is looked at.
pub fn gtx480_with(set: &[String]) -> Machine {
    let origin = Origin::Preset("gtx480".to_string());
    load(&origin, set, &MECHANISMS).expect("a valid machine")
}

#[test]
fn what_memory_does_not_know_is_taken_as_it_is_and_what_it_knows_is_checked() {
    let read = |set: &[&str]| {
        let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
        let origin = Origin::Preset("gtx480".to_string());
        load(&origin, &set, &MECHANISMS).map_err(|e| e.to_string())
    };
    let machine = read(&["scheduler=unheard-of"]).expect("no scheduler is known here");
    assert_eq!(machine.scheduler.name, "unheard-of");
    let wrong = read(&["l2.replacement=lrru"]).expect_err("no such policy");
    assert!(wrong.contains("did you mean `lru`?"), "{wrong}");
    let large = read(&["l2.sets=65536", "l2.ways=64", "dram.channels=32"])
        .expect_err("too large for a host");
    assert!(large.contains("MiB"), "{large}");
}

/// A global request of SM 0 that writes all of its bytes if it writes.
pub fn request(kind: RequestKind, addr: u64, bytes: u16, token: u32) -> Request {
    let mask = u128::MAX >> (128 - u32::from(bytes));
    Request {
        sm: 0,
        kind,
        traffic: Traffic::Global,
        addr,
        bytes,
        byte_mask: mask << (addr % 128),
        token,
    }
}
