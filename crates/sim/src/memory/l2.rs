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
use super::dram::DramRequest;
use super::inflight::{InflightTable, Piece};
use super::interconnect::Crossbar;
use super::mshr::{Admission, MshrTable};
use super::packet::{Reply, Request, RequestKind, Traffic};
use super::stats::MemoryStats;
use super::tags::{Evicted, Geometry, Lookup, SetIndex, Slot, TagArray};
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
    /// The slice's memory channel.
    pub channel: &'a mut Channel,
    /// The cycle in which the channel has something to do.
    pub channel_wake: &'a mut u64,
    /// Counters.
    pub stats: &'a mut MemoryStats,
    /// Performs an atomic: SM and token.
    pub perform_atomic: &'a mut dyn FnMut(u16, u32),
    /// Flits of a reply.
    pub reply_flits: ReplyFlits,
}

/// Size of reply packets.
#[derive(Clone, Copy, Debug)]
pub struct ReplyFlits {
    /// Header bytes.
    pub header: u32,
    /// Bytes a flit.
    pub flit: u32,
    /// Flits of the largest reply.
    pub largest: u32,
}

impl ReplyFlits {
    fn of(&self, reply: &Reply) -> u32 {
        let data = match reply.kind {
            RequestKind::Write => 0,
            _ => u32::from(reply.bytes),
        };
        (self.header + data).div_ceil(self.flit).max(1)
    }
}

/// Why the head of the queue cannot be served.
#[derive(Clone, Copy, Debug)]
struct Stall {
    since: u64,
    traffic: Traffic,
    kind: RequestKind,
}

