//! What a slice does with an access: the tags say what is there, the rest follows.

use super::arrivals::Arrival;
use super::{Outcome, Slice, Stall, Surroundings};
use crate::address_map::Location;
use crate::cache::mshr::{Admission, Fetch};
use crate::cache::tags::{Evicted, Lookup, Slot};
use crate::dram::DramRequest;
use crate::inflight::MAX_PIECES;
use crate::packet::RequestKind;
use crate::stats::MemoryStats;
use crate::time::Cycle;

/// Places of the miss queue that an access needs: a fetch may bring a write-back with it.
pub(super) const PLACES_FOR_FETCH: usize = 2;
const PLACES_FOR_WRITE: usize = 1;

impl Slice {
    /// Serves the head of the queue, or stalls. There is room for so many flits of replies. Returns how many pieces of the head
    /// have been served.
    #[inline(always)] // its one caller is the clock of a slice
    pub(super) fn serve(
        &mut self,
        cycle: Cycle,
        head: &Arrival,
        room: u32,
        around: &mut Surroundings,
    ) -> u32 {
        let found = self.tags.lookup(head.sector);
        match found {
            Lookup::Hit(slot) if head.kind == RequestKind::Read => {
                self.read_hit(cycle, slot, head, room, around)
            }
            _ => u32::from(self.serve_piece(cycle, head, found, around)),
        }
    }

    /// A read of a sector that is there, and perhaps those behind it.
    #[inline(always)] // its one caller serves
    fn read_hit(
        &mut self,
        cycle: Cycle,
        slot: Slot,
        head: &Arrival,
        room: u32,
        around: &mut Surroundings,
    ) -> u32 {
        self.tags.touch(slot);
        let pieces = 1 + self.foreseen(cycle, slot, head, room, around);
        self.tags.touch_again(slot, pieces - 1);
        let piece = head.piece();
        match pieces {
            1 => self.reply(piece, around.reply_tick, around),
            _ => self.reply_to_several(piece, pieces, around),
        }
        let counters = around.stats.l2_mut(head.traffic, RequestKind::Read);
        counters.hits += u64::from(pieces);
        counters.accesses += u64::from(pieces);
        pieces
    }

