//! Kernels and sources, as the page shows them.

use crate::format::{File, Instruction, Kernel};
use std::path::Path;
use warpsim_present::mangled::shown;
use warpsim_present::reading;
use warpsim_ptx::analysis::{reads, writes};
use warpsim_ptx::inspect::disassemble;
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
        let (listing, lines) = listing(kernel);
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
        let instruction = |(pc, line): (usize, u32)| self.instruction(kernel, pc, line, ptx_file);
        let code = lines.into_iter().enumerate().map(instruction).collect();
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
        line: u32,
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
            text: disassemble(kernel, pc as Pc),
            ptx: line,
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

/// A kernel with its labels, and the line of each instruction in that text.
fn listing(kernel: &kernel::Kernel) -> (String, Vec<u32>) {
    let mut lines: Vec<String> = Vec::new();
    let mut places = vec![0; kernel.code.len()];
    for block in &kernel.blocks {
        lines.extend(block.label.iter().map(|label| format!("{label}:")));
        for pc in block.start..block.end {
            lines.push(format!("    {}", disassemble(kernel, pc)));
            places[pc as usize] = lines.len() as u32;
        }
    }
    (lines.join("\n"), places)
}
