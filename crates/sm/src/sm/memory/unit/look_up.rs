//! Lookups in the data cache: the one at the head of the queue, and those behind it that may be made before their time.

use super::send::data_traffic;
use super::*;

impl LoadStore {
    /// Whether the head of the L1 queue has been refused and nothing has changed since.
    pub(super) fn lookup_refused(&self) -> bool {
        self.refused.lookup && !self.caches.data.may_retry() && !self.l1_queue.is_empty()
    }

    /// The L1 lookup at the head of the queue. A lookup that cannot proceed stalls it.
    #[inline(never)]
    pub(super) fn look_up(&mut self, now: Cycle, with: &mut Surroundings) {
        debug_assert!(self.l1_queue.next() <= now);
        let hits = with.stats.l1d_hits;
        self.refused.lookup = self.lookup_refused() || !self.access_queued(with);
        if self.refused.lookup {
            with.stats.l1d_stalls += 1;
            if self.sent_at >= now {
                self.send_one_by_one(now, with);
            }
            return;
        }
        self.l1_queue.pop();
        if with.stats.l1d_hits > hits {
            self.look_ahead(now, with);
        }
    }

    /// A load has hit in cycle `now`: looks up those behind it that do, too, before their time.
    #[inline]
    fn look_ahead(&mut self, now: Cycle, with: &mut Surroundings) {
        let Some(&queued) = self.l1_queue.front() else {
            return;
        };
        // Where lookups are held up, the queue may get full; then it counts when they leave it.
        let heard = self.hearers.any() || self.prefetches || self.caches.data.policy_hears();
        if queued.others() > 0 && queued.at > now && !heard {
            self.look_further_ahead(&queued, with);
        }
    }

    /// Looks up accesses before their time. One stays: it may be the last that its warp waits for.
    fn look_further_ahead(&mut self, queued: &Queued, with: &mut Surroundings) {
        let record = self.ops.get_mut(queued.op);
        let all_but_one = usize::from(queued.last) + 1..=usize::from(queued.first);
        let ([owner], Some(left)) = (&mut record.owners[..], record.accesses.get(all_but_one))
        else {
            return;
        };
        let hits = left
            .iter()
            .rev()
            .take_while(|a| self.caches.data.hit(a.addr));
        let hits = hits.count() as u16;
        if hits > 0 {
            owner.pending -= hits;
            record.holds -= u32::from(hits);
            self.l1_queue.pass(hits);
            with.stats.l1d_hits += u64::from(hits);
            with.stats.l1d_reads += u64::from(hits);
        }
    }

    /// The data cache forgets its lines in cycle `now`: what was to be looked up from then on, and has been, is still to be.
    #[cold]
    pub(super) fn take_lookups_back(&mut self, now: Cycle, stats: &mut SmCounters) {
        let Some((accesses, op)) = self.l1_queue.take_back(now) else {
            return;
        };
        let record = self.ops.get_mut(op);
        if let Some(owner) = record.owners.first_mut() {
            owner.pending += accesses;
        }
        record.holds += u32::from(accesses);
        stats.l1d_hits -= u64::from(accesses);
        stats.l1d_reads -= u64::from(accesses);
        self.next = self.next.min(self.l1_queue.next());
    }

    /// Looks up the access at the head of the queue; `false` when it must wait.
    fn access_queued(&mut self, with: &mut Surroundings) -> bool {
        let Some(queued) = self.l1_queue.front() else {
            return false;
        };
        let op = queued.op;
        let record = self.ops.get(op);
        let access = &record.accesses[usize::from(queued.first)];
        if record.store {
            let access = *access;
            return self.store_data(op, &access, with);
        }
        let (addr, lanes) = (access.addr, access.lanes);
        match record.prefetch {
            true => self.prefetch_data(op, addr, lanes, with),
            false => self.load_data(op, addr, lanes, with),
        }
    }

    /// Looks a store up in the L1 data cache; `false` when it must wait.
    #[inline(never)]
    pub(super) fn store_data(&mut self, op: u16, access: &Access, with: &mut Surroundings) -> bool {
        let local = self.ops.get(op).local;
        let token = self.store_token(op, access);
        let request = self.request(RequestKind::Write, data_traffic(local), access, token);
        let Some(stored) = self.caches.data.write(access.addr, local, request) else {
            self.take_back(token);
            return false;
        };
        with.stats.l1d_writes += 1;
        with.stats.l1d_write_hits += stored.hit as u64;
        if self.prefetches {
            self.count_uses(with.stats);
        }
        if stored.kept {
            for _ in 0..self.acknowledgements(access) {
                self.acknowledge(token, with);
            }
        } else {
            self.caches.asking |= DATA;
        }
        self.ops.release(op);
        true
    }

    /// Looks a load for these lanes up in the L1 data cache; `false` when it must wait.
    #[inline(always)] // of its two callers a launch has one: the L1 has a latency or none
    pub(super) fn load_data(
        &mut self,
        op: u16,
        addr: u64,
        lanes: u32,
        with: &mut Surroundings,
    ) -> bool {
        let traffic = data_traffic(self.ops.get(op).local);
        let bytes = self.caches.data.line_bytes() as u16;
        let (sm, ops) = (self.sm, &mut self.ops);
        let request = |line, fetch: Fetch| {
            read_request(sm, traffic, line, bytes, token(TokenKind::Data, fetch.0))
        };
        let evict = |evicted| write_back_request(sm, evicted, bytes);
        let flight = || ops.fly(op, lanes);
        let outcome = self.caches.data.read(addr, flight, request, evict);
        if self.hearers.any() {
            self.tell_lookup(op, addr, lanes, outcome, with);
        }
        if self.prefetches {
            self.follow_lookup(op, addr, lanes, outcome, with);
        }
        match outcome {
            Outcome::Stall => return false,
            Outcome::Hit => {
                with.stats.l1d_hits += 1;
                with.stats.l1d_reads += 1;
                self.returned(op, lanes, with);
                return true;
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
}
