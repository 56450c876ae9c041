//! Which machines make no sense: the one place that says so. Ranges are declared beside each
//! setting; here are the rules between settings. [`Mechanisms`] brings the [rules](rule) between mechanisms and
//! what parts of the simulator ask for.
//! Each check names the key it is about, so that the message can point at the line that set it.
//! Whatever is made of a machine that has passed (SMs, memory system, mechanisms) can be made.

use super::rule;
use crate::limits::{LARGEST_REQUEST, MOST_GROUPS, MOST_KINDS, MOST_PIPELINES};
use crate::mechanism::{Kind, Mechanisms};
use crate::model::class::OpClass;
use crate::model::work::Work;
use crate::model::*;
use crate::place::Layout;
use std::sync::{Mutex, PoisonError};

/// A value that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Dotted key.
    pub key: String,
    /// What is wrong.
    pub message: String,
}

impl Problem {
    /// `key` and how the sentence about it goes on.
    pub fn of(key: &str, message: impl AsRef<str>) -> Problem {
        Problem::said(key, format!("`{key}` {}", message.as_ref()))
    }

    /// A whole sentence about `key`.
    pub fn said(key: &str, message: impl Into<String>) -> Problem {
        Problem {
            key: key.to_string(),
            message: message.into(),
        }
    }
}

type Check = Result<(), Problem>;

fn problem(key: &str, message: impl AsRef<str>) -> Check {
    Err(Problem::of(key, message))
}

fn complaint(key: &str, message: impl Into<String>) -> Check {
    Err(Problem::said(key, message))
}

/// Checks a machine.
pub fn validate(machine: &Machine, mechanisms: &'static Mechanisms) -> Result<(), Problem> {
    // The same machine is loaded and then made a GPU of: it is not checked twice.
    static PASSED: Mutex<Option<(Machine, &Mechanisms)>> = Mutex::new(None);
    let passed = || PASSED.lock().unwrap_or_else(PoisonError::into_inner);
    let before = |p: &(Machine, &Mechanisms)| p.0 == *machine && std::ptr::eq(p.1, mechanisms);
    if passed().as_ref().is_some_and(before) {
        return Ok(());
    }
    single(machine, mechanisms)?;
    rule::first_broken(machine, mechanisms).map_or(Ok(()), |(_, problem)| Err(problem))?;
    *passed() = Some((machine.clone(), mechanisms));
    Ok(())
}

/// Checks every setting, and that none was forgotten that the mechanisms need.
pub fn settings(machine: &Machine, mechanisms: &'static Mechanisms) -> Result<(), Problem> {
    single(machine, mechanisms)?;
    rule::first_forgotten(machine, mechanisms).map_or(Ok(()), Err)
}

/// Checks every setting, and those that depend on each other, whatever the mechanisms are.
pub fn single(machine: &Machine, mechanisms: &'static Mechanisms) -> Result<(), Problem> {
    if machine.schema != 1 {
        return problem("schema", "must be 1");
    }
    if machine.name.trim().is_empty() {
        return problem("name", "is empty");
    }
    let Ok(table) = toml::Table::try_from(machine) else {
        return complaint("name", "this machine cannot be written as TOML");
    };
    ranges(&table)?;
    choices(machine, mechanisms)?;
    read_only_caches(machine)?;
    quantum(machine)?;
    schedulers(&machine.sm)?;
    units(machine)?;
    pipes(machine)?;
    front_end(machine)?;
    caches(machine)?;
    injection(&machine.interconnect)?;
    shared_ports(&machine.interconnect)?;
    l2(&machine.l2)?;
    dram(machine)?;
    mechanisms
        .checks
        .iter()
        .try_for_each(|check| check(machine))
}

/// Every setting is what its declaration says.
fn ranges(table: &toml::Table) -> Check {
    let units = table.get("unit").and_then(toml::Value::as_table);
    let own = units.into_iter().flat_map(|u| u.keys());
    let own: Vec<String> = own.map(|name| format!("unit.{name}")).collect();
    let sections = SECTIONS
        .iter()
        .map(|(section, settings)| (*section, *settings));
    let own = own.iter().map(|section| (section.as_str(), Unit::SETTINGS));
    for (section, settings) in sections.chain(own) {
        let Some(written) = lookup(table, section) else {
            continue;
        };
        for setting in settings {
            let value = written.get(setting.name);
            if let Err(wrong) = value.map_or(Ok(()), |v| setting.rule.check(v)) {
                return problem(&format!("{section}.{}", setting.name), wrong);
            }
        }
    }
    Ok(())
}

/// The value of a dotted key.
fn lookup<'a>(table: &'a toml::Table, key: &str) -> Option<&'a toml::Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((head, rest)) => lookup(table.get(head)?.as_table()?, rest),
    }
}

