//! Requests on their way through the memory system, in a slab: a packet, a queue entry or an
//! MSHR waiter is an index into it, and places are used again.

use super::packet::{Reply, Request, RequestKind};

/// Sectors a request may have: pieces are numbered in this many bits.
const PIECE_BITS: u32 = 3;

/// The most sectors a request may be broken into.
pub const MAX_PIECES: u32 = 1 << PIECE_BITS;

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

/// A request on its way.
#[derive(Clone, Copy, Debug)]
pub struct Inflight {
    /// As it came.
    pub request: Request,
    /// Its first byte in the slice's addresses.
    pub local: u64,
    /// Sectors (1 for an atomic).
    pub pieces: u32,
    /// Those not yet answered.
    left: u32,
}

/// All requests on their way.
#[derive(Clone, Debug)]
pub struct InflightTable {
    slots: Vec<Inflight>,
    free: Vec<u32>,
    sector: u64,
    /// Replies come a sector each (else a request each).
    sectored: bool,
}

impl InflightTable {
    /// An empty table.
    pub fn new(sector: u32, sectored: bool) -> InflightTable {
        InflightTable {
            slots: Vec::new(),
            free: Vec::new(),
            sector: u64::from(sector.max(1)),
            sectored,
        }
    }

    /// Adds a request.
    pub fn insert(&mut self, request: Request, local: u64) -> u32 {
        let last_byte = request.addr + u64::from(request.bytes.max(1)) - 1;
        let pieces = match request.kind {
            RequestKind::Atomic => 1,
            _ => (last_byte / self.sector - request.addr / self.sector + 1) as u32,
        };
        let entry = Inflight {
            request,
            local,
            pieces,
            left: pieces,
        };
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = entry;
                index
            }
            None => {
                self.slots.push(entry);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// A request that was added and is not yet answered.
    pub fn get(&self, index: u32) -> &Inflight {
        &self.slots[index as usize]
    }

    /// First byte of a piece, in the SM's and in the slice's addresses.
    pub fn address(&self, piece: Piece) -> (u64, u64) {
        let entry = self.get(piece.request());
        let offset = u64::from(piece.number()) * self.sector;
        if offset == 0 {
            return (entry.request.addr, entry.local);
        }
        // Later pieces start at a sector's start, even if the request does not.
        let into = entry.request.addr % self.sector;
        let offset = offset - into;
        (entry.request.addr + offset, entry.local + offset)
    }

    /// Bytes of the piece that a write writes, by position in the sector.
    pub fn written(&self, piece: Piece) -> u128 {
        let (addr, _) = self.address(piece);
        let start = addr / self.sector * self.sector % 128;
        let width = (self.sector as u32).min(128);
        self.get(piece.request()).request.byte_mask >> start & (u128::MAX >> (128 - width))
    }

    /// The piece has been served: the reply to send, if one is due now. The request is
    /// forgotten with its last piece.
    pub fn answer(&mut self, piece: Piece) -> Option<(u16, Reply)> {
        let (addr, _) = self.address(piece);
        let index = piece.request();
        let entry = &mut self.slots[index as usize];
        entry.left -= 1;
        let request = entry.request;
        let last = entry.left == 0;
        if last {
            self.free.push(index);
        }
        let whole = request.kind == RequestKind::Atomic || !self.sectored;
        if whole && !last {
            return None;
        }
        let (addr, bytes) = if whole {
            (request.addr, request.bytes)
        } else {
            let end = request.addr + u64::from(request.bytes);
            let sector_end = addr / self.sector * self.sector + self.sector;
            (addr, (sector_end.min(end) - addr) as u16)
        };
        let reply = Reply {
            kind: request.kind,
            traffic: request.traffic,
            addr,
            bytes,
            last,
            token: request.token,
        };
        Some((request.sm, reply))
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