/// An L2 slice.
#[derive(Clone, Debug)]
pub struct Slice {
    number: u32,
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
    /// Pieces in the fixed delay, by the core cycle in which it ends.
    delay: VecDeque<(u64, Piece)>,
    input: VecDeque<Piece>,
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
            delay: VecDeque::new(),
            input: VecDeque::new(),
            misses: VecDeque::new(),
            fills: VecDeque::new(),
            stall: None,
        }
    }

    /// The slice can take another request from the network, of up to `pieces` sectors.
    pub fn has_room(&self, pieces: usize) -> bool {
        self.input.len() + pieces <= self.queue
    }

    /// A request has arrived from the network in core cycle `cycle`; it is broken into
    /// sectors here. Returns the cycle in which the slice has something to do with it.
    pub fn arrive(&mut self, cycle: u64, index: u32, pieces: u32) -> u64 {
        let ready = cycle + self.latency;
        for number in 0..pieces {
            self.delay.push_back((ready, Piece::new(index, number)));
        }
        ready
    }

    /// A fetched sector has arrived from DRAM.
    pub fn fill(&mut self, local: u64) {
        self.fills.push_back(local);
    }

    /// A copy from outside leaves the line at `local` valid.
    pub fn install(&mut self, local: u64) {
        self.tags.install(local);
    }

    /// Forgets all lines.
    pub fn invalidate(&mut self) {
        self.tags.invalidate_all();
    }

    /// Nothing queued and nothing on its way from DRAM.
    pub fn is_empty(&self) -> bool {
        self.delay.is_empty()
            && self.input.is_empty()
            && self.misses.is_empty()
            && self.fills.is_empty()
            && self.mshrs.is_empty()
    }

    /// What is waiting where, for a report on a deadlock.
    pub fn describe(&self) -> String {
        let stall = match self.stall {
            Some(s) => format!(
                ", head ({:?} {:?}) stalled since cycle {}",
                s.traffic, s.kind, s.since
            ),
            None => String::new(),
        };
        format!(
            "{} delayed, {} queued, {} misses to send, {} MSHRs in use, {} fills{stall}",
            self.delay.len(),
            self.input.len(),
            self.misses.len(),
            self.mshrs.used(),
            self.fills.len()
        )
    }

    /// Runs one L2 clock in core cycle `cycle`. Returns the earliest core cycle in which there
    /// is something to do: `cycle + 1` for the next clock, `u64::MAX` for nothing.
    pub fn step(&mut self, cycle: u64, around: &mut Surroundings) -> u64 {
        let largest = around.reply_flits.largest;
        let slice = self.number as usize;
        if self.mshrs.has_ready()
            && around.replies.free(slice) >= largest
            && let Some((_, token)) = self.mshrs.pop_ready()
        {
            self.reply(Piece(token), around);
            self.resume(cycle, around.stats);
        }
        if let Some(local) = self.fills.pop_front() {
            self.tags.fill(local);
            self.mshrs.fill(local);
            self.resume(cycle, around.stats);
        }
        if let Some(&miss) = self.misses.front()
            && around.channel.has_room(usize::from(self.in_channel))
        {
            self.misses.pop_front();
            *around.channel_wake = around.channel.push(cycle, miss);
            self.resume(cycle, around.stats);
        }
        if self.stall.is_none()
            && let Some(&piece) = self.input.front()
        {
            if around.replies.free(slice) < largest {
                around.stats.l2_reply_full += 1;
            } else if !around.channel.has_room(usize::from(self.in_channel)) {
                around.stats.l2_dram_full += 1;
            } else {
                self.serve(cycle, piece, around);
            }
        }
        if self.input.len() < self.queue
            && let Some(&(ready, piece)) = self.delay.front()
            && ready <= cycle
        {
            self.delay.pop_front();
            self.input.push_back(piece);
        }
        self.next(cycle)
    }

    fn next(&self, cycle: u64) -> u64 {
        let busy = !self.fills.is_empty()
            || !self.misses.is_empty()
            || self.mshrs.has_ready()
            || (!self.input.is_empty() && self.stall.is_none());
        if busy {
            return cycle + 1;
        }
        match self.delay.front() {
            Some(&(ready, _)) if self.input.len() < self.queue => ready.max(cycle + 1),
            // Whatever ends the stall wakes the slice.
            _ => u64::MAX,
        }
    }

    /// Something that a stalled access may have waited for has happened.
    fn resume(&mut self, cycle: u64, stats: &mut MemoryStats) {
        if let Some(stall) = self.stall.take() {
            stats.l2_mut(stall.traffic, stall.kind).stall_cycles += cycle - stall.since;
        }
    }

    fn reply(&mut self, piece: Piece, around: &mut Surroundings) {
        if let Some((sm, reply)) = around.inflight.answer(piece) {
            around.replies.push(
                self.number as usize,
                around.reply_tick,
                usize::from(sm),
                around.reply_flits.of(&reply),
                reply,
            );
        }
    }

    /// Serves the head of the queue, or stalls.
    fn serve(&mut self, cycle: u64, piece: Piece, around: &mut Surroundings) {
        let request = around.inflight.get(piece.request()).request;
        let (_, local) = around.inflight.address(piece);
        let found = self.tags.lookup(local);
        let served = match request.kind {
            RequestKind::Write => self.write(piece, local, found, &request, around),
            _ => self.read(piece, local, found, &request, around),
        };
        if !served {
            self.stall = Some(Stall {
                since: cycle,
                traffic: request.traffic,
                kind: request.kind,
            });
            return;
        }
        self.input.pop_front();
        around.stats.l2_mut(request.traffic, request.kind).accesses += 1;
        if request.kind == RequestKind::Atomic {
            around.stats.atomics += 1;
            (around.perform_atomic)(request.sm, request.token);
        }
    }

    /// A read or an atomic; false when it must wait.
    fn read(
        &mut self,
        piece: Piece,
        local: u64,
        found: Lookup,
        request: &Request,
        around: &mut Surroundings,
    ) -> bool {
        let sector = self.tags.sector_of(local);
        let slot = match found {
            Lookup::Blocked => return false,
            Lookup::Hit(slot) => {
                self.tags.touch(slot);
                self.dirtied(slot, local, request.kind);
                around.stats.l2_mut(request.traffic, request.kind).hits += 1;
                self.reply(piece, around);
                return true;
            }
            Lookup::Pending(slot) => {
                if self.mshrs.add(sector, piece.0) != Admission::Merge {
                    return false;
                }
                self.tags.touch(slot);
                self.dirtied(slot, local, request.kind);
                around.stats.l2_mut(request.traffic, request.kind).merges += 1;
                return true;
            }
            Lookup::PartlyWritten(slot) | Lookup::SectorMiss(slot) | Lookup::Miss(slot) => slot,
        };
        if !self.miss_room(PLACES_FOR_FETCH) || self.mshrs.admit(sector) != Admission::Fresh {
            return false;
        }
        let evicted = self.claim(slot, local, found);
        self.tags.reserve(slot, local);
        self.dirtied(slot, local, request.kind);
        self.mshrs.add(sector, piece.0);
        let fetch = self.dram_request(sector, self.sector, false);
        self.misses.push_back(fetch);
        self.write_back(evicted, around.stats);
        around.stats.l2_mut(request.traffic, request.kind).misses += 1;
        true
    }

    /// An atomic leaves its sector newer than memory.
    fn dirtied(&mut self, slot: Slot, local: u64, kind: RequestKind) {
        if kind == RequestKind::Atomic {
            self.tags.dirty(slot, local);
        }
    }

    /// A write; false when it must wait. The acknowledgement is sent at once.
    fn write(
        &mut self,
        piece: Piece,
        local: u64,
        found: Lookup,
        request: &Request,
        around: &mut Surroundings,
    ) -> bool {
        let slot = match found {
            Lookup::Blocked => return false,
            Lookup::Miss(_) if !self.miss_room(PLACES_FOR_WRITE) => return false,
            Lookup::Miss(slot)
            | Lookup::SectorMiss(slot)
            | Lookup::Hit(slot)
            | Lookup::Pending(slot)
            | Lookup::PartlyWritten(slot) => slot,
        };
        let counters = around.stats.l2_mut(request.traffic, request.kind);
        match found {
            Lookup::Hit(_) | Lookup::PartlyWritten(_) => counters.hits += 1,
            Lookup::Pending(_) => counters.merges += 1,
            _ => counters.misses += 1,
        }
        let evicted = self.claim(slot, local, found);
        let in_line = self.tags.sector_of(local) % self.line;
        let bytes = around.inflight.written(piece) << in_line;
        self.tags.write(slot, local, bytes);
        self.write_back(evicted, around.stats);
        self.reply(piece, around);
        true
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
            bytes,
            local,
        }
    }
}
