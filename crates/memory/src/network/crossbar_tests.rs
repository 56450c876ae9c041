use super::*;

/// Notes what arrives when; outputs can be closed.
#[derive(Default)]
struct Log {
    closed: Option<usize>,
    arrived: Vec<(u64, usize, u32)>,
}

impl Sink<u32> for Log {
    fn has_room(&self, output: usize) -> bool {
        self.closed != Some(output)
    }

    fn waiting(&self, _output: usize) -> u32 {
        0
    }

    fn deliver(&mut self, output: usize, tick: Tick, _flits: u32, payload: u32) {
        self.arrived.push((tick.get(), output, payload));
    }
}

/// As fast as its ports, with a queue of nine flits and no buffer worth mentioning behind it.
const PLAIN: Shape = Shape {
    latency: 6,
    injection_queue: 9,
    input_buffer: 0,
    output_buffer: 64,
    speedup: 1,
    last_buffer: None,
    inputs_per_line: 1,
    outputs_per_buffer: 1,
};

/// The GTX 480's.
const FAST: Shape = Shape {
    input_buffer: 64,
    speedup: 2,
    ..PLAIN
};

fn plain(inputs: usize, outputs: usize) -> Crossbar<u32> {
    Crossbar::new(inputs, outputs, PLAIN)
}

/// Steps only the ticks that the crossbar asks for.
fn run(net: &mut Crossbar<u32>, log: &mut Log, from: u64) -> u64 {
    let mut tick = Tick::new(from);
    let mut steps = 0;
    while tick != Tick::NEVER && steps < 1000 {
        net.step(tick, log);
        tick = net.next();
        steps += 1;
    }
    steps
}

#[test]
fn a_packet_takes_the_latency_and_one_tick_for_each_further_flit() {
    for flits in 1..4 {
        let mut net = plain(2, 2);
        let mut log = Log::default();
        net.push(1, Tick::new(10), 0, flits, 5);
        net.step(Tick::new(9), &mut log);
        assert_eq!(net.next(), Tick::new(10));
        assert!(log.arrived.is_empty(), "not ready before its tick");
        net.step(Tick::new(10), &mut log);
        assert_eq!(net.next(), Tick::NEVER);
        assert_eq!(log.arrived, [(16 + u64::from(flits) - 1, 0, 5)]);
    }
}

#[test]
fn an_output_takes_one_flit_per_tick() {
    let mut net = plain(3, 1);
    let mut log = Log::default();
    for input in 0..3 {
        net.push(input, Tick::ZERO, 0, 2, input as u32);
    }
    run(&mut net, &mut log, 0);
    assert_eq!(log.arrived, [(7, 0, 0), (9, 0, 1), (11, 0, 2)]);
}

#[test]
fn an_input_sends_one_flit_per_tick() {
    let mut net = plain(1, 3);
    let mut log = Log::default();
    for output in 0..3 {
        net.push(0, Tick::ZERO, output, 2, output as u32);
    }
    run(&mut net, &mut log, 0);
    assert_eq!(log.arrived, [(7, 0, 0), (9, 1, 1), (11, 2, 2)]);
}

#[test]
fn distinct_pairs_do_not_disturb_each_other() {
    let mut net = plain(3, 3);
    let mut log = Log::default();
    for port in 0..3 {
        net.push(port, Tick::ZERO, 2 - port, 1, port as u32);
    }
    net.step(Tick::ZERO, &mut log);
    assert!(log.arrived.iter().all(|&(tick, ..)| tick == 6));
    assert_eq!(log.arrived.len(), 3);
}

#[test]
fn an_output_serves_inputs_in_turn() {
    let mut net = plain(3, 1);
    let mut log = Log::default();
    for input in [0, 2] {
        for n in 0..3 {
            net.push(input, Tick::ZERO, 0, 1, input as u32 * 10 + n);
        }
    }
    run(&mut net, &mut log, 0);
    let order: Vec<u32> = log.arrived.iter().map(|a| a.2).collect();
    assert_eq!(order, [0, 20, 1, 21, 2, 22]);
}

#[test]
fn a_blocked_head_holds_its_input_but_no_other() {
    let mut net = plain(2, 2);
    let mut log = Log {
        closed: Some(0),
        ..Log::default()
    };
    net.push(0, Tick::ZERO, 0, 1, 1);
    net.push(0, Tick::ZERO, 1, 1, 2);
    net.push(1, Tick::ZERO, 1, 1, 3);
    net.step(Tick::ZERO, &mut log);
    assert_eq!(net.next(), Tick::new(1));
    net.step(Tick::new(1), &mut log);
    assert_eq!(net.next(), Tick::new(2));
    assert_eq!(log.arrived, [(6, 1, 3)]);
    assert_eq!(net.blocked(), 2);
    log.closed = None;
    run(&mut net, &mut log, 2);
    assert_eq!(log.arrived[1..], [(8, 0, 1), (9, 1, 2)]);
}

