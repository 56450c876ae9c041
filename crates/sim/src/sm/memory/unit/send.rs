//! Sending accesses: through the L1 queue, past it, through the read-only caches.

use super::*;

impl LoadStore {
    /// Whether the head of the L1 queue has been refused and nothing has changed since.
    pub(super) fn lookup_refused(&self) -> bool {
        self.refused.lookup && !self.caches.data.may_retry() && !self.l1_queue.is_empty()
    }

    /// Whether the next access of the current instruction, on this path, has been refused by a
    /// read-only cache and nothing has changed since.
    pub(super) fn read_only_refused(&self, path: Path) -> bool {
        self.refused.read_only && !self.caches.on(path).may_retry()
    }

    /// The L1 lookup at the head of the queue. A lookup that cannot proceed stalls it.
    #[inline(never)]
    pub(super) fn look_up(&mut self, now: Cycle, with: &mut Surroundings) {
        debug_assert!(self.l1_queue.next() <= now);
        self.refused.lookup = self.lookup_refused() || !self.access_queued(with);
        if self.refused.lookup {
            with.stats.l1d_stalls += 1;
        } else {
            self.l1_queue.pop();
        }
    }

    /// Looks up the access at the head of the queue; `false` when it must wait.
    fn access_queued(&mut self, with: &mut Surroundings) -> bool {
        match self.l1_queue.front() {
            Some(&queued) => self.access_data(queued.op, &queued.access, with),
            None => false,
        }
    }

    /// Looks an access up in the L1 data cache; `false` when it must wait.
    fn access_data(&mut self, op: u16, access: &Access, with: &mut Surroundings) -> bool {
        let (store, local) = (self.ops.get(op).store, self.ops.get(op).local);
        let traffic = if local {
            Traffic::Local
        } else {
            Traffic::Global
        };
        if store {
            let token = self.store_token(op, access);
            let request = self.request(RequestKind::Write, traffic, access, token);
            let Some(stored) = self.caches.data.write(access.addr, local, request) else {
                self.take_back(token);
                return false;
            };
            with.stats.l1d_writes += 1;
            with.stats.l1d_write_hits += stored.hit as u64;
            if stored.kept {
                for _ in 0..self.acknowledgements(access) {
                    self.acknowledge(token, with);
                }
            } else {
                self.caches.asking |= DATA;
            }
            self.ops.release(op);
            return true;
        }
        let bytes = self.caches.data.line_bytes() as u16;
        let (sm, ops) = (self.sm, &mut self.ops);
        let request = |line| read_request(sm, traffic, line, bytes, token(TokenKind::Data, 0));
        let evict = |evicted| write_back_request(sm, evicted, bytes);
        let flight = || ops.fly(op, access.lanes);
        let outcome = self.caches.data.read(access.addr, flight, request, evict);
        if self.hearers.any() {
            self.tell_lookup(op, access, outcome, with);
        }
        match outcome {
            Outcome::Stall => return false,
            Outcome::Hit => {
                with.stats.l1d_hits += 1;
                self.served(op, access.lanes, with);
            }
            Outcome::Miss => {
                with.stats.l1d_misses += 1;
                self.caches.asking |= DATA;
            }
            Outcome::Merged => with.stats.l1d_merges += 1,
        }
        with.stats.l1d_reads += 1;
        self.ops.release(op);
        true
    }

    pub(super) fn request(
        &self,
        kind: RequestKind,
        traffic: Traffic,
        access: &Access,
        token: u32,
    ) -> Request {
        let (addr, bytes) = (access.addr, access.bytes);
        Request {
            sm: self.sm,
            kind,
            traffic,
            addr,
            bytes,
            byte_mask: access.byte_mask,
            token,
        }
    }

    /// Works on the current instruction.
    pub(super) fn work(&mut self, now: Cycle, op: u16, with: &mut Surroundings) {
        let record = self.ops.get_mut(op);
        if record.busy > 1 {
            record.busy -= 1;
            with.stats.memory_stalls += 1;
            with.stats.memory_stalls_banks += 1;
            return;
        }
        let left = record.accesses.len();
        let done = match record.path {
            Path::Shared => true,
            Path::Cached => self.send_cached(now, op, with),
            Path::Uncached => self.send_uncached(now, op, with),
            Path::Constant | Path::Texture => self.send_read_only(op, with),
        };
        if done {
            return self.finish(now, op, with);
        }
        if self.ops.get(op).accesses.len() < left {
            with.stats.memory_stalls += 1;
            with.stats.memory_stalls_accesses += 1;
        } else {
            self.count_refused(op, 1, with);
        }
    }

    /// For so many cycles the next access of `op` has found no room.
    pub(super) fn count_refused(&self, op: u16, cycles: u64, with: &mut Surroundings) {
        with.stats.memory_stalls += cycles;
        *match self.ops.get(op).path {
            Path::Uncached => &mut with.stats.memory_stalls_network,
            _ => &mut with.stats.memory_stalls_cache,
        } += cycles;
    }

