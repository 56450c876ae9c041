//! Prefetchers: which lines the L1 data cache fetches before they are asked for. One file per prefetcher, registered in
//! [`PREFETCHERS`].

mod next_line;
mod none;
mod stride;

use std::fmt::Debug;
use warpsim_machine::mechanism::{Choice, Info, Values};

/// A prefetcher: one instance for the L1 data cache of each SM.
///
/// # Contract
///
/// The prefetcher hears of the lookups of loads, in their order, each once it has found room
/// ([`looked_up`](Prefetcher::looked_up)), and names addresses whose lines it wants. The cache does the
/// rest: the lines wait in a queue (`l1d.prefetch_queue`) for a cycle without another lookup, and then take the way of a
/// miss, through tags, MSHRs, miss queue and network. A line that is there or on its way is not fetched
/// again; one for which no place is free is dropped, and the prefetcher does not hear of it. What loads wait for is
/// never given up for a prefetch.
///
/// State changes only in these calls, so that cycles without any can be skipped.
pub trait Prefetcher: Debug + Send {
    /// A load has looked up the cache. Addresses are added to `wanted`, the most urgent first.
    fn looked_up(&mut self, access: &Access, wanted: &mut Vec<u64>);

    /// Another launch begins: the numbers of instructions and warps mean others.
    fn launch_begins(&mut self) {}
}

/// A load's access, as the cache has looked it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Number of the instruction in its kernel.
    pub pc: u32,
    /// The hardware warp on its SM; the first of several that load together.
    pub warp: u16,
    /// First byte of what the lanes read there: a line or an aligned part of one.
    pub address: u64,
    /// First byte of its line.
    pub line: u64,
    /// Bytes of a line.
    pub line_bytes: u64,
    /// What was found.
    pub found: Found,
    /// The line was prefetched, and this is the first load that uses it.
    pub first_use: bool,
}

/// What a load found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The line.
    Hit,
    /// The line, on its way.
    Merged,
    /// Nothing: it is being fetched.
    Miss,
}

impl Access {
    /// The address so many lines behind this one's, if there is one.
    pub fn lines_behind(&self, lines: u64) -> Option<u64> {
        self.line.checked_add(lines.checked_mul(self.line_bytes)?)
    }
}

/// A prefetcher as it is registered. Its own file declares it.
#[derive(Clone, Copy)]
pub struct Registered {
    /// Name, description, parameters.
    pub info: Info,
    /// Makes it for an SM; nothing where nothing is prefetched.
    pub make: fn(&Values) -> Option<Box<dyn Prefetcher>>,
}

/// Every prefetcher.
pub const PREFETCHERS: &[Registered] =
    &[none::PREFETCHER, next_line::PREFETCHER, stride::PREFETCHER];

/// The name for no prefetcher.
pub(crate) const NONE: &str = none::PREFETCHER.info.name;

/// Makes the prefetcher that a machine has chosen, if it has.
///
/// # Panics
///
/// When there is no such prefetcher: the machine has not been
/// [validated](warpsim_machine::check::validate::validate).
pub fn make(choice: &Choice) -> Option<Box<dyn Prefetcher>> {
    let registered = PREFETCHERS.iter().find(|p| p.info.name == choice.name);
    let registered = registered.expect("the machine has been validated");
    (registered.make)(&choice.values)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Access, Found, Prefetcher};

    /// A load of a line of 128 bytes.
    pub fn load(pc: u32, warp: u16, address: u64, found: Found) -> Access {
        Access {
            pc,
            warp,
            address,
            line: address & !127,
            line_bytes: 128,
            found,
            first_use: false,
        }
    }

    /// What a prefetcher wants when it hears of an access.
    pub fn wants(prefetcher: &mut dyn Prefetcher, access: &Access) -> Vec<u64> {
        let mut wanted = Vec::new();
        prefetcher.looked_up(access, &mut wanted);
        wanted
    }
}
