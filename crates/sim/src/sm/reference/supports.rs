//! What of a machine only the default SM does.

use crate::config::Machine;
use crate::place::Layout;

/// Why the reference SM cannot be that of a machine, if it cannot: the setting, by its name.
pub(crate) fn refused(machine: &Machine) -> Option<String> {
    let mut policy = crate::schedule::make(machine, Layout::of(machine).domains());
    let plans = policy.plan().is_some();
    plans.then(|| {
        format!(
            "the reference SM does not support `scheduler = \"{}\"` of {}: choose another issue policy, or run without \
             --reference",
            machine.scheduler.name, machine.name
        )
    })
}
