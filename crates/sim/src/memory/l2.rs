//! A slice of the L2: sectored, write-back, with byte masks.
//!
//! A request arrives from the network, waits the partition's fixed delay, and is served a
//! sector a cycle in order of arrival. A write takes its place without a fetch; a sector that
//! was written in part is fetched when somebody reads it. An access that cannot proceed (no
//! MSHR, no place in the miss queue, every way waiting for a fill) holds up those behind it.
//! Atomics are performed when the slice serves them, hit or miss, which makes their order the
//! order of arrival; only the reply waits for a fetch.

use super::address_map::{AddressMap, Location};
use super::channel::Channel;
use super::divide::Divisor;
use super::dram::DramRequest;
use super::inflight::{InflightTable, Piece};
use super::interconnect::Crossbar;
use super::mshr::{Admission, MshrTable};
use super::packet::{Reply, RequestKind, Traffic};
use super::stats::MemoryStats;
use super::tags::{Evicted, Geometry, Lookup, SetIndex, Slot, TagArray};
use super::wake::WakeList;
use crate::config::Machine;
use std::collections::VecDeque;

/// Core cycles from serving an access to its reply entering the network.
pub const REPLY_CYCLES: u64 = 1;

/// Places of the miss queue that an access needs: a fetch may bring a write-back with it.
const PLACES_FOR_FETCH: usize = 2;
const PLACES_FOR_WRITE: usize = 1;

/// What a slice works with that is not its own.
pub struct Surroundings<'a> {
    /// Requests on their way.
    pub inflight: &'a mut InflightTable,
    /// The network back to the SMs; the slice's number is its input.
    pub replies: &'a mut Crossbar<Reply>,
    /// The first network tick in which a reply sent now may leave.
    pub reply_tick: u64,
    /// All memory channels, and the cycles in which they have something to do.
    pub channels: &'a mut [Channel],
    /// See `channels`.
    pub channel_wakes: &'a mut WakeList,
    /// The first DRAM tick in which a channel may see a request sent now.
    pub dram_tick: u64,
    /// Counters.
    pub stats: &'a mut MemoryStats,
    /// Performs an atomic: SM and token.
    pub perform_atomic: &'a mut dyn FnMut(u16, u32),
    /// Size of packets.
    pub packets: &'a PacketSize,
}

/// Size of packets.
#[derive(Clone, Copy, Debug)]
pub struct PacketSize {
    /// Header bytes.
    pub header: u32,
    /// Bytes a flit.
    pub flit: Divisor,
    /// Flits of the largest reply.
    pub largest_reply: u32,
}

impl PacketSize {
    fn reply(&self, reply: &Reply) -> u32 {
        let data = match reply.kind {
            RequestKind::Write => 0,
            _ => u32::from(reply.bytes),
        };
        self.flits(data)
    }

    /// Flits of a packet with so much data.
    #[inline]
    pub fn flits(&self, data: u32) -> u32 {
        (self.flit.divide_up(u64::from(self.header + data)) as u32).max(1)
    }
}

/// What became of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Hit,
    Miss,
    Merge,
    /// It must wait for a place in the miss queue.
    NoPlace,
    /// It must wait for a fill, for the sake of an MSHR, a waiter's place or a way.
    NoEntry,
}

/// Since when and why the head of the queue cannot be served.
#[derive(Clone, Copy, Debug)]
struct Stall {
    since: u64,
    cause: Outcome,
    traffic: Traffic,
    kind: RequestKind,
}

/// A request that has arrived.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// The core cycle in which the fixed delay ends.
    ready: u64,
    index: u32,
    pieces: u32,
}

/// Arrived requests in order. A request's pieces join the input queue one a cycle once its
/// delay is over, and are served from there, so both are positions in the one list.
#[derive(Clone, Debug, Default)]
struct ArrivalQueue {
    requests: VecDeque<Arrival>,
    /// Pieces in the input queue.
    queued: usize,
    /// The request whose pieces join next, and how many have.
    joining: usize,
    joined: u32,
    /// Pieces of the first request that have been served.
    served: u32,
}

