//! The execution units of an SM as the machine describes them: kinds, sets of each, and which set
//! the warps of a domain issue to.

use crate::config::{Machine, OpClass, Per, Unit};
use crate::place::Layout;
use crate::sm::limits::MOST_KINDS;
use std::ops::Range;

/// The plan.
#[derive(Clone, Debug)]
pub struct UnitPlan {
    /// All sets, those of a kind together.
    pub groups: Vec<Group>,
    /// By domain, then by kind: the number of its set.
    pub routes: Vec<[u8; MOST_KINDS]>,
    /// The kind that takes each class.
    kinds: Vec<(OpClass, u8)>,
}

/// A set of units, with the operand collectors before them.
#[derive(Clone, Debug)]
pub struct Group {
    /// The kind of its units, and the first domain that it serves.
    pub kind: u8,
    #[allow(missing_docs)]
    pub domain: u16,
    /// Its pipelines.
    pub pipelines: Range<usize>,
    /// The pipelines that share its result buses, a bit each.
    pub bus: u32,
    /// Whether memory instructions pass through it, and whether others do.
    pub memory: bool,
    #[allow(missing_docs)]
    pub computes: bool,
    /// Operand collectors, and instructions that enter and leave them per cycle.
    pub collectors: u32,
    #[allow(missing_docs)]
    pub ports: u32,
}

/// The pipelines of a set of units, in short.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pipelines {
    /// The first one, and the one behind the last.
    pub first: u8,
    #[allow(missing_docs)]
    pub end: u8,
    /// Pipelines that share its result buses, a bit each.
    pub bus: u32,
}

impl From<&Group> for Pipelines {
    fn from(group: &Group) -> Pipelines {
        Pipelines {
            first: group.pipelines.start as u8,
            end: group.pipelines.end as u8,
            bus: group.bus,
        }
    }
}

/// The kinds of units that there are. Those that take the first classes come first: where units
/// compete, for buses or banks, it is in this order.
fn kinds(machine: &Machine) -> Vec<&Unit> {
    let mut units: Vec<&Unit> = machine.unit.values().collect();
    units.retain(|unit| !unit.takes.is_empty());
    units.sort_by_key(|unit| unit.takes.iter().min().copied());
    units
}

impl UnitPlan {
    /// The plan of a machine that has been validated.
    pub fn of(machine: &Machine) -> UnitPlan {
        let layout = Layout::of(machine);
        let mut plan = UnitPlan {
            groups: Vec::new(),
            routes: vec![[0; MOST_KINDS]; layout.domains()],
            kinds: Vec::new(),
        };
        for (kind, unit) in kinds(machine).into_iter().enumerate() {
            plan.kinds
                .extend(unit.takes.iter().map(|class| (*class, kind as u8)));
            plan.add(kind, unit, layout);
        }
        plan.share_buses();
        plan
    }

    /// The unit of each pipeline, with the first of the domains that it serves.
    pub fn pipelines<'a>(&self, machine: &'a Machine) -> Vec<(&'a Unit, usize)> {
        let kinds = kinds(machine);
        let of = |group: &Group| {
            let unit = (kinds[group.kind as usize], group.domain as usize);
            std::iter::repeat_n(unit, group.pipelines.len())
        };
        self.groups.iter().flat_map(of).collect()
    }

    /// The kind of units that takes a class.
    pub fn kind_of(&self, class: OpClass) -> u8 {
        let taking = |class| self.kinds.iter().find(|(c, _)| *c == class);
        let found = match class {
            OpClass::Tensor => taking(class).or_else(|| taking(OpClass::Fp32Fma)),
            class => taking(class),
        };
        found.map_or(0, |(_, kind)| *kind)
    }

    fn add(&mut self, kind: usize, unit: &Unit, layout: Layout) {
        let all = layout.domains();
        // How many domains each set serves.
        let share = match unit.per {
            Per::Sm => all,
            Per::Slice => layout.schedulers() as usize,
            Per::Scheduler => 1,
        };
        for first in (0..all).step_by(share) {
            let served = first..first + share;
            let pipeline = self.groups.last().map_or(0, |g| g.pipelines.end);
            let memory = unit.takes.contains(&OpClass::Memory);
            let computes = unit.takes.iter().any(|c| *c != OpClass::Memory);
            let pipelines = if computes { unit.count as usize } else { 0 };
            for domain in served.clone() {
                self.routes[domain][kind] = self.groups.len() as u8;
            }
            self.groups.push(Group {
                kind: kind as u8,
                domain: first as u16,
                pipelines: pipeline..pipeline + pipelines,
                // For now, the domains that share it.
                bus: served.start as u32 | (served.end as u32) << 16,
                memory,
                computes,
                collectors: unit.collectors,
                ports: unit.ports,
            });
        }
    }

    /// Sets that serve the same domains have their buses in common.
    fn share_buses(&mut self) {
        let served: Vec<u32> = self.groups.iter().map(|g| g.bus).collect();
        let mask = |g: &Group| g.pipelines.clone().fold(0, |all, p| all | 1u32 << p);
        let masks: Vec<u32> = self.groups.iter().map(mask).collect();
        for (group, mine) in self.groups.iter_mut().zip(&served) {
            let same = served.iter().zip(&masks).filter(|(s, _)| *s == mine);
            group.bus = same.fold(0, |all, (_, mask)| all | mask);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sm::testing::machine;

    #[test]
    fn one_set_of_each_kind_for_the_sm() {
        let plan = UnitPlan::of(&machine(&[]));
        assert_eq!(plan.routes, [[0, 1, 2, 0]; 2]);
        let pipelines: Vec<_> = plan.groups.iter().map(|g| g.pipelines.clone()).collect();
        assert_eq!(pipelines, [0..2, 2..3, 3..3]);
        assert_eq!(plan.groups[0].bus, 0b111, "they share the buses");
        assert_eq!(plan.kind_of(OpClass::IntDiv), 1);
        assert_eq!(plan.kind_of(OpClass::Memory), 2);
    }

    #[test]
    fn slices_with_lanes_of_their_own() {
        let set = ["sm.warp_width=8", "sm.schedulers=1", "unit.sp.per=slice"];
        let plan = UnitPlan::of(&machine(&set));
        let sp: Vec<u8> = plan.routes.iter().map(|kinds| kinds[0]).collect();
        assert_eq!(sp, [0, 1, 2, 3]);
        assert!(plan.routes.iter().all(|kinds| kinds[1..3] == [4, 5]));
        assert_eq!(plan.groups[1].pipelines, 2..4);
        assert_eq!(plan.groups[1].bus, 0b1100, "its own");
    }
}
