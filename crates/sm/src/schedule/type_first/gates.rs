//! GATES, the gating-aware two-level scheduler of Warped-Gates (Abdel-Majeed et al., MICRO 2013): in
//! the active set instructions of one type issue before those of the others, so that the other
//! type's lanes are idle for longer.

use super::{AVOID, TypeFirst};
use crate::schedule::Policy;
use crate::schedule::tls::ACTIVE;
use warpsim_machine::mechanism::Info;

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "gates",
        description: "two levels; in the active set integer or floating-point instructions go first, by turns",
        parameters: &[&ACTIVE, &AVOID],
    },
    needs_pool: false,
    ranks_blocks: false,
    make: |values, machine, domains| {
        let places = values.get(&ACTIVE) as usize;
        let policy = TypeFirst::new(domains, places, machine.sm.warp_width, None);
        Box::new(policy.avoiding_sleepers(values.get(&AVOID)))
    },
};
