//! The instruction that the unit works on sends its accesses, one per cycle: to the queue before the L1 data cache, past
//! it, or through the caches for constants and textures.

use super::lookup::{read_request, write_back_request};
use super::{CacheOf, Event, Flight, LoadStore, Queued};
use crate::memory::cache::mshr::Fetch;
use crate::memory::packet::{Request, RequestKind, Traffic};
use crate::sm::memory::{Access, MemOp, Outcome, Path, Port, TokenKind, token, untoken};
use crate::stats::SmCounters;
use crate::time::Cycle;

/// What an instruction could do in a cycle.
enum Sent {
    /// Its next access has gone, or it has none.
    Access,
    /// Its next access found no room.
    Nothing,
}

impl LoadStore {
    /// Works on an instruction in cycle `now`.
    pub(super) fn work(&mut self, now: Cycle, op: u32, port: &mut Port, counters: &mut SmCounters) {
        let record = self.ops.get_mut(op);
        if record.busy > 1 {
            record.busy -= 1;
            counters.memory_stalls += 1;
            counters.memory_stalls_banks += 1;
            return;
        }
        let path = record.path;
        let sent = match (record.next_access().copied(), path) {
            (None, _) | (_, Path::Shared) => Sent::Access,
            (Some(access), Path::Cached) => self.send_cached(now, op, &access, counters),
            (Some(access), Path::Uncached) => self.send_uncached(now, op, &access, port),
            (Some(access), Path::Constant | Path::Texture) => {
                self.send_read_only(op, path, &access, counters)
            }
        };
        let record = self.ops.get_mut(op);
        match sent {
            Sent::Nothing => {
                counters.memory_stalls += 1;
                *match path {
                    Path::Uncached => &mut counters.memory_stalls_network,
                    _ => &mut counters.memory_stalls_cache,
                } += 1;
            }
            Sent::Access => {
                record.unsent = record.unsent.saturating_sub(1);
                if record.unsent > 0 && path != Path::Shared {
                    counters.memory_stalls += 1;
                    counters.memory_stalls_accesses += 1;
                } else {
                    self.finish(now, op, counters);
                }
            }
        }
    }

    /// The instruction has sent all its accesses and leaves.
    fn finish(&mut self, now: Cycle, op: u32, counters: &mut SmCounters) {
        let record = self.ops.get(op);
        if record.store {
            let slots = record
                .owners
                .iter()
                .flat_map(|owner| record.slots(owner).iter());
            self.events.extend(slots.map(|slot| Event::Stored { slot }));
        } else if record.path == Path::Shared {
            if (self.shared.len() as u64) < self.shared_latency {
                self.shared.push_back((now + self.shared_latency, op));
                self.current = None;
            } else {
                counters.memory_stalls += 1;
                counters.memory_stalls_banks += 1;
            }
            return;
        } else {
            // Warps without any access have nothing to wait for; the others hear when their last one is back.
            for owner in record.owners.iter().filter(|owner| owner.lanes == 0) {
                let loaded = |slot| Event::Loaded { slot, pc: owner.pc };
                self.events.extend(record.slots(owner).iter().map(loaded));
            }
        }
        self.release(op);
        self.current = None;
    }

    fn send_cached(
        &mut self,
        now: Cycle,
        op: u32,
        access: &Access,
        counters: &mut SmCounters,
    ) -> Sent {
        if self.l1_latency > 0 && self.queue.len() as u64 >= self.l1_latency {
            return Sent::Nothing;
        }
        let heard = self.events.len();
        if self.ops.get(op).store {
            self.count_stores(op, access);
        }
        self.ops.get_mut(op).holds += 1;
        if self.l1_latency > 0 {
            self.queue.push_back(Queued {
                at: now + self.l1_latency,
                op,
                access: *access,
            });
            return Sent::Access;
        }
        // Where no access waits for its lookup it is looked up at once.
        if self.access_data(op, access, counters) {
            return Sent::Access;
        }
        self.events.truncate(heard);
        self.ops.get_mut(op).holds -= 1;
        counters.l1d_stalls += 1;
        Sent::Nothing
    }

