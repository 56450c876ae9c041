//! The way from a channel's L2 slices to its DRAM and back: a queue for each slice, an
//! arbiter that takes one request per clock, a fixed delay, then one of the DRAM models.

use super::gddr::{Flying, Gddr};
use super::inlets::Inlets;
use super::simple::SimpleDram;
use super::{Done, DramRequest, News};
use crate::clock::Clock;
use crate::ring::Ring;
use crate::stats::DramCounters;
use crate::time::{Cycle, Tick};
use warpsim_machine::{Dram, DramModel};

/// Places of the queue in which completed requests wait; with the scheduler's queue they bound
/// what is under way beyond the slices.
const RETURN_QUEUE: u32 = 116;

#[derive(Clone, Debug)]
enum Model {
    Gddr(Box<Delayed>),
    Simple(SimpleDram),
}

/// DRAM with banks behind a fixed delay.
#[derive(Clone, Debug)]
struct Delayed {
    /// Core cycles that a request is in the delay.
    latency: u64,
    /// Clocks from a read's command to its completion.
    read_to_done: u64,
    /// Requests with the tick in which they reach the DRAM.
    delay: Ring<(Tick, DramRequest)>,
    dram: Gddr,
    /// Requests in the delay or the DRAM whose commands are not out.
    waiting: usize,
    /// Requests whose commands are out.
    flying: Flying,
}

/// A memory channel.
#[derive(Clone, Debug)]
pub struct Channel {
    clock: Clock,
    inlets: Inlets,
    model: Model,
    next: Tick,
}

impl Channel {
    /// An idle channel for `slices` slices (at most 64), each with a queue of `inlet` requests.
    pub fn new(config: &Dram, clock: Clock, slices: usize, inlet: u32) -> Channel {
        let model = match config.model {
            DramModel::Gddr => Model::Gddr(Box::new(Delayed {
                latency: u64::from(config.latency),
                read_to_done: Gddr::read_to_done(config),
                delay: Ring::new(),
                dram: Gddr::new(config),
                waiting: 0,
                flying: Flying::default(),
            })),
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
            inlets: Inlets::new(slices, inlet.max(1) as usize, credits),
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

    /// All ticks before `tick` have been simulated: every read that has not been told of completes in this tick or later.
    #[inline]
    pub fn no_fill_before(&self, tick: Tick) -> Tick {
        match &self.model {
            // Such a read gets its command in `tick` at the earliest.
            Model::Gddr(behind) => tick + behind.read_to_done,
            Model::Simple(_) => Tick::ZERO,
        }
    }

    /// Nothing queued, nothing on its way.
    pub fn is_empty(&self) -> bool {
        self.inlets.is_empty() && self.inlets.none_under_way()
    }

    /// What is waiting where, for a report on a deadlock.
    pub fn describe(&self) -> String {
        let queues = self.inlets.describe();
        match &self.model {
            Model::Gddr(behind) => {
                let (delayed, queued) = (behind.delay.len(), behind.dram.queued());
                format!("{queues}, {delayed} delayed, {queued} in the scheduler's queue")
            }
            Model::Simple(dram) => format!("{queues}, {} in the DRAM", dram.in_flight()),
        }
    }

    /// Runs the ticks of core cycle `cycle`, which end before tick `end`. `tell(slice, news)`
    /// is called where there is room again and for every read of which it is known when it completes.
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

    /// One tick: the DRAM sends a command, the credits of completed requests come back, if there is none left or nothing else to come, a request is taken
    /// from the slices, and one whose delay is over goes to the DRAM. Returns the next tick in which anything can happen. (That a request completes is
    /// nothing by itself: its slice has been told when, and only those that wait for a credit have to know by then.)
    #[inline]
    fn gddr_tick(
        &mut self,
        cycle: Cycle,
        tick: Tick,
        stats: &mut DramCounters,
        tell: &mut impl FnMut(usize, News),
    ) -> Tick {
        let Model::Gddr(behind) = &mut self.model else {
            return Tick::NEVER;
        };
        behind.command(tick, stats, |read_done, read| {
            let fetched = News::Fetched(self.clock.cycle_of(read_done), read.fetch);
            tell(usize::from(read.slice), fetched);
        });
        let inlets = &mut self.inlets;
        if !inlets.has_credits() || behind.waiting == 0 {
            let flying = &mut behind.flying;
            flying.complete(tick, |request| inlets.completed(request));
        }
        if !inlets.is_empty()
            && !behind.dram.is_full()
            && let Some(request) = inlets.take(tell)
        {
            let ready = self.clock.first_tick(cycle + behind.latency);
            behind.delay.push_back((ready, request));
            behind.waiting += 1;
        }
        behind.admit(tick, stats);
        let mut next = behind.next();
        if inlets.eligible() != 0 {
            // A full queue gets room when a bank takes a request, which is an event of the DRAM.
            if !behind.dram.is_full() {
                return tick + 1;
            }
        } else if !inlets.is_empty() {
            next = next.min(behind.flying.next());
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

impl Delayed {
    /// The DRAM sends a command. `fetched(tick, read)` is called where it is the last for a read, which completes in that tick.
    #[inline(always)] // its one caller is the tick
    fn command(
        &mut self,
        tick: Tick,
        stats: &mut DramCounters,
        mut fetched: impl FnMut(Tick, &Done),
    ) {
        let (all, reads) = (self.flying.len(), self.flying.reads());
        self.dram.step(tick, &mut self.flying, stats);
        self.waiting -= self.flying.len() - all;
        for (done, read) in self.flying.reads_behind(reads) {
            fetched(*done, read);
        }
    }

    /// A request whose delay is over goes to the DRAM's queue.
    #[inline(always)] // as above
    fn admit(&mut self, tick: Tick, stats: &mut DramCounters) {
        if self.delay.front().is_some_and(|&(ready, _)| ready <= tick)
            && !self.dram.is_full()
            && let Some((_, request)) = self.delay.pop_front()
        {
            self.dram.push(tick, request);
        }
        self.dram.look_ahead(tick, stats);
    }

    /// The next tick in which something can happen here, or, if no command is to come, in which the last request completes.
    #[inline]
    fn next(&self) -> Tick {
        if self.waiting == 0 {
            return self.flying.last();
        }
        let admits = match self.delay.front() {
            Some(&(ready, _)) if !self.dram.is_full() => ready,
            _ => Tick::NEVER,
        };
        self.dram.next_command().min(admits)
    }
}

#[cfg(test)]
#[path = "channel_tests.rs"]
mod tests;
