use super::*;
use crate::inflight::MAX_PIECES;
use crate::l2::REPLY_CYCLES;
use crate::network::{DELIVERY_CYCLES, INJECTION_CYCLES};
use crate::packet::{RequestKind, Traffic};
use crate::testing::{Bench, gtx480, preset_with, request};
use RequestKind::{Atomic, Prefetch, Read, Write};

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
fn drain(memory: &mut Bench, from: u64, step: u64) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut now = Cycle::new(from);
    let end = now + 1_000_000;
    while !memory.idle() {
        assert!(now < end, "{:#?}", memory.describe_pending());
        now += step;
        memory.advance(now, &mut |_, _| {});
        for sm in 0..memory.sms() {
            while memory.next_reply_for(sm) < now {
                let at = memory.next_reply_for(sm);
                let reply = memory.pop_reply(sm, at).unwrap();
                let at = at.get();
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

fn latency(memory: &mut Bench, at: u64, request: Request) -> u64 {
    memory.push(Cycle::new(at), request);
    drain(memory, at, 1).last().unwrap().at - at
}

/// Injection, six steps, 120 at the partition, one to the queue, one to serve, six steps back,
/// one to the SM.
const L2_HIT: u64 = INJECTION_CYCLES + 6 + 120 + 1 + REPLY_CYCLES + 6 + DELIVERY_CYCLES;

#[test]
fn an_l2_hit_takes_network_and_partition_latency() {
    let mut memory = Bench::new(&gtx480());
    memory.warm_l2(0, 4096);
    memory.push(Cycle::new(10), request(Read, 0, 32, 7));
    memory.advance(
        Cycle::new(10 + L2_HIT - 6 - DELIVERY_CYCLES),
        &mut |_, _| {},
    );
    assert_eq!(memory.next_reply_for(0), Cycle::NEVER);
    memory.advance(Cycle::new(10 + L2_HIT), &mut |_, _| {});
    assert!(memory.peek_reply(0, Cycle::new(10 + L2_HIT - 1)).is_none());
    let reply = memory.pop_reply(0, Cycle::new(10 + L2_HIT)).unwrap();
    assert_eq!((reply.token, reply.bytes, reply.last), (7, 32, true));
    assert!(memory.idle());
}

/// A full line from L2: its last sector is served three cycles after the first.
const L2_HIT_LINE: u64 = L2_HIT + 3;

#[test]
fn a_line_from_dram_takes_the_reference_times() {
    // Averaged over the phases of the two clocks.
    let mut sum = [0u64; 3];
    for start in 0..200u64 {
        let mut memory = Bench::new(&gtx480());
        let at = 1000 + start * 7;
        sum[0] += latency(&mut memory, at, request(Read, 0, 128, 0));
        sum[1] += latency(&mut memory, at + 1000, request(Read, 128, 128, 0));
        // The same bank, another row: 16 bits up in the channel address.
        sum[2] += latency(&mut memory, at + 2000, request(Read, 6 << 16, 128, 0));
    }
    let [closed, open, conflict] = sum.map(|sum| sum as f64 / 200.0 - L2_HIT_LINE as f64);
    assert!((open - 117.5).abs() < 0.6, "{open}");
    // RCD and RP are 12 DRAM clocks each.
    assert!((closed - open - 9.09).abs() < 0.3, "{closed}");
    assert!((conflict - closed - 9.09).abs() < 0.3, "{conflict}");
}

/// `global_chase` over 8 MB against the one over 128 KB, which lies in L2: what DRAM adds to
/// 1024 dependent loads of one line each. The reference: 328003 - 207116 cycles.
#[test]
fn a_chase_through_dram_costs_what_the_reference_says() {
    let mut memory = Bench::new(&gtx480());
    let base = 0xc000_0000;
    memory.warm_l2(base, 8 << 20);
    let (mut now, mut extra) = (5000, 0);
    for load in 0..1024 {
        let took = latency(&mut memory, now, request(Read, base + load * 128, 128, 0));
        // Back to the SM, address arithmetic, through the L1's queue; a loop end in four.
        now += took + 56 + if load % 4 == 3 { 12 } else { 0 };
        extra += took - L2_HIT_LINE;
    }
    let reference = 328_003 - 207_116;
    let error = (extra as f64 - f64::from(reference)) / f64::from(reference);
    assert!(error.abs() < 0.004, "{extra}");
}

/// A prefetched sector comes from DRAM and is there for later reads; the prefetch is not answered.
#[test]
fn a_prefetch_brings_its_sectors_and_is_not_answered() {
    let mut memory = Bench::new(&gtx480());
    memory.push(Cycle::new(0), request(Prefetch, 256, 128, 0));
    assert!(drain(&mut memory, 0, 1).is_empty());
    let read = request(Read, 256, 128, 0);
    assert_eq!(latency(&mut memory, 5000, read), L2_HIT_LINE);
    // Of what is there nothing is fetched again.
    memory.push(Cycle::new(9000), request(Prefetch, 256, 128, 0));
    assert!(drain(&mut memory, 9000, 1).is_empty());
    let stats = memory.stats();
    let prefetches = stats.l2(Traffic::Global, Prefetch);
    assert_eq!(
        (prefetches.accesses, prefetches.misses, prefetches.hits),
        (8, 4, 4)
    );
    assert_eq!((stats.dram.reads, stats.l2_prefetches_dropped), (4, 0));
}

/// Where there is one MSHR, the first sector takes it, and those behind it are given up; a read waits for it.
#[test]
fn a_prefetch_that_finds_no_room_in_l2_is_dropped() {
    let mut machine = gtx480();
    machine.l2.mshrs = 1;
    let mut memory = Bench::new(&machine);
    memory.push(Cycle::new(0), request(Prefetch, 256, 128, 0));
    memory.push(Cycle::new(1), request(Read, 288, 32, 5));
    let seen = drain(&mut memory, 0, 1);
    assert_eq!(seen.iter().map(|s| s.token).collect::<Vec<_>>(), [5]);
    let stats = memory.stats();
    assert_eq!((stats.dram.reads, stats.l2_prefetches_dropped), (2, 3));
    assert!(stats.l2(Traffic::Global, Read).stall_cycles > 0);
}

#[test]
fn sectors_of_a_line_come_one_cycle_apart() {
    let mut memory = Bench::new(&gtx480());
    memory.warm_l2(0, 4096);
    memory.push(Cycle::new(0), request(Read, 128, 128, 1));
    let seen = drain(&mut memory, 0, 1);
    let times: Vec<u64> = seen.iter().map(|s| s.at - L2_HIT).collect();
    assert_eq!(times, [0, 1, 2, 3]);
    let addresses: Vec<u64> = seen.iter().map(|s| s.addr).collect();
    assert_eq!(addresses, [128, 160, 192, 224]);
    let last: Vec<bool> = seen.iter().map(|s| s.last).collect();
    assert_eq!(last, [false, false, false, true]);
}

/// Reads that hit are served ahead of their clocks where nothing can come between; a slice whose
/// delay is shorter than the longest request does not. A cycle less of delay and requests that
/// come a cycle later must give the same replies in the same cycles.
#[test]
fn sectors_served_ahead_of_time_are_answered_in_time() {
    let run = |delay: u32, later: u64| {
        let mut machine = gtx480();
        machine.gpu.dram_mhz = machine.gpu.core_mhz; // or DRAM's phase would differ
        machine.l2.latency = delay;
        machine.l2.queue = 64; // always room: the network sees the requests in other cycles
        let mut memory = Bench::new(&machine);
        memory.warm_l2(0, 1 << 14);
        let mut at = later;
        for n in 0..600u64 {
            // Mostly what is there, some of it dirty soon, and now and then what is not.
            let line = n * n % 61 * 128 + if n % 7 == 3 { 1 << 20 } else { 0 };
            let (kind, sector, bytes) = match n % 10 {
                4 => (Write, 32 * (n % 4), 32),
                8 => (Atomic, 32 * (n % 4), 32),
                _ => (Read, 0, 128),
            };
            let mut request = request(kind, line + sector, bytes, n as u32);
            request.sm = (n % 15) as u16;
            at += n % 5 * 2;
            memory.push(Cycle::new(at), request);
        }
        let seen = drain(&mut memory, 0, 1);
        (seen, memory.stats().l2)
    };
    let pieces = MAX_PIECES;
    assert_eq!(run(pieces, 0), run(pieces - 1, 1));
}

#[test]
fn replies_can_come_one_per_request() {
    let mut machine = gtx480();
    machine.interconnect.sectored_replies = false;
    let mut memory = Bench::new(&machine);
    memory.warm_l2(0, 4096);
    memory.push(Cycle::new(0), request(Read, 128, 128, 1));
    let seen = drain(&mut memory, 0, 1);
    // Four sectors, then 136 bytes in four flits.
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].at, seen[0].last), (L2_HIT + 3 + 3, true));
    assert_eq!(memory.stats().replies.flits, 4);
}

