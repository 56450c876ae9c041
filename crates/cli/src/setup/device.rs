//! The simulated GPU as the command line drives it.

use crate::console::terminal::of_kernels;
use serde_json::{Value, json};
use warpsim_sim::config::Machine;
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::{Observer, Observers};
use warpsim_sim::progress::Progress;
use warpsim_workloads::DeviceError;
use warpsim_workloads::simulated::Simulated;

/// How to run.
pub struct DeviceOptions {
    /// No timing: execute only.
    pub functional: bool,
    /// Execute machine code, not PTX.
    pub machine_code: bool,
    /// Give up after this many cycles.
    pub max_cycles: Option<u64>,
    /// Step through every cycle instead of skipping those in which nothing happens.
    pub no_skip: bool,
    /// Bytes that kernels may print.
    pub print_limit: u64,
    /// Bytes that device-side `malloc` may give out.
    pub heap: u64,
    /// Kernels print to standard error, because something else goes to standard output.
    pub print_aside: bool,
    /// Look for races.
    pub check_races: bool,
    /// Look for threads that count on being in step.
    pub check_steps: bool,
    /// SMs are reference SMs.
    pub reference: bool,
    /// Host threads.
    pub threads: usize,
    /// Who listens.
    pub observers: Vec<Box<dyn Observer>>,
    /// Who wants to know how far it is.
    pub progress: Box<dyn Progress>,
}

/// Builds the device for a machine. What kernels print goes to standard output, unless something else does.
pub fn make_device(machine: &Machine, options: DeviceOptions) -> Result<Simulated, DeviceError> {
    let observer = Observers::of(options.observers);
    let machine_code = options.machine_code;
    let options = Options {
        functional: options.functional,
        skip: !options.no_skip,
        max_cycles: options.max_cycles,
        progress: options.progress,
        observer,
        output: match options.print_aside {
            true => of_kernels(std::io::stderr()),
            false => of_kernels(std::io::stdout()),
        },
        print_limit: options.print_limit,
        heap: options.heap,
        check_races: options.check_races,
        check_steps: options.check_steps,
        reference: options.reference,
        threads: options.threads,
    };
    let mut device = Simulated::new(machine.clone(), options)?;
    if machine_code {
        device.execute_machine_code()?;
    }
    Ok(device)
}

/// Everything a run counted, as the statistics file has it. What depends on the host is apart.
pub fn statistics(device: &Simulated, what: &str, result: &str) -> Value {
    let gpu = &device.gpu;
    let launches: Vec<Value> = gpu.reports().iter().map(|r| r.to_json()).collect();
    let seconds = gpu.host_time().as_secs_f64();
    let rate = |n: u64| (n as f64 / seconds.max(1e-9)).round();
    let totals = gpu.totals();
    json!({
        "schema": 1,
        "warpsim": env!("CARGO_PKG_VERSION"),
        "what": what,
        "machine": gpu.machine().name,
        "scheduler": gpu.machine().scheduler.name,
        "fetch": gpu.machine().fetch.policy.name,
        "divergence": gpu.machine().divergence.name,
        "result": result,
        "totals": totals.to_json(),
        "launches": launches,
        "host": {
            "seconds": seconds,
            "thread_instructions_per_second": rate(totals.sm.counters.thread_instructions),
            "warp_instructions_per_second": rate(totals.sm.counters.warp_instructions),
            "cycles_per_second": rate(totals.cycles),
        },
    })
}
