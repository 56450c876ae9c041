//! Which machine a run is simulated on.

use crate::console::failure::Failure;
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
    /// Divergence model: short for --set divergence=...
    #[arg(long)]
    pub divergence: Option<String>,
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
        // What is set singly goes over what a name sets.
        let named = self.warps.iter().map(|name| format!("warps={name}"));
        let power = self.power.iter().map(|name| format!("power={name}"));
        let named = named.chain(power);
        let mut overrides: Vec<String> = named.chain(self.set.iter().cloned()).collect();
        for (key, value) in [
            ("scheduler", &self.scheduler),
            ("fetch.policy", &self.fetch),
            ("divergence", &self.divergence),
            ("virtual.mode", &self.virtualize),
        ] {
            overrides.extend(value.iter().map(|v| format!("{key}={v}")));
        }
        let blocks = self.virtual_blocks.iter();
        overrides.extend(blocks.map(|n| format!("virtual.blocks={n}")));
        Ok(Machine::resolve(&self.machine, &overrides)?)
    }
}
