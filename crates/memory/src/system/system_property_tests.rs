//! Laws that hold for any stream of requests.

use super::*;
use crate::choices::MECHANISMS;
use crate::packet::{RequestKind, Traffic};
use crate::testing::{Bench, gtx480};
use proptest::prelude::*;
use std::collections::HashMap;
use warpsim_machine::DramModel;
use warpsim_machine::check::validate::validate;

fn kind() -> impl Strategy<Value = RequestKind> {
    prop_oneof![
        4 => Just(RequestKind::Read),
        2 => Just(RequestKind::Write),
        1 => Just(RequestKind::Atomic),
    ]
}

/// Requests with the cycles since the one before.
pub(super) fn stream() -> impl Strategy<Value = Vec<(u64, Request)>> {
    // Few lines in few sets, so that there are hits, merges, evictions and stalls.
    let one = (
        0u64..6,
        0u16..15,
        kind(),
        0u64..40,
        0u64..12,
        0u64..4,
        0u32..3,
    );
    prop::collection::vec(one, 1..250).prop_map(|all| {
        let with_tokens = all.into_iter().enumerate();
        let built = with_tokens.map(|(token, (gap, sm, kind, way, slice, sector, size))| {
            let size = if kind == RequestKind::Atomic { 0 } else { size };
            let bytes = 32u64 << size;
            let line = way * 64 * 128 * 12 + slice * 256;
            let addr = line + sector * 32 / bytes * bytes;
            let mask = (u128::MAX >> (128 - bytes)) << (addr % 128);
            let request = Request {
                sm,
                kind,
                traffic: Traffic::Global,
                addr,
                bytes: bytes as u16,
                // Some writes leave holes.
                byte_mask: if way % 3 == 0 {
                    mask & (u128::MAX / 3)
                } else {
                    mask
                },
                token: token as u32,
            };
            (gap, request)
        });
        built.collect()
    })
}

/// Machines of different shapes. The first two are so tight that every limit is met.
pub(super) fn machine() -> impl Strategy<Value = Machine> {
    (0..10usize).prop_map(|which| match which {
        0 => tight(),
        1 => {
            let mut machine = tight();
            machine.dram.model = DramModel::Simple;
            machine.dram.simple_bytes_per_cycle = 24;
            machine
        }
        2 => {
            let mut machine = tight();
            machine.gpu.interconnect_mhz = 350;
            machine.gpu.l2_mhz = 500;
            machine
        }
        3 => eight_channels_of_whole_lines(),
        // How far DRAM can be ahead of the slices: not at all, and less than a period.
        4 | 5 => {
            let mut machine = tight();
            machine.dram.latency = if which == 4 { 0 } else { 9 };
            machine
        }
        6 => one_channel(),
        // Whole replies, and none to stores; ports that SMs share; lines longer than what is asked for.
        7 => shared_ports(eight_channels_of_whole_lines()),
        8 => shared_ports(tight()),
        _ => long_lines(),
    })
}

/// Four SMs to a port, three to the last, and, beside them, no replies to stores.
fn shared_ports(mut machine: Machine) -> Machine {
    machine.interconnect.sms_per_port = 4;
    machine.interconnect.store_replies = false;
    machine.interconnect.sectored_replies = machine.l2.sector == 32;
    machine.interconnect.flit = 32;
    machine
}

/// As release 3.0.2's machine: lines of 256 bytes, no sectors, a network that is faster than all else.
fn long_lines() -> Machine {
    let mut machine = tight();
    machine.gpu.interconnect_mhz = 1400;
    machine.gpu.quantum = 3;
    machine.interconnect.flit = 32;
    machine.interconnect.sectored_replies = false;
    machine.l2.slices_per_channel = 1;
    machine.l2.line = 256;
    machine.l2.sector = 256;
    machine
}

pub(super) fn tight() -> Machine {
    let mut machine = gtx480();
    machine.l2.mshrs = 6;
    machine.l2.merges = 2;
    machine.l2.ways = 2;
    machine.l2.queue = 8;
    machine.dram.queue = 4;
    machine
}

/// As thread block compaction's machine: 64-byte lines without sectors, slower network.
fn eight_channels_of_whole_lines() -> Machine {
    let mut machine = gtx480();
    machine.gpu.core_mhz = 1300;
    machine.gpu.interconnect_mhz = 650;
    machine.gpu.l2_mhz = 650;
    machine.gpu.dram_mhz = 800;
    machine.l2.slices_per_channel = 1;
    machine.l2.sets = 16;
    for cache in [
        &mut machine.l1d.cache,
        &mut machine.l1i,
        &mut machine.constant,
        &mut machine.texture,
    ] {
        cache.line = 64;
    }
    machine.l2.line = 64;
    machine.l2.sector = 64;
    machine.l2.ways = 64;
    machine.dram.channels = 8;
    machine.dram.queue = 32;
    machine.dram.banks = 8;
    machine.dram.bank_groups = 1;
    machine
}

/// As variable warp sizing's machine: one channel, simple DRAM.
fn one_channel() -> Machine {
    let mut machine = gtx480();
    machine.l2.slices_per_channel = 1;
    machine.l2.sets = 128;
    machine.dram.channels = 1;
    machine.dram.model = DramModel::Simple;
    machine.dram.simple_bytes_per_cycle = 32;
    machine
}

