//! Prefetches: those that instructions ask for, and those of the data cache's prefetcher, which wait in a queue for a cycle
//! in which nothing else is looked up.

use super::send::{Sent, data_traffic};
use super::*;
use crate::prefetch::{self, Prefetcher};
use crate::sm::memory::l1::Prefetched;
use crate::sm::memory::unused::Uses;

/// The prefetcher, and what it wants.
#[derive(Debug)]
pub(super) struct Prefetching {
    prefetcher: Box<dyn Prefetcher>,
    /// Lines to be looked up, and whose they are.
    queue: VecDeque<(u64, Traffic)>,
    /// As many can wait.
    most: usize,
    /// Reused: what the prefetcher wants for one access.
    wanted: Vec<u64>,
}

impl LoadStore {
    /// With the prefetcher that the machine has chosen.
    pub(super) fn with_prefetcher(mut self, machine: &Machine) -> LoadStore {
        let prefetcher = prefetch::make(&machine.l1d.prefetch).filter(|_| self.caches_data());
        if let Some(prefetcher) = prefetcher {
            self.replace_prefetcher(prefetcher, machine);
        }
        self
    }

    /// Puts a prefetcher in place of the configured one, before anything is looked up.
    pub fn replace_prefetcher(&mut self, prefetcher: Box<dyn Prefetcher>, machine: &Machine) {
        self.prefetching = Some(Box::new(Prefetching {
            prefetcher,
            queue: VecDeque::new(),
            most: machine.l1d.prefetch_queue as usize,
            wanted: Vec::new(),
        }));
        self.prefetches = true;
    }

    /// Another launch begins.
    pub fn launch_begins(&mut self) {
        if let Some(prefetching) = &mut self.prefetching {
            prefetching.prefetcher.launch_begins();
        }
    }

    /// Whether lines wait to be looked up that the prefetcher wants.
    #[inline]
    pub(super) fn prefetches_wait(&self) -> bool {
        let prefetching = self.prefetching.as_ref();
        prefetching.is_some_and(|p| !p.queue.is_empty())
    }

    /// Whether no access is looked up in the data cache in cycle `now`, nor held up there.
    pub(super) fn has_lookup_port(&self, now: Cycle) -> bool {
        match self.l1_latency {
            0 => self.current.is_none(),
            _ => self.l1_queue.next() > now,
        }
    }

    /// A load has been looked up: counts whether it was the first to use a line that was prefetched, and asks the
    /// prefetcher what it wants now.
    #[cold]
    pub(super) fn follow_lookup(
        &mut self,
        op: u16,
        addr: u64,
        lanes: u32,
        outcome: Outcome,
        with: &mut Surroundings,
    ) {
        let found = match outcome {
            Outcome::Hit => prefetch::Found::Hit,
            Outcome::Merged => prefetch::Found::Merged,
            Outcome::Miss => prefetch::Found::Miss,
            Outcome::Stall => return,
        };
        let uses = self.count_uses(with.stats);
        let Some(prefetching) = &mut self.prefetching else {
            return;
        };
        let (record, cache) = (self.ops.get(op), &self.caches.data);
        let access = prefetch::Access {
            pc: record.pc,
            warp: record.slot_for(lanes),
            address: addr,
            line: cache.line_of(addr),
            line_bytes: cache.line_bytes(),
            found,
            first_use: uses.useful > 0,
        };
        let Prefetching {
            prefetcher,
            queue,
            most,
            wanted,
        } = &mut **prefetching;
        prefetcher.looked_up(&access, wanted);
        for addr in wanted.drain(..) {
            let line = cache.line_of(addr);
            if line == access.line || queue.iter().any(|&(waiting, _)| waiting == line) {
                continue;
            }
            if queue.len() < *most {
                queue.push_back((line, data_traffic(record.local)));
            } else {
                with.stats.l1d_prefetches_dropped += 1;
            }
        }
    }

    /// Looks up the line that the prefetcher wants and that has waited longest.
    #[cold]
    pub(super) fn look_up_prefetch(&mut self, with: &mut Surroundings) {
        let queue = self.prefetching.as_mut().map(|p| &mut p.queue);
        if let Some((line, traffic)) = queue.and_then(VecDeque::pop_front) {
            self.prefetch_line(line, traffic, with);
        }
    }

    /// Looks up an access of a prefetch instruction in the L1 data cache. It never has to wait.
    #[cold]
    pub(super) fn prefetch_data(
        &mut self,
        op: u16,
        addr: u64,
        lanes: u32,
        with: &mut Surroundings,
    ) -> bool {
        self.prefetches = true;
        let traffic = data_traffic(self.ops.get(op).local);
        self.prefetch_line(addr, traffic, with);
        self.returned(op, lanes, with);
        true
    }

    fn prefetch_line(&mut self, addr: u64, traffic: Traffic, with: &mut Surroundings) {
        let (sm, bytes) = (self.sm, self.caches.data.line_bytes() as u16);
        let request = |line, fetch: Fetch| {
            read_request(sm, traffic, line, bytes, token(TokenKind::Data, fetch.0))
        };
        let evict = |evicted| write_back_request(sm, evicted, bytes);
        with.stats.l1d_prefetch_lookups += 1;
        match self.caches.data.prefetch(addr, request, evict) {
            Prefetched::There => {}
            Prefetched::Dropped => with.stats.l1d_prefetches_dropped += 1,
            Prefetched::Sent => {
                with.stats.l1d_prefetches += 1;
                self.caches.asking |= DATA;
                self.tell_pushed_out(with);
            }
        }
        self.count_uses(with.stats);
    }

    /// Sends an access of a prefetch instruction to L2, past the L1. Nothing comes back.
    pub(super) fn send_prefetch(
        &mut self,
        now: Cycle,
        op: u16,
        access: &Access,
        with: &mut Surroundings,
    ) -> Sent {
        let traffic = data_traffic(self.ops.get(op).local);
        let token = token(TokenKind::WriteBack, 0);
        let request = self.request(RequestKind::Prefetch, traffic, access, token);
        self.refused.at_port = !with.port.try_send(now, &request);
        if self.refused.at_port {
            return Sent::None;
        }
        self.served(op, access.lanes, with);
        let record = self.ops.get_mut(op);
        record.unsent -= 1;
        Sent::first_of(record)
    }

    /// Counts what has become of lines that were prefetched, and returns that.
    pub(super) fn count_uses(&mut self, stats: &mut SmCounters) -> Uses {
        let uses = self.caches.data.take_uses().unwrap_or_default();
        stats.l1d_prefetches_useful += uses.useful;
        stats.l1d_prefetches_late += uses.late;
        stats.l1d_prefetches_unused += uses.unused;
        uses
    }

    /// The data cache has forgotten its lines, and drops the prefetches that wait to be looked up.
    pub(super) fn forget_prefetches(&mut self, stats: &mut SmCounters) {
        self.count_uses(stats);
        if let Some(prefetching) = &mut self.prefetching {
            stats.l1d_prefetches_dropped += prefetching.queue.len() as u64;
            prefetching.queue.clear();
        }
    }
}
