//! One direction of the interconnect: a crossbar with a queue and a buffer at every input and a
//! buffer at every output.
//!
//! Packets are flits in a row. From an input's queue, which the sender can see, one flit per tick
//! goes on to the input's buffer. The switch takes steps, several per tick where it is faster than
//! its ports. In a step every free output takes the head packet of one of the inputs that want it,
//! round robin after the last winner. A packet of n flits holds its input and its output for n
//! steps, and one more for the allocation where the switch is faster than its ports, and in any
//! case until its last flit has come to the input. An input's packets leave in order: a head that
//! waits holds back those behind it. From its buffer an output sends one flit per tick. A packet
//! that wins in tick x, with nothing before it in the output's buffer, has arrived in full in tick
//! x + latency + flits - 1.
//!
//! Inputs may share a line into the switch ([`lines`](super::lines)): each has its queue and its buffer, but their heads ask one at
//! a time, in turn, and while a packet of one passes none of the others does. Outputs may share what is behind them: a buffer, from which one
//! flit per tick goes out for all. That takes a packet only while every one of them has room.

use super::flits::FlitSwitch;
use super::lines::Lines;
use super::ports::{Few, Many, Most, Ports};
use crate::divide::Divisor;
use crate::ring::Ring;
use crate::time::Tick;
use warpsim_machine::Interconnect;

/// Where packets come out.
pub trait Sink<T> {
    /// The output can take another packet.
    fn has_room(&self, output: usize) -> bool;
    /// Flits of packets that have come out and that the receiver has not taken.
    fn waiting(&self, output: usize) -> u32;
    /// A packet will have arrived at `output` in `tick`.
    fn deliver(&mut self, output: usize, tick: Tick, flits: u32, payload: T);
}

/// What a crossbar is like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Ticks that a packet of one flit takes.
    pub latency: u32,
    /// Flits that each input's queue holds.
    pub injection_queue: u32,
    /// Flits that each input's buffer behind it holds.
    pub input_buffer: u32,
    /// Flits that each output's buffer holds.
    pub output_buffer: u32,
    /// Steps of the switch per tick.
    pub speedup: u32,
    /// Room is counted flit by flit, with credits, and the last buffer of an output holds so many.
    pub last_buffer: Option<u32>,
    /// Inputs, one behind the other, that share a line into the switch; 1 where each has its own.
    pub inputs_per_line: u32,
    /// Outputs, one behind the other, that share a buffer.
    pub outputs_per_buffer: u32,
}

impl Shape {
    /// A machine's network from its SMs.
    pub fn from_sms(net: &Interconnect) -> Shape {
        Shape {
            inputs_per_line: net.sms_per_port,
            ..Shape::of(net)
        }
    }

    /// A machine's network to its SMs.
    pub fn to_sms(net: &Interconnect) -> Shape {
        Shape {
            outputs_per_buffer: net.sms_per_port,
            ..Shape::of(net)
        }
    }

    fn of(net: &Interconnect) -> Shape {
        Shape {
            latency: net.latency,
            injection_queue: net.injection_queue,
            input_buffer: net.input_buffer,
            output_buffer: net.output_buffer,
            speedup: net.speedup,
            last_buffer: net.credits.then_some(net.last_buffer),
            inputs_per_line: 1,
            outputs_per_buffer: 1,
        }
    }
}

/// What of an input's packets has not left yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Flits in queue and buffer.
    pub flits: u32,
    /// Of those, flits in the queue if the buffer has room: one of them moves up per tick.
    pub moving: u32,
}

/// A step of the switch, of which there are several per tick. Beyond all of them: never.
type Step = u64;
const NEVER: Step = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct Packet<T> {
    /// First step in which it may win an output.
    ready: Step,
    /// The tick in which its last flit comes to the input's buffer, room there aside.
    tail: Tick,
    /// Where it goes, and the buffer before that.
    output: u32,
    buffer: u32,
    flits: u32,
    payload: T,
}

#[derive(Clone, Debug)]
struct Input<T> {
    /// First step in which the head packet may win, and the buffer that it wants.
    next: Step,
    buffer: u32,
    /// Flits of all its packets.
    flits: u32,
    /// The tick in which the next flit may go from the queue to the buffer.
    enters_at: Tick,
    /// The step in which the last packet has left.
    free_at: Step,
    queue: Ring<Packet<T>>,
}

/// The buffer of an output, or of several that share it.
#[derive(Clone, Copy, Debug, Default)]
struct Buffer<P> {
    /// The step in which the switch has put the last packet in it.
    free_at: Step,
    /// The tick in which it has sent all that is in it.
    drained_at: Tick,
    /// Inputs whose head packet may win and wants to come here.
    asking: P,
    /// The input that is asked first: the one after the last winner.
    turn: usize,
}

