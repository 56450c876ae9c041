//! Which units have lanes with an integer and a floating-point side, and how many.

use crate::place::Layout;
use crate::{Machine, OpClass, Per, Unit, Work};

/// One of the two pipelines of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Integers.
    Int,
    /// Floating point.
    Fp,
}

impl Side {
    /// Both.
    pub const ALL: [Side; 2] = [Side::Int, Side::Fp];

    /// The pipeline that does this work on a machine, if it is one of these two.
    pub fn of(work: Work, machine: &Machine) -> Option<Side> {
        if machine.pipes.int.contains(&work) {
            Some(Side::Int)
        } else if machine.pipes.fp.contains(&work) {
            Some(Side::Fp)
        } else {
            None
        }
    }
}

/// The classes by which a unit is known to have lanes of a side.
const INT_CLASSES: &[OpClass] = &[
    OpClass::IntAdd,
    OpClass::IntMinmax,
    OpClass::IntMul,
    OpClass::IntMad,
];
const FP_CLASSES: &[OpClass] = &[
    OpClass::Fp32Add,
    OpClass::Fp32Minmax,
    OpClass::Fp32Mul,
    OpClass::Fp32Mad,
    OpClass::Fp32Fma,
];

/// The sides that the lanes of a unit have.
pub fn sides_of(unit: &Unit) -> [bool; 2] {
    let takes = |classes: &[OpClass]| unit.takes.iter().any(|c| classes.contains(c));
    [takes(INT_CLASSES), takes(FP_CLASSES)]
}

/// Pipelines of a unit on an SM, and lanes of each.
pub fn lanes_of(unit: &Unit, machine: &Machine) -> (u32, u32) {
    let layout = Layout::of(machine);
    match unit.per {
        Per::Sm => (unit.count, unit.lanes),
        Per::Scheduler => (unit.count * layout.domains() as u32, unit.lanes),
        Per::Slice => {
            let slices = u32::from(layout.slices());
            (unit.count * slices, (unit.lanes / slices).max(1))
        }
    }
}

/// Lanes of each pipeline of a unit, if they have an integer or a floating-point side.
pub fn lanes_per_pipeline(unit: &Unit, machine: &Machine) -> Option<u32> {
    (sides_of(unit) != [false; 2]).then(|| lanes_of(unit, machine).1)
}

/// Lane pipelines of a side on an SM.
pub fn lane_pipelines(machine: &Machine, side: Side) -> u64 {
    let units = machine.unit.values().filter(|u| sides_of(u)[side as usize]);
    let lanes = units.map(|unit| {
        let (pipelines, lanes) = lanes_of(unit, machine);
        u64::from(pipelines * lanes)
    });
    lanes.sum()
}
