//! The crossbar flit by flit, as the reference simulator steps it: an input-queued router with
//! credits.
//!
//! The [other](super::crossbar) crossbar sends a packet whole where there is room for one flit, and
//! sees at once what has become free. Here a flit takes a place of its own in every buffer, and the
//! sender learns a few ticks later that a place is free:
//!
//! - From an input's queue one flit per tick goes on to the input's buffer, if there is a credit for it, and
//!   is there a wire later. The credit comes back a wire after the flit has left the buffer.
//! - In a step of the switch every output that no input holds is given to one of the inputs whose head packet
//!   wants it, round robin behind the last one, whether there is room behind it or not. From the next step
//!   on that input sends a flit per step, as they come and as there are credits, until the last is
//!   sent; in the step behind that the output can be given away again.
//! - From an output one flit per tick goes on and is there a wire later. It waits there, with its credit,
//!   until there is room in the last buffer, from which the receiver takes packets; one flit per tick
//!   goes into that.

use super::crossbar::{Backlog, Shape, Sink};
use super::ports::{Few, Ports};
use crate::time::Tick;
use std::collections::VecDeque;

/// Ticks beside the two wires: the switch, and the receiver, which takes the packet.
const BESIDE_WIRES: u64 = 2;

#[derive(Clone, Copy, Debug)]
struct Packet<T> {
    /// First tick in which its first flit may leave the queue.
    ready: Tick,
    output: usize,
    flits: u32,
    payload: T,
}

/// Places of a buffer as the sender knows them.
#[derive(Clone, Debug)]
struct Credits {
    free: u32,
    /// When those that are on their way back arrive.
    returning: VecDeque<Tick>,
}

impl Credits {
    fn new(places: u32) -> Credits {
        Credits {
            free: places,
            returning: VecDeque::new(),
        }
    }

    fn collect(&mut self, tick: Tick) {
        while self.returning.front().is_some_and(|&at| at <= tick) {
            self.returning.pop_front();
            self.free += 1;
        }
    }
}

#[derive(Clone, Debug)]
struct Input<T> {
    /// Packets that have not left the queue in full, flits of the first that have, and flits that have
    /// not of all.
    queue: VecDeque<Packet<T>>,
    gone: u32,
    queued: u32,
    credits: Credits,
    /// Packets of which flits are in the buffer or on the wire to it, and when these flits arrive.
    packets: VecDeque<Packet<T>>,
    arrivals: VecDeque<Tick>,
    /// Flits of the first packet that have left the buffer, if it holds its output.
    sent: Option<u32>,
    /// First step in which the head packet may ask for its output.
    asks_at: u64,
}

impl<T> Input<T> {
    /// Whether a flit leaves the queue in a tick, where so many others do after the last that was run.
    fn leaves(&self, tick: Tick, others: u32) -> bool {
        let returned = self.credits.returning.iter().take_while(|&&at| at <= tick);
        let credits = self.credits.free + returned.count() as u32;
        let mut flits = self.gone + others;
        let next = self.queue.iter().find(|packet| {
            let of_it = flits < packet.flits;
            flits = flits.saturating_sub(packet.flits);
            of_it
        });
        credits > others && next.is_some_and(|packet| packet.ready <= tick)
    }
}

/// A flit behind the switch: when it arrives there, and the packet if it is the last.
type Ejected<T> = (Tick, Option<(u32, T)>);

#[derive(Clone, Debug)]
struct Output<T> {
    /// An input holds it.
    held: bool,
    /// The input that is asked first: the one after the last that held it.
    turn: usize,
    credits: Credits,
    /// The first tick in which a flit can be sent on.
    sends_at: Tick,
    /// Flits that have been sent on.
    ejected: VecDeque<Ejected<T>>,
    /// Flits in the last buffer of a packet that is not there in full.
    partial: u32,
}

