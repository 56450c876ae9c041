//! Runs one micro-kernel launch, for profilers: `micro_one KERNEL GRID BLOCK [MACHINE] [SCHEDULER]`.

use warpsim_sim::config::Machine;
use warpsim_sim::config::ReadMachine;
use warpsim_sim::gpu::Options;
use warpsim_workloads::micro;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let get = |i: usize, default: &str| args.get(i).cloned().unwrap_or_else(|| default.into());
    let (kernel, grid, block) = (get(1, "int_add_chain"), get(2, "15"), get(3, "256"));
    let scheduler = format!("scheduler={}", get(5, "gto"));
    let machine = Machine::resolve(&get(4, "gtx480"), &[scheduler])?;
    let found = micro::launches()
        .into_iter()
        .find(|l| l.kernel == kernel && l.grid.to_string() == grid && l.block.to_string() == block);
    let launch = found.ok_or("no such launch")?;
    println!("{:?}", launch.run(machine, Options::default())?);
    Ok(())
}
