//! A slice of the L2: sectored, write-back, with byte masks.
//!
//! A request arrives from the network, waits the partition's fixed delay, and is served one
//! sector per cycle in order of arrival. A write takes its place without a fetch; a sector that
//! was written in part is fetched when a request reads it. An access that cannot proceed (no
//! MSHR, no place in the miss queue, every way waiting for a fill) holds up those behind it.
//! Atomics are performed when the slice serves them, hit or miss, which makes their order the
//! order of arrival; only the reply waits for a fetch. A prefetch fetches its sector if there is room, and is given up
//! if there is none.

mod arrivals;
pub mod entrance;
mod prefetch;
mod serve;

use crate::address_map::AddressMap;
use crate::cache::mshr::{Fetch, MshrTable};
use crate::cache::tags::{Geometry, SetIndex, TagArray};
use crate::clock::Clock;
use crate::dram::DramRequest;
use crate::dram::channel::Channel;
use crate::history::History;
use crate::inflight::{Inflight, InflightTable, Piece};
use crate::network::crossbar::Crossbar;
use crate::packet::{LARGEST_REQUEST, PacketSize, Reply, RequestKind, Traffic};
use crate::replacement::{self, Replacement};
use crate::ring::Ring;
use crate::stats::MemoryStats;
use crate::time::{Cycle, Tick};
use crate::wake::WakeList;
use arrivals::ArrivalQueue;
use warpsim_machine::Machine;

/// Core cycles from serving an access to its reply entering the network.
pub const REPLY_CYCLES: u64 = 1;

/// What a slice works with and does not own.
pub struct Surroundings<'a> {
    /// Requests on their way.
    pub inflight: &'a mut InflightTable,
    /// The network back to the SMs; the slice's number is its input.
    pub replies: &'a mut Crossbar<Reply>,
    /// The first network tick in which a reply sent now may leave.
    pub reply_tick: Tick,
    /// The network tick as of which there has to be room for a reply.
    pub room_tick: Tick,
    /// Network and L2 have a tick every core cycle.
    pub lockstep: bool,
    /// All memory channels, and the ticks in which they have something to do.
    pub channels: &'a mut [Channel],
    /// See `channels`.
    pub channels_next: &'a mut WakeList<Tick>,
    /// The first DRAM tick in which a channel may see a request sent now.
    pub dram_tick: Tick,
    /// DRAM's clock.
    pub dram: Clock,
    /// Counters.
    pub stats: &'a mut MemoryStats,
    /// Performs an atomic: SM and token.
    pub perform_atomic: &'a mut dyn FnMut(u16, u32),
    /// Size of packets.
    pub packets: &'a PacketSize,
}

/// What became of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Hit,
    Miss,
    Merge,
    /// The access must wait for a place in the miss queue.
    NoPlace,
    /// The access must wait for a fill, which frees an MSHR, a waiter's place or a way.
    NoEntry,
}

/// Since when and why the head of the queue cannot be served.
#[derive(Clone, Copy, Debug)]
struct Stall {
    since: Cycle,
    cause: Outcome,
    traffic: Traffic,
    kind: RequestKind,
}

/// An L2 slice.
#[derive(Debug)]
pub struct Slice {
    number: u32,
    channel: usize,
    /// The slice's number among the slices of its channel.
    in_channel: u16,
    map: AddressMap,
    latency: u64,
    miss_places: usize,
    line: u64,
    sector: u32,
    partial_stores_add_up: bool,
    upper_half_stores_lose_mask: bool,
    tags: TagArray,
    mshrs: MshrTable,
    arrivals: ArrivalQueue,
    /// Sectors of the largest request.
    largest_pieces: usize,
    misses: Ring<DramRequest>,
    /// The channel has room for another request. (It says so when it has again.)
    dram_has_room: bool,
    /// Fetched sectors that have arrived from DRAM, or when they will; and the cycle of the first.
    fills: Ring<(Cycle, Fetch)>,
    fill_at: Cycle,
    stall: Option<Stall>,
    /// When the slice had room for requests, as far as the network that sends them has not heard: the slice is simulated ahead of it. Room is made by
    /// serving and taken by pieces that join the queue; requests that arrive take none until their delay is over. So the network can be told
    /// whether requests would have had to wait.
    room: History,
}

