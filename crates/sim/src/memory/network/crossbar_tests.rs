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

    fn deliver(&mut self, output: usize, tick: Tick, _flits: u32, payload: u32) {
        self.arrived.push((tick.get(), output, payload));
    }
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
        let mut net = Crossbar::new(2, 2, 6, 9);
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
    let mut net = Crossbar::new(3, 1, 6, 9);
    let mut log = Log::default();
    for input in 0..3 {
        net.push(input, Tick::ZERO, 0, 2, input as u32);
    }
    run(&mut net, &mut log, 0);
    assert_eq!(log.arrived, [(7, 0, 0), (9, 0, 1), (11, 0, 2)]);
}

#[test]
fn an_input_sends_one_flit_per_tick() {
    let mut net = Crossbar::new(1, 3, 6, 9);
    let mut log = Log::default();
    for output in 0..3 {
        net.push(0, Tick::ZERO, output, 2, output as u32);
    }
    run(&mut net, &mut log, 0);
    assert_eq!(log.arrived, [(7, 0, 0), (9, 1, 1), (11, 2, 2)]);
}

#[test]
fn distinct_pairs_do_not_disturb_each_other() {
    let mut net = Crossbar::new(3, 3, 6, 9);
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
    let mut net = Crossbar::new(3, 1, 6, 9);
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
    let mut net = Crossbar::new(2, 2, 6, 9);
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
    let mut net = Crossbar::new(1, 1, 6, 9);
    net.push(0, Tick::ZERO, 0, 4, 1);
    net.push(0, Tick::ZERO, 0, 4, 2);
    assert_eq!(net.free(0), 1);
    net.step(Tick::ZERO, &mut Log::default());
    assert_eq!(net.free(0), 5);
    assert!(!net.is_empty());
}

#[test]
fn sleeping_ticks_are_not_asked_for() {
    let mut net = Crossbar::new(1, 1, 6, 9);
    let mut log = Log::default();
    net.push(0, Tick::new(1000), 0, 1, 1);
    net.push(0, Tick::new(5000), 0, 1, 2);
    assert_eq!(run(&mut net, &mut log, 0), 3);
    assert_eq!(log.arrived, [(1006, 0, 1), (5006, 0, 2)]);
}

/// Ports beyond the first word of a set, with turns that wrap.
#[test]
fn a_hundred_and_fifty_inputs_take_turns_too() {
    let mut net = Crossbar::new(150, 70, 6, 9);
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
