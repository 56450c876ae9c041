//! No prefetcher: lines come when they are asked for.

use super::Registered;
use warpsim_machine::mechanism::Info;

/// As it is registered.
pub const PREFETCHER: Registered = Registered {
    info: Info {
        name: "none",
        description: "nothing: lines are fetched when they are asked for",
        parameters: &[],
    },
    make: |_| None,
};
