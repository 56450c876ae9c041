//! What does not go together: the one table of rules between mechanisms, each with the sentence that
//! a user is told. The validator refuses by it, and `warpsim list combinations` shows it.

use crate::config::OpClass;
use crate::config::model::*;
use crate::place::Layout;
use crate::{divergence, fetch, power, prefetch, schedule};
use warpsim_machine::check::validate::word;
use warpsim_machine::mechanism::Kind;
use warpsim_present::listed;

pub use warpsim_machine::check::rule::{Rule, Why};

/// Every rule. A machine is told of the first that it breaks.
pub const RULES: &[Rule] = &[
    Rule {
        about: "fetch policies and what they need",
        why: Why::NoSense,
        forgotten: true,
        broken: fetch_needs,
    },
    Rule {
        about: "fetch that knows where branches go, and fetch ahead of them",
        why: Why::NotBuilt,
        forgotten: true,
        broken: oracle_ahead,
    },
    Rule {
        about: "fetch that knows where branches go, and fetch that waits for them or is ideal",
        why: Why::NoSense,
        forgotten: true,
        broken: oracle_waits,
    },
    Rule {
        about: "narrow warps and units with fewer than 32 lanes",
        why: Why::NoSense,
        forgotten: true,
        broken: narrow_lanes,
    },
    Rule {
        about: "one access of all lanes and several schedulers",
        why: Why::NoSense,
        forgotten: true,
        broken: gathering_schedulers,
    },
    Rule {
        about: "one access of all lanes and units for memory and more",
        why: Why::NoSense,
        forgotten: true,
        broken: gathering_units,
    },
    Rule {
        about: "folding and gating of whole sides",
        why: Why::NoSense,
        forgotten: true,
        broken: folding_gates,
    },
    Rule {
        about: "folding and pipelines narrower than a cluster",
        why: Why::NoSense,
        forgotten: true,
        broken: folding_clusters,
    },
    Rule {
        about: "prefetchers without an L1 data cache",
        why: Why::NoSense,
        forgotten: true,
        broken: prefetched_nowhere,
    },
    Rule {
        about: "orders of a pool without a pool",
        why: Why::NoSense,
        forgotten: false,
        broken: pool_needed,
    },
    Rule {
        about: "orders of blocks over warps that mix blocks",
        why: Why::NoSense,
        forgotten: false,
        broken: mixed_blocks,
    },
    Rule {
        about: "thread block compaction and virtual warps",
        why: Why::NoSense,
        forgotten: false,
        broken: compacted_virtual_warps,
    },
    Rule {
        about: "dynamic warp formation and virtual warps",
        why: Why::NotBuilt,
        forgotten: false,
        broken: pooled_virtual_warps,
    },
    Rule {
        about: "narrow warps, in gangs or not, and virtual warps",
        why: Why::NotBuilt,
        forgotten: false,
        broken: narrow_virtual_warps,
    },
    Rule {
        about: "warp barriers and software virtual blocks",
        why: Why::NotBuilt,
        forgotten: false,
        broken: voting_warp_barriers,
    },
    Rule {
        about: "gangs of warps that are formed anew all the time",
        why: Why::NotBuilt,
        forgotten: false,
        broken: pooled_gangs,
    },
    Rule {
        about: "gangs and schedulers that look one after the other",
        why: Why::NoSense,
        forgotten: true,
        broken: gangs_at_barriers,
    },
];

/// Lines are prefetched into the L1 data cache: there has to be one.
fn prefetched_nowhere(machine: &Machine) -> Option<(String, String)> {
    let name = &machine.l1d.prefetch.name;
    if name == prefetch::NONE || machine.l1d.cache.sets > 0 {
        return None;
    }
    let message = format!(
        "the prefetcher `{name}` fetches lines into the L1 data cache, which this machine leaves out (`l1d.sets` is 0)"
    );
    Some((Kind::Prefetch.name_key().to_string(), message))
}

/// What breaks a rule.
type Broken = Option<(String, String)>;

/// `key` and how the sentence about it goes on.
fn broken(key: &str, message: String) -> Broken {
    Some((key.to_string(), format!("`{key}` {message}")))
}

fn fetch_needs(machine: &Machine) -> Broken {
    let policy = &machine.fetch.policy.name;
    for need in fetch::needs(policy) {
        let has = word(machine, need.key);
        if has.as_deref() != Some(need.value) {
            return broken(
                need.key,
                format!(
                    "is \"{}\": `{policy}` {} and needs \"{}\" (--set {})",
                    has.unwrap_or_default(),
                    need.because,
                    need.value,
                    need.setting()
                ),
            );
        }
    }
    None
}

