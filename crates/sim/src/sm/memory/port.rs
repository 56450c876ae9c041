//! The SM's side of the network: requests leave through here, stamped with their cycle, as
//! far as the injection queue has room. Room comes back at quantum ends.

use crate::memory::divide::Divisor;
use crate::memory::packet::{Request, RequestKind};
use crate::time::Cycle;

/// What a reply is for: the top bits of a token. The rest is an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A line for the L1 data cache.
    Data,
    /// A flight that bypasses L1.
    Uncached,
    /// A store of a hardware warp.
    Store,
    /// A line for the constant cache.
    Constant,
    /// A line for the instruction cache.
    Instruction,
    /// A line for the texture cache.
    Texture,
    /// A dirty line that nobody waits for.
    WriteBack,
}

const KINDS: [TokenKind; 7] = [
    TokenKind::Data,
    TokenKind::Uncached,
    TokenKind::Store,
    TokenKind::Constant,
    TokenKind::Instruction,
    TokenKind::Texture,
    TokenKind::WriteBack,
];

/// Packs a token.
pub fn token(kind: TokenKind, index: u32) -> u32 {
    (kind as u32) << 28 | index
}

/// Takes a token apart.
pub fn untoken(token: u32) -> (TokenKind, u32) {
    (KINDS[(token >> 28) as usize], token & 0x0fff_ffff)
}

/// The port.
#[derive(Debug)]
pub struct Port {
    /// Requests sent in this quantum, with their cycles.
    pub sent: Vec<(Cycle, Request)>,
    /// Flits the injection queue can still take.
    room: u32,
    /// The least room that a request needs which was refused; `u32::MAX` without one.
    wanted: u32,
    /// Data asked for, and data sent.
    pub traffic: [u64; 2],
    flit: Divisor,
    header: u32,
}

impl Port {
    /// A port for packets of these sizes.
    pub fn new(flit: u32, header: u32) -> Port {
        Port {
            sent: Vec::new(),
            room: 0,
            wanted: u32::MAX,
            traffic: [0; 2],
            flit: Divisor::new(u64::from(flit.max(1))),
            header,
        }
    }

    /// A quantum begins with room for so many flits. Returns whether that is enough for a request
    /// that was refused.
    #[inline]
    pub fn refill(&mut self, room: u32) -> bool {
        self.room = room;
        let enough = room >= self.wanted;
        if enough {
            self.wanted = u32::MAX;
        }
        enough
    }

    /// Whether nothing more can be sent in this quantum.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.room == 0
    }

    /// A request waits for whatever room there will be.
    #[inline]
    pub fn want_room(&mut self) {
        self.wanted = 1;
    }

    /// Room without which no refused request can be sent; `u32::MAX` where none was refused.
    #[inline]
    pub fn wanted(&self) -> u32 {
        self.wanted
    }

    /// Sends a request if there is room for all of it.
    pub fn try_send(&mut self, now: Cycle, request: &Request) -> bool {
        let data = if request.kind == RequestKind::Read {
            0
        } else {
            request.bytes as u32
        };
        let flits = self.flit.divide_up(u64::from(self.header + data)) as u32;
        if flits > self.room {
            self.wanted = self.wanted.min(flits);
            return false;
        }
        self.room -= flits;
        let writes = (request.kind != RequestKind::Read) as usize;
        self.traffic[writes] += request.bytes as u64;
        self.sent.push((now, *request));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::packet::Traffic;

    fn request(kind: RequestKind, bytes: u16) -> Request {
        Request {
            sm: 0,
            kind,
            traffic: Traffic::Global,
            addr: 0,
            bytes,
            byte_mask: !0,
            token: 0,
        }
    }

    #[test]
    fn what_was_refused_is_tried_again_when_there_is_room_for_it() {
        let mut port = Port::new(32, 8);
        // A write of 128 bytes takes five flits, a read one.
        let [write, read] = [(RequestKind::Write, 128), (RequestKind::Read, 128)]
            .map(|(kind, bytes)| request(kind, bytes));
        port.refill(5);
        assert!(port.try_send(Cycle::new(0), &read));
        assert_eq!(port.wanted(), u32::MAX);
        assert!(!port.try_send(Cycle::new(1), &write));
        assert_eq!(port.wanted(), 5);
        assert!(!port.refill(4), "four flits are not enough for it");
        assert!(port.refill(5));
        assert_eq!(port.wanted(), u32::MAX, "it is to be tried now");
        assert!(port.try_send(Cycle::new(4), &write));
        assert!(port.is_full());
    }

    #[test]
    fn the_least_of_what_was_refused_counts() {
        let mut port = Port::new(32, 8);
        port.refill(0);
        port.try_send(Cycle::new(0), &request(RequestKind::Write, 128));
        port.try_send(Cycle::new(0), &request(RequestKind::Write, 32));
        assert_eq!(port.wanted(), 2);
    }
}
