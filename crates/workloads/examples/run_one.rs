//! Runs one workload, for profilers: `run_one WORKLOAD [SIZE] [MACHINE] [THREADS] [SETTING]...`. Built in a
//! fraction of the command's time, and nothing but the simulation is in the profile.

use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_workloads::Session;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, Size, find};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let get = |i: usize, default: &str| args.get(i).cloned().unwrap_or_else(|| default.into());
    let workload = find(&get(1, "bfs")).map_err(|e| e.text)?;
    let size = match &*get(2, "tiny") {
        "small" => Size::Small,
        "large" => Size::Large,
        _ => Size::Tiny,
    };
    let machine = Machine::resolve(&get(3, "gtx480"), args.get(5..).unwrap_or_default())?;
    let options = Options {
        threads: get(4, "1").parse()?,
        ..Options::default()
    };
    let mut device = Simulated::new(machine, options).map_err(|e| e.text)?;
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let parameters = Parameters::resolve(workload.info().parameters, size, &[]);
    let outcome = workload.run(&parameters.map_err(|e| e.text)?, 1, &mut session);
    println!("{}", outcome.map_err(|e| e.text)?);
    println!("{} cycles", device.gpu.totals().cycles);
    println!("{:.3} s", device.gpu.host_time().as_secs_f64());
    Ok(())
}