/// Where a branch goes is known when it issues. With an empty buffer everything before it has issued; with room in the
/// buffer fetch would have to know it before.
fn oracle_ahead(machine: &Machine) -> Broken {
    if !machine.fetch.oracle || machine.fetch.eligible == Eligible::Empty {
        return None;
    }
    broken(
        "fetch.oracle",
        "needs `fetch.eligible = \"empty\"`: with \"room\" fetch runs ahead of a branch that has not issued, and where \
         that goes is known when it issues (--set fetch.eligible=empty)"
            .to_string(),
    )
}

/// There is no wrong path to avoid.
fn oracle_waits(machine: &Machine) -> Broken {
    let fetch = &machine.fetch;
    let other = match (fetch.wait_for_branch, fetch.ideal) {
        (true, _) => "fetch.wait_for_branch",
        (_, true) => "fetch.ideal",
        _ => return None,
    };
    fetch.oracle.then_some(())?;
    broken(
        "fetch.oracle",
        format!(
            "does not go with `{other}`, under which nothing is fetched on a wrong path either: set one of them"
        ),
    )
}

/// Narrow warps on units with fewer than 32 lanes: the lanes are shared out, and the slices use them
/// in step.
fn narrow_lanes(machine: &Machine) -> Broken {
    if machine.sm.warp_width == 32 {
        return None;
    }
    let few = |u: &Unit| !u.takes.is_empty() && u.lanes < 32;
    // What is gathered from all slices is for all lanes of its unit.
    let gathered = |u: &Unit| machine.sm.gather_memory && u.takes == [OpClass::Memory];
    let owned = |u: &Unit| machine.sm.gather_memory && u.per == Per::Slice;
    let wrong = |u: &Unit| few(u) && !gathered(u) && !owned(u);
    let (name, unit) = machine.unit.iter().find(|(_, u)| wrong(u))?;
    let width = machine.sm.warp_width;
    broken(
        "sm.warp_width",
        format!(
            "is {width}, and the {} lanes of `unit.{name}` are used several times for 32 threads: each \
             slice has to have its share of them, and all make one access \
             (--warps ws{width} sets what it takes)",
            unit.lanes
        ),
    )
}

/// Lanes can make one access only if no two warps that issue together are on the same ones.
fn gathering_schedulers(machine: &Machine) -> Broken {
    if !machine.sm.gather_memory || machine.sm.schedulers == 1 {
        return None;
    }
    broken(
        "sm.schedulers",
        format!(
            "is {}: all lanes make one access per cycle (`sm.gather_memory`), and two schedulers would \
             issue memory instructions to the same lanes (--set sm.schedulers=1)",
            machine.sm.schedulers
        ),
    )
}

/// Nothing else passes through the way of gathered accesses to the load/store unit.
fn gathering_units(machine: &Machine) -> Broken {
    let memory = OpClass::Memory;
    let mixed = |u: &Unit| u.takes.contains(&memory) && u.takes.len() > 1;
    let (name, _) = machine.unit.iter().find(|(_, u)| mixed(u))?;
    if !machine.sm.gather_memory {
        return None;
    }
    broken(
        &format!("unit.{name}.takes"),
        "has \"memory\" among others: where the lanes make one access per cycle \
         (`sm.gather_memory`) memory needs a unit of its own"
            .to_string(),
    )
}

fn folding_gates(machine: &Machine) -> Broken {
    power::folding_of(machine)?;
    if power::gating_of(machine).gates?.by_lane {
        return None;
    }
    broken(
        "folding.name",
        format!(
            "is \"{}\": folding leaves the upper lanes of each cluster idle, and `{}` as it is set \
             switches all lanes of a side together (--set gating=conventional --set gating.by=lane)",
            machine.folding.name, machine.gating.name
        ),
    )
}

fn folding_clusters(machine: &Machine) -> Broken {
    power::folding_of(machine)?;
    let narrow = |unit: &Unit| {
        let lanes = power::lanes_per_pipeline(unit, machine);
        lanes.is_some_and(|lanes| lanes < machine.pipes.cluster)
    };
    let (name, _) = machine.unit.iter().find(|(_, unit)| narrow(unit))?;
    broken(
        &format!("unit.{name}.lanes"),
        "gives a pipeline fewer than a cluster (`pipes.cluster`): no warp can be folded"
            .to_string(),
    )
}