impl ArrivalQueue {
    /// The core cycle from which another piece may join.
    fn next_ready(&self) -> Option<u64> {
        self.requests.get(self.joining).map(|a| a.ready)
    }

    /// Lets the next piece join.
    fn join(&mut self) {
        self.queued += 1;
        self.joined += 1;
        if self.joined == self.requests[self.joining].pieces {
            (self.joining, self.joined) = (self.joining + 1, 0);
        }
    }

    /// The piece at the head of the input queue.
    fn head(&self) -> Option<Piece> {
        if self.queued == 0 {
            return None;
        }
        let first = self.requests.front()?;
        Some(Piece::new(first.index, self.served))
    }

    /// The head has been served.
    fn pop(&mut self) {
        self.queued -= 1;
        self.served += 1;
        if self
            .requests
            .front()
            .is_some_and(|a| a.pieces == self.served)
        {
            self.requests.pop_front();
            self.joining -= 1;
            self.served = 0;
        }
    }
}

/// An L2 slice.
#[derive(Clone, Debug)]
pub struct Slice {
    number: u32,
    channel: usize,
    /// Its number among the slices of its channel.
    in_channel: u16,
    map: AddressMap,
    latency: u64,
    queue: usize,
    miss_places: usize,
    line: u64,
    sector: u32,
    tags: TagArray,
    mshrs: MshrTable,
    arrivals: ArrivalQueue,
    misses: VecDeque<DramRequest>,
    fills: VecDeque<u64>,
    stall: Option<Stall>,
}

impl Slice {
    /// Slice `number` of the machine, empty.
    pub fn new(machine: &Machine, map: AddressMap, number: u32) -> Slice {
        let l2 = &machine.l2;
        Slice {
            number,
            channel: (number / l2.slices_per_channel.max(1)) as usize,
            in_channel: (number % l2.slices_per_channel.max(1)) as u16,
            map,
            latency: u64::from(l2.latency),
            queue: l2.queue as usize,
            miss_places: l2.miss_queue as usize,
            line: u64::from(l2.line),
            sector: l2.sector,
            tags: TagArray::new(Geometry {
                sets: l2.sets,
                ways: l2.ways,
                line: l2.line,
                sector: l2.sector,
                index: SetIndex::Modulo,
            }),
            mshrs: MshrTable::new(l2.mshrs, l2.merges),
            arrivals: ArrivalQueue::default(),
            misses: VecDeque::new(),
            fills: VecDeque::new(),
            stall: None,
        }
    }

    /// The slice can take another request from the network, of up to `pieces` sectors.
    pub fn has_room(&self, pieces: usize) -> bool {
        self.arrivals.queued + pieces <= self.queue
    }

    /// A request has arrived from the network in core cycle `cycle`; it is broken into
    /// sectors here. Returns the cycle in which the slice has something to do with it.
    pub fn arrive(&mut self, cycle: u64, index: u32, pieces: u32) -> u64 {
        let ready = cycle + self.latency;
        self.arrivals.requests.push_back(Arrival {
            ready,
            index,
            pieces,
        });
        ready
    }

    /// A fetched sector has arrived from DRAM.
    pub fn fill(&mut self, local: u64) {
        self.fills.push_back(local);
    }

    /// A copy from outside leaves the sectors of these bytes, which lie in one line, valid.
    pub fn install(&mut self, local: u64, bytes: u64) {
        self.tags.install(local, bytes);
    }

    /// Forgets all lines.
    pub fn invalidate(&mut self) {
        self.tags.invalidate_all();
    }

    /// Nothing queued and nothing on its way from DRAM.
    pub fn is_empty(&self) -> bool {
        self.arrivals.requests.is_empty()
            && self.misses.is_empty()
            && self.fills.is_empty()
            && self.mshrs.is_empty()
    }

    /// What is waiting where, for a report on a deadlock.
    pub fn describe(&self) -> String {
        let stall = match self.stall {
            Some(s) => format!(
                ", head ({:?} {:?}) stalled since cycle {}: {:?}",
                s.traffic, s.kind, s.since, s.cause
            ),
            None => String::new(),
        };
        format!(
            "{} requests arrived, {} sectors queued, {} misses to send, {} MSHRs in use, {} fills{stall}",
            self.arrivals.requests.len(),
            self.arrivals.queued,
            self.misses.len(),
            self.mshrs.used(),
            self.fills.len()
        )
    }

