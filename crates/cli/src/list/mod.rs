//! `warpsim list`.

use warpsim_sim::config::ReadMachine;
mod combinations;

use crate::console::failure::{Failure, print, print_data};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpsim_present::{listed, wrapped};
use warpsim_sim::config::SECTIONS;
use warpsim_sim::config::read::presets;
use warpsim_sim::config::{Machine, power, warps};
use warpsim_sim::mechanism::{CacheName, Kind, MECHANISMS, Parameter};
use warpsim_study::embedded;
use warpsim_workloads::suite::{self, Info, WORKLOADS};
use warpsim_workloads::vtw_kernels::KERNELS;
use warpsim_workloads::{folder, launchfile};

/// Arguments of `warpsim list`.
#[derive(clap::Args)]
pub struct Arguments {
    /// What to show [default: what there is to show].
    what: Option<What>,
    /// With `workloads`: also those in this folder.
    #[arg(long, value_name = "DIR")]
    workload_dir: Option<PathBuf>,
    /// As data.
    #[arg(long, conflicts_with = "workload_dir")]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Machine presets.
    Machines,
    /// What a machine file or --set can set, with its value in the preset gtx480.
    Settings,
    /// Issue policies.
    Schedulers,
    /// Fetch policies.
    Fetch,
    /// Divergence models.
    Divergence,
    /// Replacement policies of the caches.
    Replacement,
    /// Prefetchers of the L1 data cache.
    Prefetch,
    /// Names for widths of warps and gangs, with the settings that each is short for.
    Warps,
    /// Names for ways to save power, with the settings that each is short for, then gating and
    /// folding policies.
    Power,
    /// Which machines, warps, power, policies, models and virtual blocks go together, and why others
    /// do not.
    Combinations,
    /// Workloads with their parameters and sizes.
    Workloads,
    /// Kernels of the virtual-warps paper, and which of ours stands for each.
    KernelsVtw,
    /// Statistics that `run --stats` writes.
    Stats,
    /// Papers' experiments that `study` runs.
    Studies,
}

