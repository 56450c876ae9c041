use super::super::crossbar::Crossbar;
use super::*;

/// Notes what arrives when. Nothing is taken from the last buffer before tick `opens`.
struct Log {
    opens: u64,
    now: u64,
    untaken: u32,
    arrived: Vec<(u64, u32)>,
}

impl Sink<u32> for Log {
    fn has_room(&self, _output: usize) -> bool {
        true
    }

    fn waiting(&self, _output: usize) -> u32 {
        match self.now < self.opens {
            true => self.untaken,
            false => 0,
        }
    }

    fn deliver(&mut self, _output: usize, tick: Tick, flits: u32, payload: u32) {
        self.untaken += flits;
        self.arrived.push((tick.get(), payload));
    }
}

fn log(opens: u64) -> Log {
    Log {
        opens,
        now: 0,
        untaken: 0,
        arrived: Vec::new(),
    }
}

/// The GTX 480's network, with these buffers.
fn shape(input_buffer: u32, output_buffer: u32, last_buffer: u32) -> Shape {
    Shape {
        latency: 6,
        injection_queue: 9,
        input_buffer,
        output_buffer,
        speedup: 2,
        last_buffer: Some(last_buffer),
        inputs_per_line: 1,
        outputs_per_buffer: 1,
    }
}

fn net(inputs: usize, outputs: usize, shape: Shape) -> FlitSwitch<u32> {
    let last_buffer = shape.last_buffer.expect("it is flit by flit");
    FlitSwitch::new(inputs, outputs, shape, last_buffer)
}

/// Runs these ticks, as far as the network asks for them.
fn run(net: &mut FlitSwitch<u32>, log: &mut Log, ticks: std::ops::Range<u64>) {
    for tick in ticks {
        log.now = tick;
        net.step(Tick::new(tick), log);
    }
}

#[test]
fn a_packet_alone_takes_what_it_takes_in_the_other_network() {
    for flits in 1..5 {
        let mut net = net(2, 2, shape(64, 64, 16));
        net.push(1, Tick::new(10), 0, flits, 5);
        assert_eq!(net.next(), Tick::new(10));
        let mut log = log(0);
        run(&mut net, &mut log, 0..30);
        assert_eq!(log.arrived, [(16 + u64::from(flits) - 1, 5)]);
        assert!(net.is_empty() && net.next() == Tick::NEVER);
    }
}

/// Three SMs send a flit per tick to one slice, which takes one per tick, from each in turn.
#[test]
fn an_output_passes_a_flit_per_tick_and_serves_inputs_in_turn() {
    let mut net = net(3, 1, shape(64, 64, 16));
    for input in 0..3 {
        for n in 0..3 {
            net.push(input, Tick::ZERO, 0, 1, 10 * input as u32 + n);
        }
    }
    let mut log = log(0);
    run(&mut net, &mut log, 0..30);
    let order = [0, 10, 20, 1, 11, 21, 2, 12, 22];
    let arrivals = (6..).zip(order);
    assert_eq!(log.arrived, arrivals.collect::<Vec<_>>());
}

/// A flit is two ticks on its way to the input's buffer, leaves it in the tick in which it comes, and its
/// credit is two ticks on its way back: a buffer of one flit passes one every four ticks.
#[test]
fn a_credit_takes_as_long_as_a_flit() {
    let mut net = net(1, 1, shape(1, 64, 16));
    for n in 0..3 {
        net.push(0, Tick::ZERO, 0, 1, n);
    }
    let mut log = log(0);
    run(&mut net, &mut log, 0..30);
    assert_eq!(log.arrived, [(6, 0), (10, 1), (14, 2)]);
}

/// Behind the switch it is alike: a flit is sent, is two ticks on its way, and its credit two ticks on its way
/// back.
#[test]
fn an_output_waits_for_its_credit() {
    let mut net = net(1, 1, shape(64, 1, 16));
    for n in 0..3 {
        net.push(0, Tick::ZERO, 0, 1, n);
    }
    let mut log = log(0);
    run(&mut net, &mut log, 0..30);
    assert_eq!(log.arrived, [(6, 0), (10, 1), (14, 2)]);
    assert!(net.blocked() > 0);
}

/// A packet of four flits fills a last buffer of four: the next packet's flits wait before it, each
/// with its credit, until the packet is taken.
#[test]
fn flits_take_places_of_their_own() {
    let mut net = net(1, 1, shape(64, 64, 4));
    net.push(0, Tick::ZERO, 0, 4, 0);
    net.push(0, Tick::ZERO, 0, 1, 1);
    let mut log = log(20);
    run(&mut net, &mut log, 0..19);
    assert_eq!(log.arrived, [(9, 0)]);
    run(&mut net, &mut log, 19..30);
    assert_eq!(log.arrived, [(9, 0), (21, 1)]);
}

/// Who holds an output keeps it while there is no room behind it. In the other network the turn is
/// decided when there is room.
#[test]
fn an_output_is_given_away_before_there_is_room() {
    let order = |shape: Shape| {
        let mut net = Crossbar::new(3, 1, shape);
        let mut log = log(20);
        for (tick, input, payload) in [(0, 2, 0), (0, 2, 1), (0, 2, 2), (9, 0, 3)] {
            net.push(input, Tick::new(tick), 0, 1, payload);
        }
        for tick in 0..60 {
            log.now = tick;
            net.step(Tick::new(tick), &mut log);
        }
        log.arrived.iter().map(|a| a.1).collect::<Vec<u32>>()
    };
    assert_eq!(order(shape(64, 1, 1)), [0, 1, 2, 3]);
}

/// What an SM sees as it runs: the network's tick in the same cycle has not been run, but which flits
/// leave the queue in it is known.
#[test]
fn room_is_foreseen_where_a_tick_has_not_been_run() {
    let mut net = net(1, 1, shape(2, 64, 16));
    let mut log = log(0);
    net.push(0, Tick::ZERO, 0, 4, 0);
    let mut seen = Vec::new();
    for tick in 0..8 {
        // Before the tick is run, as of its end.
        let foreseen = net.free(0, Tick::new(tick + 1));
        run(&mut net, &mut log, tick..tick + 1);
        assert_eq!(net.free(0, Tick::new(tick + 1)), foreseen, "tick {tick}");
        seen.push(foreseen);
    }
    // Two credits, and two more when the first flits have left the buffer.
    assert_eq!(seen, [6, 7, 7, 7, 8, 9, 9, 9]);
    assert_eq!(
        net.backlog(0, Tick::new(8)).flits,
        2,
        "a buffer that counts as full"
    );
}
