//! Sending accesses: to the L1 queue, past it, through the read-only caches.

use super::*;

impl LoadStore {
    /// Whether the next access of the current instruction, on this path, has been refused by a
    /// read-only cache and nothing has changed since.
    pub(super) fn read_only_refused(&self, path: Path) -> bool {
        self.refused.read_only && !self.caches.on(path).may_retry()
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
    #[inline(always)] // its one caller is the cycle
    pub(super) fn work(&mut self, now: Cycle, op: u16, with: &mut Surroundings) {
        if self.sent_at > Cycle::ZERO {
            if self.sent_at <= now {
                self.sent_at = Cycle::ZERO;
                self.finish(now, op, with);
            }
            return;
        }
        let record = self.ops.get_mut(op);
        if record.busy > 1 {
            record.busy -= 1;
            with.stats.memory_stalls += 1;
            with.stats.memory_stalls_banks += 1;
            return;
        }
        let sent = match record.path {
            Path::Shared => Sent::All,
            Path::Cached => self.send_cached(now, op, with),
            Path::Uncached => self.send_uncached(now, op, with),
            Path::Constant | Path::Texture => self.send_read_only(op, with),
        };
        match sent {
            Sent::All => self.finish(now, op, with),
            Sent::One => {
                with.stats.memory_stalls += 1;
                with.stats.memory_stalls_accesses += 1;
            }
            Sent::None => self.count_refused(op, 1, with),
            Sent::UntilLater(accesses) => {
                with.stats.memory_stalls += accesses;
                with.stats.memory_stalls_accesses += accesses;
            }
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
    #[inline(always)] // its one caller works in the cycle
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
        } else if record.bystanders {
            self.complete_without_access(op, with);
        }
        self.ops.release(op);
        self.current = None;
    }

    /// Owners without any access have nothing to wait for; the others hear when their last access returns.
    #[inline(never)]
    fn complete_without_access(&mut self, op: u16, with: &mut Surroundings) {
        let record = self.ops.get(op);
        for owner in record.owners.iter().filter(|o| o.lanes == 0) {
            with.events.push(MemoryEvent::Loaded {
                slots: record.slots(owner),
                pc: owner.pc,
            });
        }
    }

    #[inline(always)] // its one caller works in the cycle
    fn send_cached(&mut self, now: Cycle, op: u16, with: &mut Surroundings) -> Sent {
        let record = self.ops.get_mut(op);
        let Some(access) = record.next_access() else {
            return Sent::All;
        };
        if self.l1_latency == 0 {
            let access = *access;
            return self.look_up_at_once(op, &access, with);
        }
        let queue = &mut self.l1_queue;
        if queue.len() as u64 >= self.l1_latency {
            return Sent::None;
        }
        let first = record.unsent - 1;
        let mut others = 0;
        if record.store {
            let count = acknowledgements(access.addr, access.bytes, self.acknowledged_shift);
            count_stores(record, access, count, with);
        } else if queue.takes_rows(now) && !self.hearers.any() && !record.prefetch {
            others = first;
        }
        record.unsent -= others + 1;
        record.holds += u32::from(others) + 1;
        queue.push(Queued {
            at: now + self.l1_latency,
            op,
            last: first - others,
            first,
        });
        if others > 0 {
            self.sent_at = now + u64::from(others);
            return Sent::UntilLater(others.into());
        }
        Sent::first_of(record)
    }

    /// A lookup is refused in cycle `now`: the queue may get full before all has been sent that is on its way there.
    #[cold]
    pub(super) fn send_one_by_one(&mut self, now: Cycle, with: &mut Surroundings) {
        let later = std::mem::take(&mut self.sent_at) - now;
        if let Some(op) = self.current {
            let record = self.ops.get_mut(op);
            record.unsent = later as u16 + 1;
            record.holds -= later as u32 + 1;
            self.l1_queue.recall(later as u16 + 1);
            with.stats.memory_stalls -= later;
            with.stats.memory_stalls_accesses -= later;
        }
    }

    /// Looks an access up where none waits for its lookup.
    #[inline(never)]
    fn look_up_at_once(&mut self, op: u16, access: &Access, with: &mut Surroundings) -> Sent {
        // A store that the cache keeps is acknowledged at once: it must have been counted.
        let heard = with.events.len();
        if self.ops.get(op).store {
            let count = self.acknowledgements(access);
            count_stores(self.ops.get(op), access, count, with);
        }
        self.ops.get_mut(op).holds += 1;
        let record = self.ops.get(op);
        let done = match (record.store, record.prefetch) {
            (true, _) => self.store_data(op, access, with),
            (_, true) => self.prefetch_data(op, access.addr, access.lanes, with),
            _ => self.load_data(op, access.addr, access.lanes, with),
        };
        if !done {
            with.events.truncate(heard);
            self.ops.get_mut(op).holds -= 1;
            with.stats.l1d_stalls += 1;
            return Sent::None;
        }
        let record = self.ops.get_mut(op);
        record.unsent -= 1;
        Sent::first_of(record)
    }

    #[inline(never)]
    fn send_uncached(&mut self, now: Cycle, op: u16, with: &mut Surroundings) -> Sent {
        let Some(&access) = self.ops.get(op).next_access() else {
            return Sent::All;
        };
        let record = self.ops.get(op);
        if record.prefetch {
            return self.send_prefetch(now, op, &access, with);
        }
        let (store, atomic) = (record.store, record.is_atomic);
        let traffic = data_traffic(record.local);
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
            return Sent::None;
        }
        if store {
            let count = self.acknowledgements(&access);
            count_stores(self.ops.get(op), &access, count, with);
            self.has_left(&request, with);
        }
        let record = self.ops.get_mut(op);
        record.unsent -= 1;
        Sent::first_of(record)
    }

    #[inline(never)]
    fn send_read_only(&mut self, op: u16, with: &mut Surroundings) -> Sent {
        let record = self.ops.get(op);
        let Some(&access) = record.next_access() else {
            return Sent::All;
        };
        if self.read_only_refused(record.path) {
            return Sent::None;
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
        let request =
            |line, fetch: Fetch| read_request(sm, traffic, line, bytes, token(kind, fetch.0));
        let flight = || ops.fly(op, access.lanes);
        let outcome = cache.read(access.addr, flight, request, |e| {
            write_back_request(sm, e, bytes)
        });
        self.refused.read_only = outcome == Outcome::Stall;
        match outcome {
            Outcome::Stall => return Sent::None,
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
        record.unsent -= 1;
        Sent::first_of(record)
    }
}

/// What has left of an instruction's accesses in a cycle.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sent {
    /// The last of them, or there was none.
    All,
    /// One of the accesses that were left.
    One,
    /// None: the access found no room.
    None,
    /// One of the accesses that were left, and so many others will in the next cycles.
    UntilLater(u64),
}

impl Sent {
    /// An access of an instruction with this record has left.
    #[inline]
    pub fn first_of(record: &MemOp) -> Sent {
        match record.unsent == 0 {
            true => Sent::All,
            false => Sent::One,
        }
    }
}

/// Whose traffic data are.
#[inline]
pub(super) fn data_traffic(local: bool) -> Traffic {
    match local {
        true => Traffic::Local,
        false => Traffic::Global,
    }
}
