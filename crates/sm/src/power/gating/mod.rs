//! Gating policies: when a lane pipeline is switched off. One file per policy.

mod blackout;
mod conventional;
mod none;

use super::GatingPolicy;
use super::adaptive::AdaptiveRules;
use warpsim_machine::mechanism::{Integer, OneOf};

/// Every gating policy.
pub const GATING: &[GatingPolicy] = &[none::POLICY, conventional::POLICY, blackout::POLICY];

/// What a gating policy does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gating {
    /// What is gated, if anything is.
    pub gates: Option<Gates>,
    /// Lanes are watched: their cycles and bubbles are counted although nothing is gated.
    pub watch: bool,
}

/// How lanes are gated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gates {
    /// Idle cycles before a lane is switched off.
    pub idle_detect: u32,
    /// Cycles that a lane must be off to save what switching it costs.
    pub break_even: u32,
    /// Cycles from the request to the first use.
    pub wake_up: u32,
    /// An instruction asks for its lanes when it is issued, else when it would enter their pipeline.
    pub early: bool,
    /// Lane by lane, else all lanes of a side of an SP together.
    pub by_lane: bool,
    /// Nothing is woken before the break-even time.
    pub blackout: bool,
    /// The last side of its type that is on stays on while warps wait for it.
    pub coordinated: bool,
    /// How `idle_detect` follows the program, if it does.
    pub adaptive: Option<AdaptiveRules>,
}

/// Origami, section 4.1, from Hu et al. (ISLPED 2004).
pub const IDLE_DETECT: Integer = Integer {
    name: "idle_detect",
    low: 0,
    high: 1000,
    default: 5,
    unit: "cycles",
    description: "idle cycles before lanes are switched off",
};

/// Origami, section 4.1; 9 to 19 in Hu et al. (ISLPED 2004).
pub const BREAK_EVEN: Integer = Integer {
    name: "break_even",
    low: 0,
    high: 1000,
    default: 14,
    unit: "cycles",
    description: "time off that saves what switching costs; each event is charged so much leakage",
};

/// Warped-Gates' number: the Origami paper names none but the 9 of its sensitivity study.
pub const WAKE_UP: Integer = Integer {
    name: "wake_up",
    low: 0,
    high: 1000,
    default: 3,
    unit: "cycles",
    description: "from the request of lanes that are off to their first use",
};

/// The papers do not say. Asked for at issue, lanes wake up while the operands are collected.
pub const REQUEST: OneOf<bool> = OneOf {
    name: "request",
    words: &["entry", "issue"],
    meanings: &[false, true],
    description: "when an instruction asks for lanes that are off: when it would enter their pipeline, \
                  or when it is issued",
};
