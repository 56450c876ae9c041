//! The way from a channel's L2 slices to its DRAM and back: a queue for each slice, an
//! arbiter that takes one request a clock, a fixed delay, then one of the DRAM models.
//!
//! Slices take turns. Each holds one credit of its own and shares the others, so that a slice
//! that floods the channel cannot shut the other out. A credit comes back with the request.

use super::clock::Clock;
use super::dram::{DramRequest, Gddr};
use super::simple_dram::SimpleDram;
use super::stats::DramCounters;
use crate::config::{Dram, DramModel};
use std::collections::VecDeque;

/// Places of the queue in which completed requests wait; with the scheduler's queue they bound
/// what is under way beyond the slices.
const RETURN_QUEUE: u32 = 116;

#[derive(Clone, Debug)]
enum Model {
    Gddr(Box<Gddr>),
    Simple(SimpleDram),
}

#[derive(Clone, Debug, Default)]
struct Inlet {
    queue: VecDeque<DramRequest>,
    /// Requests between here and completion.
    under_way: u32,
}

/// A memory channel.
#[derive(Clone, Debug)]
pub struct Channel {
    clock: Clock,
    latency: u64,
    inlet_capacity: usize,
    inlets: Vec<Inlet>,
    /// Requests in all inlets.
    waiting: u32,
    turn: usize,
    shared_credits: u32,
    /// Requests in the fixed delay, with the tick in which they reach the DRAM.
    delay: VecDeque<(u64, DramRequest)>,
    model: Model,
    next_tick: u64,
}

impl Channel {
    /// An idle channel for `slices` slices, each with a queue of `inlet` requests.
    pub fn new(config: &Dram, clock: Clock, slices: usize, inlet: u32) -> Channel {
        let model = match config.model {
            DramModel::Gddr => Model::Gddr(Box::new(Gddr::new(config))),
            DramModel::Simple => Model::Simple(SimpleDram::new(
                config.latency,
                config.simple_bytes_per_cycle,
            )),
        };
        let credits = match config.model {
            DramModel::Gddr => config.queue.saturating_add(RETURN_QUEUE),
            DramModel::Simple => u32::MAX,
        };
        Channel {
            clock,
            latency: u64::from(config.latency),
            inlet_capacity: inlet.max(1) as usize,
            inlets: vec![Inlet::default(); slices],
            waiting: 0,
            turn: 0,
            shared_credits: credits.saturating_sub(slices as u32 - 1),
            delay: VecDeque::new(),
            model,
            next_tick: u64::MAX,
        }
    }

    /// The queue of a slice can take another request.
    pub fn has_room(&self, slice: usize) -> bool {
        self.inlets[slice].queue.len() < self.inlet_capacity
    }

    /// Queues a request, to be seen in `tick`.
    pub fn push(&mut self, tick: u64, request: DramRequest) {
        let inlet = &mut self.inlets[usize::from(request.slice)];
        inlet.queue.push_back(request);
        self.waiting += 1;
        self.next_tick = self.next_tick.min(tick);
    }

    /// The core cycle in which something can happen next.
    pub fn next_cycle(&self) -> u64 {
        self.clock.cycle_of(self.next_tick)
    }

    /// Nothing queued, nothing on its way.
    pub fn is_empty(&self) -> bool {
        self.delay.is_empty()
            && self.waiting == 0
            && match &self.model {
                Model::Gddr(dram) => dram.is_empty(),
                Model::Simple(dram) => dram.is_empty(),
            }
    }

    /// What is waiting where, for a report on a deadlock.
    pub fn describe(&self) -> String {
        let queues: Vec<usize> = self.inlets.iter().map(|i| i.queue.len()).collect();
        let under_way: Vec<u32> = self.inlets.iter().map(|i| i.under_way).collect();
        let dram = match &self.model {
            Model::Gddr(dram) => format!("{} in the scheduler's queue", dram.queued()),
            Model::Simple(dram) => format!("{} in the DRAM", dram.in_flight()),
        };
        format!(
            "queues from slices {queues:?}, under way by slice {under_way:?}, {} delayed, {dram}",
            self.delay.len()
        )
    }

