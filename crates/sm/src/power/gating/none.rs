//! No gating: every lane is on.

use super::Gating;
use crate::power::GatingPolicy;
use warpsim_machine::mechanism::{Info, Switch};

const WATCH: Switch = Switch {
    name: "watch",
    default: false,
    description: "count the cycles and bubbles of the lanes all the same",
};

/// As it is registered.
pub const POLICY: GatingPolicy = GatingPolicy {
    info: Info {
        name: "none",
        description: "lanes are never switched off",
        parameters: &[&WATCH],
    },
    make: |values| Gating {
        gates: None,
        watch: values.get(&WATCH),
    },
};