#[test]
fn a_second_miss_on_a_sector_joins_the_first() {
    let mut memory = Bench::new(&gtx480());
    memory.push(Cycle::new(0), request(Read, 0, 32, 1));
    memory.push(Cycle::new(0), request(Read, 0, 32, 2));
    let seen = drain(&mut memory, 0, 1);
    assert_eq!((seen[0].token, seen[1].token), (1, 2));
    assert_eq!(seen[1].at - seen[0].at, 1, "one waiter per cycle");
    let stats = memory.stats();
    let counters = stats.l2(Traffic::Global, Read);
    assert_eq!((counters.misses, counters.merges), (1, 1));
    assert_eq!(memory.stats().dram.reads, 1);
}

#[test]
fn a_full_merge_list_stalls_the_slice_until_the_fill() {
    let mut memory = Bench::new(&gtx480());
    for token in 0..5 {
        memory.push(Cycle::new(u64::from(token)), request(Read, 0, 32, token));
    }
    let seen = drain(&mut memory, 0, 1);
    let stats = memory.stats();
    let counters = stats.l2(Traffic::Global, Read);
    assert_eq!((counters.merges, counters.hits), (3, 1));
    assert!(counters.stall_cycles > 100, "{}", counters.stall_cycles);
    assert_eq!(seen.len(), 5);
}

