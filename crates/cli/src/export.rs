//! `warpsim export`: a workload as launch file, PTX and data.

use crate::console::failure::{Failure, print};
use crate::run::SizeName;
use std::path::PathBuf;
use std::process::ExitCode;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_workloads::export::Recorder;
use warpsim_workloads::files::write_folder;
use warpsim_workloads::lowering::Lowering;
use warpsim_workloads::simulated::Simulated;
use warpsim_workloads::suite::{self, Parameters, Size};
use warpsim_workloads::{Outcome, Session};

/// Arguments of `warpsim export`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  warpsim export matmul --size tiny -o exported
  warpsim run exported          runs what is in the folder, with the same cycles")]
pub struct Arguments {
    /// The workload.
    workload: String,
    /// The folder to write, which must be new or empty.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Size of the workload [default: small].
    #[arg(long)]
    size: Option<SizeName>,
    /// Seed of generated input.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A parameter of the workload, over what the size says.
    #[arg(long, value_name = "KEY=VALUE")]
    param: Vec<String>,
}

/// Runs the workload without timing, and writes down what it did.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let workload = suite::find(&arguments.workload)?;
    let info = workload.info();
    let size = arguments.size.map(Size::from).unwrap_or_default();
    let parameters = Parameters::resolve(info.parameters, size, &arguments.param)?;
    let folder = &arguments.output;
    let shown = folder.display();
    let cannot = |e: std::io::Error| Failure::bad_input(format!("cannot write {shown}: {e}"));
    if folder.exists() {
        let mut entries = std::fs::read_dir(folder).map_err(cannot)?;
        if entries.next().is_some() {
            return Err(Failure::bad_input(format!(
                "{shown} is not empty; name a new folder"
            )));
        }
    }
    let options = Options {
        functional: true,
        ..Options::default()
    };
    let mut device = Simulated::new(Machine::resolve("gtx480", &[])?, options)?;
    let mut recorder = Recorder::new(&mut device);
    let mut session = Session {
        device: &mut recorder,
        compiler: &Lowering::default(),
    };
    let outcome = workload.run(&parameters, arguments.seed, &mut session)?;
    if let Outcome::Wrong(_) = outcome {
        return Err(Failure::bad_input(format!(
            "the result is wrong: {outcome}"
        )));
    }
    let values: Vec<String> = parameters
        .iter()
        .map(|(n, v)| format!("{n} = {v}"))
        .collect();
    let about = format!(
        "{} ({}, seed {})",
        info.name,
        values.join(", "),
        arguments.seed
    );
    let files = recorder.finish(info.name, &about, info.kernel.ptx)?;
    write_folder(folder, &files).map_err(cannot)?;
    let bytes: usize = files.iter().map(|(_, contents)| contents.len()).sum();
    print(&format!(
        "wrote {about} to {shown}: {} files, {bytes} bytes; `warpsim run {shown}` runs it\n",
        files.len()
    ))?;
    Ok(ExitCode::SUCCESS)
}
