//! Makes the compressed listings of PTX files, each beside its file: `listings FILE.ptx...`.
//!
//! `crates/workloads/kernels/listings.sh` runs it. It needs NVIDIA's assembler and disassembler.

use std::path::Path;
use std::process::ExitCode;
use warpsim_sass::front::tools::Tools;
use warpsim_sass::front::{assemble, listing};

/// The architecture of the listings in the repository.
const ARCHITECTURE: u32 = 90;

fn make(tools: &Tools, path: &Path) -> Result<(), String> {
    let ptx = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let program = assemble(tools, &name, &ptx, ARCHITECTURE)?;
    let to = path.with_extension("sass.gz");
    let bytes = listing::compress(&listing::write(&program));
    std::fs::write(&to, bytes).map_err(|e| format!("{}: {e}", to.display()))
}

fn main() -> ExitCode {
    let result = Tools::for_ptx().and_then(|tools| {
        let mut files = std::env::args_os().skip(1);
        files.try_for_each(|file| make(&tools, Path::new(&file)))
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
