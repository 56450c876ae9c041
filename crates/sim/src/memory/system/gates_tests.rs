//! When a request is let in that waits before a slice.

use super::super::MemorySystem;
use super::*;
use crate::memory::packet::RequestKind;
use crate::memory::testing::{gtx480, request};

/// The cycle in which the only request is let in, if it is, while the network to the slices runs up to cycle 200 in one go. From
/// the beginnings of these cycles on its slice has written down that it has room, or that it has none.
fn let_in_at(room: &[(u64, bool)]) -> Option<u64> {
    let machine = gtx480();
    let mut memory = MemorySystem::new(&machine);
    memory.go_ahead(&machine);
    memory.push(Cycle::ZERO, request(RequestKind::Read, 0, 32, 0));
    let slice = memory.map.locate(0).slice as usize;
    let clock = memory.clocks.l2;
    let mut front = memory.front.take().expect("slices are ahead");
    for &(from, is) in room {
        let tick = clock.first_tick(Cycle::new(from));
        front.gates.all[slice].room.note(tick, is);
    }
    memory.front = Some(front);
    memory.catch_up(Cycle::new(200));
    let Gates { mail, waiting, .. } = &memory.front.as_ref()?.gates;
    assert_eq!(mail.len() + waiting, 1);
    (*waiting == 0).then(|| mail.first().get() - u64::from(machine.l2.latency))
}

#[test]
fn a_request_is_let_in_as_soon_as_its_slice_had_room() {
    let arrives = let_in_at(&[]).expect("there is room");
    assert!((1..60).contains(&arrives), "{arrives}");
    assert_eq!(let_in_at(&[(0, false), (arrives, true)]), Some(arrives));
    assert_eq!(let_in_at(&[(arrives + 2, false)]), Some(arrives));
    // Nothing else comes there, nor are slices asked again before the network has come to cycle 200.
    assert_eq!(let_in_at(&[(0, false), (80, true)]), Some(80));
    assert_eq!(let_in_at(&[(0, false), (80, true), (81, false)]), Some(80));
    assert_eq!(let_in_at(&[(0, false), (250, true)]), None);
    assert_eq!(let_in_at(&[(0, false)]), None);
}
