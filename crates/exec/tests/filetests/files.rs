//! Finding the files, and running them one by one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Every file under `directory` with this extension, in order.
pub fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
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

/// Where the files are, for this crate and for those above it that run them too.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../exec/tests/ptx")
}

/// Path below `tests/ptx`, for messages.
pub fn shown(path: &Path) -> String {
    let short = path.strip_prefix(root()).unwrap_or(path);
    short.display().to_string()
}

/// Reads and runs every file with this extension that `FILETEST` asks for.
pub fn run_all(extension: &str, run: impl Fn(&str, &str) -> Vec<String>) {
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
pub fn guarded(run: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = match panic.downcast_ref::<String>() {
            Some(text) => text.as_str(),
            None => panic.downcast_ref::<&str>().copied().unwrap_or("?"),
        };
        Err(format!("panics: {text}"))
    })
}
