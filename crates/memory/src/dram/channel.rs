//! The way from a channel's L2 slices to its DRAM and back: a queue for each slice, an
//! arbiter that takes one request per clock, a fixed delay, then one of the DRAM models. What is behind the delay is in
//! [`far`](super::far): this side has to be told what happens there before its time comes.

use super::far::Told;
use super::gddr::{Flying, Gddr};
use super::inlets::Inlets;
use super::simple::SimpleDram;
use super::{DramRequest, News};
use crate::cache::mshr::Fetch;
use crate::clock::Clock;
use crate::history::History;
use crate::ring::Ring;
use crate::stats::DramCounters;
use crate::time::{Cycle, Tick};
use warpsim_machine::{Dram, DramModel};

/// Places of the queue in which completed requests wait; with the scheduler's queue they bound
/// what is under way beyond the slices.
const RETURN_QUEUE: u32 = 116;

#[derive(Clone, Debug)]
enum Model {
    Gddr(Box<NearSide>),
    Simple(SimpleDram),
}

/// The near side of a channel with a far one.
#[derive(Clone, Debug)]
struct NearSide {
    latency: u64,
    /// Clocks from a read's command to its completion.
    read_to_done: u64,
    /// Requests that the far side has not been given, with the tick in which they reach the DRAM.
    sent: Ring<(Tick, DramRequest)>,
    /// Requests on the far side whose commands are not out.
    beyond: u32,
    /// Requests whose commands are out.
    flying: Flying,
    /// Whether the scheduler's queue is full.
    full: History,
    /// What happens on the far side before this tick is known.
    known: Tick,
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
            DramModel::Gddr => Model::Gddr(Box::new(NearSide {
                latency: u64::from(config.latency),
                read_to_done: Gddr::read_to_done(config),
                sent: Ring::new(),
                beyond: 0,
                flying: Flying::default(),
                full: History::new(false),
                known: Tick::ZERO,
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

    /// Every read that has not been told of completes in this tick or later.
    #[inline]
    pub fn no_fill_before(&self) -> Tick {
        match &self.model {
            // Such a read gets its command at the earliest when what is known ends.
            Model::Gddr(near) => near.known.saturating_add(near.read_to_done),
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
            Model::Gddr(_) => queues,
            Model::Simple(dram) => format!("{queues}, {} in the DRAM", dram.in_flight()),
        }
    }

    /// Tells the far side which requests come to it, if there are any: `take(sent)` takes them out.
    #[inline]
    pub fn tell(&mut self, take: impl FnOnce(&mut Ring<(Tick, DramRequest)>)) {
        if let Model::Gddr(near) = &mut self.model
            && !near.sent.is_empty()
        {
            near.beyond += near.sent.len() as u32;
            take(&mut near.sent);
        }
    }

    /// Hears what happens on the far side before tick `known`: it has been run so far, and knows of all requests that come to it
    /// until then. `fetched(slice, reads)` is called for every slice, with the reads of which it is known when they complete, to be taken
    /// out.
    #[inline(always)]
    pub fn hear(
        &mut self,
        told: &mut Told,
        known: Tick,
        fetched: &mut impl FnMut(usize, &mut Ring<(Cycle, Fetch)>),
    ) {
        if let Model::Gddr(near) = &mut self.model {
            for (slice, reads) in told.fetched.iter_mut().enumerate() {
                fetched(slice, reads);
            }
            told.sorted = 0;
            near.beyond -= near.flying.append(&mut told.flying) as u32;
            near.full.append(&mut told.full);
            // A slice with requests there looks again when what was known ends: none of them completes before that.
            near.known = known;
        }
    }

    /// Runs the ticks of core cycle `cycle`, which end before tick `end`. `tell(slice, news)`
    /// is called where there is room again and, unless there is a far side, for every read that completes.
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
                Model::Gddr(_) => self.gddr_tick(cycle, tick, tell),
                Model::Simple(_) => self.simple_tick(cycle, tick, stats, tell),
            };
        }
    }

    /// One tick: the credits of completed requests come back, if there is none left or nothing else to come, and a request is taken from
    /// the slices. Returns the next tick in which anything can happen. (That a request completes is nothing by itself: its
    /// slice has been told when, and only those that wait for a credit have to know by then.)
    #[inline]
    fn gddr_tick(&mut self, cycle: Cycle, tick: Tick, tell: &mut impl FnMut(usize, News)) -> Tick {
        let Model::Gddr(near) = &mut self.model else {
            return Tick::NEVER;
        };
        debug_assert!(tick < near.known, "the far side has not come so far");
        let inlets = &mut self.inlets;
        if !inlets.has_credits() || near.has_sent_all() {
            near.flying
                .complete(tick, |request| inlets.completed(request));
        }
        if !self.inlets.is_empty()
            && !near.full.at(tick)
            && let Some(request) = self.inlets.take(tell)
        {
            let ready = self.clock.first_tick(cycle + near.latency);
            near.sent.push_back((ready, request));
        }
        let mut next = near.next();
        if self.inlets.eligible() != 0 {
            let has_room = match near.full.at(tick + 1) {
                true => near.full.changes_at().min(near.known),
                false => tick + 1,
            };
            next = next.min(has_room);
        } else if !self.inlets.is_empty() {
            next = next.min(near.flying.next());
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

impl NearSide {
    /// The next tick in which more has to be known of the far side, or, if there is nothing there, in which the last request completes.
    #[inline]
    fn next(&self) -> Tick {
        match self.has_sent_all() {
            true => self.flying.last(),
            false => self.known,
        }
    }

    /// The commands of all requests are out.
    #[inline]
    fn has_sent_all(&self) -> bool {
        self.beyond == 0 && self.sent.is_empty()
    }
}

#[cfg(test)]
#[path = "channel_tests.rs"]
mod tests;