#[test]
fn the_queue_counts_flits() {
    let mut net = plain(1, 1);
    net.push(0, Tick::ZERO, 0, 4, 1);
    net.push(0, Tick::ZERO, 0, 4, 2);
    assert_eq!(net.free(0, Tick::ZERO), 1);
    net.step(Tick::ZERO, &mut Log::default());
    assert_eq!(net.free(0, Tick::new(4)), 5);
    assert!(!net.is_empty());
}

#[test]
fn sleeping_ticks_are_not_asked_for() {
    let mut net = plain(1, 1);
    let mut log = Log::default();
    net.push(0, Tick::new(1000), 0, 1, 1);
    net.push(0, Tick::new(5000), 0, 1, 2);
    assert_eq!(run(&mut net, &mut log, 0), 3);
    assert_eq!(log.arrived, [(1006, 0, 1), (5006, 0, 2)]);
}

/// Ports beyond the first word of a set, with turns that wrap.
#[test]
fn a_hundred_and_fifty_inputs_take_turns_too() {
    let mut net = plain(150, 70);
    let mut log = Log::default();
    for input in [149, 3, 64, 70] {
        for n in 0..2 {
            net.push(input, Tick::ZERO, 69, 1, input as u32 * 10 + n);
        }
    }
    run(&mut net, &mut log, 0);
    let order: Vec<u32> = log.arrived.iter().map(|a| a.2).collect();
    assert_eq!(order, [30, 640, 700, 1490, 31, 641, 701, 1491]);
    assert!(net.is_empty());
}

/// Arrivals of packets of so many flits that three inputs send to one output in tick 0.
fn three_to_one(flits: u32, shape: Shape) -> Vec<u64> {
    let mut net = Crossbar::new(3, 1, shape);
    let mut log = Log::default();
    for input in 0..3 {
        net.push(input, Tick::ZERO, 0, flits, input as u32);
    }
    run(&mut net, &mut log, 0);
    log.arrived.iter().map(|a| a.0).collect()
}

#[test]
fn a_fast_switch_still_sends_one_flit_per_tick_and_output() {
    assert_eq!(three_to_one(1, FAST), [6, 7, 8]);
    assert_eq!(three_to_one(2, FAST), [7, 9, 11]);
    assert_eq!(three_to_one(4, FAST), [9, 13, 17]);
}

/// Heads that have come in full leave their inputs faster than an output sends: five steps for
/// four flits. So what stands behind them for another output waits less.
#[test]
fn a_fast_switch_empties_inputs_into_the_output() {
    let arrives = |shape: Shape| {
        let mut net = Crossbar::new(2, 2, shape);
        let mut log = Log::default();
        for input in 0..2 {
            net.push(input, Tick::ZERO, 0, 4, 1);
        }
        net.push(1, Tick::ZERO, 1, 1, 2);
        run(&mut net, &mut log, 0);
        log.arrived.iter().find(|a| a.2 == 2).map(|a| a.0)
    };
    // The second packet to output 0 wins in tick 4 and has left its input four ticks later; or it
    // wins half a tick earlier and has left it after two and a half.
    assert_eq!(arrives(PLAIN), Some(14));
    assert_eq!(arrives(FAST), Some(12));
}

#[test]
fn an_output_buffer_that_is_full_holds_its_inputs() {
    let shape = Shape {
        output_buffer: 2,
        ..FAST
    };
    let mut net = Crossbar::new(3, 1, shape);
    let mut log = Log::default();
    for input in 0..3 {
        net.push(input, Tick::ZERO, 0, 4, input as u32);
    }
    // The second packet wins in tick 3 and is through the switch in tick 6, but the output sends
    // the last of it in tick 7.
    for tick in 0..7 {
        net.step(Tick::new(tick), &mut log);
    }
    assert_eq!(log.arrived.len(), 2);
    assert!(net.blocked() > 0);
}

#[test]
fn the_queue_moves_up_one_flit_per_tick_until_the_buffer_is_full() {
    let mut net: Crossbar<u32> = Crossbar::new(1, 1, FAST);
    net.push(0, Tick::ZERO, 0, 4, 1);
    net.push(0, Tick::ZERO, 0, 4, 2);
    let moving = |net: &Crossbar<u32>, tick| net.backlog(0, Tick::new(tick)).moving;
    assert_eq!([0, 3, 8].map(|tick| moving(&net, tick)), [8, 5, 0]);
    assert_eq!(net.free(0, Tick::new(3)), 4);
    let mut full: Crossbar<u32> = Crossbar::new(1, 1, FAST);
    for n in 0..17 {
        full.push(0, Tick::ZERO, 0, 4, n);
    }
    assert_eq!(
        full.free(0, Tick::new(1000)),
        9 - 4,
        "68 flits, 64 of them behind"
    );
}

