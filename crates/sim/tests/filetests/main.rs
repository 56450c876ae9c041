//! The files of `crates/exec/tests/ptx` on a whole GPU: the kernels without timing and on the timed `gtx480`,
//! the tables on that. Reading and comparing are as they are there.

#[path = "../../../exec/tests/filetests/directive.rs"]
mod directive;
#[path = "../../../exec/tests/filetests/files.rs"]
mod files;
mod machine;
#[path = "../../../exec/tests/filetests/run.rs"]
mod run;
#[path = "../../../exec/tests/filetests/table.rs"]
mod table;
#[path = "../../../exec/tests/filetests/value.rs"]
mod value;

use directive::Plan;
use files::{files, guarded, root, run_all, shown};
use machine::Whole;
use std::sync::Arc;
use warpsim_ptx::lower;

#[test]
fn kernels_do_what_their_files_say() {
    run_all("ptx", |name, text| {
        let mut failures = Vec::new();
        for functional in [true, false] {
            let how = if functional { "functional" } else { "timed" };
            let mut device = |plan: &Plan| {
                let wanted = if functional {
                    plan.functional
                } else {
                    plan.timed
                };
                wanted.then(|| Whole::new(functional, plan.limit, &[]))
            };
            let result = guarded(|| run::run_file(text, &mut device));
            failures.extend(result.err().map(|e| format!("{name} {how}: {e}")));
        }
        failures
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
                    let result = guarded(|| run_timed(&text, &set, limit));
                    let said = |e| format!("{} {name}, inlined to {limit:?}: {e}", shown(&path));
                    failures.extend(result.err().map(said));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Runs a file with timing and these settings; what must not compile, and what runs without timing
/// alone, is left out. Functions of more instructions than the limit are not inlined.
fn run_timed(text: &str, set: &[String], inline_limit: Option<usize>) -> Result<(), String> {
    let plan = Plan::parse(text)?;
    match run::compile_with(text, lower::Options { inline_limit }) {
        Ok(program) if plan.timed => run::run_once(
            &plan,
            &Arc::new(program),
            Whole::new(false, plan.limit, set),
        ),
        _ => Ok(()),
    }
}

#[test]
fn instructions_do_what_the_tables_say() {
    run_all("table", |name, text| {
        table::run_file(name, text, &|| Ok(Whole::new(false, 1_000_000, &[])))
    });
}

#[test]
fn a_difference_is_found_on_the_timed_gpu() {
    let wrong = "add.u32 {d:u32}, {a:u32}, 1;\n1 -> 3\n";
    let found = table::run_file("t", wrong, &|| Ok(Whole::new(false, 1_000_000, &[])));
    assert!(
        found[0].contains("line 2: d is 2 (0x00000002), not 3"),
        "{found:?}"
    );
}