#[test]
fn a_write_is_acknowledged_without_a_fetch_and_read_back_from_l2() {
    let mut memory = Bench::new(&gtx480());
    assert_eq!(latency(&mut memory, 0, request(Write, 0, 32, 1)), L2_HIT);
    assert_eq!(latency(&mut memory, 1000, request(Read, 0, 32, 2)), L2_HIT);
    let stats = memory.stats();
    assert_eq!(stats.l2(Traffic::Global, Write).misses, 1);
    assert_eq!(stats.l2(Traffic::Global, Read).hits, 1);
    assert_eq!(stats.dram.reads + stats.dram.writes, 0);
}

#[test]
fn a_partly_written_sector_is_fetched_when_read() {
    let mut memory = Bench::new(&gtx480());
    let mut write = request(Write, 0, 32, 1);
    write.byte_mask = 0xff;
    assert_eq!(latency(&mut memory, 0, write), L2_HIT);
    assert!(latency(&mut memory, 1000, request(Read, 0, 32, 2)) > L2_HIT + 100);
    assert_eq!(memory.stats().dram.reads, 1);
}

#[test]
fn the_byte_mask_counts_from_the_lines_start() {
    let mut memory = Bench::new(&gtx480());
    // The upper half of a line, written whole.
    latency(&mut memory, 0, request(Write, 64, 64, 1));
    assert_eq!(latency(&mut memory, 1000, request(Read, 96, 32, 2)), L2_HIT);
    assert!(latency(&mut memory, 2000, request(Read, 0, 32, 3)) > L2_HIT);
}

