//! Partitions that are ahead give what taking turns gives.

use super::super::property_tests::{machine, stream, tight};
use super::*;
use crate::memory::packet::{Request, RequestKind};
use crate::memory::testing::request;
use proptest::prelude::*;

/// What others see of a memory system at the end of a quantum.
#[derive(Debug, PartialEq)]
struct Seen {
    end: Cycle,
    /// What SMs took: when it had arrived, SM, token.
    taken: Vec<(Cycle, usize, u32)>,
    performed: Vec<Atomic>,
    injected: usize,
    /// If it is idle: since when, and what it has counted.
    idle: Option<(Cycle, MemoryStats)>,
}

/// Quanta of a memory system in which SMs send these requests as soon as there is room, and take a
/// reply every other cycle.
fn run(machine: &Machine, requests: &[Request], ahead: bool) -> Vec<Seen> {
    let quantum = u64::from(machine.gpu.quantum);
    let mut memory = MemorySystem::new(machine);
    if ahead {
        memory.go_ahead(machine);
        assert!(memory.is_ahead());
    }
    let mut waiting = requests.iter().rev().copied().collect::<Vec<_>>();
    let mut quanta = Vec::new();
    let mut now = Cycle::ZERO;
    loop {
        let end = now + quantum;
        let taken = take(&mut memory, machine.gpu.sms as usize, now, end);
        let mut injected = 0;
        while let Some(request) = waiting.last()
            && memory.injection_free(usize::from(request.sm)) >= memory.flits(request)
        {
            memory.push(now, *request);
            waiting.pop();
            injected += 1;
        }
        let mut performed = Vec::new();
        let mut perform = |sm, token| performed.push((sm, token));
        go_further(&mut memory, end);
        match ahead {
            true => memory.catch_up(end, &mut perform),
            false => memory.advance(end, &mut perform),
        }
        let over = waiting.is_empty() && memory.idle();
        quanta.push(Seen {
            end,
            taken,
            performed,
            injected,
            idle: memory.idle().then(|| (memory.idle_since(), memory.stats())),
        });
        now = end;
        if over {
            return quanta;
        }
        assert!(
            now < Cycle::new(500_000),
            "{:#?}",
            memory.describe_pending()
        );
    }
}

/// Runs partitions that are ahead in the quantum that ends with cycle `end`.
fn go_further(memory: &mut MemorySystem, end: Cycle) {
    let (partitions, ..) = memory.side_by_side();
    if let Some(mut partitions) = partitions {
        partitions.run(end, true);
    }
}

/// What all SMs take in a quantum.
fn take(memory: &mut MemorySystem, sms: usize, now: Cycle, end: Cycle) -> Vec<(Cycle, usize, u32)> {
    let mut taken = Vec::new();
    for sm in 0..sms {
        let inbox = memory.inbox(sm);
        inbox.show(end);
        for cycle in now.until(end).filter(|cycle| cycle.get() % 2 == 0) {
            if let Some((at, reply)) = inbox.front()
                && at <= cycle
            {
                taken.push((at, sm, reply.token));
                inbox.pop();
            }
        }
        memory.close_inbox(sm);
    }
    taken
}

fn check(machine: &Machine, requests: &[Request]) -> Result<(), TestCaseError> {
    let (in_turn, ahead) = (run(machine, requests, false), run(machine, requests, true));
    for (one, other) in in_turn.iter().zip(&ahead) {
        prop_assert_eq!(one, other);
    }
    prop_assert_eq!(in_turn.len(), ahead.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ahead_is_as_in_turn(stream in stream(), machine in machine(), places in 1u32..40, quantum in 1u32..4) {
        let mut machine = machine;
        machine.interconnect.reply_queue = places;
        machine.interconnect.output_buffer = 2 + places / 4;
        machine.gpu.quantum = quantum;
        let requests: Vec<Request> = stream.into_iter().map(|(_, request)| request).collect();
        check(&machine, &requests)?;
    }
}

/// Every SM sends more to one slice than its queue holds, so that requests wait at its entrance.
#[test]
fn requests_wait_at_the_entrance_as_they_would_in_turn() {
    let mut machine = tight();
    machine.interconnect.output_buffer = 6;
    let sends = |at: u32| Request {
        sm: (at % 15) as u16,
        ..request(
            RequestKind::Read,
            u64::from(at / 15 % 7) * 128 * 12 * 64,
            128,
            at,
        )
    };
    let requests: Vec<Request> = (0..600).map(sends).collect();
    check(&machine, &requests).expect("no difference");
    // They did wait.
    let mut memory = MemorySystem::new(&machine);
    memory.go_ahead(&machine);
    for &request in &requests[..15] {
        memory.push(Cycle::ZERO, request);
    }
    let mut most = 0;
    for quantum in 1..200 {
        let end = Cycle::new(quantum * 4);
        go_further(&mut memory, end);
        memory.catch_up(end, &mut |_, _| {});
        most = most.max(memory.ahead.as_ref().map_or(0, |ahead| ahead.at_entrances));
        for &request in &requests[..15] {
            if memory.injection_free(usize::from(request.sm)) > 1 {
                memory.push(end, request);
            }
        }
    }
    assert!(most > 0, "nobody waited");
}

#[test]
fn how_far_ahead_depends_on_the_delay_of_a_partition() {
    let of = |set: &[&str]| {
        let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
        lookahead(&Machine::resolve("gtx480", &set).expect("a machine"))
    };
    assert_eq!(of(&[]), 27, "of 120 cycles 8 are foreseen, in quanta of 4");
    assert_eq!(of(&["gpu.quantum=6"]), 17);
    assert_eq!(of(&["l2.latency=16"]), 1);
    assert_eq!(of(&["l2.latency=15"]), 0);
    assert_eq!(of(&["l2.latency=0"]), 0);
    for preset in crate::config::presets::names() {
        let machine = Machine::preset(preset).expect("a preset");
        assert!(lookahead(&machine) >= 1, "{preset}");
    }
}