type Arrivals = Vec<(Cycle, usize, u32, u64, bool)>;
type Outcome = (Arrivals, Vec<(u16, u32)>, MemoryStats);

/// Runs the stream, exchanging with the memory every `step` cycles. Replies are all left in
/// their queues, which are large enough, until the end: no feedback depends on `step`.
fn run(machine: &Machine, stream: &[(u64, Request)], step: u64) -> Outcome {
    let mut machine = machine.clone();
    machine.interconnect.reply_queue = 10_000;
    machine.interconnect.injection_queue = 10_000;
    let mut memory = Bench::new(&machine);
    let mut performed = Vec::new();
    let (mut now, end) = (Cycle::ZERO, Cycle::new(60_000));
    let mut cycle = Cycle::ZERO;
    let mut pending = stream.iter().peekable();
    while now < end {
        while let Some((gap, request)) = pending.next_if(|(gap, _)| cycle + *gap < now + step) {
            cycle += *gap;
            memory.push(cycle, *request);
        }
        now += step;
        memory.advance(now, &mut |sm, token| performed.push((sm, token)));
    }
    let mut replies = Vec::new();
    for sm in 0..machine.gpu.sms as usize {
        let mut at = memory.next_reply_for(sm);
        while let Some(reply) = memory.pop_reply(sm, at) {
            replies.push((at, sm, reply.token, reply.addr, reply.last));
            at = memory.next_reply_for(sm);
        }
    }
    assert!(memory.idle(), "{:#?}", memory.describe_pending());
    (replies, performed, memory.stats())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_size_of_a_step_changes_nothing(stream in stream(), machine in machine()) {
        prop_assert_eq!(validate(&machine, &MECHANISMS), Ok(()));
        let stepped = run(&machine, &stream, 1);
        prop_assert_eq!(&stepped, &run(&machine, &stream, u64::from(machine.gpu.quantum)));
        prop_assert_eq!(&stepped, &run(&machine, &stream, 60_000));
    }

    #[test]
    fn every_request_gets_exactly_its_replies(stream in stream(), machine in machine()) {
        let (replies, performed, stats) = run(&machine, &stream, u64::from(machine.gpu.quantum));
        let net = &machine.interconnect;
        let sector = u64::from(machine.l2.sector);
        let mut by_token: HashMap<u32, Vec<(Cycle, usize, u64, bool)>> = HashMap::new();
        for (at, sm, token, addr, last) in replies {
            by_token.entry(token).or_default().push((at, sm, addr, last));
        }
        for (_, request) in &stream {
            let mut got = by_token.remove(&request.token).unwrap_or_default();
            if request.kind == RequestKind::Write && !net.store_replies {
                prop_assert!(got.is_empty(), "nothing comes back for a store");
                continue;
            }
            let lasts: Vec<bool> = got.iter().map(|r| r.3).collect();
            prop_assert_eq!(lasts.iter().filter(|&&last| last).count(), 1);
            prop_assert!(lasts[lasts.len() - 1], "the last reply says so");
            got.sort_by_key(|r| r.2);
            let sectors: Vec<u64> = got.iter().map(|r| r.2).collect();
            let expected: Vec<u64> = match request.kind {
                RequestKind::Atomic => vec![request.addr],
                _ if !net.sectored_replies => vec![request.addr],
                _ => {
                    let end = request.addr + u64::from(request.bytes);
                    let sectors = request.addr / sector..end.div_ceil(sector);
                    sectors.map(|s| request.addr.max(s * sector)).collect()
                }
            };
            prop_assert_eq!(sectors, expected);
            prop_assert!(got.iter().all(|r| r.1 == usize::from(request.sm)));
        }
        prop_assert!(by_token.is_empty());
        let atomics = stream.iter().filter(|(_, r)| r.kind == RequestKind::Atomic).count();
        prop_assert_eq!(performed.len(), atomics);
        let total = stats.l2_total();
        prop_assert_eq!(total.accesses, total.hits + total.misses + total.merges);
    }

    /// With the real limits and an SM that takes one reply per cycle, everything drains.
    #[test]
    fn limits_never_deadlock(stream in stream(), mut machine in machine()) {
        machine.interconnect.reply_queue = 2;
        let mut memory = Bench::new(&machine);
        let mut waiting: Vec<Request> = stream.iter().rev().map(|(_, r)| *r).collect();
        let (mut now, end) = (Cycle::ZERO, Cycle::new(500_000));
        while !(waiting.is_empty() && memory.idle()) {
            prop_assert!(now < end, "{:#?}", memory.describe_pending());
            while let Some(request) = waiting.last()
                && memory.injection_free(usize::from(request.sm)) >= memory.flits(request)
            {
                memory.push(now, *request);
                waiting.pop();
            }
            for sm in 0..15 {
                memory.pop_reply(sm, now);
            }
            now += 1;
            memory.advance(now, &mut |_, _| {});
        }
        prop_assert_eq!(memory.next_event(), Cycle::NEVER);
    }
}
