//! What SMs and memory partitions say to each other.

pub use warpsim_machine::limits::LARGEST_REQUEST;

/// What a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Data back: one reply per sector.
    Read,
    /// An acknowledgement back: one per sector.
    Write,
    /// Performed in L2 in arrival order; the old value comes back in one data reply.
    Atomic,
    /// The data in L2, and nothing back.
    Prefetch,
}

impl RequestKind {
    /// How many there are.
    pub const COUNT: usize = 4;

    /// Whether a request brings data to L2.
    #[inline]
    pub fn carries_data(self) -> bool {
        matches!(self, RequestKind::Write | RequestKind::Atomic)
    }
}

/// Which statistics bucket a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Traffic {
    Global,
    Local,
    Instruction,
    Constant,
    Texture,
}

/// A request from an SM.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Sending SM.
    pub sm: u16,
    /// What it wants.
    pub kind: RequestKind,
    /// Whose it is.
    pub traffic: Traffic,
    /// First byte, aligned to `bytes` where that is 32, 64 or 128.
    pub addr: u64,
    /// Bytes: 32, 64 or 128 (it never crosses a 128-byte line).
    pub bytes: u16,
    /// For writes: which of the (up to 128) bytes from the line's start are written.
    pub byte_mask: u128,
    /// The SM's own number for it, echoed in every reply.
    pub token: u32,
}

/// A bit of a request's token. With it, the last reply alone means something to the SM: those before it are parts that
/// no warp waits for.
pub const IN_PARTS: u32 = 1 << 31;

/// A packet back to an SM. Kept small: it is copied from queue to queue.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// What the request was.
    pub kind: RequestKind,
    /// First byte of the sector (of the whole request when replies are not sectored).
    pub addr: u64,
    /// Bytes it carries or acknowledges.
    pub bytes: u16,
    /// The last reply of its request.
    pub last: bool,
    /// From the request.
    pub token: u32,
}

impl Reply {
    /// Whether it is one of several of which the [last](IN_PARTS) alone means something.
    #[inline]
    pub fn is_in_parts(&self) -> bool {
        self.token & IN_PARTS != 0
    }

    /// Whether it is such a part, and not the last.
    #[inline]
    pub fn is_part(&self) -> bool {
        self.is_in_parts() && !self.last
    }
}

/// Size of packets.
#[derive(Clone, Copy, Debug)]
pub struct PacketSize {
    /// Flits by bytes of data.
    flits: [u32; LARGEST_REQUEST as usize + 1],
    /// Flits of the largest reply.
    pub largest_reply: u32,
}

impl PacketSize {
    /// Packets with such a header and up to `largest_reply` bytes in a reply, in such flits.
    pub fn new(header: u32, flit: u32, largest_reply: u32) -> PacketSize {
        let flits = |data: u32| (header + data).div_ceil(flit.max(1)).max(1);
        PacketSize {
            flits: std::array::from_fn(|data| flits(data as u32)),
            largest_reply: flits(largest_reply),
        }
    }

    /// Flits of a reply: an acknowledgement carries no data.
    #[inline]
    pub fn reply(&self, reply: &Reply) -> u32 {
        match reply.kind {
            RequestKind::Write => self.flits(0),
            _ => self.flits(reply.bytes),
        }
    }

    /// Flits of a packet with so much data, at most that of the largest request.
    #[inline]
    pub fn flits(&self, data: u16) -> u32 {
        self.flits[usize::from(data)]
    }
}
