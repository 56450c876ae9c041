//! Running the command in tests.
#![allow(dead_code)] // not every test needs everything

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of `tests/data`.
pub fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    path.join(name).display().to_string()
}

/// Runs the command.
pub fn warpsim(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpsim"))
        .args(arguments)
        // Tables are as wide as they are, whatever terminal tests run in.
        .env_remove("COLUMNS")
        .output()
        .expect("the command runs")
}

/// Standard output of a run that succeeds.
pub fn succeeds(arguments: &[&str]) -> String {
    let output = warpsim(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// Standard error of a run that ends with `code` and says nothing on standard output.
pub fn fails(code: i32, arguments: &[&str]) -> String {
    let output = warpsim(arguments);
    let errors = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
    errors
}

/// A directory that goes away with the value.
pub struct Scratch(PathBuf);

impl Scratch {
    /// An empty directory for the test `name`.
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("warpsim-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Scratch(path)
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Names of everything in it.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("readable");
        let name = |e: std::io::Result<std::fs::DirEntry>| {
            e.expect("an entry")
                .file_name()
                .into_string()
                .expect("text")
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Best effort: a test that failed has more to say.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
