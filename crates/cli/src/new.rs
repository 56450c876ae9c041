//! `warpsim new`: a launch file to begin with.

use crate::console::failure::{Failure, print};
use crate::setup::cuda::{CudaArguments, source_text};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpsim_workloads::cuda::is_cuda;
use warpsim_workloads::files::write_whole;
use warpsim_workloads::simulated::compile;
use warpsim_workloads::template;

/// Arguments of `warpsim new`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  warpsim new saxpy.cu                 writes saxpy.toml beside it
  warpsim new kernel.ptx -o first.toml
  warpsim run saxpy.toml --param n=4096")]
pub struct Arguments {
    /// The file of kernels.
    #[arg(value_name = "KERNEL.cu|KERNEL.ptx")]
    file: PathBuf,
    /// The launch file to write [default: beside the kernels, ending in .toml].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace a file that is there.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    cuda: CudaArguments,
}

/// Writes the launch file.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let file = &arguments.file;
    let name = file.display().to_string();
    let ptx = arguments.cuda.read(file)?;
    let program = compile(&name, &ptx)?;
    if program.kernels.is_empty() {
        return Err(Failure::bad_input(format!("{name} has no kernels")));
    }
    let target = match &arguments.output {
        Some(path) => path.clone(),
        None => file.with_extension("toml"),
    };
    let shown = target.display();
    if target.exists() && !arguments.force {
        return Err(Failure::bad_input(format!(
            "{shown} is there already; --force replaces it, -o names another"
        )));
    }
    let source = match is_cuda(file) {
        true => source_text(file),
        false => None,
    };
    let named = relative(file, &target);
    let text = template::launch_file(&program, &named.display().to_string(), source.as_deref());
    write_whole(&target, text.as_bytes())
        .map_err(|e| Failure::bad_input(format!("cannot write {shown}: {e}")))?;
    print(&format!(
        "wrote {shown}: look at sizes and contents, then `warpsim run {shown}`\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// How a launch file names the kernels: by their file's name where both lie in one folder.
fn relative(file: &Path, target: &Path) -> PathBuf {
    let folder = |path: &Path| {
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
        std::fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()
    };
    match file.file_name() {
        Some(name) if folder(file) == folder(target) => PathBuf::from(name),
        _ => std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf()),
    }
}
