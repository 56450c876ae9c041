//! Conventional gating (Hu et al., ISLPED 2004): what has been idle for a while is switched off, and
//! woken by the next instruction that needs it.

use super::{BREAK_EVEN, Gates, Gating, IDLE_DETECT, REQUEST, WAKE_UP};
use crate::power::GatingPolicy;
use warpsim_machine::mechanism::{Info, OneOf};

/// By domain, as the baseline of the papers; folding needs it by lane.
const BY: OneOf<bool> = OneOf {
    name: "by",
    words: &["domain", "lane"],
    meanings: &[false, true],
    description: "what is switched off together: a side of an SP, or each lane by itself",
};

/// As it is registered.
pub const POLICY: GatingPolicy = GatingPolicy {
    info: Info {
        name: "conventional",
        description: "idle lanes are switched off, and woken when an instruction needs them",
        parameters: &[&BY, &IDLE_DETECT, &BREAK_EVEN, &WAKE_UP, &REQUEST],
    },
    make: |values| Gating {
        gates: Some(Gates {
            idle_detect: values.get(&IDLE_DETECT),
            break_even: values.get(&BREAK_EVEN),
            wake_up: values.get(&WAKE_UP),
            early: values.get(&REQUEST),
            by_lane: values.get(&BY),
            blackout: false,
            coordinated: false,
            adaptive: None,
        }),
        watch: true,
    },
};
