//! Requests as the network to the partitions takes them.
//!
//! What can be said of a request without asking anybody the SM says that sends it, on its own thread: whoever puts the requests of all
//! SMs into the network has only that to do.

use super::address_map::AddressMap;
use super::inflight::Sent;
use super::packet::Request;
use crate::config::Machine;
use crate::time::Tick;

/// Where requests go.
#[derive(Clone, Copy, Debug)]
pub struct Routes {
    map: AddressMap,
    /// Bytes of an L2 sector, as a power of two.
    sector_shift: u32,
}

/// A request that an SM has sent.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    /// The network's tick from which on it can leave.
    pub ready: Tick,
    /// The slice to which it goes.
    pub slice: u32,
    /// Flits of its packet.
    pub flits: u32,
    /// What the slice gets.
    pub request: Sent,
}

impl Routes {
    /// Those of a machine.
    pub fn new(machine: &Machine) -> Routes {
        Routes {
            map: AddressMap::new(machine),
            sector_shift: machine.l2.sector.max(1).ilog2(),
        }
    }

    /// A request as a packet of so many flits, which can leave from tick `ready` on.
    #[inline]
    pub fn post(&self, request: &Request, ready: Tick, flits: u32) -> Posted {
        let at = self.map.locate(request.addr);
        Posted {
            ready,
            slice: at.slice,
            flits,
            request: Sent::new(request, at.local, self.sector_shift),
        }
    }
}
