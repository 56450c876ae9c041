//! The pipes whose lanes have gates, for observers.

use super::UnitPlan;
use crate::config::Machine;
use crate::power::{Side, gating_of};
use warpsim_machine::lanes::{lanes_of, sides_of};

/// The pipelines of one side of a unit's lanes, which are switched off while they are idle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatedPipe {
    /// The unit as the machine calls it, its number on the SM, and the side: "sp 0 int".
    pub name: String,
    /// Its lanes.
    pub lanes: u32,
    /// Gates: one for each lane, or one for all.
    pub gates: u32,
}

/// The pipes of an SM whose lanes have gates, in the order in which observers hear of them; none where none has.
pub fn gated_pipes(machine: &Machine) -> Vec<GatedPipe> {
    let Some(gates) = gating_of(machine).gates else {
        return Vec::new();
    };
    let plan = UnitPlan::of(machine);
    let mut all = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (unit, _) in plan.pipelines(machine) {
        let named = machine.unit.iter().find(|(_, u)| std::ptr::eq(*u, unit));
        let name = named.map_or("", |(name, _)| name.as_str());
        let number = seen.iter().filter(|other| **other == name).count();
        seen.push(name);
        let (_, lanes) = lanes_of(unit, machine);
        for side in Side::ALL {
            let side_name = match side {
                Side::Int => "int",
                Side::Fp => "fp",
            };
            if sides_of(unit)[side as usize] {
                all.push(GatedPipe {
                    name: format!("{name} {number} {side_name}"),
                    lanes,
                    gates: if gates.by_lane { lanes } else { 1 },
                });
            }
        }
    }
    all
}
