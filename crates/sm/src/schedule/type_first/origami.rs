//! The Origami scheduler (Abdel-Majeed et al., PACT 2016): as GATES by type, and within a type first
//! the warps with all lanes active, or first the others, for a phase or two, so that the lanes that
//! partial warps leave idle are idle together.

use super::{AVOID, Groups, TypeFirst};
use crate::schedule::Policy;
use crate::schedule::tls::ACTIVE;
use warpsim_machine::mechanism::{Info, Integer};

/// Origami, section 3.1.1, as long as the phases of folding.
const PHASE: Integer = Integer {
    name: "phase",
    low: 1,
    high: 1_000_000,
    default: 300,
    unit: "cycles",
    description: "which warps go first is decided after so many cycles; as folding.phase",
};

/// Origami, section 3.3.
const SWITCH: Integer = Integer {
    name: "switch",
    low: 1,
    high: 1000,
    default: 2,
    unit: "phases",
    description: "after so many phases in a row the other warps go first",
};

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "origami",
        description: "as gates, and within a type full warps or partial ones go first, by phases",
        parameters: &[&ACTIVE, &PHASE, &SWITCH, &AVOID],
    },
    needs_pool: false,
    ranks_blocks: false,
    make: |values, machine, domains| {
        let places = values.get(&ACTIVE) as usize;
        let groups = Groups::new(values.get(&PHASE).into(), values.get(&SWITCH));
        let width = machine.sm.warp_width;
        let policy = TypeFirst::new(domains, places, width, Some(groups));
        Box::new(policy.avoiding_sleepers(values.get(&AVOID)))
    },
};
