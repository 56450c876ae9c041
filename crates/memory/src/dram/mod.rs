//! DRAM: a [`channel`] takes the requests of its L2 slices and hands them to a model of what lies
//! behind, [`gddr`] with its banks and buses or [`simple`], a latency and a bandwidth.

pub mod channel;
pub mod gddr;
mod inlets;
pub mod simple;

use crate::cache::mshr::Fetch;
use crate::time::Cycle;

/// What a slice is told by its channel.
#[derive(Clone, Copy, Debug)]
pub enum News {
    /// A read is complete in this core cycle, or will be.
    Fetched(Cycle, Fetch),
    /// The slice's queue, which was full, has room.
    Room,
}

/// A request to a channel.
#[derive(Clone, Copy, Debug)]
pub struct DramRequest {
    /// Which of the channel's slices sent it.
    pub slice: u16,
    /// Bank.
    pub bank: u16,
    /// Write (else read).
    pub write: bool,
    /// Bytes.
    pub bytes: u16,
    /// Row.
    pub row: u64,
    /// The slice's number for a read, handed back when it completes.
    pub fetch: Fetch,
}

impl DramRequest {
    /// What the slices' side has to know when it is complete.
    #[inline]
    pub fn done(&self) -> Done {
        Done {
            slice: self.slice,
            write: self.write,
            fetch: self.fetch,
        }
    }
}

/// What is left of a request when its commands are out.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// From the request.
    pub slice: u16,
    /// From the request.
    pub write: bool,
    /// From the request.
    pub fetch: Fetch,
}