/// A crossbar for packets that carry `T`. (Which it is, is asked several times for each of them: it stands in a byte of its
/// own, not in an unused value of one of the fields.)
#[derive(Clone, Debug)]
#[repr(u8)]
pub enum Crossbar<T> {
    /// Up to 64 ports on each side.
    Small(Switch<T, Few, 64>),
    /// Up to 256.
    Large(Box<Switch<T, Many, 256>>),
    /// More.
    Largest(Box<Switch<T, Most, 1024>>),
    /// Up to 64, flit by flit.
    Flits(Box<FlitSwitch<T>>),
}

/// Does something with whichever it is.
macro_rules! either {
    ($crossbar:expr, $switch:ident => $what:expr) => {
        match $crossbar {
            Crossbar::Small($switch) => $what,
            Crossbar::Large($switch) => $what,
            Crossbar::Largest($switch) => $what,
            Crossbar::Flits($switch) => $what,
        }
    };
}

impl<T: Copy> Crossbar<T> {
    /// A crossbar with these ports.
    pub fn new(inputs: usize, outputs: usize, shape: Shape) -> Crossbar<T> {
        let ports = inputs.max(outputs);
        if let (Some(last_buffer), ..=64) = (shape.last_buffer, ports) {
            let switch = FlitSwitch::new(inputs, outputs, shape, last_buffer);
            return Crossbar::Flits(Box::new(switch));
        }
        match ports {
            ..=64 => Crossbar::Small(Switch::new(outputs, shape)),
            65..=256 => Crossbar::Large(Box::new(Switch::new(outputs, shape))),
            _ => Crossbar::Largest(Box::new(Switch::new(outputs, shape))),
        }
    }

    /// Flits for which an input's queue has room in tick `now`.
    #[inline(always)]
    pub fn free(&self, input: usize, now: Tick) -> u32 {
        either!(self, s => s.free(input, now))
    }

    /// What of an input's packets has not left in tick `now`.
    #[inline(always)]
    pub fn backlog(&self, input: usize, now: Tick) -> Backlog {
        either!(self, s => s.backlog(input, now))
    }

    /// Queues a packet that may win its output from tick `ready` on. The caller has checked
    /// that it fits, and `ready` never decreases at an input.
    #[inline]
    pub fn push(&mut self, input: usize, ready: Tick, output: usize, flits: u32, payload: T) {
        either!(self, s => s.push(input, ready, output, flits, payload))
    }

    /// As [`push`](Crossbar::push) for packets to one output, each with how many ticks it is behind `ready`, and its flits.
    #[inline]
    pub fn push_several(
        &mut self,
        input: usize,
        ready: Tick,
        output: usize,
        packets: impl Iterator<Item = (u64, u32, T)>,
    ) {
        either!(self, s => for (behind, flits, payload) in packets {
            s.push(input, ready + behind, output, flits, payload);
        })
    }

    /// No packet is queued.
    pub fn is_empty(&self) -> bool {
        either!(self, s => s.is_empty())
    }

    /// Packets queued at an input.
    pub fn queued(&self, input: usize) -> usize {
        either!(self, s => s.queued(input))
    }

    /// Ticks in which a head packet waited for room at its output, summed over inputs.
    pub fn blocked(&self) -> u64 {
        either!(self, s => s.blocked())
    }

    /// The next tick in which anything can happen.
    #[inline(always)]
    pub fn next(&self) -> Tick {
        either!(self, s => s.next())
    }

    /// Runs one tick.
    #[inline(always)]
    pub fn step(&mut self, tick: Tick, sink: &mut impl Sink<T>) {
        either!(self, s => s.step(tick, sink))
    }
}

/// The crossbar for a number of ports.
///
/// An input with packets is either *resting*, until its head may win, or *asking* for the
/// buffer before the head's output, so that a step looks at an input only when its head's time comes and at a
/// buffer only when it is asked for.
///
/// The switch has all the ports that a set of ports can name, so that a port from a set need not be checked.
#[derive(Clone, Debug)]
pub struct Switch<T, P, const PORTS: usize> {
    latency: u64,
    injection_queue: u32,
    input_buffer: u32,
    output_buffer: u64,
    speedup: u64,
    per_tick: Divisor,
    /// Steps that a packet takes beyond its flits.
    allocation: u64,
    inputs: Box<[Input<T>; PORTS]>,
    buffers: Box<[Buffer<P>; PORTS]>,
    /// Where inputs share lines into the switch: those.
    lines: Option<Box<Lines>>,
    /// Outputs, and how many share a buffer.
    outputs: usize,
    per_buffer: usize,
    /// Resting inputs.
    resting: P,
    /// Buffers that some input asks for.
    asked: P,
    /// The next step in which anything can happen, and the tick that it belongs to.
    next: Step,
    next_tick: Tick,
    /// Ticks in which a head packet waited for room at its output.
    blocked: u64,
}

