//! What nvcc makes of CUDA programs runs and computes what it should: `tests/nvcc` has a kernel for each kind of
//! thing that surveys of programs found to be refused.

use std::path::{Path, PathBuf};
use warpsim_ptx::lower;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_workloads::lowering::Lowering;
use warpsim_workloads::simulated::Simulated;
use warpsim_workloads::{Outcome, Session, launchfile};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nvcc")
}

fn launch_files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("the folder");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    files
}

/// Runs a launch file; how many values were found right.
fn run(path: &Path, functional: bool, inline_limit: Option<usize>) -> Result<u64, String> {
    let file = launchfile::read(path).map_err(|e| e.to_string())?;
    let machine = Machine::resolve("gtx480", &[]).map_err(|e| e.to_string())?;
    let options = Options {
        functional,
        ..Options::default()
    };
    let mut device = Simulated::new(machine, options).map_err(|e| e.to_string())?;
    let compiler = Lowering {
        options: lower::Options { inline_limit },
        ..Lowering::default()
    };
    let mut session = Session {
        device: &mut device,
        compiler: &compiler,
    };
    match launchfile::run(&file, &folder(), None, &mut session) {
        Ok(Outcome::Correct { checked }) => Ok(checked),
        Ok(other) => Err(format!("{other:?}")),
        Err(e) => Err(e.to_string()),
    }
}

#[test]
fn every_launch_gives_what_its_file_expects() {
    let files = launch_files();
    assert!(files.len() >= 19, "{} files", files.len());
    for path in files {
        for functional in [true, false] {
            // As usual, and with functions that are not inlined.
            for limit in [None, Some(0)] {
                let values = run(&path, functional, limit)
                    .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                assert!(values >= 32, "{}", path.display());
            }
        }
    }
}
