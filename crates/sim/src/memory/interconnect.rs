//! One direction of the interconnect: a crossbar with an input queue at every port.
//!
//! Packets are flits in a row. An input sends one flit a tick and an output takes one a tick,
//! so a packet of n flits holds both for n ticks. Each tick every free output takes the head
//! packet of one of the inputs that want it, round robin after the last winner. An input's
//! packets leave in order: a head that waits holds back those behind it. A packet that wins
//! in tick x has arrived in full in tick x + latency + flits - 1.

use std::collections::VecDeque;

/// Where packets come out.
pub trait Sink<T> {
    /// The output can take another packet.
    fn has_room(&self, output: usize) -> bool;
    /// A packet will have arrived at `output` in `tick`.
    fn deliver(&mut self, output: usize, tick: u64, flits: u32, payload: T);
}

#[derive(Clone, Debug)]
struct Packet<T> {
    /// First tick in which it may win an output.
    ready: u64,
    output: u32,
    flits: u32,
    payload: T,
}

#[derive(Clone, Debug)]
struct Input<T> {
    /// First tick in which the head packet may win, and what it wants to win.
    earliest: u64,
    output: u32,
    flits: u32,
    /// The tick in which the last packet has left.
    free_at: u64,
    queue: VecDeque<Packet<T>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Output {
    free_at: u64,
    /// The input that is asked first: the one after the last winner.
    turn: usize,
    /// The best bid of the tick `bid_tick` (counted from one).
    bid_tick: u64,
    bid_rank: usize,
    bid_input: usize,
}

/// A crossbar for packets that carry `T`.
#[derive(Clone, Debug)]
pub struct Crossbar<T> {
    latency: u64,
    capacity: u32,
    inputs: Vec<Input<T>>,
    outputs: Vec<Output>,
    /// Inputs with packets, a bit each.
    active: Vec<u64>,
    /// Outputs with a bid this tick.
    contested: Vec<u32>,
    /// Ticks in which a head packet waited for room at its output.
    blocked: u64,
}

impl<T: Copy> Crossbar<T> {
    /// A crossbar whose input queues hold `capacity` flits each.
    pub fn new(inputs: usize, outputs: usize, latency: u32, capacity: u32) -> Crossbar<T> {
        let input = Input {
            earliest: 0,
            output: 0,
            flits: 0,
            free_at: 0,
            queue: VecDeque::new(),
        };
        Crossbar {
            latency: u64::from(latency),
            capacity,
            inputs: vec![input; inputs],
            outputs: vec![Output::default(); outputs],
            active: vec![0; inputs.div_ceil(64)],
            contested: Vec::with_capacity(outputs),
            blocked: 0,
        }
    }

    /// Flits that still fit in an input's queue.
    pub fn free(&self, input: usize) -> u32 {
        self.capacity.saturating_sub(self.inputs[input].flits)
    }

    /// Queues a packet that may win its output from tick `ready` on. The caller has checked
    /// that it fits, and `ready` never decreases at an input.
    pub fn push(&mut self, input: usize, ready: u64, output: usize, flits: u32, payload: T) {
        let port = &mut self.inputs[input];
        if port.queue.is_empty() {
            port.earliest = ready.max(port.free_at);
            port.output = output as u32;
        }
        port.queue.push_back(Packet {
            ready,
            output: output as u32,
            flits,
            payload,
        });
        port.flits += flits;
        self.active[input / 64] |= 1 << (input % 64);
    }

    /// No packet is queued.
    pub fn is_empty(&self) -> bool {
        self.active.iter().all(|&word| word == 0)
    }

    /// Packets queued at an input.
    pub fn queued(&self, input: usize) -> usize {
        self.inputs[input].queue.len()
    }

    /// Ticks in which a head packet waited for room at its output, summed over inputs.
    pub fn blocked(&self) -> u64 {
        self.blocked
    }

    /// Runs one tick; returns the next one in which anything can happen, `u64::MAX` if none.
    pub fn step(&mut self, tick: u64, sink: &mut impl Sink<T>) -> u64 {
        let mut next = u64::MAX;
        for word in 0..self.active.len() {
            let mut bits = self.active[word];
            while bits != 0 {
                let input = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                next = next.min(self.bid(tick, input, sink));
            }
        }
        for i in 0..self.contested.len() {
            let output = self.contested[i] as usize;
            next = next.min(self.grant(tick, output, sink));
        }
        self.contested.clear();
        next
    }

    /// Lets the head of `input` ask for its output; returns when to try again if it cannot.
    fn bid(&mut self, tick: u64, input: usize, sink: &mut impl Sink<T>) -> u64 {
        let ports = self.inputs.len();
        let port = &self.inputs[input];
        if port.earliest > tick {
            return port.earliest;
        }
        let output = port.output as usize;
        let gate = &mut self.outputs[output];
        if gate.free_at > tick {
            return gate.free_at;
        }
        if !sink.has_room(output) {
            self.blocked += 1;
            return tick + 1;
        }
        let rank = if input >= gate.turn {
            input - gate.turn
        } else {
            input + ports - gate.turn
        };
        if gate.bid_tick != tick + 1 {
            gate.bid_tick = tick + 1;
            self.contested.push(output as u32);
        } else {
            // One of the two loses and asks again.
            if rank < gate.bid_rank {
                (gate.bid_rank, gate.bid_input) = (rank, input);
            }
            return tick + 1;
        }
        (gate.bid_rank, gate.bid_input) = (rank, input);
        u64::MAX
    }

    /// Sends the winner of `output`; returns when its input's next packet may go.
    fn grant(&mut self, tick: u64, output: usize, sink: &mut impl Sink<T>) -> u64 {
        let ports = self.inputs.len();
        let gate = &mut self.outputs[output];
        let input = gate.bid_input;
        let port = &mut self.inputs[input];
        let Some(packet) = port.queue.pop_front() else {
            return u64::MAX;
        };
        let flits = u64::from(packet.flits.max(1));
        port.flits -= packet.flits;
        port.free_at = tick + flits;
        gate.free_at = tick + flits;
        gate.turn = if input + 1 == ports { 0 } else { input + 1 };
        let arrival = tick + self.latency + flits - 1;
        sink.deliver(output, arrival, packet.flits, packet.payload);
        match port.queue.front() {
            Some(head) => {
                port.earliest = head.ready.max(port.free_at);
                port.output = head.output;
                port.earliest
            }
            None => {
                self.active[input / 64] &= !(1 << (input % 64));
                u64::MAX
            }
        }
    }
}

#[cfg(test)]
#[path = "interconnect_tests.rs"]
mod tests;
