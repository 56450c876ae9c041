//! A back end that is ahead of the request network gives what all parts in step give.

use super::property_tests::{machine, stream, tight};
use super::*;
use crate::packet::RequestKind;
use crate::testing::{Bench, gtx480_with, preset_with, request};
use proptest::prelude::*;
use warpsim_engine::{Crew, Engine, Input, Place};

/// What others see of a memory system at the end of a quantum.
#[derive(Debug, PartialEq)]
struct Seen {
    end: Cycle,
    /// What SMs took: when it had arrived, SM, token.
    taken: Vec<(Cycle, usize, u32)>,
    injected: usize,
    /// At the end of a period, what it has counted.
    counted: Option<MemoryStats>,
    /// If it is idle: since when.
    idle_since: Option<Cycle>,
}

/// How the parts are run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    InStep,
    Apart { threads: usize },
}

/// An engine for the request network and the back end.
fn engine(machine: &Machine, threads: usize) -> Engine {
    let place = |from, latency, ahead| Place {
        inputs: vec![Input { from, latency }],
        work: 1,
        ahead,
    };
    let ahead = period(machine) * u64::from(machine.gpu.quantum);
    let places = vec![place(1, 0, 0), place(0, lead(machine), ahead)];
    Engine::new(places, 48, Crew::new(threads - 1))
}

/// Quanta of a memory system in which SMs send these requests as soon as there is room, and take a
/// reply every other cycle; and the atomics, in order.
fn run(machine: &Machine, requests: &[Request], order: Order) -> (Vec<Seen>, Vec<(u16, u32)>) {
    let quantum = u64::from(machine.gpu.quantum);
    let period = period(machine) * quantum;
    let mut memory = Bench::new(machine);
    let mut engine = match order {
        Order::InStep => None,
        Order::Apart { threads } => Some(engine(machine, threads)),
    };
    let mut waiting = requests.iter().rev().copied().collect::<Vec<_>>();
    let mut quanta = Vec::new();
    let mut performed = Vec::new();
    let mut now = Cycle::ZERO;
    loop {
        let end = now + quantum;
        let period_end = now.round_down(period) + period;
        if now == now.round_down(period) {
            memory.count_at(period_end);
            if order != Order::InStep && period > quantum {
                memory.run_backend_to(period_end);
                memory.receive();
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
        match &mut engine {
            None => memory.advance(end, &mut |sm, token| performed.push((sm, token))),
            Some(engine) => {
                let (requests, backend) = memory.apart();
                let parts: [&mut dyn Component<()>; 2] = [requests, backend];
                engine.run(parts, end.get(), &());
                memory.receive();
                performed.extend(
                    memory
                        .take_atomics(Cycle::NEVER)
                        .map(|(_, sm, token)| (sm, token)),
                );
            }
        }
        let idle = memory.idle() && memory.idle_since() < end;
        quanta.push(Seen {
            end,
            taken,
            injected,
            counted: (end == period_end).then(|| memory.sampled()),
            idle_since: idle.then(|| memory.idle_since()),
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

/// What all SMs take in a quantum.
fn take(memory: &mut Bench, sms: usize, now: Cycle, end: Cycle) -> Vec<(Cycle, usize, u32)> {
    let mut taken = Vec::new();
    for sm in 0..sms {
        for cycle in now.until(end).filter(|cycle| cycle.get() % 2 == 0) {
            let at = memory.next_reply_for(sm);
            if let Some(reply) = memory.pop_reply(sm, cycle) {
                taken.push((at, sm, reply.token));
            }
        }
    }
    taken
}

fn check(machine: &Machine, requests: &[Request]) -> Result<(), TestCaseError> {
    let (in_step, performed) = run(machine, requests, Order::InStep);
    for threads in [1, 2] {
        let (apart, same) = run(machine, requests, Order::Apart { threads });
        prop_assert_eq!(&performed, &same);
        prop_assert_eq!(in_step.len(), apart.len());
        for (one, other) in in_step.iter().zip(&apart) {
            prop_assert_eq!(one, other);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn apart_is_as_in_step(
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
fn requests_wait_at_the_entrance_as_they_would_in_step() {
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
    let mut memory = Bench::new(&machine);
    let mut most = 0;
    for quantum in 0..200 {
        let now = Cycle::new(quantum * 4);
        for &request in &requests[..15] {
            if memory.injection_free(usize::from(request.sm)) > 1 {
                memory.push(now, request);
            }
        }
        memory.advance(now + 4, &mut |_, _| {});
        most = most.max(memory.requests.entrances.waiting());
    }
    assert!(most > 0, "no packet waited");
}

/// Also while it has left the network, and slices have not taken it in.
#[test]
fn a_request_is_under_way_until_it_is_answered() {
    let machine = tight();
    let cycles = period(&machine) * u64::from(machine.gpu.quantum);
    let mut memory = Bench::new(&machine);
    let mut engine = engine(&machine, 1);
    memory.push(Cycle::ZERO, request(RequestKind::Read, 0, 32, 0));
    for number in 1..8 {
        let end = Cycle::new(number * cycles);
        memory.run_backend_to(end);
        let (requests, backend) = memory.apart();
        let parts: [&mut dyn Component<()>; 2] = [requests, backend];
        engine.run(parts, end.get(), &());
        memory.receive();
        assert!(!memory.idle(), "behind period {number}");
        assert!(memory.next_reply().min(memory.next_event()) < Cycle::NEVER);
    }
    assert!(memory.pop_reply(0, memory.next_reply()).is_some());
    assert!(memory.idle());
}

/// Two periods are within what the back end may be ahead, whatever is asked for.
#[test]
fn a_period_is_as_long_as_the_back_end_can_be_ahead() {
    let of = |set: &[&str]| {
        let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
        period(&gtx480_with(&set))
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
        lookahead(&gtx480_with(&set))
    };
    assert_eq!(of(&[]), 27, "of 120 cycles 8 are foreseen, in quanta of 4");
    assert_eq!(of(&["gpu.quantum=6"]), 17);
    assert_eq!(of(&["l2.latency=16"]), 1);
    assert_eq!(of(&["l2.latency=15"]), 0);
    assert_eq!(of(&["l2.latency=0"]), 0);
    for preset in warpsim_machine::read::presets::names() {
        let machine = preset_with(preset, &[]);
        assert!(lookahead(&machine) >= 1, "{preset}");
    }
}
