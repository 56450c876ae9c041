//! Which machine a command simulates, as its options say.

use crate::console::failure::Failure;
use crate::setup::typed::{Typed, resolve};
use warpsim_sim::config::Machine;

/// The machine and what is changed of it.
#[derive(clap::Args)]
pub struct MachineArguments {
    /// Machine preset, or a machine file (ends in .toml).
    #[arg(long, default_value = "gtx480")]
    pub machine: String,
    /// Widths of warps and gangs by name, as in ws4 or i-vws (see list warps): short for --set
    /// warps=..., which is short for the settings behind it.
    #[arg(long, value_name = "NAME")]
    pub warps: Option<String>,
    /// Divergence model: short for --set divergence=...
    #[arg(long)]
    pub divergence: Option<String>,
    #[command(flatten)]
    pub settings: Settings,
}

/// What is changed of a machine beside its warps and divergence model.
#[derive(clap::Args)]
pub struct Settings {
    /// Power gating by name, as in conventional or origami (see list power): short for --set
    /// power=..., which is short for the settings behind it, issue policy included.
    #[arg(long, value_name = "NAME")]
    pub power: Option<String>,
    /// Issue policy: short for --set scheduler=...
    #[arg(long)]
    pub scheduler: Option<String>,
    /// Fetch policy: short for --set fetch.policy=...
    #[arg(long)]
    pub fetch: Option<String>,
    /// Virtual thread blocks: short for --set virtual.mode=...
    #[arg(long, value_name = "off|software|hardware")]
    pub virtualize: Option<String>,
    /// So many virtual blocks at most: short for --set virtual.blocks=...
    #[arg(long, value_name = "N")]
    pub virtual_blocks: Option<u32>,
    /// A machine setting, as in sm.schedulers=4.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl MachineArguments {
    /// The machine with everything that was said of it.
    pub fn resolve(&self) -> Result<Machine, Failure> {
        let divergence = self.divergence.as_deref();
        let settings = &self.settings;
        settings.resolve(&self.machine, self.warps.as_deref(), divergence)
    }
}

impl Settings {
    /// A machine with these warps, this divergence model and these settings.
    pub fn resolve(
        &self,
        machine: &str,
        warps: Option<&str>,
        divergence: Option<&str>,
    ) -> Result<Machine, Failure> {
        let mut typed = Vec::new();
        let mut add = |option, key, value: Option<&str>| {
            typed.extend(value.map(|value| Typed::short(option, key, value)));
        };
        // What is set singly goes over what a name sets.
        add("--warps", "warps", warps);
        add("--power", "power", self.power.as_deref());
        typed.extend(self.set.iter().map(|text| Typed::set(text)));
        let mut add = |option, key, value: Option<&str>| {
            typed.extend(value.map(|value| Typed::short(option, key, value)));
        };
        add("--scheduler", "scheduler", self.scheduler.as_deref());
        add("--fetch", "fetch.policy", self.fetch.as_deref());
        add("--divergence", "divergence", divergence);
        add("--virtualize", "virtual.mode", self.virtualize.as_deref());
        let blocks = self.virtual_blocks.map(|n| n.to_string());
        add("--virtual-blocks", "virtual.blocks", blocks.as_deref());
        Ok(resolve(machine, &typed)?)
    }
}
