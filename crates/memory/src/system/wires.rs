//! The links between SMs, the request network and the back end.

use crate::inflight::Sent;
use crate::network::crossbar::Backlog;
use crate::packet::{Reply, Request};
use crate::time::{Cycle, Tick};
use warpsim_engine::{Link, Signal};

/// All links and signals between the parts of the memory system and the SMs.
#[derive(Default)]
pub struct Wires {
    /// By SM.
    pub sms: Vec<SmWires>,
    /// Requests that the entrances of slices have admitted.
    pub(super) admitted: Link<Admitted>,
    /// When slices had room for requests.
    pub(super) room: Link<RoomChange>,
    /// The cycle to which the request network has come.
    network_clock: Signal,
}

/// The links of one SM. No other SM's lie in the same lines of the host's cache.
#[derive(Default)]
#[repr(align(128))]
pub struct SmWires {
    /// Requests with the cycles in which the SM sends them.
    pub requests: Link<(Cycle, Request)>,
    /// Replies with the cycles in which they arrive.
    pub replies: Link<(Cycle, Reply)>,
    /// Replies that the SM has taken so far.
    pub taken: Signal,
    /// Flits of the SM's requests that have left its queue and buffer so far.
    left: Signal,
    /// Flits that are in the queue although the buffer has room, as of the network's clock.
    moving: Signal,
}

/// A request that an entrance has admitted, and when its delay ends.
#[derive(Clone, Copy)]
pub(super) struct Admitted {
    pub ready: Cycle,
    pub slice: u32,
    pub request: Sent,
}

/// From tick `from` on a slice has room for a request, or has none.
#[derive(Clone, Copy)]
pub(super) struct RoomChange {
    pub slice: u32,
    pub from: Tick,
    pub has_room: bool,
}

impl Wires {
    pub(super) fn new(sms: usize) -> Wires {
        Wires {
            sms: (0..sms).map(|_| SmWires::default()).collect(),
            ..Wires::default()
        }
    }

    /// The cycle to which the request network has come.
    #[inline]
    pub fn network_clock(&self) -> Cycle {
        Cycle::new(self.network_clock.read())
    }

    /// The request network has come to this cycle; what each SM has to know of it has been published.
    #[inline]
    pub(super) fn set_network_clock(&self, clock: Cycle) {
        self.network_clock.publish(clock.get());
    }
}

impl SmWires {
    /// The network has received so many flits of the SM so far, of which this has not left.
    #[inline]
    pub(super) fn publish(&self, received: u64, backlog: Backlog) {
        // A network with credits counts a full buffer before the queue: more than has been received.
        self.left
            .publish(received.wrapping_sub(u64::from(backlog.flits)));
        self.moving.publish(u64::from(backlog.moving));
    }

    /// Flits in queue and buffer of an SM that has sent so many: at most so many, and just so many if the network has come as far as the SM.
    #[inline]
    pub fn flits(&self, sent: u64) -> u32 {
        sent.wrapping_sub(self.left.read()) as u32
    }

    /// What of the packets of an SM that has sent so many flits has not left. The network has come as far as the SM.
    #[inline]
    pub fn backlog(&self, sent: u64) -> Backlog {
        Backlog {
            flits: self.flits(sent),
            moving: self.moving.read() as u32,
        }
    }
}
