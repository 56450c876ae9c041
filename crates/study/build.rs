//! Names the simulator by its contents: a result belongs to the sources that computed it.
//!
//! `WARPSIM_SOURCES` is the SHA-256 of every `.rs` file of the crates a run goes through, with its
//! path, and of the locked versions of the libraries that compute values in them. Kernels are not
//! in it: each run adds its own PTX to its key. Neither are machine files, which a run's key holds
//! resolved.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Crates that only ask for runs and show them. The code of every other one decides what a run computes and counts.
const ASK: [&str; 9] = [
    "cli", "cuda", "doors", "fuzz", "images", "py", "silicon", "study", "view",
];

/// Libraries that compute simulated values.
const LIBRARIES: [&str; 1] = ["half"];

fn main() {
    let crates =
        Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("..");
    let mut hash = Sha256::new();
    for source in sources(&crates) {
        println!("cargo::rerun-if-changed={}", source.display());
        let mut files = Vec::new();
        collect(&source, &mut files);
        files.sort();
        for file in files {
            let shown = file.strip_prefix(&crates).expect("below it");
            // The same on every host.
            let shown = shown.to_string_lossy().replace('\\', "/");
            let text = std::fs::read(&file).expect("a readable source file");
            part(&mut hash, shown.as_bytes());
            part(&mut hash, &text);
        }
    }
    let lock = crates.join("../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let lock = std::fs::read_to_string(lock).unwrap_or_default();
    for package in lock.split("[[package]]") {
        let named = |library| {
            package
                .trim_start()
                .starts_with(&format!("name = \"{library}\"\n"))
        };
        if LIBRARIES.iter().any(named) {
            part(&mut hash, package.trim().as_bytes());
        }
    }
    let hex: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
    println!("cargo::rustc-env=WARPSIM_SOURCES={hex}");
    println!("cargo::rerun-if-changed=build.rs");
}

/// The sources of the crates a run goes through.
fn sources(crates: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(crates).expect("the folder of crates");
    let names = entries.map(|entry| entry.expect("a readable folder").file_name());
    let decide = names.filter(|name| ASK.iter().all(|ask| name != ask));
    let mut sources: Vec<PathBuf> = decide.map(|name| crates.join(name).join("src")).collect();
    sources.retain(|source| source.is_dir());
    sources.sort();
    sources
}

/// Adds a part so that no two lists of parts give the same bytes.
fn part(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a readable source directory") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}
