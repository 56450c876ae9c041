//! What fuzzers run: functions that take any bytes and must not panic, whatever these are.
//!
//! [`TARGETS`] has all of them. `fuzz/` runs them under libFuzzer, which needs a nightly compiler
//! and finds its way by coverage; [`explore`] runs them with any compiler, from the kept corpus and
//! [seeds](Target::seeds) by random [changes](mutate). Both keep what they find in
//! `crates/fuzz/corpus`, which `cargo test` runs in full.

pub mod explore;
mod images;
pub mod mutate;
mod ptx;
mod texts;

use std::path::{Path, PathBuf};

/// A function that takes any bytes.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    /// Runs it; panics where something is wrong.
    pub run: fn(&[u8]),
    /// Inputs that get far.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 7] = [
    Target {
        name: "ptx_text",
        run: ptx::text,
        seeds: ptx::text_seeds,
    },
    Target {
        name: "ptx_structure",
        run: ptx::structure,
        seeds: ptx::structure_seeds,
    },
    Target {
        name: "launch_file",
        run: texts::launch_file,
        seeds: texts::launch_file_seeds,
    },
    Target {
        name: "machine_file",
        run: texts::machine_file,
        seeds: texts::machine_file_seeds,
    },
    Target {
        name: "study_file",
        run: texts::study_file,
        seeds: texts::study_file_seeds,
    },
    Target {
        name: "stored_result",
        run: texts::stored_result,
        seeds: texts::stored_result_seeds,
    },
    Target {
        name: "image",
        run: images::image,
        seeds: images::image_seeds,
    },
];

/// A target by its name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|t| t.name == name)
}

impl Target {
    /// Where its corpus is kept.
    pub fn folder(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(self.name)
    }

    /// What is kept, by name.
    pub fn corpus(&self) -> Vec<(String, Vec<u8>)> {
        let Ok(entries) = std::fs::read_dir(self.folder()) else {
            return Vec::new();
        };
        let read = |path: PathBuf| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some((name, std::fs::read(path).ok()?))
        };
        let mut all: Vec<_> = entries.filter_map(|e| read(e.ok()?.path())).collect();
        all.sort();
        all
    }
}
