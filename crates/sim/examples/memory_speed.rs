//! How fast the memory system alone simulates: synthetic SMs that keep a number of line reads
//! (and writes) outstanding. Prints sectors per second and what the simulated DRAM achieved;
//! for host instructions per sector run it under callgrind.

use std::time::Instant;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::memory::packet::{Request, RequestKind, Traffic};
use warpsim_sim::memory::system::{MemorySystem, Replies};
use warpsim_sim::time::Cycle;

/// A traffic pattern.
struct Pattern {
    name: &'static str,
    /// Lines an SM keeps outstanding.
    outstanding: u32,
    /// Bytes between consecutive lines.
    stride: u64,
    /// Bytes after which addresses start again.
    span: u64,
    /// One request in this many is a write; 0 for none.
    write_every: u64,
}

const PATTERNS: [Pattern; 5] = [
    Pattern {
        name: "L2 hits",
        outstanding: 32,
        stride: 128,
        span: 512 << 10,
        write_every: 0,
    },
    Pattern {
        name: "DRAM stream",
        outstanding: 32,
        stride: 128,
        span: 1 << 40,
        write_every: 0,
    },
    Pattern {
        name: "DRAM stride 4 KB",
        outstanding: 32,
        stride: 4096,
        span: 1 << 40,
        write_every: 0,
    },
    Pattern {
        name: "DRAM copy",
        outstanding: 32,
        stride: 128,
        span: 1 << 40,
        write_every: 2,
    },
    Pattern {
        name: "one load at a time",
        outstanding: 1,
        stride: 128,
        span: 1 << 40,
        write_every: 0,
    },
];

fn main() {
    let lines: u64 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(200_000);
    let only = std::env::args().nth(2);
    let machine = Machine::preset("gtx480").expect("the preset is well formed");
    for pattern in &PATTERNS {
        if only
            .as_deref()
            .is_none_or(|only| pattern.name.contains(only))
        {
            run(&machine, pattern, lines);
        }
    }
}

fn run(machine: &Machine, pattern: &Pattern, lines: u64) {
    let mut memory = MemorySystem::new(machine);
    memory.warm_l2(0, pattern.span.min(1 << 20));
    let sms = machine.gpu.sms as usize;
    let quantum = u64::from(machine.gpu.quantum);
    let mut outstanding = vec![0u32; sms];
    let mut replies: Vec<Replies> = (0..sms).map(|_| Replies::default()).collect();
    let (mut sent, mut answered, mut now) = (0u64, 0u64, Cycle::ZERO);
    let start = Instant::now();
    while answered < lines {
        for cycle in now.until(now + quantum) {
            for (sm, outstanding) in outstanding.iter_mut().enumerate() {
                if let Some((_, reply)) = replies[sm].take(cycle)
                    && reply.last
                {
                    *outstanding -= 1;
                    answered += 1;
                }
                if *outstanding == pattern.outstanding || sent == lines {
                    continue;
                }
                let write = pattern.write_every > 0 && sent % pattern.write_every == 1;
                let request = Request {
                    sm: sm as u16,
                    kind: if write {
                        RequestKind::Write
                    } else {
                        RequestKind::Read
                    },
                    traffic: Traffic::Global,
                    addr: (1 << 21) * u64::from(pattern.span > 1 << 20)
                        + sent * pattern.stride % pattern.span,
                    bytes: 128,
                    byte_mask: u128::MAX,
                    token: 0,
                };
                if memory.requests().free(sm) >= memory.requests().flits(&request) {
                    memory.push(cycle, request);
                    *outstanding += 1;
                    sent += 1;
                }
            }
        }
        now += quantum;
        memory.advance(now);
        for (replies, wires) in replies.iter_mut().zip(&memory.wires().sms) {
            replies.receive(wires);
            replies.publish(wires);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let sectors = lines * 4;
    let dram = memory.stats().dram;
    println!(
        "{:<20} {:>6.2} M sectors/s {:>7.2} M cycles/s, {now} cycles, {:.2} DRAM clocks per \
         transfer and channel, bus {:.0} % busy",
        pattern.name,
        sectors as f64 / seconds / 1e6,
        now.get() as f64 / seconds / 1e6,
        dram.total_clocks as f64 / (dram.reads + dram.writes).max(1) as f64,
        100.0 * dram.busy_clocks as f64 / dram.total_clocks as f64,
    );
}
