//! When a request is admitted that waits before a slice.

use super::super::MemorySystem;
use super::super::wires::RoomChange;
use crate::packet::RequestKind;
use crate::testing::{gtx480, request};
use crate::time::Cycle;
use warpsim_engine::Component;

/// The cycle in which the only request is admitted, if it is, while the network to the slices runs up to cycle 200 in one go. From
/// the beginnings of these cycles on its slice has said that it has room, or that it has none.
fn admitted_at(room: &[(u64, bool)]) -> Option<u64> {
    let machine = gtx480();
    let mut memory = MemorySystem::new(&machine);
    memory.push(Cycle::ZERO, request(RequestKind::Read, 0, 32, 0));
    let slice = memory.map.locate(0).slice;
    let clock = memory.clocks.l2;
    let mut changes = Vec::new();
    for &(from, has_room) in room {
        let from = clock.first_tick(Cycle::new(from));
        changes.push(RoomChange {
            slice,
            from,
            has_room,
        });
    }
    memory.wires.room.send(&mut changes);
    memory.requests.run(200, &());
    let mut admitted = Vec::new();
    memory.wires.admitted.receive(&mut admitted);
    assert_eq!(admitted.len() + memory.requests.entrances.waiting(), 1);
    let first = admitted.first();
    first.map(|first| first.ready.get() - u64::from(machine.l2.latency))
}

#[test]
fn a_request_is_admitted_as_soon_as_its_slice_had_room() {
    let arrives = admitted_at(&[]).expect("there is room");
    assert!((1..60).contains(&arrives), "{arrives}");
    assert_eq!(admitted_at(&[(0, false), (arrives, true)]), Some(arrives));
    assert_eq!(admitted_at(&[(arrives + 2, false)]), Some(arrives));
    // Nothing else comes there, nor do slices say more before the network has come to cycle 200.
    assert_eq!(admitted_at(&[(0, false), (80, true)]), Some(80));
    assert_eq!(
        admitted_at(&[(0, false), (80, true), (81, false)]),
        Some(80)
    );
    assert_eq!(admitted_at(&[(0, false), (250, true)]), None);
    assert_eq!(admitted_at(&[(0, false)]), None);
}
