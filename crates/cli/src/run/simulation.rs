//! How a run is simulated.

use clap::ValueEnum;

/// Limits, checks and host threads.
#[derive(clap::Args)]
pub struct SimulationArguments {
    /// Execute without timing.
    #[arg(long)]
    pub functional: bool,
    /// Look for mistakes that a run by itself does not show: `races`, accesses of different warps or
    /// blocks to the same memory with nothing between that orders them. Executes without timing.
    #[arg(long, value_name = "WHAT")]
    pub check: Option<Check>,
    /// Bytes that kernels may print; what is beyond is left out, and said.
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub printf_limit: u64,
    /// Bytes that device-side `malloc` may give out.
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 20)]
    pub heap: u64,
    /// Give up after this many cycles.
    #[arg(long, value_name = "N")]
    pub max_cycles: Option<u64>,
    /// Host threads for the simulation, or `auto`: as many as the host has. Results are the same for
    /// any number.
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub threads: usize,
    /// Step through every cycle, even those in which nothing can happen.
    #[arg(long)]
    pub no_skip: bool,
}

impl SimulationArguments {
    /// Whether races are looked for.
    pub fn checks_races(&self) -> bool {
        self.check == Some(Check::Races)
    }

    /// Whether there is no timing.
    pub fn untimed(&self) -> bool {
        self.functional || self.check.is_some()
    }
}

/// The most threads that can be asked for; there are never more than SMs.
const MOST_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    if text == "auto" {
        return Ok(std::thread::available_parallelism().map_or(1, usize::from));
    }
    let number = text.parse().ok().filter(|n| (1..=MOST_THREADS).contains(n));
    number.ok_or_else(|| format!("a number from 1 to {MOST_THREADS}, or `auto`"))
}

/// What `--check` looks for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// Accesses that nothing orders, and barriers that only some threads of a warp come to.
    Races,
}
