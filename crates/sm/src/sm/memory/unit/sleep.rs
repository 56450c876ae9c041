//! When the unit has nothing to do, and what stands still meanwhile.

use super::*;

impl LoadStore {
    /// Whether this cycle has anything to do.
    #[inline]
    pub fn is_awake(&self, now: Cycle) -> bool {
        self.next <= now
    }

    /// In cycle `now` the network has room again for what was refused.
    pub fn wake_up(&mut self, now: Cycle) {
        self.next = self.next.min(now);
    }

    /// Counts the stalls of the cycles slept through.
    pub(super) fn count_slept(&mut self, now: Cycle, with: &mut Surroundings) {
        if self.asleep.from == Cycle::ZERO {
            return;
        }
        let cycles = now.since(self.asleep.from);
        with.stats.l1d_stalls += if self.asleep.lookup { cycles } else { 0 };
        if let (true, Some(op)) = (self.asleep.current, self.current) {
            self.count_refused(op, cycles, with);
        }
        self.asleep = Asleep::default();
    }

    /// Finds out when there is something to do again, from cycle `next` on. `refused`: caches
    /// whose request found no room at the port. There will be room in cycle `retry_at`, or when
    /// the port [says so](LoadStore::wake_up).
    #[inline]
    pub(super) fn sleep(&mut self, next: Cycle, refused: u8, retry_at: Cycle) {
        if (self.works_on().is_some() || self.l1_queue.next() <= next) && !self.refused.any() {
            self.next = next; // it goes on with what it works on
        } else {
            self.sleep_perhaps(next, refused, retry_at);
        }
    }

    #[inline(always)] // where the unit has nothing to send it comes here in every cycle
    fn sleep_perhaps(&mut self, next: Cycle, refused: u8, retry_at: Cycle) {
        self.next = self.find_wake(next, refused);
        if refused != 0 || self.refused.at_port {
            self.next = self.next.min(retry_at.max(next));
        }
        if self.next > next {
            self.asleep = Asleep {
                from: next,
                lookup: self.l1_queue.next() <= next,
                current: self.works_on().is_some(),
            };
        }
    }

    /// The next cycle in which the unit has something to do; it may have passed.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.next
    }

    #[inline(always)]
    fn find_wake(&self, now: Cycle, refused: u8) -> Cycle {
        if self.caches.ready | self.caches.asking & !refused != 0
            || self.writeback.is_wanted()
            || !self.responses.is_empty()
            || self.prefetches_wait() && self.has_lookup_port(now)
        {
            return now;
        }
        if let Some(op) = self.works_on() {
            let record = self.ops.get(op);
            let stands = match record.path {
                Path::Cached => {
                    self.lookup_refused() && self.l1_queue.len() as u64 >= self.l1_latency
                }
                Path::Uncached => self.refused.at_port,
                Path::Constant | Path::Texture => self.read_only_refused(record.path),
                Path::Shared => false,
            };
            if !stands || record.busy > 1 {
                return now;
            }
        }
        let lookup = match self.lookup_refused() {
            true => Cycle::NEVER,
            false => self.l1_queue.next().max(now),
        };
        let sent = match self.sent_at {
            Cycle::ZERO => Cycle::NEVER,
            at => at.max(now),
        };
        lookup.min(sent).min(self.shared.next().max(now))
    }

    /// The current instruction, unless all that it has to send is on its way.
    #[inline]
    fn works_on(&self) -> Option<u16> {
        self.current.filter(|_| self.sent_at == Cycle::ZERO)
    }
}
