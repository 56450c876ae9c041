//! Accesses on their way to the lookup in the L1 data cache.
//!
//! They stay in the records of their instructions; what one sends in a row is one entry, looked up one per cycle.
//! Of these, hits can be looked up before their time as long as one is left to come in its own: no other part hears
//! of them, and a line that is here stays until a lookup behind them pushes it out. Only where the cache forgets
//! its lines meanwhile, they have to be taken back.

use crate::memory::ring::Ring;
use crate::time::Cycle;

/// Accesses of an instruction on their way, a cycle behind each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    /// Cycle of the first lookup, unless held up.
    pub at: Cycle,
    /// Record of the instruction.
    pub op: u16,
    /// Which of its accesses come last and first, from there down.
    pub last: u16,
    pub first: u16,
}

impl Queued {
    /// How many there are behind the first.
    #[inline]
    pub fn others(&self) -> u16 {
        self.first - self.last
    }
}

/// The accesses, in order.
#[derive(Debug)]
pub(super) struct LookupQueue {
    /// When the first is looked up, unless held up: asked in every cycle in which the unit is awake.
    next: Cycle,
    queue: Ring<Queued>,
    /// All of them.
    accesses: usize,
    /// Several may come at once: no part looks in every cycle at how many have not been sent.
    rows: bool,
    /// Accesses of the first entry that have been looked up since the last lookup in its time.
    ahead: u16,
}

impl LookupQueue {
    /// An empty queue, to which an instruction may send several accesses at once.
    pub fn new(rows: bool) -> LookupQueue {
        LookupQueue {
            next: Cycle::NEVER,
            queue: Ring::new(),
            accesses: 0,
            rows,
            ahead: 0,
        }
    }

    /// When the first is looked up, unless held up.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.next
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.next == Cycle::NEVER
    }

    /// How many accesses there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.accesses
    }

    /// Whether several accesses can be sent in cycle `now` for that and the next ones. While none is held up, one leaves
    /// the queue before another comes.
    #[inline]
    pub fn takes_rows(&self, now: Cycle) -> bool {
        self.rows && self.next > now
    }

    /// The first.
    #[inline]
    pub fn front(&self) -> Option<&Queued> {
        self.queue.front()
    }

    /// Another, whose time is not before that of any other.
    #[inline]
    pub fn push(&mut self, queued: Queued) {
        self.next = self.next.min(queued.at);
        self.accesses += usize::from(queued.others()) + 1;
        self.queue.push_back(queued);
    }

    /// The first access has been looked up.
    #[inline]
    pub fn pop(&mut self) {
        self.accesses -= 1;
        self.ahead = 0;
        if let Some(first) = self.queue.front_mut()
            && first.others() > 0
        {
            first.first -= 1;
            first.at += 1;
            self.next = first.at;
            return;
        }
        self.queue.pop_front();
        self.next = self.queue.front().map_or(Cycle::NEVER, |first| first.at);
    }

    /// So many accesses of the first entry, which has more, have been looked up before their time.
    #[inline]
    pub fn pass(&mut self, accesses: u16) {
        if let Some(first) = self.queue.front_mut() {
            first.first -= accesses;
            first.at += u64::from(accesses);
            self.next = first.at;
            self.accesses -= usize::from(accesses);
            self.ahead = accesses;
        }
    }

    /// So many of those that were pushed last, and not the first of them, have not been sent after all.
    pub fn recall(&mut self, accesses: u16) {
        if let Some(newest) = self.queue.back_mut() {
            newest.last += accesses;
            self.accesses -= usize::from(accesses);
        }
    }

    /// Whether any may have been looked up whose time has not come.
    #[inline]
    pub fn is_ahead(&self) -> bool {
        self.ahead > 0
    }

    /// Takes back what has been looked up before its time, from cycle `now` on: how many accesses, and of which record.
    pub fn take_back(&mut self, now: Cycle) -> Option<(u16, u16)> {
        let ahead = std::mem::take(&mut self.ahead);
        let first = self.queue.front_mut()?;
        let accesses = first.at.since(now).min(ahead.into()) as u16;
        first.first += accesses;
        first.at = Cycle::new(first.at.get() - u64::from(accesses));
        self.next = first.at;
        self.accesses += usize::from(accesses);
        Some((accesses, first.op))
    }
}