impl Slice {
    /// Slice `number` of the machine, empty.
    pub fn new(machine: &Machine, map: AddressMap, number: u32) -> Slice {
        let l2 = &machine.l2;
        let geometry = Geometry {
            sets: l2.sets,
            ways: l2.ways,
            line: l2.line,
            sector: l2.sector,
            index: SetIndex::Modulo,
        };
        let policy = replacement::make(&l2.replacement, l2.sets, l2.ways);
        let tags = TagArray::with(geometry, policy);
        Slice {
            number,
            channel: (number / l2.slices_per_channel.max(1)) as usize,
            in_channel: (number % l2.slices_per_channel.max(1)) as u16,
            map,
            latency: u64::from(l2.latency),
            miss_places: l2.miss_queue as usize,
            line: u64::from(l2.line),
            sector: l2.sector,
            partial_stores_add_up: l2.partial_stores_add_up,
            upper_half_stores_lose_mask: l2.upper_half_stores_lose_mask,
            mshrs: MshrTable::new(l2.mshrs, l2.merges, tags.places()),
            tags,
            arrivals: ArrivalQueue::new(l2.queue as usize),
            largest_pieces: (LARGEST_REQUEST / l2.sector.max(1)).max(1) as usize,
            misses: Ring::new(),
            dram_has_room: true,
            fills: Ring::new(),
            fill_at: Cycle::NEVER,
            stall: None,
            room: History::new(true),
        }
    }

    /// Puts a replacement policy for so many sets and ways in place of the configured one, before anything is looked up.
    pub fn replace_policy(&mut self, make: &dyn Fn(usize, usize) -> Box<dyn Replacement>) {
        let (sets, ways) = self.tags.shape();
        self.tags.decide_by(make(sets, ways));
    }

    /// When the slice had room for requests; the caller takes the entries out.
    #[inline]
    pub fn room(&mut self) -> &mut History {
        &mut self.room
    }

    /// An entrance has admitted a request, whose delay ends in core cycle `ready`.
    #[inline]
    pub fn take_in(&mut self, ready: Cycle, index: u32, entry: &Inflight) {
        self.arrivals.push(ready, index, entry);
    }

    /// A fetched sector arrives from DRAM in core cycle `at`, behind all others.
    #[inline]
    pub fn fill(&mut self, at: Cycle, fetch: Fetch) {
        self.fill_at = self.fill_at.min(at);
        self.fills.push_back((at, fetch));
    }

    /// The channel, which had none, has room for another request.
    #[inline]
    pub fn may_send_to_dram(&mut self) {
        self.dram_has_room = true;
    }

    /// A copy from outside leaves the sectors of these bytes, which lie in one line, valid.
    pub fn install(&mut self, local: u64, bytes: u64) {
        self.tags.install(local, bytes);
    }

    /// Forgets all lines.
    pub fn invalidate(&mut self) {
        if !self.mshrs.is_empty() {
            self.mshrs.lose(self.tags.pending_places());
        }
        self.tags.invalidate_all();
    }

    /// Nothing queued and nothing on its way from DRAM.
    pub fn is_empty(&self) -> bool {
        self.arrivals.len() == 0
            && self.misses.is_empty()
            && self.fills.is_empty()
            && self.mshrs.is_empty()
    }

    /// What is waiting where, for a report on a deadlock, with `outside` requests before the slice of which it does not know.
    pub fn describe(&self, outside: usize) -> String {
        let stall = match self.stall {
            Some(s) => format!(
                ", head ({:?} {:?}) stalled since cycle {}: {:?}",
                s.traffic, s.kind, s.since, s.cause
            ),
            None => String::new(),
        };
        format!(
            "{} requests at the entrance, {} arrived, {} sectors queued, {} misses to send, {} MSHRs in use, {} fills{stall}",
            outside,
            self.arrivals.len(),
            self.arrivals.queued(),
            self.misses.len(),
            self.mshrs.used(),
            self.fills.len()
        )
    }

