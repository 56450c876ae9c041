//! Results under way in the ALU pipelines, by the cycle in which they are written back.
//! Latencies are fixed when an operation enters its unit, so a ring of buckets does what
//! shifting pipeline registers would, and the next busy cycle is a bit scan away.

use crate::time::Cycle;

/// An ALU result to be written back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Hardware warp; for a gang, that of its home warp in the first slice, which may not be in it.
    pub slot: u16,
    /// If it is for a gang, its slices, a bit each; else none.
    pub slices: u8,
    /// Instruction.
    pub pc: u32,
}

impl Done {
    /// For one warp.
    #[inline]
    pub fn alone(slot: u16, pc: u32) -> Done {
        Done {
            slot,
            slices: 0,
            pc,
        }
    }
}

/// No node: there is no third result.
const NONE: u32 = u32::MAX;
/// There is not even a second.
const ALONE: u32 = NONE - 1;

/// What is written back in a cycle.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// The first result, if the cycle is occupied, and the second. Most often there are no more.
    first: Done,
    second: Done,
    /// The last node of a ring of further ones: the first of these is behind it. `ALONE` if there is no second.
    last: u32,
    /// The units that the results come from, a bit each.
    units: u32,
}

impl Bucket {
    const EMPTY: Bucket = {
        let nothing = Done {
            slot: 0,
            slices: 0,
            pc: 0,
        };
        Bucket {
            first: nothing,
            second: nothing,
            last: ALONE,
            units: 0,
        }
    };
}

/// A ring of cycles, as many as the launch needs and at most `HORIZON`. Results of a cycle are
/// linked in the order they were booked; nodes are reused. In every cycle it is another bucket,
/// so they are small and no more than needed: the host's cache is to hold those of every SM.
#[derive(Debug)]
#[repr(C)]
pub struct Results {
    buckets: Box<[Bucket; Results::HORIZON]>,
    /// Results, each with the node behind it.
    nodes: Vec<(Done, u32)>,
    free: u32,
    /// The first booked cycle; never, if there is none.
    next: Cycle,
    /// Cycles of the ring, less one: a power of two and a multiple of the bits of a word.
    mask: u64,
    /// Cycles with results, a bit each.
    occupied: [u64; Results::HORIZON / 64],
}

impl Results {
    /// Longest time ahead that can be booked, ever; above every configured latency.
    pub const HORIZON: usize = 1024;

    /// Nothing under way.
    pub fn new() -> Results {
        Results {
            buckets: Box::new([Bucket::EMPTY; Results::HORIZON]),
            nodes: Vec::new(),
            free: NONE,
            occupied: [0; Results::HORIZON / 64],
            next: Cycle::NEVER,
            mask: Results::HORIZON as u64 - 1,
        }
    }

    /// From now on nothing is booked more than `ahead` cycles ahead. Changes nothing while results
    /// are under way.
    pub fn look_ahead(&mut self, ahead: u64) {
        if self.next == Cycle::NEVER {
            let cycles = (ahead + 1).next_power_of_two();
            self.mask = cycles.clamp(64, Results::HORIZON as u64) - 1;
        }
    }

    /// Where in the ring a cycle is.
    #[inline(always)]
    pub fn place(&self, at: Cycle) -> usize {
        (at.get() & self.mask) as usize % Results::HORIZON
    }

    /// Claims the cycle at a place in the ring, as far ahead as was said at most, for results of a unit, if no other
    /// result of that unit has it and fewer than `most` of the units that share its buses (a bit each) do;
    /// says whether. The caller that has claimed it books the result.
    #[inline]
    pub fn claim(&mut self, place: usize, unit: usize, bus: u32, most: u32) -> bool {
        let units = &mut self.buckets[place % Results::HORIZON].units;
        // Most often no unit has it.
        if *units != 0 && (*units >> unit & 1 != 0 || (*units & bus).count_ones() >= most) {
            return false;
        }
        *units |= 1 << unit;
        true
    }

