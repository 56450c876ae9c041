//! The way from a channel's L2 slices to its DRAM and back: a queue for each slice, an
//! arbiter that takes one request per clock, a fixed delay, then one of the DRAM models.

use super::gddr::Gddr;
use super::inlets::Inlets;
use super::simple::SimpleDram;
use super::{DramRequest, News};
use crate::config::{Dram, DramModel};
use crate::memory::clock::Clock;
use crate::memory::ring::Ring;
use crate::memory::stats::DramCounters;
use crate::time::{Cycle, Tick};

/// Places of the queue in which completed requests wait; with the scheduler's queue they bound
/// what is under way beyond the slices.
const RETURN_QUEUE: u32 = 116;

#[derive(Clone, Debug)]
enum Model {
    Gddr(Box<Gddr>),
    Simple(SimpleDram),
}

/// A memory channel.
#[derive(Clone, Debug)]
pub struct Channel {
    clock: Clock,
    latency: u64,
    inlets: Inlets,
    /// Requests in the fixed delay, with the tick in which they reach the DRAM, and that tick of
    /// the first.
    delay: Ring<(Tick, DramRequest)>,
    admit_at: Tick,
    model: Model,
    next: Tick,
}

impl Channel {
    /// An idle channel for `slices` slices (at most 64), each with a queue of `inlet` requests.
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
            inlets: Inlets::new(slices, inlet.max(1) as usize, credits),
            delay: Ring::new(),
            admit_at: Tick::NEVER,
            model,
            next: Tick::NEVER,
        }
    }

    /// Queues a request, to be seen in `tick`. Returns whether the queue of its slice can take another.
    pub fn push(&mut self, tick: Tick, request: DramRequest) -> bool {
        self.inlets.push(request);
        self.next = self.next.min(tick);
        self.inlets.has_room(request.slice)
    }

    /// The tick in which something can happen next.
    #[inline]
    pub fn next(&self) -> Tick {
        self.next
    }

    /// No read of which nobody has been told completes before this tick.
    #[inline]
    pub fn no_fill_before(&self) -> Tick {
        match &self.model {
            // There is no command before the next tick in which anything can happen.
            Model::Gddr(dram) => dram.no_read_before(self.next),
            Model::Simple(_) => Tick::ZERO,
        }
    }

    /// Nothing queued, nothing on its way.
    pub fn is_empty(&self) -> bool {
        self.delay.is_empty()
            && self.inlets.is_empty()
            && match &self.model {
                Model::Gddr(dram) => dram.is_empty(),
                Model::Simple(dram) => dram.is_empty(),
            }
    }

    /// What is waiting where, for a report on a deadlock.
    pub fn describe(&self) -> String {
        let dram = match &self.model {
            Model::Gddr(dram) => format!("{} in the scheduler's queue", dram.queued()),
            Model::Simple(dram) => format!("{} in the DRAM", dram.in_flight()),
        };
        format!(
            "{}, {} delayed, {dram}",
            self.inlets.describe(),
            self.delay.len()
        )
    }

    /// Runs the ticks of core cycle `cycle`, which end before tick `end`. `tell(slice, news)`
    /// is called for every read of which it is known when it completes, and where there is room again.
    #[inline(always)] // its one caller is the loop over channels
    pub fn run(
        &mut self,
        cycle: Cycle,
        end: Tick,
        stats: &mut DramCounters,
        tell: &mut impl FnMut(usize, News),
    ) {
        while self.next < end {
            let tick = self.next;
            self.next = match self.model {
                Model::Gddr(_) => self.gddr_tick(cycle, tick, stats, tell),
                Model::Simple(_) => self.simple_tick(cycle, tick, stats, tell),
            };
        }
    }

    /// One tick: the credits of completed requests come back, the DRAM sends a command, a request is taken from
    /// the slices, and one whose delay is over goes to the DRAM's queue. Returns the next tick in
    /// which anything can happen. (That a request completes is nothing by itself: its slice has been told when its last
    /// command went out, and only those that wait for a credit have to know by then.)
    #[inline]
    fn gddr_tick(
        &mut self,
        cycle: Cycle,
        tick: Tick,
        stats: &mut DramCounters,
        tell: &mut impl FnMut(usize, News),
    ) -> Tick {
        let Model::Gddr(dram) = &mut self.model else {
            return Tick::NEVER;
        };
        while let Some(request) = dram.completed(tick) {
            self.inlets.completed(request);
        }
        if let Some((done, read)) = dram.step(tick, stats) {
            let fetched = News::Fetched(self.clock.cycle_of(done), read.fetch);
            tell(usize::from(read.slice), fetched);
        }
        if !dram.is_full()
            && !self.inlets.is_empty()
            && let Some(request) = self.inlets.take(tell)
        {
            let ready = self.clock.first_tick(cycle + self.latency);
            self.admit_at = self.admit_at.min(ready);
            self.delay.push_back((ready, request));
        }
        if self.admit_at <= tick
            && !dram.is_full()
            && let Some((_, request)) = self.delay.pop_front()
        {
            dram.push(tick, request);
            self.admit_at = self.delay.front().map_or(Tick::NEVER, |&(ready, _)| ready);
        }
        dram.look_ahead(tick, stats);
        let mut next = dram.next_command();
        // A full queue gets room when a bank takes a request, which is an event of the DRAM.
        if !dram.is_full() {
            if self.inlets.eligible() != 0 {
                return tick + 1;
            }
            next = next.min(self.admit_at);
            if !self.inlets.is_empty() {
                next = next.min(dram.next_done());
            }
        }
        if next == Tick::NEVER {
            next = dram.last_done();
        }
        next.max(tick + 1)
    }

    /// One tick of the simple model, which has its own limit: it takes all there is.
    #[inline(never)]
    fn simple_tick(
        &mut self,
        cycle: Cycle,
        tick: Tick,
        stats: &mut DramCounters,
        tell: &mut impl FnMut(usize, News),
    ) -> Tick {
        let Model::Simple(dram) = &mut self.model else {
            return Tick::NEVER;
        };
        while let Some(request) = dram.completed(cycle) {
            if !request.write {
                let fetched = News::Fetched(cycle, request.fetch);
                tell(usize::from(request.slice), fetched);
            }
            self.inlets.completed(request);
        }
        while let Some(request) = self.inlets.take(tell) {
            dram.push(cycle, request, stats);
        }
        match dram.next() {
            Cycle::NEVER => Tick::NEVER,
            cycle => self.clock.first_tick(cycle).max(tick + 1),
        }
    }
}