#[test]
fn a_dirty_line_goes_to_dram_when_it_is_replaced() {
    let mut memory = Bench::new(&gtx480());
    // Nine lines of one set: 64 sets of 128 bytes over 12 slices apart.
    for way in 0..9u64 {
        latency(
            &mut memory,
            way * 1000,
            request(Write, way * 64 * 128 * 12, 64, 0),
        );
    }
    assert!(memory.idle());
    let stats = memory.stats();
    assert_eq!((stats.l2_write_backs, stats.dram.writes), (1, 1));
    assert_eq!(stats.dram.write_bytes, 64, "the dirty sectors only");
}

#[test]
fn the_end_waits_for_write_backs() {
    let mut memory = Bench::new(&gtx480());
    for way in 0..8u64 {
        latency(
            &mut memory,
            way * 1000,
            request(Write, way * 64 * 128 * 12, 32, 0),
        );
    }
    memory.push(Cycle::new(9000), request(Write, 8 * 64 * 128 * 12, 32, 0));
    memory.advance(Cycle::new(9000 + L2_HIT + 1), &mut |_, _| {});
    assert!(memory.pop_reply(0, Cycle::new(9000 + L2_HIT)).is_some());
    assert!(!memory.idle());
    assert_eq!(memory.describe_pending().len(), 1);
    drain(&mut memory, 9000 + L2_HIT + 1, 1);
    assert_eq!(memory.stats().dram.writes, 1);
}

#[test]
fn atomics_on_one_slice_are_performed_one_per_cycle_in_order_of_arrival() {
    let mut memory = Bench::new(&gtx480());
    memory.warm_l2(0, 256);
    for token in 0..8 {
        for sm in 0..15u16 {
            let mut atomic = request(Atomic, 0, 32, token);
            atomic.sm = sm;
            memory.push(Cycle::new(u64::from(token)), atomic);
        }
    }
    let mut performed = Vec::new();
    let mut times = Vec::new();
    for now in Cycle::new(1).until(Cycle::new(600)) {
        memory.advance(now, &mut |sm, token| {
            performed.push((sm, token));
            times.push(now);
        });
        for sm in 0..15 {
            memory.pop_reply(sm, now);
        }
    }
    let expected: Vec<(u16, u32)> = (0..8)
        .flat_map(|token| (0..15).map(move |sm| (sm, token)))
        .collect();
    assert_eq!(performed, expected);
    assert!(times.windows(2).all(|pair| pair[1] == pair[0] + 1));
    assert!(memory.idle());
    assert_eq!(memory.stats().atomics, 120);
}

#[test]
fn an_atomic_that_misses_is_performed_once_and_answered_after_the_fetch() {
    let mut memory = Bench::new(&gtx480());
    memory.push(Cycle::new(0), request(Atomic, 0, 32, 3));
    let mut performed = 0;
    memory.advance(Cycle::new(L2_HIT), &mut |_, _| performed += 1);
    assert_eq!(performed, 1);
    memory.advance(Cycle::new(L2_HIT + 100), &mut |_, _| performed += 1);
    assert_eq!(memory.next_reply_for(0), Cycle::NEVER);
    memory.advance(Cycle::new(1000), &mut |_, _| performed += 1);
    assert_eq!(performed, 1);
    assert_eq!(
        memory.pop_reply(0, Cycle::new(1000)).map(|r| r.token),
        Some(3)
    );
}

