//! Asks NVIDIA's assembler for the registers of every kernel of this repository and records the
//! answers in `tests/registers.tsv`, which a test compares with our estimate.
//!
//! `cargo run -p warpsim-ptx --example registers [-- PATH-OF-PTXAS …]`. The first assembler given
//! (or found) is asked about everything; what it refuses, the next ones are asked.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use warpsim_ptx::assembler::Assembler;

/// Folders with kernels, from the repository's root.
const FOLDERS: [&str; 4] = [
    "crates/workloads/kernels",
    "crates/workloads/micro",
    "examples",
    "crates/ptx/tests/corpus",
];

fn main() -> Result<(), String> {
    let given: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let assemblers = match given.is_empty() {
        true => vec![Assembler::find(None)?],
        false => given
            .iter()
            .map(|path| Assembler::find(Some(path)))
            .collect::<Result<_, _>>()?,
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut files)?;
    }
    files.sort();
    let mut table = String::from("file\tkernel\ttarget\tregisters\tspill_bytes\tassembler\n");
    for file in files {
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

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries =
        std::fs::read_dir(folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ext| ext == "ptx") {
            files.push(path);
        }
    }
    Ok(())
}
