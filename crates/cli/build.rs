//! The version with the commit it was built from, where git can say.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=WARPSIM_COMMIT");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    // A package of sources without their history may name the commit.
    let given = std::env::var("WARPSIM_COMMIT")
        .ok()
        .filter(|c| !c.is_empty());
    let version = match given.or_else(commit) {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    };
    println!("cargo::rustc-env=WARPSIM_VERSION={version}");
}

/// The commit that is checked out, and its day.
fn commit() -> Option<String> {
    // What changes when another commit is.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["log", "-1", "--format=%h %cs", "--abbrev=9"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR")?;
    let output = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_string())
}
