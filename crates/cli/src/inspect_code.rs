//! `warpsim inspect --isa sass`: machine code.

use crate::console::failure::{Failure, print};
use crate::setup::cuda::CudaArguments;
use std::path::Path;
use std::process::ExitCode;
use warpsim_present::{nearest, reading};
use warpsim_sass::front::{self, tools::Tools};
use warpsim_sass::inspect::{code, summary};
use warpsim_sass::program::{Kernel, Program};
use warpsim_workloads::device::Source;
use warpsim_workloads::machine_code::{ARCHITECTURE, machine_code};
use warpsim_workloads::suite;

/// The most bytes of a cubin.
const MOST_BYTES: u64 = 256 << 20;

/// Whether a file holds machine code by its name.
pub fn is_cubin(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "cubin")
}

/// The machine code of a cubin, of a workload, or of what a file of kernels is assembled to.
fn program(file: &Path, cuda: &CudaArguments) -> Result<Program, Failure> {
    let name = file.display().to_string();
    if is_cubin(file) {
        let cannot = |e: String| Failure::bad_input(format!("cannot read {name}: {e}"));
        let bytes = reading::read(file, MOST_BYTES).map_err(|e| cannot(e.to_string()))?;
        let read = Tools::for_cubins().and_then(|tools| front::read_cubin(&tools, &name, &bytes));
        return read.map_err(Failure::bad_input);
    }
    let workload = file.to_str().filter(|_| !file.exists());
    if let Some(workload) = workload.and_then(|name| suite::find(name).ok()) {
        let kernel = &workload.info().kernel;
        return Ok(machine_code(&Source {
            name: &format!("{}.ptx", kernel.name),
            ptx: kernel.ptx,
            listing: Some(kernel.listing),
        })?);
    }
    let ptx = cuda.read_or_workload(file)?;
    let made =
        Tools::for_ptx().and_then(|tools| front::assemble(&tools, &name, &ptx, ARCHITECTURE));
    made.map_err(Failure::bad_input)
}

/// Shows machine code: all kernels or the one that is named.
pub fn inspect(
    file: &Path,
    kernel: Option<&str>,
    cuda: &CudaArguments,
) -> Result<ExitCode, Failure> {
    let program = program(file, cuda)?;
    let mut out = String::new();
    for kernel in chosen(&program, kernel)? {
        out += &summary(&program, kernel);
        out += "\n";
        out += &code(kernel);
        out += "\n";
    }
    print(&out)?;
    Ok(ExitCode::SUCCESS)
}

fn chosen<'p>(program: &'p Program, part: Option<&str>) -> Result<Vec<&'p Kernel>, Failure> {
    let Some(part) = part else {
        return Ok(program.kernels.iter().collect());
    };
    if let Some(kernel) = program.kernel(part) {
        return Ok(vec![kernel]);
    }
    let within: Vec<&Kernel> = program
        .kernels
        .iter()
        .filter(|k| k.name.contains(part))
        .collect();
    let names = || program.kernels.iter().map(|k| k.name.as_str());
    let all = names().collect::<Vec<_>>().join(", ");
    match within.as_slice() {
        [_] => Ok(within),
        [] => {
            let near = nearest(part, names()).map(|n| format!("did you mean `{n}`?\n"));
            let near = near.unwrap_or_default();
            let text = format!("no kernel is called `{part}`\n{near}kernels: {all}");
            Err(Failure::bad_input(text))
        }
        _ => Err(Failure::bad_input(format!(
            "several kernels have `{part}` in their name\nkernels: {all}"
        ))),
    }
}
