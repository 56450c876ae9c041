//! Partitions that are ahead give what taking turns gives.

use super::super::behind::Atomic;
use super::super::property_tests::{machine, stream, tight};
use super::*;
use crate::config::ReadMachine;
use crate::memory::packet::{Request, RequestKind};
use crate::memory::testing::request;
use proptest::prelude::*;

/// What others see of a memory system at the end of a quantum.
#[derive(Debug, PartialEq)]
struct Seen {
    end: Cycle,
    /// What SMs took: when it had arrived, SM, token.
    taken: Vec<(Cycle, usize, u32)>,
    injected: usize,
    /// Where that is known, if it is idle: since when, and what it has counted.
    idle: Option<(Cycle, MemoryStats)>,
}

/// Who runs when.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    /// Memory behind the SMs, quantum by quantum.
    InTurn,
    /// Partitions before the SMs, period by period.
    Before,
    /// Partitions beside the SMs and the network to them, a period ahead: whether they run first, or last.
    Beside { first: bool },
}

/// Quanta of a memory system in which SMs send these requests as soon as there is room, and take a
/// reply every other cycle; and the atomics, in order.
fn run(machine: &Machine, requests: &[Request], order: Order) -> (Vec<Seen>, Vec<Atomic>) {
    let quantum = u64::from(machine.gpu.quantum);
    let period = period(machine) * quantum;
    let mut memory = MemorySystem::new(machine);
    if order != Order::InTurn {
        memory.go_ahead(machine);
        assert!(memory.is_ahead());
    }
    let mut waiting = requests.iter().rev().copied().collect::<Vec<_>>();
    let mut quanta = Vec::new();
    let mut performed = Vec::new();
    let mut now = Cycle::ZERO;
    let mut away = None;
    loop {
        let end = now + quantum;
        let period_end = now.round_down(period) + period;
        let mut perform = |sm, token| performed.push((sm, token));
        if now == now.round_down(period) && order != Order::InTurn {
            if period > quantum {
                memory.prepare(period_end, &mut perform);
            }
            if let Order::Beside { first } = order {
                away = memory.set_off(period_end, true);
                if let Some(partitions) = away.as_mut().filter(|_| first) {
                    partitions.run();
                }
            } else if period == quantum {
                memory.set_off(period_end, false);
            }
        }
        let taken = take(&mut memory, machine.gpu.sms as usize, now, end);
        let mut injected = 0;
        while let Some(request) = waiting.last()
            && memory.injection_free(usize::from(request.sm)) >= memory.flits(request)
        {
            memory.push(now, *request);
            waiting.pop();
            injected += 1;
        }
        match order {
            Order::InTurn => memory.advance(end, &mut perform),
            // Once no sender has to know what room there is, all quanta of a period at once.
            Order::Beside { .. } if waiting.is_empty() && end != period_end => {}
            _ => memory.catch_up(end),
        }
        if end == period_end {
            take_back(
                &mut memory,
                away.take(),
                order == Order::Beside { first: false },
            );
            memory.turn_over(&mut perform);
        }
        let idle = memory.idle() && (end == period_end || order == Order::InTurn);
        quanta.push(Seen {
            end,
            taken,
            injected,
            idle: idle.then(|| (memory.idle_since(), memory.stats())),
        });
        now = end;
        if idle && waiting.is_empty() && end == period_end {
            return (quanta, performed);
        }
        assert!(
            now < Cycle::new(500_000),
            "{:#?}",
            memory.describe_pending()
        );
    }
}

/// Runs partitions that were set off, or the far sides of channels that were, unless that is done, and takes them back.
fn take_back(memory: &mut MemorySystem, away: Option<AheadOfSms>, run: bool) {
    if let Some(mut partitions) = away {
        if run {
            partitions.run();
        } else if let (Some(far_sides), ..) = memory.side_by_side() {
            far_sides.run();
        }
        memory.take_back(partitions);
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
        memory.look_into_inbox(sm);
    }
    taken
}