impl<T: Copy, P: Ports, const PORTS: usize> Switch<T, P, PORTS> {
    fn new(outputs: usize, shape: Shape) -> Switch<T, P, PORTS> {
        let input = |_| Input {
            next: 0,
            buffer: 0,
            flits: 0,
            enters_at: Tick::ZERO,
            free_at: 0,
            queue: Ring::new(),
        };
        Switch {
            latency: u64::from(shape.latency),
            injection_queue: shape.injection_queue,
            input_buffer: shape.input_buffer,
            output_buffer: u64::from(shape.output_buffer),
            speedup: u64::from(shape.speedup.max(1)),
            per_tick: Divisor::new(u64::from(shape.speedup.max(1))),
            allocation: u64::from(shape.speedup > 1),
            inputs: Box::new(std::array::from_fn(input)),
            buffers: Box::new(std::array::from_fn(|_| Buffer::default())),
            lines: Lines::of(PORTS, shape.inputs_per_line as usize).map(Box::new),
            outputs,
            per_buffer: shape.outputs_per_buffer.max(1) as usize,
            resting: P::default(),
            asked: P::default(),
            next: NEVER,
            next_tick: Tick::NEVER,
            blocked: 0,
        }
    }

    fn is_empty(&self) -> bool {
        self.next == NEVER
    }

    fn queued(&self, input: usize) -> usize {
        self.inputs[input % PORTS].queue.len()
    }

    fn blocked(&self) -> u64 {
        self.blocked
    }

    #[inline]
    fn next(&self) -> Tick {
        self.next_tick
    }

    #[inline]
    fn set_next(&mut self, next: Step) {
        self.next = next;
        self.next_tick = match next {
            NEVER => Tick::NEVER,
            step => Tick::new(self.per_tick.divide(step).0),
        };
    }

    #[inline]
    fn backlog(&self, input: usize, now: Tick) -> Backlog {
        let port = &self.inputs[input % PORTS];
        Backlog {
            flits: port.flits,
            moving: port.enters_at.since(now) as u32,
        }
    }

    /// What has not come to the buffer is in the queue: because the buffer is full, or because
    /// one flit per tick moves up.
    #[inline]
    fn free(&self, input: usize, now: Tick) -> u32 {
        let Backlog { flits, moving } = self.backlog(input, now);
        let behind = flits.saturating_sub(self.input_buffer);
        self.injection_queue.saturating_sub(behind.max(moving))
    }

    #[inline(always)]
    fn push(&mut self, input: usize, ready: Tick, output: usize, flits: u32, payload: T) {
        let port = &mut self.inputs[input % PORTS];
        port.enters_at = port.enters_at.max(ready) + u64::from(flits.max(1));
        let packet = Packet {
            ready: ready.get() * self.speedup,
            tail: Tick::new(port.enters_at.get() - 1),
            output: output as u32,
            buffer: match self.per_buffer {
                1 => output as u32,
                several => (output / several) as u32,
            },
            flits,
            payload,
        };
        if port.queue.is_empty() {
            port.next = packet.ready.max(port.free_at);
            port.buffer = packet.buffer;
            self.resting.insert(input);
            let next = port.next;
            port.flits += packet.flits;
            port.queue.push_back(packet);
            if next < self.next {
                self.set_next(next);
            }
            return;
        }
        port.flits += packet.flits;
        port.queue.push_back(packet);
    }

    #[inline]
    fn step(&mut self, tick: Tick, sink: &mut impl Sink<T>) {
        let first = tick.get() * self.speedup;
        while self.next < first + self.speedup {
            self.run_step(self.next.max(first), tick, sink);
        }
    }

    /// A step, which belongs to this tick.
    #[inline(never)]
    fn run_step(&mut self, step: Step, tick: Tick, sink: &mut impl Sink<T>) {
        let behind_tick = (tick.get() + 1) * self.speedup;
        // A packet that wins in the last step of a tick and needs another comes out in the next.
        let later = step + self.allocation >= behind_tick;
        let mut now = Now {
            step,
            tick,
            behind_tick,
            first_out: tick + u64::from(later),
            next: NEVER,
            resting: self.resting,
            asked: self.asked,
        };
        self.ask(&mut now);
        let mut asked = now.asked;
        while let Some(buffer) = asked.pop() {
            self.serve(&mut now, buffer, sink);
        }
        (self.resting, self.asked) = (now.resting, now.asked);
        self.set_next(now.next);
    }