/// Mechanisms are registered, and their parameters are what they declare.
fn choices(machine: &Machine, mechanisms: &Mechanisms) -> Check {
    for kind in Kind::ALL.into_iter().filter(|k| mechanisms.has(*k)) {
        let choice = kind.chosen(machine);
        let Some(info) = mechanisms.find(kind, &choice.name) else {
            let (message, help) = mechanisms.unknown(kind, &choice.name);
            return complaint(kind.name_key(), format!("{message}; {help}"));
        };
        for (name, value) in choice.values.iter() {
            let key = format!("{}.{name}", kind.key());
            let Some(parameter) = info.parameter(name) else {
                let (message, help) = mechanisms.no_parameter(kind, &info, name);
                return complaint(&key, format!("{message}; {help}"));
            };
            if let Err(wrong) = parameter.rule().check(value) {
                return problem(&key, wrong);
            }
        }
    }
    Ok(())
}

/// What a cache that is only read fetches is read from it: without it nothing would arrive.
fn read_only_caches(machine: &Machine) -> Check {
    let caches = [
        ("l1i.sets", &machine.l1i),
        ("constant.sets", &machine.constant),
        ("texture.sets", &machine.texture),
    ];
    for (key, cache) in caches {
        if cache.sets == 0 {
            return problem(
                key,
                "is 0: only the data cache (`l1d.sets`) can be left out; the smallest is one set of one way",
            );
        }
    }
    Ok(())
}

/// SMs must not run on past a reply that is already under way.
fn quantum(machine: &Machine) -> Check {
    let g = &machine.gpu;
    // With credits it is known only in its last tick when a packet arrives.
    let net = &machine.interconnect;
    let steps = match net.credits {
        true => 1,
        false => u64::from(net.latency),
    };
    let shortest = steps * u64::from(g.core_mhz) / u64::from(g.interconnect_mhz);
    if u64::from(g.quantum) > shortest {
        return problem(
            "gpu.quantum",
            format!(
                "is {}: it must not exceed the interconnect's latency, here {shortest} core cycles",
                g.quantum
            ),
        );
    }
    Ok(())
}

/// Every class of operations is taken by one kind of units, and all of them can be kept track of.
fn units(machine: &Machine) -> Check {
    for (at, class) in OpClass::ALL.iter().enumerate() {
        let takers = machine.unit.iter().filter(|(_, u)| u.takes.contains(class));
        let names: Vec<&str> = takers.map(|(name, _)| name.as_str()).collect();
        match names[..] {
            [_] => {}
            // A machine need not have units for matrices: others do their work.
            [] if *class == OpClass::Tensor => {}
            [] => {
                return complaint(
                    "unit.sp.takes",
                    format!(
                        "no unit takes `{}`: add it to one's `takes`",
                        OpClass::WORDS[at]
                    ),
                );
            }
            [first, second, ..] => {
                let key = format!("unit.{second}.takes");
                return problem(
                    &key,
                    format!("has \"{}\", which `{first}` takes", class.word()),
                );
            }
        }
    }
    for (name, unit) in &machine.unit {
        if unit.takes == [OpClass::Memory] && unit.count != 1 {
            let key = format!("unit.{name}.count");
            return problem(
                &key,
                format!("is {}: there is one load/store unit", unit.count),
            );
        }
    }
    let present = machine.unit.values().filter(|u| !u.takes.is_empty());
    let kinds = present.clone().count();
    if kinds > MOST_KINDS {
        return complaint(
            "unit.sp.takes",
            format!("{kinds} kinds of units: {MOST_KINDS} are the most"),
        );
    }
    let layout = Layout::of(machine);
    let sets = |u: &Unit| match u.per {
        Per::Sm => 1,
        Per::Slice => layout.slices() as usize,
        Per::Scheduler => layout.domains(),
    };
    let all: usize = present.clone().map(sets).sum();
    let pipelines: usize = present.map(|u| sets(u) * u.count as usize).sum();
    if all > MOST_GROUPS {
        let message =
            format!("that is {all} sets of units on an SM, and {MOST_GROUPS} are the most");
        return complaint("unit.sp.per", message);
    }
    if pipelines > MOST_PIPELINES {
        let message =
            format!("that is {pipelines} pipelines on an SM, and {MOST_PIPELINES} are the most");
        return complaint("unit.sp.count", message);
    }
    Ok(())
}

/// What a lane's two pipelines do.
fn pipes(machine: &Machine) -> Check {
    let twice = machine
        .pipes
        .fp
        .iter()
        .position(|w| machine.pipes.int.contains(w));
    if let Some(at) = twice {
        let word = Work::WORDS[machine.pipes.fp[at] as usize];
        return problem(
            "pipes.fp",
            format!("has \"{word}\", which is in `pipes.int`, too: one of the two does it"),
        );
    }
    Ok(())
}

