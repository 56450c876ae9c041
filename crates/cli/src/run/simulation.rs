//! How a run is simulated.

use crate::console::failure::Failure;
use crate::setup::isa::Isa;
use clap::ValueEnum;

/// Limits, checks and host threads.
#[derive(clap::Args)]
pub struct SimulationArguments {
    /// Execute without timing.
    #[arg(long)]
    pub functional: bool,
    /// What is executed: `ptx`, or `sass`, the machine code that NVIDIA's assembler makes of it for sm_90, with
    /// --functional.
    #[arg(long, value_name = "ISA", default_value = "ptx")]
    pub isa: Isa,
    /// Look for mistakes that a run by itself does not show: `races`, accesses of different warps or
    /// blocks to the same memory with nothing between that orders them; `steps`, those of threads of one warp that are
    /// right only where its 32 threads are in step. Executes without timing.
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
    /// Host threads for the simulation, or `auto`: as many as the host has cores, which is the most that
    /// are taken. Results are the same for any number.
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub threads: usize,
    /// Step through every cycle, even those in which nothing can happen.
    #[arg(long)]
    pub no_skip: bool,
    /// Run on the reference SM, which is simulated in the plainest way: the same results, more slowly.
    #[arg(long, conflicts_with_all = ["functional", "check"])]
    pub reference: bool,
}

impl SimulationArguments {
    /// Whether this is looked for.
    pub fn checks(&self, what: Check) -> bool {
        self.check == Some(what)
    }

    /// Whether machine code is executed, or why it cannot be.
    pub fn machine_code(&self) -> Result<bool, Failure> {
        let refused = match (self.isa, self.check, self.functional) {
            (Isa::Ptx, ..) => return Ok(false),
            (Isa::Sass, Some(check), _) => format!("--check {} looks at PTX", check.word()),
            (Isa::Sass, None, true) => return Ok(true),
            (Isa::Sass, None, false) => {
                "machine code has no timing yet: add --functional, or leave --isa sass out to time the PTX".into()
            }
        };
        Err(Failure::bad_input(format!("--isa sass: {refused}")))
    }

    /// Whether there is no timing.
    pub fn untimed(&self) -> bool {
        self.functional || self.check.is_some()
    }
}

/// Where this is set, as many threads run as are asked for, even if the host has fewer cores: for tests.
const ALL_THREADS: &str = "WARPSIM_ALL_THREADS";

/// The host's threads that a run takes.
pub struct HostThreads {
    /// How many.
    pub count: usize,
    /// What the user is told about it.
    pub note: Option<String>,
}

impl HostThreads {
    /// Of so many that are asked for.
    pub fn of(asked: usize) -> HostThreads {
        let all = std::env::var_os(ALL_THREADS).is_some();
        let cores = cores();
        let taken = if all { asked } else { asked.min(cores) };
        HostThreads {
            count: taken,
            note: (taken < asked).then(|| {
                format!(
                    "--threads {asked}: this host has {cores} cores, and no more threads are taken"
                )
            }),
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The most threads that can be asked for; there are never more than SMs.
const MOST_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    if text == "auto" {
        return Ok(cores());
    }
    let number = text.parse().ok().filter(|n| (1..=MOST_THREADS).contains(n));
    number.ok_or_else(|| format!("a number from 1 to {MOST_THREADS}, or `auto`"))
}

/// What `--check` looks for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// Accesses that nothing orders, and barriers that only some threads of a warp come to.
    Races,
    /// Accesses of threads of one warp that nothing orders but their being in step.
    Steps,
}

impl Check {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Check::Races => "races",
            Check::Steps => "steps",
        }
    }
}
