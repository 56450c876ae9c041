//! Variables of a program (`.global`, `.const`) get addresses and contents.

use super::image::GlobalMemory;
use warpsim_ptx::isa::Space;
use warpsim_ptx::kernel::{Program, RelocTarget};

/// Gives every variable of a program its place and its first contents: the addresses, in order. The error
/// says which one has no room.
pub fn place(program: &Program, image: &mut GlobalMemory) -> Result<Vec<u64>, String> {
    let mut symbols = Vec::with_capacity(program.symbols.len());
    for symbol in &program.symbols {
        let address = image.alloc(symbol.size.max(1), symbol.align.max(256), &symbol.name);
        symbols.push(address.ok_or_else(|| {
            format!(
                "no room for the variable {} of {} bytes",
                symbol.name, symbol.size
            )
        })?);
    }
    initialise(program, &symbols, image)?;
    for (symbol, &address) in program.symbols.iter().zip(&symbols) {
        if symbol.space == Space::Const {
            image.protect(address);
        }
    }
    Ok(symbols)
}

/// Gives the variables at these addresses their first contents, of which what the program does not write is zero already.
pub fn initialise(
    program: &Program,
    symbols: &[u64],
    image: &mut GlobalMemory,
) -> Result<(), String> {
    for (symbol, &address) in program.symbols.iter().zip(symbols) {
        let mut bytes = symbol.init.clone();
        for r in &symbol.relocations {
            let target = match r.target {
                RelocTarget::Symbol(i) => symbols[i as usize],
                RelocTarget::Absolute(a) => a,
            };
            let value = (target.wrapping_add_signed(r.addend) >> r.shift).to_le_bytes();
            let (at, n) = (r.offset as usize, r.bytes as usize);
            if bytes.len() < at + n {
                bytes.resize(at + n, 0);
            }
            bytes[at..at + n].copy_from_slice(&value[..n]);
        }
        if !bytes.is_empty() {
            let written = image.write(address, &bytes);
            written.map_err(|e| format!("initialising {}: {e}", symbol.name))?;
        }
    }
    Ok(())
}