fn schedulers(s: &Sm) -> Check {
    // Warps are kept in bit sets of 64, one for each scheduler of each slice.
    let warps = (s.max_threads / 32).div_ceil(s.schedulers);
    if warps > 64 {
        return problem(
            "sm.schedulers",
            format!(
                "is {}: with {} threads that is {warps} warps per scheduler, and 64 is the most",
                s.schedulers, s.max_threads
            ),
        );
    }
    // And these sets are in turn a bit each of a set.
    let sets = s.schedulers * (32 / s.warp_width);
    if sets > 64 {
        return problem(
            "sm.schedulers",
            format!(
                "is {}: with warps of {} threads that is {sets} groups of warps, and 64 is the most",
                s.schedulers, s.warp_width
            ),
        );
    }
    Ok(())
}

/// What is fetched has a place, and stays until it is read.
fn front_end(machine: &Machine) -> Check {
    let f = &machine.fetch;
    if f.width > f.buffer {
        return problem(
            "fetch.width",
            format!(
                "is {}: a fetch must fit in the buffer of {}",
                f.width, f.buffer
            ),
        );
    }
    // Else warps could take each other's lines for ever, before any of them is fetched for.
    let (ways, mshrs) = (machine.l1i.ways, machine.l1i.mshrs);
    if f.refill == Refill::Refetch && !f.ideal && ways < 2 * mshrs {
        return problem(
            "fetch.refill",
            format!(
                "is refetch: a line that has come must outlast those that are asked for next, so that `l1i.ways`, {ways}, must be \
                 twice `l1i.mshrs`, {mshrs}, or more"
            ),
        );
    }
    Ok(())
}

fn caches(machine: &Machine) -> Check {
    for (name, cache) in [
        ("l1d", &machine.l1d.cache),
        ("l1i", &machine.l1i),
        ("constant", &machine.constant),
        ("texture", &machine.texture),
    ] {
        if cache.line > machine.l2.line {
            return problem(
                &format!("{name}.line"),
                format!(
                    "is {}: an L2 line is only {} bytes",
                    cache.line, machine.l2.line
                ),
            );
        }
    }
    Ok(())
}

fn injection(i: &Interconnect) -> Check {
    let largest = (i.header + LARGEST_REQUEST).div_ceil(i.flit);
    for (key, flits, counts) in [
        ("interconnect.injection_queue", i.injection_queue, true),
        ("interconnect.last_buffer", i.last_buffer, i.credits),
    ] {
        if counts && flits < largest {
            return problem(
                key,
                format!("is {flits}: the largest packet has {largest} flits and would never fit"),
            );
        }
    }
    Ok(())
}

fn shared_ports(i: &Interconnect) -> Check {
    if i.credits && i.sms_per_port > 1 {
        return problem(
            "interconnect.sms_per_port",
            format!(
                "is {}: with `interconnect.credits` each SM has a port of its own",
                i.sms_per_port
            ),
        );
    }
    Ok(())
}

fn l2(l: &L2) -> Check {
    if l.sector > l.line {
        return problem(
            "l2.sector",
            format!("is {}: a line is only {} bytes", l.sector, l.line),
        );
    }
    let pieces = LARGEST_REQUEST.div_ceil(l.sector);
    if l.queue < pieces {
        return problem(
            "l2.queue",
            format!(
                "is {}: a request of {LARGEST_REQUEST} bytes has {pieces} sectors and would never fit",
                l.queue
            ),
        );
    }
    Ok(())
}

fn dram(machine: &Machine) -> Check {
    let (d, t) = (&machine.dram, &machine.dram.timing);
    if d.bank_groups > d.banks {
        return problem(
            "dram.bank_groups",
            format!("is {}: there are only {} banks", d.bank_groups, d.banks),
        );
    }
    let slices = machine.l2.slices_per_channel;
    if d.banks < slices {
        return problem(
            "dram.banks",
            format!(
                "is {}: each of the channel's {slices} L2 slices needs its own",
                d.banks
            ),
        );
    }
    if d.interleave < machine.l2.line {
        return problem(
            "dram.interleave",
            format!(
                "is {}: an L2 line is {} bytes, and lies in one channel",
                d.interleave, machine.l2.line
            ),
        );
    }
    if d.row_bytes < d.burst_bytes {
        return problem(
            "dram.row_bytes",
            format!("is {}: a burst is {} bytes", d.row_bytes, d.burst_bytes),
        );
    }
    if d.model == DramModel::Simple && d.simple_bytes_per_cycle == 0 {
        return problem(
            "dram.simple_bytes_per_cycle",
            "is 0: the simple model needs a bandwidth",
        );
    }
    if t.rc < t.ras {
        return problem(
            "dram.timing.rc",
            format!("is {}: shorter than ras, {}", t.rc, t.ras),
        );
    }
    Ok(())
}

/// The value of a setting that is a word.
pub fn word(machine: &Machine, key: &str) -> Option<String> {
    let table = toml::Table::try_from(machine).ok()?;
    lookup(&table, key)?.as_str().map(str::to_string)
}
