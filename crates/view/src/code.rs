//! Kernels and sources, as the page shows them.

use crate::format::{File, Instruction, Kernel};
use std::path::Path;
use warpsim_present::mangled::shown;
use warpsim_present::reading;
use warpsim_ptx::analysis::{reads, writes};
use warpsim_ptx::inspect::disassemble_naming;
use warpsim_ptx::kernel::{self, Pc, RegId};

/// The code of all launches.
#[derive(Debug, Default)]
pub struct Code {
    /// Kernels in the order of their first launch.
    pub kernels: Vec<Kernel>,
    /// A listing of each kernel, and the sources that they name.
    pub files: Vec<File>,
}

impl Code {
    /// The position of a kernel, which is added if it has not been launched before.
    pub fn position(&mut self, kernel: &kernel::Kernel) -> usize {
        let name = shown(&kernel.name);
        let lines = lines(kernel);
        let listing = listing(kernel, &lines);
        let same = |k: &&Kernel| k.name == name;
        let is_it = |k: &Kernel| self.listing(k) == Some(&listing);
        if let Some(known) = self.kernels.iter().position(|k| same(&k) && is_it(k)) {
            return known;
        }
        let ptx_file = self.files.len();
        let title = match self.kernels.iter().filter(same).count() {
            0 => format!("{name} (PTX)"),
            before => format!("{name} (PTX, {})", before + 1),
        };
        self.files.push(File {
            name: title,
            text: Some(listing),
        });
        let all = 0..kernel.code.len();
        let code = all.map(|pc| self.instruction(kernel, pc, &lines, ptx_file));
        let code = code.collect();
        let registers = kernel.registers.iter().map(|r| r.name.clone()).collect();
        self.kernels.push(Kernel {
            name,
            code,
            registers,
        });
        self.kernels.len() - 1
    }

    fn listing(&self, kernel: &Kernel) -> Option<&String> {
        let first = kernel.code.first()?;
        self.files[first.ptx_file].text.as_ref()
    }

    fn instruction(
        &mut self,
        kernel: &kernel::Kernel,
        pc: usize,
        lines: &[u32],
        ptx_file: usize,
    ) -> Instruction {
        let origin = kernel.origin(pc as Pc);
        let code = &kernel.code[pc];
        let numbers = |registers: &mut dyn Iterator<Item = RegId>| {
            let mut all: Vec<u32> = registers.map(|r| u32::from(r.0)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        Instruction {
            text: text(kernel, lines, pc),
            ptx: lines[pc],
            ptx_file,
            file: origin.file.map_or(-1, |name| self.file(name) as i64),
            line: origin.line,
            reads: numbers(&mut reads(code)),
            writes: numbers(&mut writes(code)),
        }
    }

    /// The position of a source file.
    fn file(&mut self, name: &str) -> usize {
        if let Some(known) = self.files.iter().position(|f| f.name == name) {
            return known;
        }
        let text = reading::read(Path::new(name), reading::TEXT).ok();
        self.files.push(File {
            name: name.to_string(),
            text: text.map(|t| String::from_utf8_lossy(&t).into_owned()),
        });
        self.files.len() - 1
    }
}

/// The line of each instruction in the listing of its kernel.
fn lines(kernel: &kernel::Kernel) -> Vec<u32> {
    let mut lines = vec![0; kernel.code.len()];
    let mut line = 0;
    for block in &kernel.blocks {
        line += u32::from(block.label.is_some());
        for pc in block.start..block.end {
            line += 1;
            lines[pc as usize] = line;
        }
    }
    lines
}

/// A kernel with its labels.
fn listing(kernel: &kernel::Kernel, lines: &[u32]) -> String {
    let mut listing: Vec<String> = Vec::new();
    for block in &kernel.blocks {
        listing.extend(block.label.iter().map(|label| format!("{label}:")));
        let code = block.start..block.end;
        listing.extend(code.map(|pc| format!("    {}", text(kernel, lines, pc as usize))));
    }
    listing.join("\n")
}

/// An instruction, which names others by label, or by line where they have none.
fn text(kernel: &kernel::Kernel, lines: &[u32], pc: usize) -> String {
    let place = |pc: Pc| {
        let block = kernel.blocks.binary_search_by_key(&pc, |b| b.start);
        let label = block.ok().and_then(|b| kernel.blocks[b].label.clone());
        let line = || lines.get(pc as usize).map_or(pc, |line| *line);
        label.unwrap_or_else(|| format!("line {}", line()))
    };
    disassemble_naming(kernel, pc as Pc, &place)
}
