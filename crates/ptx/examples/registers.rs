//! Our estimate of registers and NVIDIA's assembler.
//!
//! `cargo run -p warpsim-ptx --example registers -- record [PATH-OF-PTXAS …]` asks the assembler
//! about every kernel of this repository and records the answers in `tests/registers.tsv`, which a
//! test compares with the estimate. The first assembler given (or found) is asked about everything;
//! what it refuses, the next ones are asked.
//!
//! `cargo run -p warpsim-ptx --example registers -- compare FILE-OR-FOLDER …` shows, for any PTX,
//! what both say.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use warpsim_ptx::assembler::Assembler;

const USAGE: &str = "say `record [PATH-OF-PTXAS …]` or `compare FILE-OR-FOLDER …`";

/// Folders with kernels, from the repository's root.
const FOLDERS: [&str; 5] = [
    "crates/workloads/kernels",
    "crates/workloads/micro",
    "examples",
    "crates/ptx/tests/corpus",
    "crates/ptx/tests/unseen",
];

fn main() -> Result<(), String> {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next().unwrap_or_default();
    let paths: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    match command.to_str() {
        Some("record") => record(&paths),
        Some("compare") if !paths.is_empty() => compare(&paths),
        _ => Err(USAGE.into()),
    }
}

fn record(given: &[PathBuf]) -> Result<(), String> {
    let assemblers = match given.is_empty() {
        true => vec![Assembler::find(None)?],
        false => given
            .iter()
            .map(|path| Assembler::find(Some(path)))
            .collect::<Result<_, _>>()?,
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut table = String::from("file\tkernel\ttarget\tregisters\tspill_bytes\tassembler\n");
    for file in collect(&FOLDERS.map(|folder| root.join(folder)))? {
        let name = file
            .strip_prefix(&root)
            .map_err(|e| e.to_string())?
            .display()
            .to_string();
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{name}: {e}"))?;
        let module = warpsim_ptx::parse(&text).map_err(|_| format!("{name} does not parse"))?;
        let mut answers = Vec::new();
        for assembler in &assemblers {
            answers.push((assembler, assembler.ask(&text, &module)?));
        }
        for kernel in answers[0].1.keys() {
            let usable = answers
                .iter()
                .find_map(|(asm, all)| Some((asm, all.get(kernel)?.as_ref().ok()?)));
            match usable {
                Some((asm, usage)) => {
                    let spilled = usage.spills.0 + usage.spills.1;
                    let _ = writeln!(
                        table,
                        "{name}\t{kernel}\tsm_{}\t{}\t{spilled}\tptxas {}",
                        usage.target, usage.registers, asm.version
                    );
                }
                None => eprintln!("{name}: {kernel}: {:?}", answers[0].1[kernel]),
            }
        }
    }
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/registers.tsv");
    std::fs::write(&place, table).map_err(|e| format!("{}: {e}", place.display()))
}

fn compare(paths: &[PathBuf]) -> Result<(), String> {
    let assembler = Assembler::find(None)?;
    println!("ptxas {}", assembler.version);
    println!("registers  estimate  fewest    error  kernel");
    let mut errors: Vec<f64> = Vec::new();
    for file in collect(paths)? {
        let name = file.display();
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{name}: {e}"))?;
        let module = warpsim_ptx::parse(&text).map_err(|_| format!("{name} does not parse"))?;
        let Ok(program) = warpsim_ptx::lower(&module) else {
            eprintln!("{name}: no kernel of it can be run");
            continue;
        };
        let answers = assembler.ask(&text, &module)?;
        for kernel in &program.kernels {
            let usage = match answers.get(&kernel.name) {
                Some(Ok(usage)) => usage,
                Some(Err(why)) => {
                    eprintln!("{name}: {}: {why}", kernel.name);
                    continue;
                }
                None => continue,
            };
            let (said, estimate) = (
                f64::from(usage.registers),
                f64::from(kernel.register_demand),
            );
            let error = (estimate - said) / said;
            errors.push(error.abs());
            println!(
                "{said:9}  {estimate:8}  {:6}  {:+6.0}%  {} of {name}",
                kernel.register_floor,
                100.0 * error,
                kernel.name
            );
        }
    }
    if !errors.is_empty() {
        let count = errors.len() as f64;
        let close = errors.iter().filter(|e| **e <= 0.25).count() as f64;
        println!(
            "{count} kernels: mean error {:.1}%, within a quarter {:.1}%",
            100.0 * errors.iter().sum::<f64>() / count,
            100.0 * close / count
        );
    }
    Ok(())
}

/// PTX files at and below these places, in order.
fn collect(places: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut left = places.to_vec();
    while let Some(place) = left.pop() {
        if !place.is_dir() {
            files.push(place);
            continue;
        }
        let unreadable = |e| format!("cannot read {}: {e}", place.display());
        for entry in std::fs::read_dir(&place).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.is_dir() || path.extension().is_some_and(|ext| ext == "ptx") {
                left.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
