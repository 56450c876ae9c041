//! One direction of the interconnect: a crossbar with an input queue at every port.
//!
//! Packets are flits in a row. An input sends one flit per tick and an output takes one per tick,
//! so a packet of n flits holds both for n ticks. Each tick every free output takes the head
//! packet of one of the inputs that want it, round robin after the last winner. An input's
//! packets leave in order: a head that waits holds back those behind it. A packet that wins
//! in tick x has arrived in full in tick x + latency + flits - 1.

use super::ports::{Few, Many, Ports};
use crate::time::Tick;
use std::collections::VecDeque;

/// Where packets come out.
pub trait Sink<T> {
    /// The output can take another packet.
    fn has_room(&self, output: usize) -> bool;
    /// A packet will have arrived at `output` in `tick`.
    fn deliver(&mut self, output: usize, tick: Tick, flits: u32, payload: T);
}

#[derive(Clone, Debug)]
struct Packet<T> {
    /// First tick in which it may win an output.
    ready: Tick,
    output: u32,
    flits: u32,
    payload: T,
}

#[derive(Clone, Debug)]
struct Input<T> {
    /// First tick in which the head packet may win, and what it wants to win.
    next: Tick,
    output: u32,
    flits: u32,
    /// The tick in which the last packet has left.
    free_at: Tick,
    queue: VecDeque<Packet<T>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Output<P> {
    free_at: Tick,
    /// Inputs whose head packet may win and wants this output.
    asking: P,
    /// The input that is asked first: the one after the last winner.
    turn: usize,
}

/// A crossbar for packets that carry `T`.
#[derive(Clone, Debug)]
pub enum Crossbar<T> {
    /// Up to 64 ports on each side.
    Small(Switch<T, Few>),
    /// More.
    Large(Box<Switch<T, Many>>),
}

/// Does something with either.
macro_rules! either {
    ($crossbar:expr, $switch:ident => $what:expr) => {
        match $crossbar {
            Crossbar::Small($switch) => $what,
            Crossbar::Large($switch) => $what,
        }
    };
}

impl<T: Copy> Crossbar<T> {
    /// A crossbar whose input queues hold `capacity` flits each.
    pub fn new(inputs: usize, outputs: usize, latency: u32, capacity: u32) -> Crossbar<T> {
        if inputs.max(outputs) <= 64 {
            Crossbar::Small(Switch::new(inputs, outputs, latency, capacity))
        } else {
            Crossbar::Large(Box::new(Switch::new(inputs, outputs, latency, capacity)))
        }
    }

    /// Flits that still fit in an input's queue.
    #[inline]
    pub fn free(&self, input: usize) -> u32 {
        either!(self, s => s.capacity.saturating_sub(s.inputs[input].flits))
    }

    /// Queues a packet that may win its output from tick `ready` on. The caller has checked
    /// that it fits, and `ready` never decreases at an input.
    #[inline]
    pub fn push(&mut self, input: usize, ready: Tick, output: usize, flits: u32, payload: T) {
        let output = output as u32;
        let packet = Packet {
            ready,
            output,
            flits,
            payload,
        };
        either!(self, s => s.push(input, packet))
    }

    /// No packet is queued.
    pub fn is_empty(&self) -> bool {
        self.next() == Tick::NEVER
    }

    /// Packets queued at an input.
    pub fn queued(&self, input: usize) -> usize {
        either!(self, s => s.inputs[input].queue.len())
    }

    /// Ticks in which a head packet waited for room at its output, summed over inputs.
    pub fn blocked(&self) -> u64 {
        either!(self, s => s.blocked)
    }

    /// The next tick in which anything can happen.
    #[inline]
    pub fn next(&self) -> Tick {
        either!(self, s => s.next)
    }

