//! Lookups in the L1 data cache. One that the cache cannot take holds up all behind it.

use super::prefetch::Lookup;
use super::send::data_traffic;
use super::{Event, Flight, LoadStore, Queued};
use crate::memory::cache::mshr::Fetch;
use crate::memory::cache::tags::Evicted;
use crate::memory::packet::{Request, RequestKind, Traffic};
use crate::schedule::CacheEvent;
use crate::sm::memory::{Access, Outcome, TokenKind, token};
use crate::stats::SmCounters;

impl LoadStore {
    /// Looks up the access that has waited longest.
    pub(super) fn look_up(&mut self, counters: &mut SmCounters) {
        let Some(&Queued { op, access, .. }) = self.queue.front() else {
            return;
        };
        match self.access_data(op, &access, counters) {
            true => drop(self.queue.pop_front()),
            false => counters.l1d_stalls += 1,
        }
    }

    /// An access reaches the L1 data cache; `false` if it has to wait.
    pub(super) fn access_data(
        &mut self,
        op: u32,
        access: &Access,
        counters: &mut SmCounters,
    ) -> bool {
        let record = self.ops.get(op);
        match (record.store, record.prefetch) {
            (true, _) => self.store_data(op, access, counters),
            (_, true) => {
                let traffic = data_traffic(record.local);
                self.prefetch_line(access.addr, traffic, counters);
                self.returned(op, access.lanes);
                true
            }
            _ => self.load_data(op, access, counters),
        }
    }

    fn store_data(&mut self, op: u32, access: &Access, counters: &mut SmCounters) -> bool {
        let local = self.ops.get(op).local;
        let token = self.store_token(op, access);
        let request = self.request(RequestKind::Write, data_traffic(local), access, token);
        let Some(stored) = self.data.write(access.addr, local, request) else {
            self.take_token_back(token);
            return false;
        };
        counters.l1d_writes += 1;
        counters.l1d_write_hits += u64::from(stored.hit);
        self.count_uses(counters);
        if stored.kept {
            for _ in 0..self.acknowledgements(access.addr, access.bytes) {
                self.acknowledge(token);
            }
        }
        self.release(op);
        true
    }

    fn load_data(&mut self, op: u32, access: &Access, counters: &mut SmCounters) -> bool {
        let (sm, lanes) = (self.sm, access.lanes);
        let traffic = data_traffic(self.ops.get(op).local);
        let LoadStore {
            ops, flights, data, ..
        } = self;
        let bytes = data.line_bytes() as u16;
        let waiter = || {
            ops.get_mut(op).holds += 1;
            flights.insert(Flight { op, lanes })
        };
        let request = |line, fetch: Fetch| {
            read_request(sm, traffic, line, bytes, token(TokenKind::Data, fetch.0))
        };
        let evict = |evicted| write_back_request(sm, evicted, bytes);
        let outcome = data.read(access.addr, waiter, request, evict);
        let record = self.ops.get(op);
        let lookup = Lookup {
            slot: record.slot_for(lanes),
            pc: record.pc,
            addr: access.addr,
            traffic,
            outcome,
        };
        self.tell_lookup(&lookup);
        self.follow_lookup(&lookup, counters);
        match outcome {
            Outcome::Stall => return false,
            Outcome::Hit => counters.l1d_hits += 1,
            Outcome::Miss => counters.l1d_misses += 1,
            Outcome::Merged => counters.l1d_merges += 1,
        }
        counters.l1d_reads += 1;
        match outcome {
            Outcome::Hit => self.returned(op, lanes),
            _ => self.release(op),
        }
        true
    }

    /// Tells the issue policy what a load has found, if it wants to hear.
    fn tell_lookup(&mut self, lookup: &Lookup) {
        let what = match lookup.outcome {
            Outcome::Hit => CacheEvent::Hit,
            Outcome::Miss => CacheEvent::Miss,
            Outcome::Merged => CacheEvent::Merged,
            Outcome::Stall => return,
        };
        let (slot, line) = (lookup.slot, self.data.line_of(lookup.addr));
        if self.asked_by.is_some() {
            self.events.push(Event::Cache { slot, what, line });
        }
        if what == CacheEvent::Miss {
            self.tell_pushed_out();
            if let Some(asked_by) = &mut self.asked_by {
                asked_by.insert(line, slot);
            }
        }
    }

    /// Tells the policy of the line that the last fetch has pushed out, if a warp had asked for it.
    pub(super) fn tell_pushed_out(&mut self) {
        if let (Some(asked_by), Some(line)) = (&mut self.asked_by, self.data.pushed_out())
            && let Some(slot) = asked_by.remove(&line)
        {
            let what = CacheEvent::Evicted;
            self.events.push(Event::Cache { slot, what, line });
        }
    }

    /// Tells the policy of a line that has come.
    pub(super) fn tell_fill(&mut self, addr: u64) {
        let line = self.data.line_of(addr);
        let asked_by = self.asked_by.as_ref().and_then(|by| by.get(&line));
        if let Some(&slot) = asked_by {
            let what = CacheEvent::Fill;
            self.events.push(Event::Cache { slot, what, line });
        }
    }
}

/// A request for a line.
pub(super) fn read_request(
    sm: u16,
    traffic: Traffic,
    addr: u64,
    bytes: u16,
    token: u32,
) -> Request {
    Request {
        sm,
        kind: RequestKind::Read,
        traffic,
        addr,
        bytes,
        byte_mask: 0,
        token,
    }
}

/// A dirty line goes to L2.
pub(super) fn write_back_request(sm: u16, evicted: Evicted, bytes: u16) -> Request {
    Request {
        sm,
        kind: RequestKind::Write,
        traffic: Traffic::Local,
        addr: evicted.addr,
        bytes,
        byte_mask: !0,
        token: token(TokenKind::WriteBack, 0),
    }
}