/// A crossbar with up to 64 ports on each side.
#[derive(Clone, Debug)]
pub struct FlitSwitch<T> {
    injection_queue: u32,
    input_buffer: u32,
    last_buffer: u32,
    speedup: u64,
    wire_in: u64,
    wire_out: u64,
    inputs: Vec<Input<T>>,
    outputs: Vec<Output<T>>,
    /// Packets inside.
    packets: u64,
    /// The next tick in which anything can happen, and the first that has not been run.
    next: Tick,
    stepped: Tick,
    /// Ticks in which a packet that held its output waited for a credit.
    blocked: u64,
}

impl<T: Copy> FlitSwitch<T> {
    /// A crossbar with these ports.
    pub fn new(inputs: usize, outputs: usize, shape: Shape, last_buffer: u32) -> FlitSwitch<T> {
        let wires = u64::from(shape.latency).saturating_sub(BESIDE_WIRES);
        let input = Input {
            queue: VecDeque::new(),
            gone: 0,
            queued: 0,
            credits: Credits::new(shape.input_buffer),
            packets: VecDeque::new(),
            arrivals: VecDeque::new(),
            sent: None,
            asks_at: 0,
        };
        let output = Output {
            held: false,
            turn: 0,
            credits: Credits::new(shape.output_buffer),
            sends_at: Tick::ZERO,
            ejected: VecDeque::new(),
            partial: 0,
        };
        FlitSwitch {
            injection_queue: shape.injection_queue,
            input_buffer: shape.input_buffer,
            last_buffer,
            speedup: u64::from(shape.speedup.max(1)),
            wire_in: wires / 2,
            wire_out: wires - wires / 2,
            inputs: vec![input; inputs],
            outputs: vec![output; outputs],
            packets: 0,
            next: Tick::NEVER,
            stepped: Tick::ZERO,
            blocked: 0,
        }
    }

    /// Flits for which an input's queue has room as tick `now` begins.
    pub fn free(&self, input: usize, now: Tick) -> u32 {
        let queued = self.left_in_queue(input, now);
        self.injection_queue.saturating_sub(queued)
    }

    /// What of an input's packets is in its queue as tick `now` begins, behind a buffer that counts as
    /// full.
    pub fn backlog(&self, input: usize, now: Tick) -> Backlog {
        Backlog {
            flits: self.input_buffer + self.left_in_queue(input, now),
            moving: 0,
        }
    }

    /// Flits in an input's queue as tick `now` begins. Which of them leave it in the ticks before that have
    /// not been run is known: the credits for them are on their way already.
    #[inline(never)]
    fn left_in_queue(&self, input: usize, now: Tick) -> u32 {
        let port = &self.inputs[input];
        let mut left = port.queued;
        let Some(first) = port.queue.front() else {
            return left;
        };
        let mut tick = self.stepped.max(first.ready);
        while tick < now && left > 0 {
            left -= u32::from(port.leaves(tick, port.queued - left));
            tick += 1;
        }
        left
    }

    /// Queues a packet that may leave its queue from tick `ready` on.
    #[inline(never)]
    pub fn push(&mut self, input: usize, ready: Tick, output: usize, flits: u32, payload: T) {
        let port = &mut self.inputs[input];
        let flits = flits.max(1);
        port.queued += flits;
        port.queue.push_back(Packet {
            ready,
            output,
            flits,
            payload,
        });
        self.packets += 1;
        self.next = self.next.min(ready);
    }

    /// No packet is inside.
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Packets of an input that have not left it.
    pub fn queued(&self, input: usize) -> usize {
        let port = &self.inputs[input];
        port.queue.len() + port.packets.len() - usize::from(port.gone > 0)
    }

    /// See the field.
    pub fn blocked(&self) -> u64 {
        self.blocked
    }

    /// The next tick in which anything can happen.
    pub fn next(&self) -> Tick {
        self.next
    }