    /// Runs one L2 clock, `tick`, in core cycle `cycle`, and those behind it that are foreseen. Returns the
    /// earliest core cycle in which there is something to do, if only in the next clock.
    #[inline]
    pub fn step(&mut self, cycle: Cycle, tick: Tick, around: &mut Surroundings) -> Cycle {
        if self.deals_with_dram(cycle) {
            self.step_dram(cycle, around);
        }
        let mut served = 0;
        if self.stall.is_none()
            && self.dram_has_room
            && let Some(head) = self.arrivals.head()
        {
            let room = self.reply_room(around);
            if room >= around.packets.largest_reply {
                served = self.serve(cycle, &head, room, around);
            }
        }
        let next = cycle + u64::from(served.max(1));
        if served > 1 {
            self.arrivals.pass(cycle, next, self.sector);
        } else {
            if served == 1 {
                self.arrivals.pop(self.sector);
            }
            if self.arrivals.next() <= cycle {
                self.arrivals.join();
            }
        }
        self.room
            .note(tick + 1, self.arrivals.has_room(self.largest_pieces));
        if self.has_work() {
            return next;
        }
        // Whatever ends a stall, or makes room in the queue to DRAM, wakes the slice; until then its own queue has no more room.
        self.arrivals.next().min(self.fill_at).max(next)
    }

    /// Another clock may do more than let a piece join the queue.
    #[inline]
    fn has_work(&self) -> bool {
        let serves = (self.arrivals.queued() > 0) & self.stall.is_none();
        self.mshrs.has_ready() | (self.dram_has_room & (serves | !self.misses.is_empty()))
    }

    /// There are fetched sectors or requests that waited for them, or requests to send to DRAM.
    #[inline]
    fn deals_with_dram(&self, cycle: Cycle) -> bool {
        // One branch for the three.
        self.mshrs.has_ready() | (self.fill_at <= cycle) | !self.misses.is_empty()
    }

    /// Flits of replies that the queue to the network can take.
    #[inline(always)]
    fn reply_room(&self, around: &Surroundings) -> u32 {
        around.replies.free(self.number as usize, around.room_tick)
    }

    /// What a clock does with DRAM: one reply that waited for a fetch, one fetched sector in,
    /// one request out.
    #[inline(always)] // its one caller is the clock of a slice
    fn step_dram(&mut self, cycle: Cycle, around: &mut Surroundings) {
        if self.mshrs.has_ready()
            && self.reply_room(around) >= around.packets.largest_reply
            && let Some(token) = self.mshrs.pop_ready()
        {
            self.reply(Piece(token), around.reply_tick, around);
            self.resume(cycle, Outcome::NoEntry, around.stats);
        }
        if self.fill_at <= cycle
            && let Some((_, fetch)) = self.fills.pop_front()
        {
            self.fill_at = self.fills.front().map_or(Cycle::NEVER, |&(at, _)| at);
            if let Some(place) = self.mshrs.fill(fetch) {
                self.tags.fill_place(place);
            }
            self.resume(cycle, Outcome::NoEntry, around.stats);
        }
        if self.dram_has_room
            && let Some(miss) = self.misses.pop_front()
        {
            let channel = &mut around.channels[self.channel];
            self.dram_has_room = channel.push(around.dram_tick, miss);
            around.channels_next.lower(self.channel, around.dram_tick);
            self.resume(cycle, Outcome::NoPlace, around.stats);
        }
    }

    /// Something that an access stalled by `cause` waits for has happened.
    #[inline]
    fn resume(&mut self, cycle: Cycle, cause: Outcome, stats: &mut MemoryStats) {
        if let Some(stall) = self.stall
            && stall.cause == cause
        {
            stats.l2_mut(stall.traffic, stall.kind).stall_cycles += cycle - stall.since;
            self.stall = None;
        }
    }

    #[inline(never)] // at each of its places it would take more than it saves
    fn reply(&mut self, piece: Piece, tick: Tick, around: &mut Surroundings) {
        if let Some((sm, reply)) = around.inflight.answer(piece) {
            let (input, output) = (self.number as usize, usize::from(sm));
            let flits = around.packets.reply(&reply);
            around.replies.push(input, tick, output, flits, reply);
        }
    }

    /// Replies to so many pieces of a request, a tick behind each other.
    #[inline]
    fn reply_to_several(&mut self, first: Piece, pieces: u32, around: &mut Surroundings) {
        let packets = around.packets;
        let (sm, replies) = around.inflight.answer_several(first, pieces);
        let replies = replies.map(|(behind, reply)| (behind, packets.reply(&reply), reply));
        let (input, output) = (self.number as usize, usize::from(sm));
        around
            .replies
            .push_several(input, around.reply_tick, output, replies);
    }
}
