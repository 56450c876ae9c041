use super::*;
use crate::memory::testing::{gtx480, request};
use RequestKind::Read;

/// A reply as a test sees it: arrival, SM and what came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    at: u64,
    sm: usize,
    token: u32,
    addr: u64,
    last: bool,
}

/// Advances until idle, `step` cycles at a time, taking every reply as it arrives.
fn drain(memory: &mut MemorySystem, from: u64, step: u64) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut now = from;
    while !memory.idle() {
        assert!(now < from + 1_000_000, "{:#?}", memory.describe_pending());
        now += step;
        memory.advance(now, &mut |_, _| {});
        for sm in 0..memory.inboxes.queues.len() {
            while let Some(at) = memory.next_reply(sm).filter(|&at| at < now) {
                let reply = memory.pop_reply(sm, at).unwrap();
                let (token, addr, last) = (reply.token, reply.addr, reply.last);
                seen.push(Seen {
                    at,
                    sm,
                    token,
                    addr,
                    last,
                });
            }
        }
    }
    seen.sort_by_key(|s| (s.at, s.sm));
    seen
}

fn latency(memory: &mut MemorySystem, at: u64, request: Request) -> u64 {
    memory.push(at, request);
    drain(memory, at, 1).last().unwrap().at - at
}

/// Injection, six steps, 120 at the partition, one to the queue, one to serve, six steps back.
const L2_HIT: u64 = INJECTION_CYCLES + 6 + 120 + 1 + REPLY_CYCLES + 6;

#[test]
fn an_l2_hit_takes_network_and_partition_latency() {
    let mut memory = MemorySystem::new(&gtx480());
    memory.warm_l2(0, 4096);
    memory.push(10, request(Read, 0, 32, 7));
    memory.advance(10 + L2_HIT - 6, &mut |_, _| {});
    assert_eq!(memory.next_reply(0), None);
    memory.advance(10 + L2_HIT, &mut |_, _| {});
    assert!(memory.peek_reply(0, 10 + L2_HIT - 1).is_none());
    let reply = memory.pop_reply(0, 10 + L2_HIT).unwrap();
    assert_eq!((reply.token, reply.bytes, reply.last), (7, 32, true));
    assert!(memory.idle());
}

#[test]
fn a_dram_row_hit_takes_117_cycles_more_than_an_l2_hit() {
    let mut seen = [0u64; 3];
    for start in 0..200u64 {
        let mut memory = MemorySystem::new(&gtx480());
        let at = 1000 + start * 7;
        let closed = latency(&mut memory, at, request(Read, 0, 32, 0));
        let open = latency(&mut memory, at + 1000, request(Read, 32, 32, 0));
        // The same bank, another row: 16 bits up in the channel address.
        let conflict = latency(&mut memory, at + 2000, request(Read, 6 << 16, 32, 0));
        seen[0] += open;
        seen[1] += closed;
        seen[2] += conflict;
    }
    let [open, closed, conflict] = seen.map(|sum| sum as f64 / 200.0 - L2_HIT as f64);
    assert!((open - 117.0).abs() < 0.6, "{open}");
    assert!((closed - open - 9.09).abs() < 0.3, "{closed}");
    assert!((conflict - closed - 9.09).abs() < 0.3, "{conflict}");
}