/// Three inputs to a line, and three outputs to a buffer.
const SHARED: Shape = Shape {
    inputs_per_line: 3,
    ..PLAIN
};
const TOGETHER: Shape = Shape {
    outputs_per_buffer: 3,
    ..PLAIN
};

#[test]
fn inputs_that_share_a_line_send_one_flit_per_tick_together() {
    let arrivals = |shape: Shape, outputs: usize| {
        let mut net = Crossbar::new(6, 6, shape);
        let mut log = Log::default();
        for input in 0..6 {
            net.push(input, Tick::ZERO, input % outputs, 2, input as u32);
        }
        run(&mut net, &mut log, 0);
        let mut ticks: Vec<u64> = log.arrived.iter().map(|a| a.0).collect();
        ticks.sort_unstable();
        ticks
    };
    assert_eq!(arrivals(PLAIN, 6), [7; 6], "each has its own");
    assert_eq!(
        arrivals(SHARED, 6),
        [7, 7, 9, 9, 11, 11],
        "two lines of three"
    );
    assert_eq!(
        arrivals(SHARED, 1),
        arrivals(PLAIN, 1),
        "the output is what is short"
    );
}

#[test]
fn inputs_of_a_line_take_turns_and_each_keeps_its_order() {
    let mut net = Crossbar::new(3, 3, SHARED);
    let mut log = Log::default();
    for input in [0, 2] {
        for n in 0..3 {
            net.push(
                input,
                Tick::ZERO,
                (input + n) % 3,
                1,
                (input * 10 + n) as u32,
            );
        }
    }
    run(&mut net, &mut log, 0);
    let order: Vec<u32> = log.arrived.iter().map(|a| a.2).collect();
    assert_eq!(order, [0, 20, 1, 21, 2, 22]);
    assert!(net.is_empty());
}

#[test]
fn a_head_that_waits_holds_the_line_that_it_shares() {
    let mut net = Crossbar::new(4, 2, SHARED);
    let mut log = Log {
        closed: Some(0),
        ..Log::default()
    };
    net.push(0, Tick::ZERO, 0, 1, 1);
    net.push(1, Tick::ZERO, 1, 1, 2);
    net.push(3, Tick::ZERO, 1, 1, 3);
    (0..5).for_each(|tick| net.step(Tick::new(tick), &mut log));
    assert_eq!(log.arrived, [(6, 1, 3)], "the fourth has another line");
    log.closed = None;
    run(&mut net, &mut log, 5);
    assert_eq!(log.arrived[1..], [(11, 0, 1), (12, 1, 2)]);
}

#[test]
fn each_input_of_a_line_has_its_own_queue() {
    let mut net: Crossbar<u32> = Crossbar::new(3, 1, SHARED);
    net.push(0, Tick::ZERO, 0, 4, 1);
    assert_eq!(
        [0, 1, 2].map(|input| net.free(input, Tick::ZERO)),
        [5, 9, 9]
    );
}

#[test]
fn outputs_that_share_a_buffer_get_one_flit_per_tick_together() {
    let mut net = Crossbar::new(4, 4, TOGETHER);
    let mut log = Log::default();
    for input in 0..4 {
        net.push(input, Tick::ZERO, input, 2, input as u32);
    }
    run(&mut net, &mut log, 0);
    log.arrived.sort_unstable();
    // Outputs 0 to 2 are one port; the last port has one output alone.
    assert_eq!(log.arrived, [(7, 0, 0), (7, 3, 3), (9, 1, 1), (11, 2, 2)]);
}

#[test]
fn a_shared_buffer_waits_until_all_of_its_outputs_have_room() {
    let mut net = Crossbar::new(2, 4, TOGETHER);
    let mut log = Log {
        closed: Some(2),
        ..Log::default()
    };
    net.push(0, Tick::ZERO, 0, 1, 1);
    net.push(1, Tick::ZERO, 3, 1, 2);
    (0..3).for_each(|tick| net.step(Tick::new(tick), &mut log));
    assert_eq!((log.arrived.clone(), net.blocked()), (vec![(6, 3, 2)], 3));
    log.closed = None;
    run(&mut net, &mut log, 3);
    assert_eq!(log.arrived[1..], [(9, 0, 1)]);
}

#[test]
fn shared_lines_and_buffers_go_beyond_the_first_word_of_a_set() {
    let shape = Shape {
        outputs_per_buffer: 4,
        ..SHARED
    };
    let mut net = Crossbar::new(150, 150, shape);
    let mut log = Log::default();
    for input in [63, 64, 65, 149] {
        net.push(input, Tick::ZERO, input, 1, input as u32);
    }
    run(&mut net, &mut log, 0);
    log.arrived.sort_unstable();
    // 63 to 65 are one line; 64 and 65 are one port.
    assert_eq!(
        log.arrived,
        [(6, 63, 63), (6, 149, 149), (7, 64, 64), (8, 65, 65)]
    );
}
