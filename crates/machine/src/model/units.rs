//! Settings of execution units: what they take, how long it takes.

use super::class::OpClass;
use super::rule::Rule::{Several, Timing, Words};
use super::rule::{power_of_two, range};
use super::settings::settings;
use super::sm::{PER, Per};
use super::work::Work;
use serde::{Deserialize, Serialize};

settings! {
    /// Execution units of one kind, with the operand collectors before them. A class of
    /// operations is taken by one kind; a kind that takes none is not there.
    pub struct Unit {
        /// The classes of operations it takes.
        takes: Vec<OpClass> = Several(OpClass::WORDS), "";
        /// One set of these units for the whole SM, or for each slice or scheduler.
        per: Per = PER, "";
        /// Pipelines in each set.
        count: u32 = range(1, 16), "";
        /// Lanes of each pipeline: an instruction for more threads takes several passes, for which
        /// it holds its issue slot. Slices that have their own units share the lanes out.
        lanes: u32 = power_of_two(1, 32), "lanes";
        /// Operand collectors of each set.
        collectors: u32 = range(1, 64), "";
        /// Instructions that enter and leave the collectors of each set per cycle.
        ports: u32 = range(1, 16), "";
    }
}

settings! {
    /// The pipelines that each lane of a unit has: one for integers, one for floating point. What
    /// is in neither table (special functions, division, double precision, addresses) uses other
    /// circuits.
    pub struct Pipes {
        /// The work that the integer pipeline does.
        int: Vec<Work> = Several(Work::WORDS), "";
        /// The work that the floating-point pipeline does.
        fp: Vec<Work> = Several(Work::WORDS), "";
        /// Neighbouring lanes that values can be shifted between.
        cluster: u32 = power_of_two(2, 32), "lanes";
        /// Whether the two share the entry of their unit, or each has one of its own.
        entries: Entrances = Words(&["shared", "own"]), "";
    }
}

/// What the two pipelines of a unit are entered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entrances {
    /// One entry for both: an instruction of either type keeps it.
    Shared,
    /// One each, and a queue of its own before it.
    Own,
}

settings! {
    /// Latency `[L, II]` by operation class.
    pub struct Latency {
        /// Integer addition and subtraction.
        int_add: [u32; 2] = Timing, "cycles";
        /// Integer minimum and maximum.
        int_minmax: [u32; 2] = Timing, "cycles";
        /// Integer multiplication.
        int_mul: [u32; 2] = Timing, "cycles";
        /// Integer multiplication with addition.
        int_mad: [u32; 2] = Timing, "cycles";
        /// Integer division.
        int_div: [u32; 2] = Timing, "cycles";
        /// Integer remainder.
        int_rem: [u32; 2] = Timing, "cycles";
        /// Single-precision addition and subtraction.
        fp32_add: [u32; 2] = Timing, "cycles";
        /// Single-precision minimum and maximum.
        fp32_minmax: [u32; 2] = Timing, "cycles";
        /// Single-precision multiplication.
        fp32_mul: [u32; 2] = Timing, "cycles";
        /// Single-precision multiplication with addition.
        fp32_mad: [u32; 2] = Timing, "cycles";
        /// Single-precision fused multiplication with addition.
        fp32_fma: [u32; 2] = Timing, "cycles";
        /// Single-precision division.
        fp32_div: [u32; 2] = Timing, "cycles";
        /// Double-precision addition and subtraction.
        fp64_add: [u32; 2] = Timing, "cycles";
        /// Double-precision minimum and maximum.
        fp64_minmax: [u32; 2] = Timing, "cycles";
        /// Double-precision multiplication.
        fp64_mul: [u32; 2] = Timing, "cycles";
        /// Double-precision multiplication with addition.
        fp64_mad: [u32; 2] = Timing, "cycles";
        /// Double-precision fused multiplication with addition.
        fp64_fma: [u32; 2] = Timing, "cycles";
        /// Double-precision division.
        fp64_div: [u32; 2] = Timing, "cycles";
        /// Special functions.
        sfu: [u32; 2] = Timing, "cycles";
        /// Everything else that computes, and control.
        other: [u32; 2] = Timing, "cycles";
        /// Products of matrices (`mma`, `wmma.mma`).
        tensor: [u32; 2] = Timing, "cycles";
    }
}

impl Unit {
    /// How often its lanes are used for an instruction of a warp of `width` threads.
    pub(super) fn passes(&self, width: u32) -> u32 {
        match self.per {
            Per::Slice => 32u32.div_ceil(self.lanes),
            Per::Sm | Per::Scheduler => width.div_ceil(self.lanes),
        }
    }
}