    /// Runs one tick.
    pub fn step(&mut self, tick: Tick, sink: &mut impl Sink<T>) {
        either!(self, s => s.step(tick, sink))
    }
}

/// The crossbar for a number of ports.
///
/// An input with packets is either *resting*, until its head may win, or *asking* for the
/// head's output, so that a tick looks at an input only when its head's time comes and at an
/// output only when it is asked for.
#[derive(Clone, Debug)]
pub struct Switch<T, P> {
    latency: u64,
    capacity: u32,
    inputs: Vec<Input<T>>,
    outputs: Vec<Output<P>>,
    /// Resting inputs.
    resting: P,
    /// Outputs that some input asks for.
    asked: P,
    /// The next tick in which anything can happen.
    next: Tick,
    /// Ticks in which a head packet waited for room at its output.
    blocked: u64,
}

impl<T: Copy, P: Ports> Switch<T, P> {
    fn new(inputs: usize, outputs: usize, latency: u32, capacity: u32) -> Switch<T, P> {
        let input = Input {
            next: Tick::ZERO,
            output: 0,
            flits: 0,
            free_at: Tick::ZERO,
            queue: VecDeque::new(),
        };
        Switch {
            latency: u64::from(latency),
            capacity,
            inputs: vec![input; inputs],
            outputs: vec![Output::default(); outputs],
            resting: P::default(),
            asked: P::default(),
            next: Tick::NEVER,
            blocked: 0,
        }
    }

    #[inline]
    fn push(&mut self, input: usize, packet: Packet<T>) {
        let port = &mut self.inputs[input];
        if port.queue.is_empty() {
            port.next = packet.ready.max(port.free_at);
            port.output = packet.output;
            self.resting.insert(input);
            self.next = self.next.min(port.next);
        }
        port.flits += packet.flits;
        port.queue.push_back(packet);
    }

    #[inline(never)]
    fn step(&mut self, tick: Tick, sink: &mut impl Sink<T>) {
        let mut next = self.ask(tick);
        let mut asked = self.asked;
        while let Some(output) = asked.pop() {
            next = next.min(self.serve(tick, output, sink));
        }
        self.next = next;
    }

    /// Lets the heads whose time has come ask for their outputs; returns the time of the others.
    #[inline]
    fn ask(&mut self, tick: Tick) -> Tick {
        let mut next = Tick::NEVER;
        let mut resting = self.resting;
        while let Some(input) = resting.pop() {
            let port = &self.inputs[input];
            if port.next > tick {
                next = next.min(port.next);
                continue;
            }
            let output = port.output as usize;
            self.resting.remove(input);
            self.outputs[output].asking.insert(input);
            self.asked.insert(output);
        }
        next
    }

    /// Lets an output that is asked for take a packet if it can; returns when there is something
    /// to do for those who still ask, or for the next packet of the winner.
    #[inline]
    fn serve(&mut self, tick: Tick, output: usize, sink: &mut impl Sink<T>) -> Tick {
        let gate = &mut self.outputs[output];
        if gate.free_at > tick {
            return gate.free_at;
        }
        if !sink.has_room(output) {
            self.blocked += u64::from(gate.asking.count());
            return tick + 1;
        }
        let Some(input) = gate.asking.first_from(gate.turn) else {
            return Tick::NEVER;
        };
        let port = &mut self.inputs[input];
        let Some(packet) = port.queue.pop_front() else {
            return Tick::NEVER;
        };
        let ticks = u64::from(packet.flits.max(1));
        let free_at = tick + ticks;
        port.flits -= packet.flits;
        port.free_at = free_at;
        gate.free_at = free_at;
        gate.turn = input + 1;
        gate.asking.remove(input);
        let mut next = free_at;
        if gate.asking.is_empty() {
            self.asked.remove(output);
            next = Tick::NEVER;
        }
        if let Some(head) = port.queue.front() {
            port.next = head.ready.max(free_at);
            port.output = head.output;
            next = next.min(port.next);
            self.resting.insert(input);
        }
        let arrival = tick + (ticks - 1 + self.latency);
        sink.deliver(output, arrival, packet.flits, packet.payload);
        next
    }
}

#[cfg(test)]
#[path = "crossbar_tests.rs"]
mod tests;
