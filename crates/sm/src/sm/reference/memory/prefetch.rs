//! Lines that no warp waits for: those that the prefetcher of the L1 data cache wants, which wait for a cycle in which
//! nothing else is looked up, and those that prefetch instructions ask for.

use super::LoadStore;
use super::lookup::{read_request, write_back_request};
use crate::config::Machine;
use crate::memory::cache::mshr::Fetch;
use crate::memory::packet::Traffic;
use crate::prefetch::{self, Found, Prefetcher};
use crate::sm::memory::{Outcome, Prefetched, TokenKind, token};
use crate::stats::SmCounters;
use crate::time::Cycle;
use std::collections::VecDeque;

/// The prefetcher, and the lines that it wants.
pub(super) struct Prefetching {
    prefetcher: Box<dyn Prefetcher>,
    queue: VecDeque<(u64, Traffic)>,
    /// So many can wait.
    most: usize,
}

/// A load that was looked up.
pub(super) struct Lookup {
    /// The warp, and its instruction.
    pub slot: u16,
    pub pc: u32,
    pub addr: u64,
    pub traffic: Traffic,
    pub outcome: Outcome,
}

impl Prefetching {
    pub fn new(machine: &Machine) -> Option<Prefetching> {
        prefetch::make(&machine.l1d.prefetch).map(|its| Prefetching::with(its, machine))
    }

    fn with(prefetcher: Box<dyn Prefetcher>, machine: &Machine) -> Prefetching {
        Prefetching {
            prefetcher,
            queue: VecDeque::new(),
            most: machine.l1d.prefetch_queue as usize,
        }
    }

    pub fn launch_begins(&mut self) {
        self.prefetcher.launch_begins();
    }
}

impl LoadStore {
    /// Puts a prefetcher in place of the configured one, before anything is looked up.
    pub fn replace_prefetcher(&mut self, prefetcher: Box<dyn Prefetcher>, machine: &Machine) {
        self.prefetching = Some(Prefetching::with(prefetcher, machine));
    }

    /// Whether lines wait to be looked up.
    pub(super) fn prefetches_wait(&self) -> bool {
        self.prefetching
            .as_ref()
            .is_some_and(|p| !p.queue.is_empty())
    }

    /// Whether no access is looked up in the data cache in cycle `now`, nor held up there.
    pub(super) fn has_lookup_port(&self, now: Cycle) -> bool {
        match self.l1_latency {
            0 => self.current.is_none(),
            _ => self.queue.front().is_none_or(|first| first.at > now),
        }
    }

    /// A load was looked up: asks the prefetcher what it wants now.
    pub(super) fn follow_lookup(&mut self, lookup: &Lookup, counters: &mut SmCounters) {
        let found = match lookup.outcome {
            Outcome::Hit => Found::Hit,
            Outcome::Merged => Found::Merged,
            Outcome::Miss => Found::Miss,
            Outcome::Stall => return,
        };
        let first_use = self.count_uses(counters);
        let (Some(prefetching), cache) = (&mut self.prefetching, &self.data) else {
            return;
        };
        let access = prefetch::Access {
            pc: lookup.pc,
            warp: lookup.slot,
            address: lookup.addr,
            line: cache.line_of(lookup.addr),
            line_bytes: cache.line_bytes(),
            found,
            first_use,
        };
        let (mut wanted, queue) = (Vec::new(), &mut prefetching.queue);
        prefetching.prefetcher.looked_up(&access, &mut wanted);
        for line in wanted.into_iter().map(|addr| cache.line_of(addr)) {
            if line == access.line || queue.iter().any(|(waiting, _)| *waiting == line) {
                continue;
            }
            match queue.len() < prefetching.most {
                true => queue.push_back((line, lookup.traffic)),
                false => counters.l1d_prefetches_dropped += 1,
            }
        }
    }

    /// Looks up the line that has waited longest.
    pub(super) fn look_up_prefetch(&mut self, counters: &mut SmCounters) {
        let queue = self.prefetching.as_mut().map(|p| &mut p.queue);
        if let Some((line, traffic)) = queue.and_then(VecDeque::pop_front) {
            self.prefetch_line(line, traffic, counters);
        }
    }

    /// Looks up a line that no warp waits for, and asks for it if it is not there and that holds up no access.
    pub(super) fn prefetch_line(&mut self, addr: u64, traffic: Traffic, counters: &mut SmCounters) {
        let (sm, bytes) = (self.sm, self.data.line_bytes() as u16);
        let request = |line, fetch: Fetch| {
            read_request(sm, traffic, line, bytes, token(TokenKind::Data, fetch.0))
        };
        let evict = |evicted| write_back_request(sm, evicted, bytes);
        counters.l1d_prefetch_lookups += 1;
        match self.data.prefetch(addr, request, evict) {
            Prefetched::There => {}
            Prefetched::Dropped => counters.l1d_prefetches_dropped += 1,
            Prefetched::Sent => {
                counters.l1d_prefetches += 1;
                self.tell_pushed_out();
            }
        }
        self.count_uses(counters);
    }

    /// Counts what has become of prefetched lines; says whether one was used for the first time.
    pub(super) fn count_uses(&mut self, counters: &mut SmCounters) -> bool {
        let uses = self.data.take_uses().unwrap_or_default();
        counters.l1d_prefetches_useful += uses.useful;
        counters.l1d_prefetches_late += uses.late;
        counters.l1d_prefetches_unused += uses.unused;
        uses.useful > 0
    }

    /// The data cache has forgotten its lines: those that wait to be looked up are dropped.
    pub(super) fn forget_prefetches(&mut self, counters: &mut SmCounters) {
        self.count_uses(counters);
        if let Some(prefetching) = &mut self.prefetching {
            counters.l1d_prefetches_dropped += prefetching.queue.len() as u64;
            prefetching.queue.clear();
        }
    }
}