    fn send_uncached(&mut self, now: Cycle, op: u32, access: &Access, port: &mut Port) -> Sent {
        let MemOp {
            store,
            is_atomic,
            local,
            prefetch,
            ..
        } = *self.ops.get(op);
        let (kind, token) = match () {
            () if prefetch => (RequestKind::Prefetch, token(TokenKind::WriteBack, 0)),
            () if store => (RequestKind::Write, self.store_token(op, access)),
            () => {
                let flight = self.fly(op, access.lanes);
                let kind = match is_atomic {
                    true => RequestKind::Atomic,
                    false => RequestKind::Read,
                };
                (kind, token(TokenKind::Uncached, flight))
            }
        };
        let request = self.request(kind, data_traffic(local), access, token);
        let sent = port.try_send(now, &request);
        match (sent, kind) {
            (true, RequestKind::Prefetch) => self.served(op, access.lanes),
            (true, RequestKind::Write) => {
                self.count_stores(op, access);
                self.has_left(&request);
            }
            (true, _) | (false, RequestKind::Prefetch) => {}
            (false, RequestKind::Write) => self.take_token_back(token),
            (false, _) => {
                self.flights.remove(untoken(token).1);
                self.release(op);
            }
        }
        match sent {
            true => Sent::Access,
            false => Sent::Nothing,
        }
    }

    fn send_read_only(
        &mut self,
        op: u32,
        path: Path,
        access: &Access,
        counters: &mut SmCounters,
    ) -> Sent {
        let (which, traffic, kind) = match path {
            Path::Constant => (CacheOf::Constants, Traffic::Constant, TokenKind::Constant),
            _ => (CacheOf::Texture, Traffic::Texture, TokenKind::Texture),
        };
        let (sm, lanes) = (self.sm, access.lanes);
        let LoadStore {
            ops,
            flights,
            constants,
            textures,
            ..
        } = self;
        let cache = match which {
            CacheOf::Constants => constants,
            _ => textures,
        };
        let bytes = cache.line_bytes() as u16;
        let waiter = || {
            ops.get_mut(op).holds += 1;
            flights.insert(Flight { op, lanes })
        };
        let request =
            |line, fetch: Fetch| read_request(sm, traffic, line, bytes, token(kind, fetch.0));
        let evict = |evicted| write_back_request(sm, evicted, bytes);
        let outcome = cache.read(access.addr, waiter, request, evict);
        match outcome {
            Outcome::Stall => return Sent::Nothing,
            Outcome::Hit => self.served(op, lanes),
            Outcome::Miss | Outcome::Merged => {}
        }
        let missed = u64::from(outcome != Outcome::Hit);
        if path == Path::Constant {
            counters.constant_accesses += 1;
            counters.constant_misses += missed;
        } else {
            counters.texture_accesses += 1;
            counters.texture_misses += missed;
        }
        Sent::Access
    }

    /// An access of an instruction will come back, for these lanes.
    pub(super) fn fly(&mut self, op: u32, lanes: u32) -> u32 {
        self.ops.get_mut(op).holds += 1;
        self.flights.insert(Flight { op, lanes })
    }

    pub(super) fn request(
        &self,
        kind: RequestKind,
        traffic: Traffic,
        access: &Access,
        token: u32,
    ) -> Request {
        Request {
            sm: self.sm,
            kind,
            traffic,
            addr: access.addr,
            bytes: access.bytes,
            byte_mask: access.byte_mask,
            token,
        }
    }
}

/// Whose traffic data are.
pub(super) fn data_traffic(local: bool) -> Traffic {
    match local {
        true => Traffic::Local,
        false => Traffic::Global,
    }
}
