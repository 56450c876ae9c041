//! What of a machine only the default SM does.

use crate::config::{Entrances, Machine};
use crate::place::Layout;
use crate::power::Power;
use crate::sm::units::UnitPlan;

/// Why the reference SM cannot be that of a machine, if it cannot: the setting, by its name.
pub(crate) fn refused(machine: &Machine) -> Option<String> {
    let mut policy = crate::schedule::make(machine, Layout::of(machine).domains());
    let scheduler = || format!("`scheduler = \"{}\"`", machine.scheduler.name);
    let pipelines = UnitPlan::of(machine).pipelines(machine);
    let setting = match () {
        () if policy.plan().is_some() || policy.minds_power().is_some() => scheduler(),
        () if machine.pipes.entries == Entrances::Own => "`pipes.entries = \"own\"`".into(),
        () if Power::new(machine, &pipelines, false).is_some() => "`gating` or `folding`".into(),
        () => return None,
    };
    Some(format!(
        "the reference SM does not support {setting} of {}: change that setting, or run without --reference",
        machine.name
    ))
}
