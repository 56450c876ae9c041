//! DRAM: a [`channel`] takes the requests of its L2 slices and hands them to a model of what lies
//! behind, [`gddr`] with its banks and buses or [`simple`], a latency and a bandwidth.

pub mod channel;
pub mod gddr;
mod inlets;
pub mod simple;

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
    /// Slice address, handed back when a read completes.
    pub local: u64,
}