    /// Runs one tick.
    #[inline(never)]
    pub fn step(&mut self, tick: Tick, sink: &mut impl Sink<T>) {
        if self.next > tick {
            return;
        }
        for output in 0..self.outputs.len() {
            self.eject(tick, output, sink);
        }
        for input in 0..self.inputs.len() {
            self.inject(tick, input);
        }
        for step in 0..self.speedup {
            self.switch(tick, tick.get() * self.speedup + step);
        }
        self.next = match self.packets {
            0 => Tick::NEVER,
            _ => tick + 1,
        };
        self.stepped = tick + 1;
    }

    /// One flit goes into the last buffer, if there is room, and its credit back.
    fn eject(&mut self, tick: Tick, output: usize, sink: &mut impl Sink<T>) {
        let gate = &mut self.outputs[output];
        gate.credits.collect(tick);
        let Some(&(at, last)) = gate.ejected.front() else {
            return;
        };
        if at > tick || gate.partial + sink.waiting(output) >= self.last_buffer {
            return;
        }
        gate.ejected.pop_front();
        gate.credits.returning.push_back(tick + self.wire_out);
        gate.partial += 1;
        if let Some((flits, payload)) = last {
            gate.partial = 0;
            self.packets -= 1;
            sink.deliver(output, tick + 1, flits, payload);
        }
    }

    /// One flit leaves the queue, if there is a credit for it.
    fn inject(&mut self, tick: Tick, input: usize) {
        let port = &mut self.inputs[input];
        port.credits.collect(tick);
        let Some(&packet) = port.queue.front() else {
            return;
        };
        if packet.ready > tick || port.credits.free == 0 {
            return;
        }
        port.credits.free -= 1;
        port.queued -= 1;
        port.arrivals.push_back(tick + self.wire_in);
        if port.gone == 0 {
            port.packets.push_back(packet);
        }
        port.gone += 1;
        if port.gone == packet.flits {
            port.gone = 0;
            port.queue.pop_front();
        }
    }

    /// A step: outputs are given away, and inputs that held one before send a flit.
    fn switch(&mut self, tick: Tick, step: u64) {
        let mut asking = [Few::default(); 64];
        let mut asked = Few::default();
        for (number, port) in self.inputs.iter().enumerate() {
            if port.sent.is_none()
                && port.asks_at <= step
                && port.arrivals.front().is_some_and(|&at| at <= tick)
                && let Some(head) = port.packets.front()
                && !self.outputs[head.output].held
            {
                asking[head.output].insert(number);
                asked.insert(head.output);
            }
        }
        for input in 0..self.inputs.len() {
            if self.inputs[input].sent.is_some() {
                self.send(tick, step, input);
            }
        }
        while let Some(output) = asked.pop() {
            let gate = &mut self.outputs[output];
            if let Some(winner) = asking[output].first_from(gate.turn) {
                gate.held = true;
                gate.turn = winner + 1;
                self.inputs[winner].sent = Some(0);
            }
        }
    }

    /// An input that holds its output sends a flit, if it has come and there is a credit for it.
    fn send(&mut self, tick: Tick, step: u64, input: usize) {
        let port = &mut self.inputs[input];
        let (Some(sent), Some(&packet)) = (port.sent, port.packets.front()) else {
            return;
        };
        if port.arrivals.front().is_none_or(|&at| at > tick) {
            return;
        }
        let gate = &mut self.outputs[packet.output];
        if gate.credits.free == 0 {
            self.blocked += 1;
            return;
        }
        gate.credits.free -= 1;
        port.arrivals.pop_front();
        port.credits.returning.push_back(tick + self.wire_in);
        let leaves = Tick::new((step + 1) / self.speedup).max(gate.sends_at);
        gate.sends_at = leaves + 1;
        let last = sent + 1 == packet.flits;
        let payload = last.then_some((packet.flits, packet.payload));
        gate.ejected.push_back((leaves + self.wire_out, payload));
        port.sent = match last {
            true => None,
            false => Some(sent + 1),
        };
        if last {
            gate.held = false;
            port.packets.pop_front();
            port.asks_at = step + 1;
        }
    }
}

#[cfg(test)]
#[path = "flits_tests.rs"]
mod tests;
