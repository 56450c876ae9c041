//! The far side of a channel: what lies behind the fixed delay.
//!
//! A request is in the delay for `dram.latency` core cycles. So the far side can be simulated by itself that much further than
//! the near one ([`channel`](super::channel)) has come, for many clocks at a time and on another host thread. What the
//! near side has to know of it is written down: when requests complete, and when the scheduler's queue is full.

use super::DramRequest;
use super::gddr::{Flying, Gddr};
use crate::cache::mshr::Fetch;
use crate::clock::Clock;
use crate::history::History;
use crate::ring::Ring;
use crate::stats::DramCounters;
use crate::time::{Cycle, Tick};
use warpsim_machine::Dram;

/// The delay and the DRAM behind it.
#[derive(Clone, Debug)]
pub struct FarSide {
    /// Requests with the tick in which they reach the DRAM, and that tick of the first.
    delay: Ring<(Tick, DramRequest)>,
    admit_at: Tick,
    dram: Gddr,
    clock: Clock,
    next: Tick,
    told: Told,
}

/// What the near side has not heard of.
#[derive(Clone, Debug)]
pub struct Told {
    /// Requests whose commands are out.
    pub flying: Flying,
    /// The reads among them by the slice that waits for them, with the core cycles in which they complete: so many are there.
    pub fetched: Vec<Ring<(Cycle, Fetch)>>,
    pub sorted: usize,
    /// When the scheduler's queue was full, as the near side sees it in a tick: behind the command, before a request is admitted.
    pub full: History,
    /// What has been counted.
    pub counted: DramCounters,
}

impl Told {
    /// Nothing, of a far side for so many slices.
    pub fn new(slices: usize) -> Told {
        Told {
            flying: Flying::default(),
            fetched: vec![Ring::new(); slices],
            sorted: 0,
            full: History::new(false),
            counted: DramCounters::default(),
        }
    }
}

impl FarSide {
    /// An idle one for so many slices.
    pub fn new(config: &Dram, clock: Clock, slices: usize) -> FarSide {
        FarSide {
            delay: Ring::new(),
            admit_at: Tick::NEVER,
            dram: Gddr::new(config),
            clock,
            next: Tick::NEVER,
            told: Told::new(slices),
        }
    }

    /// Takes requests from the near side, each with the tick in which it reaches the DRAM.
    pub fn take(&mut self, sent: &mut Ring<(Tick, DramRequest)>) {
        if self.delay.is_empty()
            && let Some(&(ready, _)) = sent.front()
        {
            self.admit_at = ready;
            self.next = self.next.min(ready);
        }
        self.delay.append(sent);
    }

    /// The next tick in which anything can happen.
    #[inline]
    pub fn next(&self) -> Tick {
        self.next
    }

    /// What it has to tell, to be taken out.
    #[inline]
    pub fn told(&mut self) -> &mut Told {
        &mut self.told
    }

    /// Runs all ticks before `end`.
    pub fn run(&mut self, end: Tick) {
        while self.next < end {
            let tick = self.next;
            self.send(tick);
            self.admit(tick);
        }
        self.sort();
    }

    /// Sorts the reads whose commands are out by the slice that waits, with the cycles in which they complete. This side does it because the near side has more to do.
    fn sort(&mut self) {
        let Told {
            flying,
            fetched,
            sorted,
            ..
        } = &mut self.told;
        for (done, read) in flying.reads_behind(*sorted) {
            let at = self.clock.cycle_of(*done);
            fetched[usize::from(read.slice)].push_back((at, read.fetch));
        }
        *sorted = flying.reads();
    }

    /// The first part of a tick by itself: the near side has its part in the middle where nothing is delayed.
    #[cold]
    pub fn begin_tick(&mut self, tick: Tick) {
        self.send(tick);
        self.sort();
    }

    /// The second part.
    #[cold]
    pub fn end_tick(&mut self, tick: Tick) {
        self.admit(tick);
    }

    /// The first part of a tick: the DRAM sends a command.
    #[inline(always)]
    fn send(&mut self, tick: Tick) {
        let Told {
            flying,
            full,
            counted,
            ..
        } = &mut self.told;
        self.dram.step(tick, flying, counted);
        full.note(tick, self.dram.is_full());
    }

    /// The second: a request whose delay is over goes to the DRAM's queue.
    #[inline(always)]
    fn admit(&mut self, tick: Tick) {
        let dram = &mut self.dram;
        if self.admit_at <= tick
            && !dram.is_full()
            && let Some((_, request)) = self.delay.pop_front()
        {
            dram.push(tick, request);
            self.admit_at = self.delay.front().map_or(Tick::NEVER, |&(ready, _)| ready);
        }
        dram.look_ahead(tick, &mut self.told.counted);
        self.told.full.note(tick + 1, dram.is_full());
        // A full queue gets room when a bank takes a request, which is an event of the DRAM.
        let admits = match dram.is_full() {
            true => Tick::NEVER,
            false => self.admit_at,
        };
        self.next = dram.next_command().min(admits).max(tick + 1);
    }

    /// What is waiting where, for a report on a deadlock.
    pub fn describe(&self) -> String {
        let (delayed, queued) = (self.delay.len(), self.dram.queued());
        format!("{delayed} delayed, {queued} in the scheduler's queue")
    }
}