    /// Runs one L2 clock in core cycle `cycle`. Returns the earliest core cycle in which there
    /// is something to do: `cycle + 1` for the next clock, `u64::MAX` for nothing.
    pub fn step(&mut self, cycle: u64, around: &mut Surroundings) -> u64 {
        let largest = around.packets.largest_reply;
        let slice = self.number as usize;
        if self.mshrs.has_ready()
            && around.replies.free(slice) >= largest
            && let Some((_, token)) = self.mshrs.pop_ready()
        {
            self.reply(Piece(token), around);
            self.resume(cycle, Outcome::NoEntry, around.stats);
        }
        if let Some(sector) = self.fills.pop_front() {
            self.tags.fill(sector);
            self.mshrs.fill(sector);
            self.resume(cycle, Outcome::NoEntry, around.stats);
        }
        let channel = &mut around.channels[self.channel];
        if !self.misses.is_empty()
            && channel.has_room(usize::from(self.in_channel))
            && let Some(miss) = self.misses.pop_front()
        {
            channel.push(around.dram_tick, miss);
            around.channel_wakes.by(self.channel, cycle + 1);
            self.resume(cycle, Outcome::NoPlace, around.stats);
        }
        if self.stall.is_none()
            && let Some(piece) = self.arrivals.head()
        {
            if around.replies.free(slice) < largest {
                around.stats.l2_reply_full += 1;
            } else if !around.channels[self.channel].has_room(usize::from(self.in_channel)) {
                around.stats.l2_dram_full += 1;
            } else {
                self.serve(cycle, piece, around);
            }
        }
        if self.arrivals.queued < self.queue
            && let Some(ready) = self.arrivals.next_ready()
            && ready <= cycle
        {
            self.arrivals.join();
        }
        self.next(cycle)
    }

    fn next(&self, cycle: u64) -> u64 {
        let busy = (self.arrivals.queued > 0 && self.stall.is_none())
            || !self.fills.is_empty()
            || !self.misses.is_empty()
            || self.mshrs.has_ready();
        if busy {
            return cycle + 1;
        }
        match self.arrivals.next_ready() {
            Some(ready) if self.arrivals.queued < self.queue => ready.max(cycle + 1),
            // Whatever ends the stall wakes the slice.
            _ => u64::MAX,
        }
    }

    /// Something that an access stalled by `cause` waits for has happened.
    fn resume(&mut self, cycle: u64, cause: Outcome, stats: &mut MemoryStats) {
        if let Some(stall) = self.stall
            && stall.cause == cause
        {
            stats.l2_mut(stall.traffic, stall.kind).stall_cycles += cycle - stall.since;
            self.stall = None;
        }
    }

    fn reply(&mut self, piece: Piece, around: &mut Surroundings) {
        if let Some((sm, reply)) = around.inflight.answer(piece) {
            around.replies.push(
                self.number as usize,
                around.reply_tick,
                usize::from(sm),
                around.packets.reply(&reply),
                reply,
            );
        }
    }

    /// Serves the head of the queue, or stalls.
    fn serve(&mut self, cycle: u64, piece: Piece, around: &mut Surroundings) {
        let request = &around.inflight.get(piece.request()).request;
        let (kind, traffic) = (request.kind, request.traffic);
        let (sm, token) = (request.sm, request.token);
        let sector = around.inflight.sector(piece);
        let outcome = match kind {
            RequestKind::Write => self.write(piece, sector, around),
            _ => self.read(piece, sector, kind, around),
        };
        let counters = around.stats.l2_mut(traffic, kind);
        match outcome {
            Outcome::Hit => counters.hits += 1,
            Outcome::Miss => counters.misses += 1,
            Outcome::Merge => counters.merges += 1,
            cause @ (Outcome::NoPlace | Outcome::NoEntry) => {
                self.stall = Some(Stall {
                    since: cycle,
                    cause,
                    traffic,
                    kind,
                });
                return;
            }
        }
        counters.accesses += 1;
        self.arrivals.pop();
        if kind == RequestKind::Atomic {
            around.stats.atomics += 1;
            (around.perform_atomic)(sm, token);
        }
    }