    /// Lets the heads whose time has come ask for the buffers that they want.
    #[inline]
    fn ask(&mut self, now: &mut Now<P>) {
        let mut resting = now.resting;
        while let Some(input) = resting.pop() {
            let port = &self.inputs[input % PORTS];
            if port.next > now.step {
                now.next = now.next.min(port.next);
                continue;
            }
            let buffer = port.buffer as usize;
            if self.lines.is_some() && !self.takes_line(input, now) {
                continue;
            }
            now.resting.remove(input);
            self.buffers[buffer % PORTS].asking.insert(input);
            now.asked.insert(buffer);
        }
    }

    /// Whether the head of an input, whose time has come, has the line that it shares for itself.
    #[inline(never)] // few machines share them
    fn takes_line(&mut self, input: usize, now: &mut Now<P>) -> bool {
        let (Some(lines), inputs) = (&mut self.lines, &self.inputs) else {
            return true;
        };
        let comes = |i: usize| {
            let rests = now.resting.first_from(i) == Some(i);
            rests && inputs[i % PORTS].next <= now.step
        };
        match lines.take(input, now.step, comes) {
            Ok(takes) => takes,
            Err(free_at) => {
                now.look_again(free_at);
                false
            }
        }
    }

    /// Every output of a buffer can take another packet.
    #[inline(always)]
    fn has_room_behind(&self, buffer: usize, sink: &impl Sink<T>) -> bool {
        if self.per_buffer == 1 {
            return sink.has_room(buffer);
        }
        let first = buffer * self.per_buffer;
        let mut outputs = first..(first + self.per_buffer).min(self.outputs);
        outputs.all(|output| sink.has_room(output))
    }

    /// Lets a buffer that is asked for take a packet if it can.
    #[inline(always)] // its one caller is the step
    fn serve(&mut self, now: &mut Now<P>, buffer: usize, sink: &mut impl Sink<T>) {
        let gate = &self.buffers[buffer % PORTS];
        if gate.free_at > now.step {
            now.look_again(gate.free_at);
            return;
        }
        let is_full = gate.drained_at.since(now.tick) >= self.output_buffer;
        let is_full = is_full || !self.has_room_behind(buffer, sink);
        let gate = &mut self.buffers[buffer % PORTS];
        if is_full {
            self.blocked += u64::from(gate.asking.count());
            now.look_again(now.behind_tick);
            return;
        }
        let Some(input) = gate.asking.first_from(gate.turn) else {
            return;
        };
        let port = &mut self.inputs[input % PORTS];
        let Some(&Packet {
            tail,
            output,
            flits,
            payload,
            ..
        }) = port.queue.front()
        else {
            return;
        };
        port.queue.drop_front();
        let steps = u64::from(flits.max(1));
        let last_in = tail.get() * self.speedup + 1;
        let free_at = (now.step + steps + self.allocation).max(last_in);
        port.flits -= flits;
        port.free_at = free_at;
        gate.free_at = free_at;
        gate.turn = input + 1;
        gate.asking.remove(input);
        if gate.asking.is_empty() {
            now.asked.remove(buffer);
        } else {
            now.look_again(free_at);
        }
        if let Some(head) = port.queue.front() {
            port.next = head.ready.max(free_at);
            port.buffer = head.buffer;
            now.look_again(port.next);
            now.resting.insert(input);
        }
        if let Some(lines) = &mut self.lines {
            lines.leave(input, free_at);
            now.look_again(free_at);
        }
        gate.drained_at = (gate.drained_at.max(now.first_out) + steps).max(tail + 1);
        let arrival = gate.drained_at + self.latency;
        let arrival = Tick::new(arrival.get() - 1);
        sink.deliver(output as usize, arrival, flits, payload);
    }
}

/// A step that is run.
struct Now<P> {
    step: Step,
    tick: Tick,
    /// The first step of the tick behind this one.
    behind_tick: Step,
    /// The tick in which the first flit of a packet that wins comes out.
    first_out: Tick,
    /// The next step in which there is something to do.
    next: Step,
    /// What the switch has of the same names, while it runs.
    resting: P,
    asked: P,
}

impl<P> Now<P> {
    /// There is something to do in this step, too.
    #[inline]
    fn look_again(&mut self, step: Step) {
        self.next = self.next.min(step);
    }
}

#[cfg(test)]
#[path = "crossbar_tests.rs"]
mod tests;