fn pool_needed(machine: &Machine) -> Broken {
    let (scheduler, model) = (&machine.scheduler.name, &machine.divergence.name);
    if !schedule::needs_pool(scheduler) || divergence::pools(machine) {
        return None;
    }
    let those = divergence::MODELS.iter().filter(|m| m.pools);
    let those: Vec<&str> = those.map(|m| m.info.name).collect();
    let message = format!(
        "the scheduler {scheduler} looks at a pool of formed warps, and the divergence model {model} \
         has none: use it with {}, or choose another scheduler",
        those.join(" or ")
    );
    Some((Kind::Scheduler.name_key().to_string(), message))
}

fn mixed_blocks(machine: &Machine) -> Broken {
    let (scheduler, model) = (&machine.scheduler.name, &machine.divergence.name);
    if !divergence::pools(machine) || !schedule::ranks_blocks(scheduler) {
        return None;
    }
    let message = format!(
        "the warps of {model} mix threads of several blocks, and the scheduler {scheduler} ranks warps \
         by their block: choose another of the two"
    );
    Some((Kind::Divergence.name_key().to_string(), message))
}

/// What can be done instead of virtual warps.
const INSTEAD: &str = "use software virtual blocks (--virtualize software) with it, or";

fn virtual_warps(machine: &Machine) -> bool {
    machine.virtual_blocks.mode == VirtualMode::Hardware
}

fn compacted_virtual_warps(machine: &Machine) -> Broken {
    let pools = divergence::pools(machine);
    if !virtual_warps(machine) || pools || divergence::keeps_threads(machine) {
        return None;
    }
    let message = format!(
        "the warps of a block wait for each other at branches under {}, and virtual warps are there so \
         that they need not: {INSTEAD} choose another model",
        machine.divergence.name
    );
    Some((Kind::Divergence.name_key().to_string(), message))
}

fn pooled_virtual_warps(machine: &Machine) -> Broken {
    if !virtual_warps(machine) || !divergence::pools(machine) {
        return None;
    }
    let message = format!(
        "{} forms warps of threads from several blocks, and virtual warps take their next block as a \
         whole: {INSTEAD} choose another model",
        machine.divergence.name
    );
    Some((Kind::Divergence.name_key().to_string(), message))
}

fn narrow_virtual_warps(machine: &Machine) -> Broken {
    if !virtual_warps(machine) || machine.sm.warp_width == 32 {
        return None;
    }
    broken(
        "sm.warp_width",
        format!(
            "is {}: virtual warps have 32 threads, which take their next block together; {INSTEAD} 32",
            machine.sm.warp_width
        ),
    )
}

/// Threads that return early vote at the tail of the loop over logical blocks, in the barriers of those
/// that have not: they must not wait for them before.
fn voting_warp_barriers(machine: &Machine) -> Broken {
    let software = machine.virtual_blocks.mode == VirtualMode::Software;
    if !software || !divergence::has_warp_barriers(machine) {
        return None;
    }
    let message = format!(
        "{} holds threads that return early until their warp has come, and in software virtual blocks \
         the rest of their warp may wait for them at a barrier: use dwf, or --virtualize off",
        machine.divergence.name
    );
    Some((Kind::Divergence.name_key().to_string(), message))
}

fn pooled_gangs(machine: &Machine) -> Broken {
    let (scheduler, model) = (&machine.scheduler.name, &machine.divergence.name);
    if !divergence::pools(machine) || !plans(machine) {
        return None;
    }
    let those = divergence::MODELS.iter().filter(|m| !m.pools);
    let those: Vec<&str> = those.map(|m| m.info.name).collect();
    let message = format!(
        "{model} forms warps of any threads, and the scheduler {scheduler} joins the warps of 32 threads \
         that came together: use it with {}, or choose another scheduler",
        listed(&those).replace(" and ", " or ")
    );
    Some((Kind::Divergence.name_key().to_string(), message))
}

fn gangs_at_barriers(machine: &Machine) -> Broken {
    if !machine.sm.barriers_open_at_once || !plans(machine) {
        return None;
    }
    broken(
        "sm.barriers_open_at_once",
        format!(
            "is true: schedulers look at their warps one after the other, and the scheduler {} plans what \
             all of them issue together (--set sm.barriers_open_at_once=false)",
            machine.scheduler.name
        ),
    )
}

/// Whether the issue policy plans what all schedulers issue together.
fn plans(machine: &Machine) -> bool {
    let mut policy = schedule::make(machine, Layout::of(machine).domains());
    policy.plan().is_some()
}
