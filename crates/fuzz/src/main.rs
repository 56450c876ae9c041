//! `warpsim-fuzz TARGET|all SECONDS [SEED]`: runs a target with any compiler, says how often, and
//! keeps what fails in the corpus.

use std::process::ExitCode;
use std::time::Duration;
use warpsim_fuzz_targets::explore::explore;
use warpsim_fuzz_targets::{TARGETS, Target, find};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, seconds, seed) = match &arguments[..] {
        [name, seconds] => (name, seconds.parse(), Ok(1)),
        [name, seconds, seed] => (name, seconds.parse(), seed.parse()),
        _ => return usage(),
    };
    let (Ok(seconds), Ok(seed)) = (seconds, seed) else {
        return usage();
    };
    let targets: Vec<&Target> = match name.as_str() {
        "all" => TARGETS.iter().collect(),
        name => find(name).into_iter().collect(),
    };
    if targets.is_empty() {
        return usage();
    }
    let mut failed = false;
    for target in targets {
        let found = explore(target, seed, u64::MAX, Duration::from_secs(seconds));
        println!(
            "{}: {} executions, {} failures, slowest {:?}",
            target.name,
            found.executions,
            found.failures.len(),
            found.slowest.0
        );
        for (number, bytes) in found.failures.iter().enumerate() {
            failed = true;
            let path = target.folder().join(format!("failure-{seed}-{number}"));
            let made = std::fs::create_dir_all(target.folder());
            match made.and_then(|()| std::fs::write(&path, bytes)) {
                Ok(()) => println!("  kept: {}", path.display()),
                Err(e) => println!("  cannot write {}: {e}", path.display()),
            }
        }
    }
    ExitCode::from(u8::from(failed))
}

fn usage() -> ExitCode {
    let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
    eprintln!(
        "warpsim-fuzz TARGET|all SECONDS [SEED]\ntargets: {}",
        names.join(", ")
    );
    ExitCode::from(2)
}
