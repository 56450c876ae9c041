//! Where there is room at the units, for policies that plan: kept from one look to the next, since it changes seldom.

use crate::config::Machine;
use crate::sm::limits::MOST_DOMAINS;
use crate::sm::units::UnitPlan;

/// Kinds of units are a bit each.
pub(super) struct Rooms {
    /// The kinds that there is room at, if they are the same for all domains, and the room that this is so for.
    pub alike: Option<u8>,
    pub asked: Option<u32>,
    /// By domain: those kinds, where they are not the same for all.
    pub by_domain: [u8; MOST_DOMAINS],
    /// The room that warps have been planned with in this cycle, and by domain the kinds then.
    pub planned: Option<u32>,
    pub planned_by_domain: [u8; MOST_DOMAINS],
    /// The groups of units that all domains share, if each other is for one domain alone.
    pub shared: Option<u32>,
}

impl Rooms {
    /// No scheduler has asked yet.
    pub fn new(machine: &Machine, domains: usize) -> Rooms {
        Rooms {
            alike: None,
            asked: None,
            by_domain: [0; MOST_DOMAINS],
            planned: None,
            planned_by_domain: [0; MOST_DOMAINS],
            shared: shared_groups(machine, domains),
        }
    }
}

/// The groups of units, a bit each, that all domains share, if each other group is for one domain alone.
fn shared_groups(machine: &Machine, domains: usize) -> Option<u32> {
    let plan = UnitPlan::of(machine);
    let mut shared = 0;
    for (g, group) in plan.groups.iter().enumerate() {
        let of_kind = plan.groups.iter().filter(|other| other.kind == group.kind);
        match of_kind.count() {
            1 => shared |= 1 << g,
            n if n == domains => {}
            _ => return None,
        }
    }
    Some(shared)
}