#[test]
fn the_injection_queue_fills_and_drains_one_flit_per_cycle() {
    let mut memory = Bench::new(&gtx480());
    let write = request(Write, 0, 128, 0);
    assert_eq!(memory.flits(&write), 4);
    assert_eq!(memory.flits(&request(Read, 0, 128, 0)), 1);
    assert_eq!(memory.flits(&request(Write, 0, 32, 0)), 1);
    assert_eq!(memory.flits(&request(Write, 0, 64, 0)), 2);
    assert_eq!(memory.injection_free(0), 9);
    memory.push(Cycle::new(0), write);
    memory.push(Cycle::new(0), write);
    assert_eq!(memory.injection_free(0), 1);
    for (cycle, free) in [(1, 2), (3, 4), (7, 8), (9, 9)] {
        memory.advance(Cycle::new(cycle), &mut |_, _| {});
        assert_eq!(memory.injection_free(0), free, "in cycle {cycle}");
    }
}

/// The SM sees a reply in the quantum in which it arrives. In a quantum no more arrive than the SM and the network's output have places for.
#[test]
fn a_full_reply_queue_holds_replies_in_the_network() {
    let mut machine = gtx480();
    machine.interconnect.reply_queue = 1;
    machine.interconnect.output_buffer = 1;
    let mut memory = Bench::new(&machine);
    memory.warm_l2(0, 64 * 1024);
    for i in 0..40 {
        memory.push(Cycle::new(i), request(Read, i * 256, 32, i as u32));
        memory.advance(Cycle::new(i + 1), &mut |_, _| {});
    }
    let seen = drain(&mut memory, 40, 4);
    assert_eq!(seen.len(), 40);
    assert!(memory.stats().replies.full_stalls > 0);
    let quantum = |seen: &Seen| seen.at / u64::from(machine.gpu.quantum);
    let most = seen
        .chunk_by(|a, b| quantum(a) == quantum(b))
        .map(<[_]>::len)
        .max();
    assert_eq!(most, Some(2));
}

#[test]
fn nothing_crosses_within_a_quantum() {
    let mut memory = Bench::new(&gtx480());
    memory.warm_l2(0, 4096);
    memory.push(Cycle::new(0), request(Read, 0, 32, 0));
    let mut now = Cycle::ZERO;
    while memory.next_reply() == Cycle::NEVER {
        now += 4;
        memory.advance(now, &mut |_, _| {});
    }
    assert_eq!(memory.next_reply(), memory.next_reply_for(0));
    assert!(memory.next_reply() >= now);
}

#[test]
fn an_idle_system_has_nothing_to_do_and_a_waiting_one_says_when() {
    let mut memory = Bench::new(&gtx480());
    assert_eq!(memory.next_event(), Cycle::NEVER);
    memory.push(Cycle::new(50), request(Read, 0, 32, 0));
    let injected = Cycle::new(50) + INJECTION_CYCLES;
    assert_eq!(memory.next_event(), injected);
    memory.advance(Cycle::new(52), &mut |_, _| {});
    assert_eq!(
        memory.next_event(),
        injected + 6 + 120,
        "nothing to do in the partition's delay"
    );
    drain(&mut memory, 52, 1);
    assert_eq!(memory.next_event(), Cycle::NEVER);
}

#[test]
fn copies_warm_l2_with_their_later_bytes_and_invalidation_forgets_them() {
    let mut memory = Bench::new(&gtx480());
    let l2 = 768 * 1024;
    memory.warm_l2(0, l2 * 8);
    let hit = request(Read, l2 * 8 - 128, 128, 0);
    assert_eq!(latency(&mut memory, 0, hit), L2_HIT + 3);
    let first_kept = request(Read, l2 * 7, 32, 0);
    assert_eq!(latency(&mut memory, 1000, first_kept), L2_HIT);
    let gone = request(Read, l2 * 7 - 32, 32, 0);
    assert!(latency(&mut memory, 2000, gone) > L2_HIT);
    memory.invalidate_l2();
    assert!(latency(&mut memory, 3000, hit) > L2_HIT + 3);
}

/// A store of `bytes` bytes to `addr` that writes these bytes of the line.
fn store(addr: u64, bytes: u16, byte_mask: u128) -> Request {
    Request {
        byte_mask,
        ..request(Write, addr, bytes, 0)
    }
}

