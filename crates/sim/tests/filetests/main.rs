//! Tests of the instruction set as files: kernel, inputs and expected memory in one place.
//!
//! `tests/ptx/**/*.ptx` are whole kernels; leading comments say how to run them and what has
//! to come out (grammar in [`directive`]). `tests/ptx/**/*.table` try one instruction a
//! paragraph on rows of operands (grammar in [`table`]). Each runs without timing and on the
//! timed `gtx480`, and both must give what the file says.
//!
//! `FILETEST=name` runs only the files whose path contains `name`.

mod coverage;
mod directive;
mod machine;
mod selftest;
mod table;
mod value;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Every file under `directory` with this extension, in order.
fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(directory) else {
        return found;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx")
}

/// Path below `tests/ptx`, for messages.
fn shown(path: &Path) -> String {
    let short = path.strip_prefix(root()).unwrap_or(path);
    short.display().to_string()
}

/// Reads and runs every file with this extension that `FILETEST` asks for.
fn run_all(extension: &str, run: fn(&str, &str) -> Vec<String>) {
    let wanted = std::env::var("FILETEST").unwrap_or_default();
    let all = files(&root(), extension);
    assert!(!all.is_empty(), "no .{extension} files");
    let mut failures = Vec::new();
    for path in all {
        let name = shown(&path);
        if name.contains(&wanted) {
            match std::fs::read_to_string(&path) {
                Ok(text) => failures.extend(run(&name, &text)),
                Err(e) => failures.push(format!("{name}: {e}")),
            }
        }
    }
    let n = failures.len();
    assert!(n == 0, "{n} failures:\n{}", failures.join("\n"));
}

/// Runs one test; a panic of the simulator is a failure of that test alone.
fn guarded(run: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = match panic.downcast_ref::<String>() {
            Some(text) => text.as_str(),
            None => panic.downcast_ref::<&str>().copied().unwrap_or("?"),
        };
        Err(format!("panics: {text}"))
    })
}

#[test]
fn kernels_do_what_their_files_say() {
    run_all("ptx", |name, text| {
        guarded(|| machine::run_file(text))
            .err()
            .map(|e| format!("{name}: {e}"))
            .into_iter()
            .collect()
    });
}

/// What depends on who runs together: calls that return to different places, matrices that a whole
/// warp holds, copies and barriers that warps wait for.
#[test]
fn calls_matrices_and_copies_under_every_divergence_model() {
    let mut failures = Vec::new();
    for folder in ["functions", "matrix", "async"] {
        for path in files(&root().join(folder), "ptx") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for model in warpsim_sim::divergence::MODELS {
                let name = model.info.name;
                let set = [format!("divergence=\"{name}\"")];
                // As usual, and with bodies that all calls share.
                for limit in [None, Some(0)] {
                    let result = guarded(|| machine::run_file_with(&text, &set, limit));
                    let said = |e| format!("{} {name}, inlined to {limit:?}: {e}", shown(&path));
                    failures.extend(result.err().map(said));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn instructions_do_what_the_tables_say() {
    run_all("table", table::run_file);
}
