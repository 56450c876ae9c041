//! What folding asks of a machine.

use super::{folding_of, lanes_per_pipeline};
use warpsim_machine::Machine;
use warpsim_machine::check::validate::Problem;

/// An instruction in two halves is not longer than a pipeline can be.
pub fn check(machine: &Machine) -> Result<(), Problem> {
    let Some(folding) = folding_of(machine) else {
        return Ok(());
    };
    for unit in machine.unit.values() {
        let lanes = lanes_per_pipeline(unit, machine);
        for class in &unit.takes {
            let [latency, interval] = class.timing(&machine.latency);
            let passes = machine.passes(*class);
            let interval = u64::from(interval.max(passes));
            let all = u64::from(latency + passes) + interval + folding.stages;
            if lanes.is_some() && all > LONGEST_FOLDED {
                return Err(Problem::said(
                    &format!("latency.{}", class.word()),
                    format!(
                        "`latency.{}`: an instruction in two halves would take {all} cycles, longer \
                         than a pipeline can be ({LONGEST_FOLDED})",
                        class.word()
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// Most cycles that an instruction in two halves may take in its unit.
const LONGEST_FOLDED: u64 = 1000;
