//! Blackout (Abdel-Majeed et al., Warped-Gates, MICRO 2013): a side of an SP that is switched off
//! stays off until the break-even time, whichever warp needs it.
//!
//! *Coordinated*: of the SPs' sides of a type the last one that is on goes off only when no active
//! warp's next instruction is of that type. *Adaptive*: the idle-detect time follows the wake-ups
//! that came in the very cycle in which a blackout ended.

use super::{BREAK_EVEN, Gates, Gating, IDLE_DETECT, REQUEST, WAKE_UP};
use crate::power::GatingPolicy;
use crate::power::adaptive::AdaptiveRules;
use warpsim_machine::mechanism::{Info, Integer, Switch};

const COORDINATED: Switch = Switch {
    name: "coordinated",
    default: true,
    description: "the last side of its type stays on while active warps wait for it",
};

const ADAPTIVE: Switch = Switch {
    name: "adaptive",
    default: true,
    description: "idle_detect follows how often blackout made an instruction wait",
};

// The numbers below are Warped-Gates', as the specification has them.

const EPOCH: Integer = Integer {
    name: "epoch",
    low: 1,
    high: 1_000_000,
    default: 1000,
    unit: "cycles",
    description: "after so many cycles idle_detect is looked at again",
};

const CRITICAL: Integer = Integer {
    name: "critical",
    low: 0,
    high: 1_000_000,
    default: 5,
    unit: "wake-ups",
    description: "more critical wake-ups than this in an epoch lengthen idle_detect by one",
};

const CALM: Integer = Integer {
    name: "calm",
    low: 1,
    high: 1000,
    default: 4,
    unit: "epochs",
    description: "so many epochs in a row without shorten it by one",
};

const LOW: Integer = Integer {
    name: "low",
    low: 0,
    high: 1000,
    default: 5,
    unit: "cycles",
    description: "shortest that idle_detect becomes",
};

const HIGH: Integer = Integer {
    name: "high",
    low: 0,
    high: 1000,
    default: 10,
    unit: "cycles",
    description: "longest that idle_detect becomes",
};

/// As it is registered.
pub const POLICY: GatingPolicy = GatingPolicy {
    info: Info {
        name: "blackout",
        description: "a side of an SP that is switched off stays off until the break-even time",
        parameters: &[
            &COORDINATED,
            &ADAPTIVE,
            &IDLE_DETECT,
            &BREAK_EVEN,
            &WAKE_UP,
            &REQUEST,
            &EPOCH,
            &CRITICAL,
            &CALM,
            &LOW,
            &HIGH,
        ],
    },
    make: |values| Gating {
        gates: Some(Gates {
            idle_detect: values.get(&IDLE_DETECT),
            break_even: values.get(&BREAK_EVEN),
            wake_up: values.get(&WAKE_UP),
            early: values.get(&REQUEST),
            by_lane: false,
            blackout: true,
            coordinated: values.get(&COORDINATED),
            adaptive: values.get(&ADAPTIVE).then(|| AdaptiveRules {
                epoch: values.get(&EPOCH).into(),
                critical: values.get(&CRITICAL),
                calm: values.get(&CALM),
                low: values.get(&LOW),
                high: values.get(&HIGH),
            }),
        }),
        watch: true,
    },
};
