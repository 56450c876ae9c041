//! Requests on their way through the memory system, in a slab: a packet, a queue entry or an
//! MSHR waiter is an index into it, and places are used again.

use super::packet::{LARGEST_REQUEST, Reply, Request, RequestKind, Traffic};
use warpsim_machine::Interconnect;

/// Bits in which the pieces of a request, its sectors, are numbered.
const PIECE_BITS: u32 = 3;

/// The most sectors a request may be broken into.
pub const MAX_PIECES: u32 = 1 << PIECE_BITS;

// The smallest sector that a machine may have is 32 bytes.
const _: () = assert!(LARGEST_REQUEST / 32 <= MAX_PIECES);

/// One sector's worth of a request (or an atomic, which is never broken up).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece(pub u32);

impl Piece {
    /// Piece `number` of request `request`.
    pub fn new(request: u32, number: u32) -> Piece {
        Piece(request << PIECE_BITS | number)
    }

    /// Index of its request.
    pub fn request(self) -> u32 {
        self.0 >> PIECE_BITS
    }

    /// Its number within the request.
    pub fn number(self) -> u32 {
        self.0 & (MAX_PIECES - 1)
    }
}

/// A request on its way, with all of it but the bytes that a write writes.
#[derive(Clone, Copy, Debug)]
pub struct Inflight {
    /// From the request.
    pub addr: u64,
    /// Its first sector in the slice's addresses.
    pub first_sector: u64,
    /// From the request.
    pub token: u32,
    /// From the request.
    pub sm: u16,
    /// From the request.
    pub bytes: u16,
    /// From the request.
    pub kind: RequestKind,
    /// From the request.
    pub traffic: Traffic,
    /// Sectors (1 for an atomic).
    pub pieces: u8,
    /// Sectors not yet answered.
    left: u8,
}

impl Inflight {
    /// The reply to a piece, or where they are not `sectored`, to all.
    #[inline]
    fn reply(&self, number: u32, last: bool, sectored: bool, sector_shift: u32) -> Reply {
        let (mut addr, mut end) = (self.addr, self.addr + u64::from(self.bytes));
        if sectored && self.kind != RequestKind::Atomic {
            // The first piece and the last may be less than a sector.
            let sector = ((addr >> sector_shift) + u64::from(number)) << sector_shift;
            addr = addr.max(sector);
            end = end.min(sector + (1 << sector_shift));
        }
        Reply {
            kind: self.kind,
            addr,
            bytes: (end - addr) as u16,
            last,
            token: self.token,
        }
    }
}

/// A request in the network to the partitions.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    entry: Inflight,
    /// What a write writes, a bit per byte.
    byte_mask: u128,
}

impl Sent {
    /// The request, which goes to address `local` of a slice; a sector has so many bytes, as a power of two.
    #[inline]
    pub fn new(request: &Request, local: u64, sector_shift: u32) -> Sent {
        let last_byte = request.addr + u64::from(request.bytes.max(1)) - 1;
        let pieces = match request.kind {
            RequestKind::Atomic => 1,
            _ => ((last_byte >> sector_shift) - (request.addr >> sector_shift) + 1) as u8,
        };
        Sent {
            entry: Inflight {
                addr: request.addr,
                first_sector: local >> sector_shift << sector_shift,
                token: request.token,
                sm: request.sm,
                bytes: request.bytes,
                kind: request.kind,
                traffic: request.traffic,
                pieces,
                left: pieces,
            },
            byte_mask: request.byte_mask,
        }
    }

    /// The request.
    #[inline]
    pub fn entry(&self) -> &Inflight {
        &self.entry
    }
}

/// Half a line of the host's cache: a request is looked at for each of its sectors, and between those come many others.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Slot(Inflight);

/// All requests that have come to a slice and are not answered.
#[derive(Clone, Debug)]
pub struct InflightTable {
    slots: Vec<Slot>,
    /// What the write in each slot writes, a bit per byte; of anything else whatever was there.
    masks: Vec<u128>,
    free: Vec<u32>,
    sector_shift: u32,
    /// Replies come one per sector (else one per request).
    sectored: bool,
    /// Writes get replies, too.
    replies_to_writes: bool,
}

impl InflightTable {
    /// An empty table; `sector` is a power of two.
    pub fn new(sector: u32, network: &Interconnect) -> InflightTable {
        InflightTable {
            slots: Vec::new(),
            masks: Vec::new(),
            free: Vec::new(),
            sector_shift: sector.max(1).ilog2(),
            sectored: network.sectored_replies,
            replies_to_writes: network.store_replies,
        }
    }

    /// Adds a request.
    #[inline]
    pub fn insert(&mut self, sent: &Sent) -> u32 {
        let index = match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = Slot(sent.entry);
                index
            }
            None => {
                self.slots.push(Slot(sent.entry));
                self.masks.push(0);
                self.slots.len() as u32 - 1
            }
        };
        if sent.entry.kind == RequestKind::Write {
            self.masks[index as usize] = sent.byte_mask;
        }
        index
    }

    /// A request that was added and is not yet answered.
    #[inline]
    pub fn get(&self, index: u32) -> &Inflight {
        &self.slots[index as usize].0
    }

    fn sector_of(&self, addr: u64) -> u64 {
        addr >> self.sector_shift << self.sector_shift
    }

    /// Bytes of the piece that a write writes, by position in the sector.
    pub fn written(&self, piece: Piece) -> u128 {
        let before = self.sector_of(self.get(piece.request()).addr) % 128;
        let start = before + (u64::from(piece.number()) << self.sector_shift);
        let width = (1u32 << self.sector_shift).min(128);
        let mask = self.masks[piece.request() as usize];
        mask >> (start % 128) & (u128::MAX >> (128 - width))
    }

    /// The piece has been served: the reply to send, if one is due now. The request is
    /// forgotten with its last piece.
    #[inline]
    pub fn answer(&mut self, piece: Piece) -> Option<(u16, Reply)> {
        let index = piece.request();
        let Slot(entry) = &mut self.slots[index as usize];
        entry.left -= 1;
        let last = entry.left == 0;
        if last {
            self.free.push(index);
        }
        let silent = match entry.kind {
            RequestKind::Read => !last && !self.sectored,
            RequestKind::Write => !self.replies_to_writes || !last && !self.sectored,
            RequestKind::Atomic => false,
            RequestKind::Prefetch => true,
        };
        if silent {
            return None;
        }
        let reply = entry.reply(piece.number(), last, self.sectored, self.sector_shift);
        Some((entry.sm, reply))
    }

    /// As [`answer`](InflightTable::answer) for so many pieces of a read: the SM, and each reply
    /// with its number among the pieces.
    #[inline]
    pub fn answer_several(
        &mut self,
        first: Piece,
        pieces: u32,
    ) -> (u16, impl Iterator<Item = (u64, Reply)> + use<>) {
        let index = first.request();
        let Slot(entry) = &mut self.slots[index as usize];
        entry.left -= pieces as u8;
        let (entry, done) = (*entry, entry.left == 0);
        if done {
            self.free.push(index);
        }
        let (sectored, sector_shift) = (self.sectored, self.sector_shift);
        let silent = match sectored {
            true => 0,
            false => pieces - u32::from(done),
        };
        let replies = (silent..pieces).map(move |number| {
            let last = done && number + 1 == pieces;
            let reply = entry.reply(first.number() + number, last, sectored, sector_shift);
            (u64::from(number), reply)
        });
        (entry.sm, replies)
    }

    /// Requests not fully answered.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Every request has been answered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