/// Whether the sector at `addr` can be read in L2 once the stores have been made.
fn readable(machine: &Machine, stores: &[Request], addr: u64) -> bool {
    let mut memory = Bench::new(machine);
    for (i, &store) in stores.iter().enumerate() {
        memory.push(Cycle::new(1000 * i as u64), store);
        drain(&mut memory, 1000 * i as u64, 1);
    }
    latency(&mut memory, 100_000, request(Read, addr, 32, 0)) == L2_HIT
}

#[test]
fn stores_to_parts_of_a_sector_add_up_but_on_the_reference() {
    let [low, high] = [store(0, 32, 0xffff), store(0, 32, 0xffff_0000)];
    let whole = store(0, 32, 0xffff_ffff);
    let reference = preset_with("gtx480-ref", &[]);
    for machine in [gtx480(), reference.clone()] {
        assert!(!readable(&machine, &[low], 0));
        assert!(readable(&machine, &[whole], 0));
        assert!(readable(&machine, &[whole, low], 0), "and stays so");
        assert!(readable(&machine, &[low, whole], 0));
    }
    assert!(readable(&gtx480(), &[low, high], 0));
    assert!(!readable(&reference, &[low, high], 0));
}

#[test]
fn the_reference_forgets_what_64_bytes_to_an_upper_half_wrote() {
    let [lower, upper] = [
        store(0, 64, u128::MAX >> 64),
        store(64, 64, u128::MAX << 64),
    ];
    let line = store(0, 128, u128::MAX);
    let reference = preset_with("gtx480-ref", &[]);
    for (stores, addr, there) in [(lower, 32, true), (upper, 64, false), (line, 64, true)] {
        assert_eq!(readable(&reference, &[stores], addr), there);
        assert!(readable(&gtx480(), &[stores], addr));
    }
}

/// Fifteen SMs send a line each to one slice: it takes one flit per tick, whichever SM sends it.
#[test]
fn a_slice_takes_one_flit_per_tick_from_all_sms_together() {
    let done = |sms: u16| {
        let mut memory = Bench::new(&gtx480());
        for sm in 0..sms {
            let store = store(0, 128, u128::MAX);
            memory.push(Cycle::new(0), Request { sm, ..store });
        }
        let acknowledged = drain(&mut memory, 0, 1);
        assert_eq!(acknowledged.len(), 4 * usize::from(sms));
        acknowledged.last().unwrap().at
    };
    let alone = done(1);
    for sms in [2, 4, 15] {
        assert_eq!(done(sms) - alone, 4 * u64::from(sms - 1), "{sms} SMs");
    }
}

/// Replies of a slice leave in order: while one SM is slow to take its own, those for another
/// wait behind them once the buffers are full.
#[test]
fn a_slow_sm_holds_up_replies_to_others() {
    let mut machine = gtx480();
    machine.interconnect.credits = true; // the network knows what SMs have taken
    let mut memory = Bench::new(&machine);
    memory.warm_l2(0, 256);
    // More than all the buffers between the slice and SM 0 hold.
    let flood = 32 + 64 + 64 + 64 + 9 + 100;
    for i in 0..flood {
        memory.push(Cycle::new(i), request(Read, 0, 32, 0));
        memory.advance(Cycle::new(i + 1), &mut |_, _| {});
    }
    memory.advance(Cycle::new(flood + 500), &mut |_, _| {});
    let other = Request {
        sm: 1,
        ..request(Read, 0, 32, 1)
    };
    memory.push(Cycle::new(flood + 500), other);
    memory.advance(Cycle::new(flood + 1500), &mut |_, _| {});
    assert_eq!(memory.next_reply_for(1), Cycle::NEVER);
    let seen = drain(&mut memory, flood + 1500, 4);
    assert_eq!(seen.iter().filter(|s| s.sm == 1).count(), 1);
}