    /// Claims the cycle `at`, which is at this place in the ring, as [`claim`](Results::claim) does, and books `done` for
    /// it; says whether.
    #[inline(always)]
    pub fn book(
        &mut self,
        place: usize,
        at: Cycle,
        unit: usize,
        bus: u32,
        most: u32,
        done: Done,
    ) -> bool {
        let b = place % Results::HORIZON;
        let bucket = &mut self.buckets[b];
        if bucket.units != 0 {
            return self.book_beside(place, unit, bus, most, done);
        }
        // Most often no unit has it.
        bucket.units = 1 << unit;
        bucket.first = done;
        self.occupied[b / 64] |= 1 << (b % 64);
        self.next = self.next.min(at);
        true
    }

    /// [Books](Results::book) a result in a cycle in which a unit has its place already.
    #[inline(always)]
    fn book_beside(&mut self, place: usize, unit: usize, bus: u32, most: u32, done: Done) -> bool {
        let claims = self.claim(place, unit, bus, most);
        if claims {
            self.push_beside(place % Results::HORIZON, done);
        }
        claims
    }

    /// Claims cycle `at` for a result of each of these units (a bit each), if none of them has one
    /// then; says whether. They share no bus with others that could take all of it.
    #[inline]
    pub fn claim_all(&mut self, at: Cycle, claimed: u32) -> bool {
        let units = &mut self.buckets[self.place(at)].units;
        let free = *units & claimed == 0;
        if free {
            *units |= claimed;
        }
        free
    }

    /// Books `done` for cycle `at`, as far ahead as was said at most.
    #[inline]
    pub fn push(&mut self, at: Cycle, done: Done) {
        let b = self.place(at);
        let (word, bit) = (&mut self.occupied[b / 64], 1 << (b % 64));
        if *word & bit == 0 {
            *word |= bit;
            self.buckets[b].first = done;
            self.next = self.next.min(at);
        } else {
            self.push_beside(b, done);
        }
    }

    /// Adds a result to a cycle that has one.
    #[inline(always)]
    fn push_beside(&mut self, b: usize, done: Done) {
        let bucket = &mut self.buckets[b];
        if bucket.last == ALONE {
            bucket.second = done;
            bucket.last = NONE;
        } else {
            self.push_behind(b, done);
        }
    }

    /// Adds a result to a cycle that has two already.
    #[inline(never)]
    fn push_behind(&mut self, b: usize, done: Done) {
        if self.free == NONE {
            self.free = self.nodes.len() as u32;
            self.nodes.push((done, NONE));
        }
        let node = self.free;
        self.free = self.nodes[node as usize].1;
        let last = std::mem::replace(&mut self.buckets[b].last, node);
        let first = match last {
            NONE => node,
            _ => std::mem::replace(&mut self.nodes[last as usize].1, node),
        };
        self.nodes[node as usize] = (done, first);
    }

    /// The next of what is booked for `now`.
    #[inline]
    pub fn peek(&self, now: Cycle) -> Option<Done> {
        (self.next == now).then(|| self.buckets[self.place(now)].first)
    }

    /// Takes the next of what is booked for `now`.
    #[inline]
    pub fn pop(&mut self, now: Cycle) -> Option<Done> {
        if self.next != now {
            return None;
        }
        let b = self.place(now);
        let bucket = &mut self.buckets[b];
        let done = bucket.first;
        if bucket.last == ALONE {
            bucket.units = 0;
            self.occupied[b / 64] &= !(1 << (b % 64));
            self.next = self.first_booked(now + 1);
            return Some(done);
        }
        bucket.first = bucket.second;
        match bucket.last {
            NONE => bucket.last = ALONE,
            _ => self.move_up(b),
        }
        Some(done)
    }

    /// The third result of a cycle is its second now.
    #[inline(never)]
    fn move_up(&mut self, b: usize) {
        let bucket = &mut self.buckets[b];
        let last = bucket.last;
        let first = self.nodes[last as usize].1;
        let (done, next) = self.nodes[first as usize];
        bucket.second = done;
        self.nodes[first as usize].1 = self.free;
        self.free = first;
        if first == last {
            bucket.last = NONE;
        } else {
            self.nodes[last as usize].1 = next;
        }
    }

