//! Replacement policies: which line of a set makes room for another. One file per policy, registered in
//! [`POLICIES`].

mod fifo;
mod lru;
#[cfg(test)]
#[path = "tests/properties.rs"]
mod properties;
mod random;
mod srrip;
mod ways;

pub(crate) use lru::Lru;
use std::any::Any;
use std::fmt::Debug;
use warpsim_machine::mechanism::{Choice, Info, Values};
pub use ways::Ways;

/// A replacement policy: one instance serves all sets of one cache.
///
/// # Contract
///
/// A way of a set is free or has a line. A line takes a way that is free, the first of these; where none is, the policy
/// is asked for a [`victim`](Replacement::victim), and hears of the line that takes it
/// ([`reserved`](Replacement::reserved)). It may be asked many times before a line does, or without any that does: a
/// miss that finds no room elsewhere is tried again. So being asked changes nothing, and the answer
/// may change only with what the policy is told.
///
/// What it is told comes in the same order in every run, whatever the host does; nothing else may go into a
/// choice. The cache knows by itself which lines wait for a fetch: those are never candidates.
pub trait Replacement: Any + Debug + Send {
    /// This way has a new line, whose data are still to come, or are being written. Where it had
    /// another, that one has gone.
    fn reserved(&mut self, set: usize, way: usize);

    /// Data that were fetched for the line in this way have come: in a cache with sectors, one of them.
    fn filled(&mut self, set: usize, way: usize) {
        let _ = (set, way);
    }

    /// The line in this way was used: it was there, or on its way.
    fn hit(&mut self, set: usize, way: usize);

    /// The line in this way was dropped: the way is free.
    fn invalidated(&mut self, set: usize, way: usize) {
        let _ = (set, way);
    }

    /// The way that makes room in a set, one of these; there is at least one. All ways of the set have lines.
    fn victim(&self, set: usize, among: &Ways) -> usize;
}

/// A replacement policy as it is registered. Its own file declares it.
#[derive(Clone, Copy)]
pub struct Policy {
    /// Name, description, parameters.
    pub info: Info,
    /// Makes it for a cache of so many sets and ways.
    pub make: fn(&Values, usize, usize) -> Box<dyn Replacement>,
}

/// Every replacement policy.
pub const POLICIES: &[Policy] = &[lru::POLICY, fifo::POLICY, random::POLICY, srrip::POLICY];

/// Bytes of the host's memory that any of them takes for a line at most.
pub const BYTES_PER_LINE: u64 = size_of::<u64>() as u64;

/// Makes the replacement policy that a machine has chosen for a cache of so many sets and ways.
///
/// # Panics
///
/// When there is no such policy: the machine has not been
/// [validated](warpsim_machine::check::validate::validate).
pub fn make(choice: &Choice, sets: u32, ways: u32) -> Box<dyn Replacement> {
    let policy = POLICIES.iter().find(|p| p.info.name == choice.name);
    let policy = policy.expect("the machine has been validated");
    (policy.make)(&choice.values, sets as usize, ways as usize)
}