    /// Runs the ticks of core cycle `cycle`, which end before tick `end`. `fill(slice, local)`
    /// is called for every read that completes.
    pub fn run(
        &mut self,
        cycle: u64,
        end: u64,
        stats: &mut DramCounters,
        fill: &mut impl FnMut(usize, u64),
    ) {
        while self.next_tick < end {
            let tick = self.next_tick;
            self.complete(cycle, tick, stats, fill);
            if self.waiting > 0 {
                self.accept(cycle, stats);
            }
            self.admit(tick);
            self.next_tick = self.next_after(tick);
        }
    }

    /// Hands completed requests back and lets the DRAM send a command.
    fn complete(
        &mut self,
        cycle: u64,
        tick: u64,
        stats: &mut DramCounters,
        fill: &mut impl FnMut(usize, u64),
    ) {
        loop {
            let done = match &mut self.model {
                Model::Gddr(dram) => dram.completed(tick),
                Model::Simple(dram) => dram.completed(cycle),
            };
            let Some(request) = done else { break };
            let slice = usize::from(request.slice);
            let inlet = &mut self.inlets[slice];
            if inlet.under_way > 1 {
                self.shared_credits += 1;
            }
            inlet.under_way -= 1;
            if !request.write {
                fill(slice, request.local);
            }
        }
        if let Model::Gddr(dram) = &mut self.model {
            dram.step(tick, stats);
        }
    }

    /// Takes the next request from the slices: one a tick, or as many as there are for the
    /// simple model, which has its own limit.
    fn accept(&mut self, cycle: u64, stats: &mut DramCounters) {
        while let Some(slice) = self.next_slice() {
            let Some(request) = self.inlets[slice].queue.pop_front() else {
                return;
            };
            self.waiting -= 1;
            self.turn = if slice + 1 == self.inlets.len() {
                0
            } else {
                slice + 1
            };
            let inlet = &mut self.inlets[slice];
            inlet.under_way += 1;
            if inlet.under_way > 1 {
                self.shared_credits -= 1;
            }
            match &mut self.model {
                Model::Gddr(_) => {
                    let ready = self.clock.first_tick(cycle + self.latency);
                    self.delay.push_back((ready, request));
                    return;
                }
                Model::Simple(dram) => dram.push(cycle, request, stats),
            }
        }
    }

    fn next_slice(&self) -> Option<usize> {
        if self.waiting == 0 || matches!(&self.model, Model::Gddr(dram) if dram.is_full()) {
            return None;
        }
        let n = self.inlets.len();
        (self.turn..n).chain(0..self.turn).find(|&slice| {
            let inlet = &self.inlets[slice];
            !inlet.queue.is_empty() && (inlet.under_way == 0 || self.shared_credits > 0)
        })
    }

    /// Moves a request whose delay is over to the DRAM's queue, one a tick.
    fn admit(&mut self, tick: u64) {
        if let Model::Gddr(dram) = &mut self.model
            && let Some(&(ready, request)) = self.delay.front()
            && ready <= tick
            && !dram.is_full()
        {
            self.delay.pop_front();
            dram.push(tick, request);
        }
    }

    fn next_after(&self, tick: u64) -> u64 {
        match &self.model {
            Model::Gddr(dram) => {
                let mut next = dram.next_event();
                // A full queue gets room by a command, which is an event of the DRAM.
                if !dram.is_full() {
                    if self.next_slice().is_some() {
                        return tick + 1;
                    }
                    if let Some(&(ready, _)) = self.delay.front() {
                        next = next.min(ready);
                    }
                }
                next.max(tick + 1)
            }
            Model::Simple(dram) => match dram.next_event() {
                u64::MAX => u64::MAX,
                cycle => self.clock.first_tick(cycle).max(tick + 1),
            },
        }
    }
}