    /// The first booked cycle.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.next
    }

    /// The first booked cycle at or after `now`: most often it is near.
    #[inline]
    fn first_booked(&self, now: Cycle) -> Cycle {
        let start = self.place(now);
        let near = self.occupied[start / 64] >> (start % 64);
        if near != 0 {
            return now + near.trailing_zeros() as u64;
        }
        self.search_booked(now)
    }

    #[inline(never)]
    fn search_booked(&self, now: Cycle) -> Cycle {
        let start = self.place(now);
        let cycles = self.mask as usize + 1;
        let words = cycles / 64;
        for i in 0..=words {
            let w = (start / 64 + i) % words;
            let mut bits = self.occupied[w];
            if i == 0 {
                bits &= !0 << (start % 64);
            } else if i == words {
                bits &= !(!0 << (start % 64));
            }
            if bits != 0 {
                let b = w * 64 + bits.trailing_zeros() as usize;
                return now + ((b + cycles - start) % cycles) as u64;
            }
        }
        Cycle::NEVER
    }
}

impl Default for Results {
    fn default() -> Self {
        Results::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_out_in_their_cycle_and_the_next_one_is_known() {
        let mut results = Results::new();
        let done = |pc| Done::alone(1, pc);
        results.push(Cycle::new(1000), done(1));
        results.push(Cycle::new(1030), done(2));
        results.push(Cycle::new(1030), done(3));
        assert_eq!(results.next(), Cycle::new(1000));
        assert_eq!(results.pop(Cycle::new(999)), None);
        assert_eq!(results.pop(Cycle::new(1000)), Some(done(1)));
        assert_eq!(results.pop(Cycle::new(1000)), None);
        assert_eq!(results.next(), Cycle::new(1030));
        assert_eq!(results.pop(Cycle::new(1030)), Some(done(2)));
        assert_eq!(results.peek(Cycle::new(1030)), Some(done(3)));
        assert_eq!(results.peek(Cycle::new(1031)), None);
        assert_eq!(results.pop(Cycle::new(1030)), Some(done(3)));
        assert_eq!(results.next(), Cycle::NEVER);
    }

    #[test]
    fn next_looks_around_the_whole_ring() {
        let mut results = Results::new();
        results.push(Cycle::new(64 * 5 + 3 + 1000), Done::alone(0, 0));
        assert_eq!(results.next(), Cycle::new(64 * 5 + 1003));
    }

    #[test]
    fn a_short_ring_goes_around_where_results_are_near() {
        let mut results = Results::new();
        results.look_ahead(63);
        for now in (0..1000).step_by(61).map(Cycle::new) {
            results.push(now + 63, Done::alone(0, 2));
            results.push(now + 1, Done::alone(0, 1));
            assert_eq!(results.next(), now + 1);
            assert_eq!(results.peek(now + 1), Some(Done::alone(0, 1)));
            assert_eq!(results.pop(now + 1), Some(Done::alone(0, 1)));
            assert_eq!(results.peek(now + 63), Some(Done::alone(0, 2)));
            assert_eq!(results.next(), now + 63);
            assert_eq!(results.pop(now + 63), Some(Done::alone(0, 2)));
            assert_eq!(results.next(), Cycle::NEVER);
        }
    }

    #[test]
    fn a_ring_with_results_under_way_stays_as_long_as_it_is() {
        let mut results = Results::new();
        results.push(Cycle::new(500), Done::alone(0, 1));
        results.look_ahead(10);
        results.push(Cycle::new(500 + 64), Done::alone(0, 2));
        assert_eq!(results.pop(Cycle::new(500)), Some(Done::alone(0, 1)));
        assert_eq!(results.pop(Cycle::new(500)), None);
        assert_eq!(results.next(), Cycle::new(564));
    }
}