/// Shows a list.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Some(what) = arguments.what else {
        print(&overview())?;
        return Ok(ExitCode::SUCCESS);
    };
    if arguments.json {
        let value = as_data(what)?;
        print_data(&format!("{value:#}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match what {
        What::Machines => machines()?,
        What::Settings => settings()?,
        What::Schedulers => mechanisms(Kind::Scheduler),
        What::Fetch => mechanisms(Kind::Fetch),
        What::Divergence => mechanisms(Kind::Divergence),
        What::Replacement => replacement(),
        What::Prefetch => mechanisms(Kind::Prefetch),
        What::Warps => warps()?,
        What::Power => power(),
        What::Combinations => combinations::text(),
        What::Workloads => match &arguments.workload_dir {
            Some(folder) => workloads() + &in_folder(folder)?,
            None => workloads(),
        },
        What::KernelsVtw => kernels_vtw(),
        What::Stats => stats(),
        What::Studies => studies()?,
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The lists that there are.
fn overview() -> String {
    let mut out = String::from("`warpsim list WHAT` shows one of:\n");
    for what in What::value_variants() {
        let Some(value) = what.to_possible_value() else {
            continue;
        };
        let about = value.get_help().map(ToString::to_string);
        out += &shown_under(value.get_name(), about.as_deref().unwrap_or_default());
    }
    out
}

/// A name and what there is to say about it, within 80 letters.
fn shown_under(name: &str, about: &str) -> String {
    let mut out = String::new();
    for (i, line) in wrapped(about, 62).iter().enumerate() {
        let name = if i == 0 { name } else { "" };
        let _ = writeln!(out, "  {name:<14}  {line}");
    }
    out
}

/// What is listed, as data.
fn as_data(what: What) -> Result<Value, Failure> {
    let mechanisms = |kind: Kind| -> Value {
        let parameter = |p: &&dyn Parameter| {
            json!({
                "key": format!("{}.{}", kind.key(), p.name()),
                "default": plain(&p.default()),
                "allowed": p.rule().in_unit(p.unit()),
                "unit": p.unit(),
                "description": p.description(),
            })
        };
        let mechanism = |info: &warpsim_sim::mechanism::Info| {
            json!({
                "name": info.name,
                "description": info.description,
                "parameters": info.parameters.iter().map(parameter).collect::<Vec<_>>(),
            })
        };
        MECHANISMS.of(kind).iter().map(mechanism).collect()
    };
    Ok(match what {
        What::Machines => {
            let mut list = Vec::new();
            for name in presets::names() {
                let machine = Machine::preset(name)?;
                list.push(json!({ "name": name, "description": machine.description }));
            }
            list.into()
        }
        What::Settings => settings_data()?,
        What::Schedulers => mechanisms(Kind::Scheduler),
        What::Fetch => mechanisms(Kind::Fetch),
        What::Divergence => mechanisms(Kind::Divergence),
        What::Replacement => mechanisms(Kind::Replacement(CacheName::L1d)),
        What::Prefetch => mechanisms(Kind::Prefetch),
        What::Warps => {
            let machine = Machine::resolve("vws", &[])?;
            let named = warps::NAMES.iter().map(|n| {
                json!({ "name": n.name, "description": n.description, "settings": n.shown(&machine) })
            });
            named.collect()
        }
        What::Combinations => combinations::data(),
        What::Power => {
            let named = power::NAMES.iter().map(
                |n| json!({ "name": n.name, "description": n.description, "settings": n.all() }),
            );
            json!({
                "names": named.collect::<Vec<_>>(),
                "gating": mechanisms(Kind::Gating),
                "folding": mechanisms(Kind::Folding),
            })
        }
        What::Workloads => WORKLOADS.iter().map(|w| workload_data(w.info())).collect(),
        What::KernelsVtw => {
            let kernels = KERNELS.iter().map(|k| {
                json!({
                    "program": k.program, "kernel": k.kernel, "blocks": k.blocks,
                    "resident": k.resident, "workload": k.workload, "entry": k.entry,
                })
            });
            kernels.collect()
        }
        What::Stats => {
            let all = warpsim_sim::stats::all_statistics().into_iter();
            let one = |(group, info): (_, warpsim_sim::stats::StatInfo)| {
                json!({
                    "name": format!("{group}.{}", info.name),
                    "unit": info.unit,
                    "description": info.description,
                })
            };
            all.map(one).collect()
        }
        What::Studies => {
            let mut list = Vec::new();
            for name in embedded::names() {
                let study = crate::study::find(name)?;
                list.push(json!({ "name": name, "title": study.title, "paper": study.paper }));
            }
            list.into()
        }
    })
}

fn settings_data() -> Result<Value, Failure> {
    let base = Machine::preset(presets::BASE)?;
    let table = toml::Table::try_from(&base).map_err(|e| Failure::bad_input(e.to_string()))?;
    let mut list = Vec::new();
    for (section, settings) in SECTIONS {
        let mut parts = section.split('.');
        let values = parts.try_fold(&table, |at, part| at.get(part)?.as_table());
        for setting in *settings {
            let value = values.and_then(|v| v.get(setting.name));
            list.push(json!({
                "key": format!("{section}.{}", setting.name),
                "type": value.map_or("", toml::Value::type_str),
                "default": value.map(plain),
                "allowed": setting.rule.in_unit(setting.unit),
                "unit": setting.unit,
                "description": setting.description(),
            }));
        }
    }
    for kind in Kind::ALL {
        let names: Vec<&str> = MECHANISMS.of(kind).iter().map(|i| i.name).collect();
        list.push(json!({
            "key": kind.name_key(),
            "type": "string",
            "default": kind.chosen(&base).name,
            "allowed": names.join(" | "),
            "unit": "",
            "description": format!("The {}.", kind.word()),
        }));
    }
    Ok(list.into())
}

fn workload_data(info: &Info) -> Value {
    let parameter = |p: &suite::Parameter| {
        let [tiny, small, large] = p.sizes;
        json!({
            "name": p.name, "description": p.description,
            "tiny": tiny, "small": small, "large": large,
            "least": p.range.0, "most": p.range.1, "multiple": p.multiple,
        })
    };
    json!({
        "name": info.name,
        "algorithm": info.algorithm,
        "known_for": info.known_for,
        "shape": info.shape,
        "papers": info.papers,
        "sets": info.sets.iter().map(|s| s.name()).collect::<Vec<_>>(),
        "parameters": info.parameters.iter().map(parameter).collect::<Vec<_>>(),
    })
}

// Writing to a String cannot fail, hence the ignored results below.

fn machines() -> Result<String, Failure> {
    let mut out = String::new();
    for name in presets::names() {
        let m = Machine::preset(name)?;
        let _ = writeln!(out, "{name}\n    {}", m.description);
        let _ = writeln!(
            out,
            "    {} SMs at {} MHz, {} threads and {} registers per SM, {} scheduler{} ({}), {} lanes",
            m.gpu.sms,
            m.gpu.core_mhz,
            m.sm.max_threads,
            m.sm.registers,
            m.sm.schedulers,
            if m.sm.schedulers == 1 { "" } else { "s" },
            m.scheduler.name,
            m.unit.values().map(|u| u.lanes).max().unwrap_or(0)
        );
        let kib = |sets: u32, line: u32, ways: u32| {
            u64::from(sets) * u64::from(line) * u64::from(ways) / 1024
        };
        let slices = u64::from(m.l2.slices_per_channel) * u64::from(m.dram.channels);
        let _ = writeln!(
            out,
            "    L1D {} KB, shared {} KB, L2 {} KB, {} DRAM channel{}",
            kib(m.l1d.cache.sets, m.l1d.cache.line, m.l1d.cache.ways),
            m.shared.bytes / 1024,
            kib(m.l2.sets, m.l2.line, m.l2.ways) * slices,
            m.dram.channels,
            if m.dram.channels == 1 { "" } else { "s" }
        );
    }
    Ok(out)
}

/// Papers' experiments.
pub fn studies() -> Result<String, Failure> {
    let mut out = String::new();
    for name in embedded::names() {
        let study = crate::study::find(name)?;
        let _ = writeln!(out, "{name}\n    {}", study.title);
        if let Some(paper) = &study.paper {
            let _ = writeln!(out, "    {paper}");
        }
        let figures: Vec<&str> = study.figures.iter().map(|f| f.number.as_str()).collect();
        let _ = writeln!(
            out,
            "    on {}: {}",
            study.machine.value,
            figures.join(", ")
        );
    }
    Ok(out)
}

fn mechanisms(kind: Kind) -> String {
    let mut out = String::new();
    for info in MECHANISMS.of(kind) {
        let _ = writeln!(out, "{}\n    {}", info.name, info.description);
        for parameter in info.parameters {
            let _ = writeln!(out, "    {}", shown(kind, *parameter));
        }
    }
    out
}

fn warps() -> Result<String, Failure> {
    let machine = Machine::resolve("vws", &[])?;
    let mut out = String::new();
    for named in warps::NAMES {
        let _ = writeln!(out, "{}\n    {}", named.name, named.description);
        let _ = writeln!(out, "    {}", named.shown(&machine).join(" "));
    }
    out += "Gangs of warps of 8 threads: -8 behind the name, as in i-vws-8. The settings are those on vws.\n";
    Ok(out)
}

fn replacement() -> String {
    let others = Kind::ALL.into_iter().filter_map(|kind| match kind {
        Kind::Replacement(CacheName::L1d) => None,
        Kind::Replacement(_) => Some(kind.key()),
        _ => None,
    });
    let others: Vec<&str> = others.collect();
    mechanisms(Kind::Replacement(CacheName::L1d))
        + &format!("Each cache has its own: {}, too.\n", listed(&others))
}

fn power() -> String {
    let mut out = String::new();
    for named in power::NAMES {
        let _ = writeln!(out, "{}\n    {}", named.name, named.description);
        let _ = writeln!(out, "    {}", named.all().join(" "));
    }
    let gating = mechanisms(Kind::Gating);
    let folding = mechanisms(Kind::Folding);
    out + "\nGating policies (gating.name):\n" + &gating + "\nFolding (folding.name):\n" + &folding
}

/// A parameter as `--set` takes it, when its mechanism is chosen.
fn shown(kind: Kind, parameter: &dyn Parameter) -> String {
    let default = plain(&parameter.default());
    format!(
        "{}.{} = {default}  ({}) {}",
        kind.key(),
        parameter.name(),
        parameter.rule().in_unit(parameter.unit()),
        parameter.description()
    )
}

/// A value as `--set` takes it.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}

fn settings() -> Result<String, Failure> {
    let base = Machine::preset(presets::BASE)?;
    let table = toml::Table::try_from(&base).map_err(|e| Failure::bad_input(e.to_string()))?;
    let mut out = String::new();
    for (section, settings) in SECTIONS {
        let mut parts = section.split('.');
        let values = parts.try_fold(&table, |at, part| at.get(part)?.as_table());
        for setting in *settings {
            let value = values.and_then(|v| v.get(setting.name)).map(plain);
            let _ = writeln!(
                out,
                "{section}.{} = {}  ({})\n    {}",
                setting.name,
                value.unwrap_or_default(),
                setting.rule.in_unit(setting.unit),
                setting.description()
            );
        }
    }
    for kind in Kind::ALL {
        let names: Vec<&str> = MECHANISMS.of(kind).iter().map(|i| i.name).collect();
        let _ = writeln!(
            out,
            "{} = {}  ({})\n    The {}; its parameters are set below its name.",
            kind.name_key(),
            kind.chosen(&base).name,
            names.join(" | "),
            kind.word()
        );
    }
    Ok(out)
}

fn workloads() -> String {
    let mut out = String::new();
    for workload in WORKLOADS {
        let info = workload.info();
        let _ = writeln!(out, "{}\n    {}", info.name, info.algorithm);
        let _ = writeln!(out, "    known for   {}", info.known_for);
        let _ = writeln!(out, "    shape       {}", info.shape);
        let _ = writeln!(out, "    checked     {}", info.comparison);
        if !info.papers.is_empty() {
            let _ = writeln!(out, "    papers      {}", info.papers.join("; "));
        }
        let sets: Vec<_> = info.sets.iter().map(|s| s.name()).collect();
        let _ = writeln!(out, "    sets        {}", sets.join(", "));
        for p in info.parameters {
            let [tiny, small, large] = p.sizes;
            let (low, high) = p.range;
            let _ = writeln!(
                out,
                "    --param {:<10} {} (tiny {tiny}, small {small}, large {large}; {low} to {high})",
                p.name, p.description
            );
        }
    }
    out
}

fn kernels_vtw() -> String {
    let head = [
        "set", "suite", "program", "kernel", "blocks", "resident", "ours",
    ];
    let mut rows = vec![head.map(String::from)];
    for k in KERNELS {
        rows.push([
            k.set.to_string(),
            format!("{:?}", k.suite),
            k.program.into(),
            k.kernel.into(),
            k.blocks.to_string(),
            k.resident.to_string(),
            format!("{} {}", k.workload, k.entry),
        ]);
    }
    let width = |column: usize| rows.iter().map(|r| r[column].len()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3, 4, 5, 6].map(width);
    let mut out = String::new();
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, w)| format!("{cell:w$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

fn in_folder(folder: &Path) -> Result<String, Failure> {
    let mut out = String::new();
    for workload in folder::workloads(folder)? {
        let file = launchfile::read(&workload.launch_file)?;
        let _ = writeln!(out, "{}\n    {}", workload.name, file.description);
        let _ = writeln!(out, "    launch file {}", workload.launch_file.display());
    }
    Ok(out)
}

fn stats() -> String {
    let list: Vec<(String, _)> = warpsim_sim::stats::all_statistics()
        .into_iter()
        .map(|(group, info)| (format!("{group}.{}", info.name), info))
        .collect();
    let width = list.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (name, info) in list {
        let _ = writeln!(out, "{name:width$}  [{}] {}", info.unit, info.description);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_and_workload_is_listed() {
        let shown = machines().expect("presets load");
        for name in presets::names() {
            assert!(shown.lines().any(|l| l == name));
        }
        assert!(shown.contains("L1D 16 KB, shared 48 KB, L2 768 KB, 6 DRAM channels"));
        let shown = workloads();
        for w in WORKLOADS {
            assert!(shown.lines().any(|l| l == w.info().name));
        }
    }

    #[test]
    fn kernels_of_the_virtual_warps_paper_stand_beside_ours() {
        let shown = kernels_vtw();
        assert_eq!(shown.lines().count(), 1 + KERNELS.len());
        let row = |name: &str| shown.lines().find(|l| l.contains(name)).unwrap_or("");
        assert!(row("GPU_laplace3d").ends_with("100     100       laplace3d laplace3d"));
    }

    #[test]
    fn mechanisms_show_their_parameters_and_settings_their_ranges() {
        let schedulers = mechanisms(Kind::Scheduler);
        let tls = "    scheduler.active = 6  (1 to 64 warps) active warps of each scheduler\n";
        assert!(schedulers.contains(tls), "{schedulers}");
        let fetch = mechanisms(Kind::Fetch);
        assert!(
            fetch.contains("    fetch.policy.waiters = never  (never | last) "),
            "{fetch}"
        );
        let settings = settings().expect("the preset loads");
        for shown in [
            "gpu.core_mhz = 700  (1 to 100000 MHz)\n    Core clock.\n",
            "sm.warp_width = 32  (4 to 32 threads, powers of two)\n",
            "dram.timing.rc = 40  (0 to 1000 DRAM clocks)\n",
            "scheduler.name = gto  (lrr | gto | ",
        ] {
            assert!(settings.contains(shown), "{shown}\n{settings}");
        }
    }
}
