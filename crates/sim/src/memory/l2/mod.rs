//! The L2, in slices that share nothing: [`slice`](mod@slice) is one of them,
//! `arrivals` the requests that wait for it.

mod arrivals;
pub mod slice;

/// Core cycles from serving an access to its reply entering the network.
pub const REPLY_CYCLES: u64 = 1;
