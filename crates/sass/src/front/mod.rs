//! Where machine code comes from: cubins by way of NVIDIA's disassembler, and listings.

mod cubin;
mod disassembly;
pub mod listing;
pub mod tools;

use crate::program::Program;
use sha2::{Digest, Sha256};
use std::path::Path;
use tools::Tools;

/// What a listing says of the PTX that it was made from.
pub fn hash(ptx: &str) -> String {
    let digest = Sha256::digest(ptx.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The machine code in a cubin, as the user's disassembler reads it.
pub fn read_cubin(tools: &Tools, name: &str, bytes: &[u8]) -> Result<Program, String> {
    let scratch = scratch()?;
    let file = scratch.path().join("code.cubin");
    std::fs::write(&file, bytes).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    read(tools, name, &file, bytes)
}

fn scratch() -> Result<tempfile::TempDir, String> {
    tempfile::tempdir().map_err(|e| format!("cannot make a folder for the disassembler: {e}"))
}

fn read(tools: &Tools, name: &str, file: &Path, bytes: &[u8]) -> Result<Program, String> {
    let cubin = cubin::Cubin::read(bytes).map_err(|why| format!("{name}: {why}"))?;
    let said = tools
        .disassemble(file)
        .map_err(|why| format!("{name}: {why}"))?;
    let made_by = tools.versions();
    disassembly::program(name, &cubin, &said, made_by).map_err(|why| format!("{name}: {why}"))
}

/// The machine code that the user's assembler makes of PTX for an architecture.
pub fn assemble(
    tools: &Tools,
    name: &str,
    ptx: &str,
    architecture: u32,
) -> Result<Program, String> {
    let scratch = scratch()?;
    let source = scratch.path().join("code.ptx");
    let file = scratch.path().join("code.cubin");
    std::fs::write(&source, ptx).map_err(|e| format!("cannot write {}: {e}", source.display()))?;
    tools
        .assemble(&source, &file, architecture)
        .map_err(|why| format!("{name}: {why}"))?;
    let bytes = std::fs::read(&file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    let mut program = read(tools, name, &file, &bytes)?;
    program.source = Some(hash(ptx));
    Ok(program)
}
