//! Tests of the instruction set as files: kernel, inputs and expected memory in one place.
//!
//! `tests/ptx/**/*.ptx` are whole kernels; leading comments say how to run them and what has
//! to come out (grammar in [`directive`]). `tests/ptx/**/*.table` try one instruction a
//! paragraph on rows of operands (grammar in [`table`]). Each runs here without timing, and in `crates/sim`
//! on a GPU, timed; both must give what the file says.
//!
//! `FILETEST=name` runs only the files whose path contains `name`.

mod coverage;
mod directive;
mod files;
pub mod run;
mod selftest;
mod table;
mod value;

use crate::common::bare::Bare;
use files::{guarded, run_all};

/// Launches that a GPU refuses before anything runs.
const REFUSED_BY_A_GPU: [&str; 5] = [
    "faults/required_block.ptx",
    "faults/too_many_threads.ptx",
    "faults/undefined_function.ptx",
    "faults/undefined_variable.ptx",
    "textures/unbound.ptx",
];

/// A fresh device.
fn device(limit: u64) -> Bare {
    Bare::new(limit)
}

#[test]
fn kernels_do_what_their_files_say() {
    run_all("ptx", |name, text| {
        if REFUSED_BY_A_GPU.contains(&name) {
            return Vec::new();
        }
        let result = guarded(|| {
            run::run_file(text, &mut |plan| {
                plan.functional.then(|| device(plan.limit))
            })
        });
        result
            .err()
            .map(|e| format!("{name}: {e}"))
            .into_iter()
            .collect()
    });
}

#[test]
fn instructions_do_what_the_tables_say() {
    run_all("table", |name, text| {
        table::run_file(name, text, &|| Ok(device(1_000_000)))
    });
}