fn check(machine: &Machine, requests: &[Request]) -> Result<(), TestCaseError> {
    let (in_turn, performed) = run(machine, requests, Order::InTurn);
    let beside = [true, false].map(|first| Order::Beside { first });
    for order in [Order::Before, beside[0], beside[1]] {
        let (ahead, same) = run(machine, requests, order);
        prop_assert_eq!(&performed, &same);
        prop_assert_eq!(in_turn.len(), ahead.len());
        let quanta = period(machine) as usize;
        for (number, (one, other)) in in_turn.iter().zip(&ahead).enumerate() {
            prop_assert_eq!(
                (one.end, &one.taken, one.injected),
                (other.end, &other.taken, other.injected)
            );
            if (number + 1) % quanta == 0 {
                prop_assert_eq!(&one.idle, &other.idle, "{:?}", one.end);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ahead_is_as_in_turn(
        stream in stream(),
        machine in machine(),
        places in 1u32..40,
        quantum in 1u32..4,
        visibility in 1u32..80,
    ) {
        let mut machine = machine;
        machine.gpu.store_visibility = visibility;
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
    // Through a quantum, a period or longer.
    for (visibility, places) in [(48, 6), (48, 64), (8, 64), (1, 64), (1, 6)] {
        machine.gpu.store_visibility = visibility;
        machine.interconnect.output_buffer = places;
        check(&machine, &requests).expect("no difference");
    }
    // Packets did wait.
    let mut memory = MemorySystem::new(&machine);
    memory.go_ahead(&machine);
    for &request in &requests[..15] {
        memory.push(Cycle::ZERO, request);
    }
    let mut most = 0;
    for quantum in 1..200 {
        let end = Cycle::new(quantum * 4);
        let away = memory.set_off(end, true);
        memory.catch_up(end);
        take_back(&mut memory, away, true);
        memory.turn_over(&mut |_, _| {});
        most = most.max(
            memory
                .front
                .as_ref()
                .map_or(0, |front| front.gates.waiting()),
        );
        for &request in &requests[..15] {
            if memory.injection_free(usize::from(request.sm)) > 1 {
                memory.push(end, request);
            }
        }
    }
    assert!(most > 0, "no packet waited");
}

/// Also while it has left the network, and slices have not taken it in.
#[test]
fn a_request_is_under_way_until_it_is_answered() {
    let machine = tight();
    let cycles = period(&machine) * u64::from(machine.gpu.quantum);
    let mut memory = MemorySystem::new(&machine);
    memory.go_ahead(&machine);
    memory.push(Cycle::ZERO, request(RequestKind::Read, 0, 32, 0));
    for number in 1..8 {
        let end = Cycle::new(number * cycles);
        memory.prepare(end, &mut |_, _| {});
        let away = memory.set_off(end, true);
        assert!(!memory.idle(), "in period {number}");
        assert!(memory.next_reply().min(memory.next()) < Cycle::NEVER);
        memory.catch_up(end);
        take_back(&mut memory, away, true);
        memory.turn_over(&mut |_, _| {});
        assert!(!memory.idle(), "behind period {number}");
    }
    assert!(memory.pop_reply(0, memory.next_reply()).is_some());
    assert!(memory.idle());
}

/// Two periods are within what partitions may be ahead, whatever is asked for.
#[test]
fn a_period_is_as_long_as_partitions_can_be_ahead() {
    let of = |set: &[&str]| {
        let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
        period(&Machine::resolve("gtx480", &set).expect("a machine"))
    };
    assert_eq!(of(&[]), 12, "48 cycles in quanta of 4");
    assert_eq!(of(&["gpu.store_visibility=3"]), 1);
    assert_eq!(of(&["gpu.store_visibility=11"]), 2);
    assert_eq!(of(&["gpu.store_visibility=1000"]), 14);
    assert_eq!(of(&["l2.latency=40"]), 4);
    assert_eq!(of(&["l2.latency=0"]), 1);
    assert_eq!(of(&["interconnect.credits=true", "gpu.quantum=1"]), 1);
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
    for preset in crate::config::read::presets::names() {
        let machine = Machine::preset(preset).expect("a preset");
        assert!(lookahead(&machine) >= 1, "{preset}");
    }
}