    /// A read or an atomic.
    fn read(
        &mut self,
        piece: Piece,
        sector: u64,
        kind: RequestKind,
        around: &mut Surroundings,
    ) -> Outcome {
        let found = self.tags.lookup(sector);
        let slot = match found {
            Lookup::Blocked => return Outcome::NoEntry,
            Lookup::Hit(slot) => {
                self.tags.touch(slot);
                self.dirtied(slot, sector, kind);
                self.reply(piece, around);
                return Outcome::Hit;
            }
            Lookup::Pending(slot) => {
                if self.mshrs.add(sector, piece.0) != Admission::Merge {
                    return Outcome::NoEntry;
                }
                self.tags.touch(slot);
                self.dirtied(slot, sector, kind);
                return Outcome::Merge;
            }
            Lookup::PartlyWritten(slot) | Lookup::SectorMiss(slot) | Lookup::Miss(slot) => slot,
        };
        if !self.miss_room(PLACES_FOR_FETCH) {
            return Outcome::NoPlace;
        }
        if self.mshrs.admit(sector) != Admission::Fresh {
            return Outcome::NoEntry;
        }
        self.mshrs.add_fresh(sector, piece.0);
        let evicted = self.claim(slot, sector, found);
        self.tags.reserve(slot, sector);
        self.dirtied(slot, sector, kind);
        let fetch = self.dram_request(sector, self.sector, false);
        self.misses.push_back(fetch);
        self.write_back(evicted, around.stats);
        Outcome::Miss
    }

    /// An atomic leaves its sector newer than memory.
    fn dirtied(&mut self, slot: Slot, sector: u64, kind: RequestKind) {
        if kind == RequestKind::Atomic {
            self.tags.dirty(slot, sector);
        }
    }

    /// A write. The acknowledgement is sent at once.
    fn write(&mut self, piece: Piece, sector: u64, around: &mut Surroundings) -> Outcome {
        let found = self.tags.lookup(sector);
        let (slot, outcome) = match found {
            Lookup::Blocked => return Outcome::NoEntry,
            Lookup::Miss(_) if !self.miss_room(PLACES_FOR_WRITE) => return Outcome::NoPlace,
            Lookup::Miss(slot) | Lookup::SectorMiss(slot) => (slot, Outcome::Miss),
            Lookup::Hit(slot) | Lookup::PartlyWritten(slot) => (slot, Outcome::Hit),
            Lookup::Pending(slot) => (slot, Outcome::Merge),
        };
        let evicted = self.claim(slot, sector, found);
        let bytes = around.inflight.written(piece) << (sector & (self.line - 1));
        self.tags.write(slot, sector, bytes);
        self.write_back(evicted, around.stats);
        self.reply(piece, around);
        outcome
    }

    fn miss_room(&self, places: usize) -> bool {
        // A queue of one place must still let a fetch through.
        self.misses.len() + places.min(self.miss_places.max(1)) <= self.miss_places.max(1)
    }

    /// Makes the slot the most recently used and, on a miss, the line's.
    fn claim(&mut self, slot: Slot, local: u64, found: Lookup) -> Option<Evicted> {
        if matches!(found, Lookup::Miss(_)) {
            return self.tags.replace(slot, local);
        }
        self.tags.touch(slot);
        None
    }

    fn write_back(&mut self, evicted: Option<Evicted>, stats: &mut MemoryStats) {
        if let Some(evicted) = evicted {
            stats.l2_write_backs += 1;
            let bytes = evicted.dirty_sectors.count_ones() * self.sector;
            let request = self.dram_request(evicted.addr, bytes, true);
            self.misses.push_back(request);
        }
    }

    fn dram_request(&self, local: u64, bytes: u32, write: bool) -> DramRequest {
        let at = self.map.dram(Location {
            slice: self.number,
            local,
        });
        DramRequest {
            slice: self.in_channel,
            bank: at.bank as u16,
            row: at.row,
            write,
            bytes: bytes as u16,
            local,
        }
    }
}
