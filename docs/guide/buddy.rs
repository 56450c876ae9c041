//! The buddy: of each pair of lines, a miss on one fetches the other, too.

use warpsim_sim::mechanism::Info;
use warpsim_sim::prefetch::{Access, Found, Prefetcher, Registered};

/// As it is registered.
pub const PREFETCHER: Registered = Registered {
    info: Info {
        name: "buddy",
        description: "the other line of each pair",
        parameters: &[],
    },
    make: |_| Some(Box::new(Buddy)),
};

/// The prefetcher, which has nothing to remember.
#[derive(Debug)]
pub struct Buddy;

impl Prefetcher for Buddy {
    fn looked_up(&mut self, access: &Access, wanted: &mut Vec<u64>) {
        if access.found == Found::Miss {
            wanted.push(access.line ^ access.line_bytes);
        }
    }
}