    /// The instruction has sent all its accesses and leaves.
    pub(super) fn finish(&mut self, now: Cycle, op: u16, with: &mut Surroundings) {
        let record = self.ops.get(op);
        if record.store {
            for owner in record.owners.iter() {
                let slots = record.slots(owner);
                with.events.push(MemoryEvent::Stored { slots });
            }
        } else if record.path == Path::Shared {
            if self.shared.push(op, now) {
                self.current = None;
            } else {
                with.stats.memory_stalls += 1;
                with.stats.memory_stalls_banks += 1;
            }
            return;
        } else {
            // Owners without any access (all their lanes were masked off) have nothing to
            // wait for; the others hear when their last access returns.
            self.complete_without_access(op, with);
        }
        self.ops.release(op);
        self.current = None;
    }

    fn complete_without_access(&mut self, op: u16, with: &mut Surroundings) {
        let record = self.ops.get(op);
        for owner in record.owners.iter().filter(|o| o.lanes == 0) {
            with.events.push(MemoryEvent::Loaded {
                slots: record.slots(owner),
                pc: owner.pc,
            });
        }
    }

    fn send_cached(&mut self, now: Cycle, op: u16, with: &mut Surroundings) -> bool {
        let record = self.ops.get_mut(op);
        let Some(&access) = record.accesses.last() else {
            return true;
        };
        if self.l1_latency == 0 {
            return self.look_up_at_once(op, &access, with);
        }
        if self.l1_queue.len() as u64 >= self.l1_latency {
            return false;
        }
        if record.store {
            let count = acknowledgements(&access, self.acknowledged_shift);
            count_stores(record, &access, count, with);
        }
        record.holds += 1;
        record.accesses.pop();
        let done = record.accesses.is_empty();
        self.l1_queue.push(Queued {
            at: now + self.l1_latency,
            op,
            access,
        });
        done
    }

    /// Looks an access up where none waits for its lookup.
    #[inline(never)]
    fn look_up_at_once(&mut self, op: u16, access: &Access, with: &mut Surroundings) -> bool {
        // A store that the cache keeps is acknowledged at once: it must have been counted.
        let heard = with.events.len();
        if self.ops.get(op).store {
            let count = self.acknowledgements(access);
            count_stores(self.ops.get(op), access, count, with);
        }
        self.ops.get_mut(op).holds += 1;
        if !self.access_data(op, access, with) {
            with.events.truncate(heard);
            self.ops.get_mut(op).holds -= 1;
            with.stats.l1d_stalls += 1;
            return false;
        }
        let record = self.ops.get_mut(op);
        record.accesses.pop();
        record.accesses.is_empty()
    }

    #[inline(never)]
    fn send_uncached(&mut self, now: Cycle, op: u16, with: &mut Surroundings) -> bool {
        let Some(&access) = self.ops.get(op).accesses.last() else {
            return true;
        };
        let record = self.ops.get(op);
        let (store, atomic) = (record.store, record.is_atomic);
        let traffic = if record.local {
            Traffic::Local
        } else {
            Traffic::Global
        };
        let (kind, token) = if store {
            (RequestKind::Write, self.store_token(op, &access))
        } else {
            let flight = self.ops.fly(op, access.lanes);
            let kind = if atomic {
                RequestKind::Atomic
            } else {
                RequestKind::Read
            };
            (kind, token(TokenKind::Uncached, flight))
        };
        let request = self.request(kind, traffic, &access, token);
        self.refused.at_port = !with.port.try_send(now, &request);
        if self.refused.at_port {
            if store {
                self.take_back(token);
            } else {
                self.ops.land(untoken(token).1);
                self.ops.release(op);
            }
            return false;
        }
        if store {
            let count = self.acknowledgements(&access);
            count_stores(self.ops.get(op), &access, count, with);
        }
        let record = self.ops.get_mut(op);
        record.accesses.pop();
        record.accesses.is_empty()
    }

    #[inline(never)]
    fn send_read_only(&mut self, op: u16, with: &mut Surroundings) -> bool {
        let record = self.ops.get(op);
        let Some(&access) = record.accesses.last() else {
            return true;
        };
        if self.read_only_refused(record.path) {
            return false;
        }
        let constant = record.path == Path::Constant;
        let (traffic, kind) = if constant {
            (Traffic::Constant, TokenKind::Constant)
        } else {
            (Traffic::Texture, TokenKind::Texture)
        };
        let bytes = self.line_bytes(record.path) as u16;
        let (sm, ops) = (self.sm, &mut self.ops);
        let cache = if constant {
            &mut self.caches.constant
        } else {
            &mut self.caches.texture
        };
        let request = |line| read_request(sm, traffic, line, bytes, token(kind, 0));
        let flight = || ops.fly(op, access.lanes);
        let outcome = cache.read(access.addr, flight, request, |e| {
            write_back_request(sm, e, bytes)
        });
        self.refused.read_only = outcome == Outcome::Stall;
        match outcome {
            Outcome::Stall => return false,
            Outcome::Hit => self.served(op, access.lanes, with),
            Outcome::Miss => self.caches.asking |= if constant { CONSTANT } else { TEXTURE },
            Outcome::Merged => {}
        }
        let missed = (outcome != Outcome::Hit) as u64;
        if constant {
            with.stats.constant_accesses += 1;
            with.stats.constant_misses += missed;
        } else {
            with.stats.texture_accesses += 1;
            with.stats.texture_misses += missed;
        }
        let record = self.ops.get_mut(op);
        record.accesses.pop();
        record.accesses.is_empty()
    }
}