    /// Serves a piece for which the tags say `found`; false if it must wait.
    #[inline(always)] // its one caller serves
    fn serve_piece(
        &mut self,
        cycle: Cycle,
        head: &Arrival,
        found: Lookup,
        around: &mut Surroundings,
    ) -> bool {
        let (kind, traffic) = (head.kind, head.traffic);
        let atomic = (kind == RequestKind::Atomic).then(|| {
            let request = around.inflight.get(head.index);
            (request.sm, request.token)
        });
        let outcome = match kind {
            RequestKind::Write => self.write(head, found, around),
            RequestKind::Prefetch => self.prefetch(head, found, around),
            _ => self.read(head, found, around),
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
                return false;
            }
        }
        counters.accesses += 1;
        if let Some((sm, token)) = atomic {
            around.stats.atomics += 1;
            (around.perform_atomic)(sm, token);
        }
        true
    }

    /// The head's piece hits. How many behind it will hit in the clocks to come, one per clock,
    /// with nothing else happening here meanwhile: those can be served now, with replies that
    /// leave when they would have. That is so while
    ///
    /// - they can be read, and no fetched sector comes before the last of them is served (nor
    ///   does anything go to DRAM, so that its queue has room in each of the clocks as it has now),
    /// - the network can take all the replies and, as the queue is not getting longer, as many
    ///   requests in each of the clocks as it could,
    /// - requests that arrive meanwhile do not become ready meanwhile.
    #[inline(always)] // its one caller is a read that hits
    fn foreseen(
        &self,
        cycle: Cycle,
        slot: Slot,
        head: &Arrival,
        room: u32,
        around: &Surroundings,
    ) -> u32 {
        let more = head.pieces_behind();
        if more == 0
            || !around.lockstep
            || self.latency < u64::from(MAX_PIECES)
            || self.deals_with_dram(cycle)
            || room < (more + 1) * around.packets.largest_reply
            || !self.arrivals.has_room(MAX_PIECES as usize)
            || !self.tags.readable(slot, head.sector, more + 1)
        {
            return 0;
        }
        let end = cycle + u64::from(more) + 1;
        let tick = || around.dram.first_tick(end);
        let fill = self.fill_at < end
            || !self.mshrs.is_empty() && {
                let channel = &around.channels[self.channel];
                channel.no_fill_before(around.dram_tick) < tick()
            };
        if fill { 0 } else { more }
    }

    /// A read or an atomic.
    #[inline(always)] // its one caller serves
    fn read(&mut self, head: &Arrival, found: Lookup, around: &mut Surroundings) -> Outcome {
        let (piece, sector, kind) = (head.piece(), head.sector, head.kind);
        let slot = match found {
            Lookup::Blocked => return Outcome::NoEntry,
            Lookup::Hit(slot) => {
                self.tags.touch(slot);
                self.dirtied(slot, sector, kind);
                self.reply(piece, around.reply_tick, around);
                return Outcome::Hit;
            }
            Lookup::Pending(slot) => {
                if !self.mshrs.join(self.tags.place(slot, sector), || piece.0) {
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
        let place = self.tags.place(slot, sector);
        let fetch = self.mshrs.open(sector, place, piece.0);
        self.fetch(slot, sector, found, fetch, around.stats);
        self.dirtied(slot, sector, kind);
        Outcome::Miss
    }

    /// A sector is fetched into a slot, for which the tags say `found`.
    #[inline(always)] // of its two callers one is hot
    pub(super) fn fetch(
        &mut self,
        slot: Slot,
        sector: u64,
        found: Lookup,
        fetch: Fetch,
        stats: &mut MemoryStats,
    ) {
        let evicted = self.claim(slot, sector, found);
        self.tags.reserve(slot, sector);
        let request = DramRequest {
            fetch,
            ..self.dram_request(sector, self.sector, false)
        };
        self.misses.push_back(request);
        self.write_back(evicted, stats);
    }

    /// An atomic leaves its sector newer than memory.
    fn dirtied(&mut self, slot: Slot, sector: u64, kind: RequestKind) {
        if kind == RequestKind::Atomic {
            self.tags.dirty(slot, sector);
        }
    }

    /// A write. The acknowledgement is sent at once.
    #[inline(always)] // its one caller serves
    fn write(&mut self, head: &Arrival, found: Lookup, around: &mut Surroundings) -> Outcome {
        let (piece, sector) = (head.piece(), head.sector);
        let (slot, outcome) = match found {
            Lookup::Blocked => return Outcome::NoEntry,
            Lookup::Miss(_) if !self.miss_room(PLACES_FOR_WRITE) => return Outcome::NoPlace,
            Lookup::Miss(slot) | Lookup::SectorMiss(slot) => (slot, Outcome::Miss),
            Lookup::Hit(slot) | Lookup::PartlyWritten(slot) => (slot, Outcome::Hit),
            Lookup::Pending(slot) => (slot, Outcome::Merge),
        };
        let evicted = self.claim(slot, sector, found);
        let request = *around.inflight.get(head.index);
        // A byte mask reaches over 128 bytes; a sector may be longer than that.
        let at = sector | request.addr & 128 & u64::from(self.sector - 1);
        let mut bytes = around.inflight.written(piece) << (sector & (self.line - 1) & 127);
        if self.upper_half_stores_lose_mask {
            let upper_half = request.bytes == 64 && request.addr & 64 != 0;
            bytes &= if upper_half { 0 } else { u128::MAX };
        }
        if !self.partial_stores_add_up {
            self.tags.forget_written(slot);
        }
        self.tags.write(slot, at, bytes);
        self.write_back(evicted, around.stats);
        self.reply(piece, around.reply_tick, around);
        outcome
    }

    pub(super) fn miss_room(&self, places: usize) -> bool {
        // A queue of one place must still let a fetch through.
        self.misses.len() + places.min(self.miss_places.max(1)) <= self.miss_places.max(1)
    }

    /// Makes the slot the most recently used and, on a miss, the line's.
    fn claim(&mut self, slot: Slot, local: u64, found: Lookup) -> Option<Evicted> {
        if matches!(found, Lookup::Miss(_)) {
            return self.tags.replace(slot, local);
        }
        match found {
            // The line gets another sector, of which a policy does not hear as of a use of the line.
            Lookup::SectorMiss(_) => self.tags.grow_young(slot),
            _ => self.tags.touch(slot),
        }
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
            fetch: Fetch::default(),
        }
    }
}
