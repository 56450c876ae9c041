//! Where an instruction stands in what the user wrote: a line of the source where the PTX names one (`.loc`), else of the
//! PTX. Whatever names places to people asks here.

use crate::kernel::{Kernel, Pc};
use std::fmt;

/// Source files by the number that `.file` gives them.
pub type Files = Vec<(u32, String)>;

/// Where an instruction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// The source file, where the PTX names one.
    pub file: Option<&'a str>,
    /// Its line in that file; 0 if the compiler made it for no line in particular.
    pub line: u32,
    /// Its line in the PTX.
    pub ptx: u32,
}

impl Origin<'_> {
    /// The line of the source alone, where there is one: `saxpy.cu:5`.
    pub fn source(&self) -> Option<String> {
        let file = self.file.filter(|_| self.line > 0)?;
        Some(format!("{file}:{}", self.line))
    }
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source() {
            Some(source) => write!(f, "{source} (PTX line {})", self.ptx),
            None => write!(f, "PTX line {}", self.ptx),
        }
    }
}

impl Kernel {
    /// Where an instruction stands.
    pub fn origin(&self, pc: Pc) -> Origin<'_> {
        let Some(instr) = self.code.get(pc as usize) else {
            return Origin {
                file: None,
                line: 0,
                ptx: 0,
            };
        };
        let named = |number: u32| {
            let file = self.files.iter().find(|(n, _)| *n == number);
            file.map(|(_, name)| name.as_str())
        };
        Origin {
            file: instr.source.and_then(|(number, _)| named(number)),
            line: instr.source.map_or(0, |(_, line)| line),
            ptx: instr.line,
        }
    }

    /// Where the instructions from `first` to `last` stand, as `saxpy.cu:5 to 7 (PTX lines 40 to 52)`: lines of the file
    /// that the first of them with a source comes from.
    pub fn origins(&self, first: Pc, last: Pc) -> String {
        let ptx = match (self.origin(first).ptx, self.origin(last).ptx) {
            (from, to) if from == to => format!("PTX line {from}"),
            (from, to) => format!("PTX lines {from} to {to}"),
        };
        let all = (first..=last).map(|pc| self.origin(pc));
        let named: Vec<Origin> = all.filter(|o| o.file.is_some() && o.line > 0).collect();
        let Some(file) = named.first().and_then(|o| o.file) else {
            return ptx;
        };
        let lines = || {
            named
                .iter()
                .filter(|o| o.file == Some(file))
                .map(|o| o.line)
        };
        match (lines().min(), lines().max()) {
            (Some(from), Some(to)) if from < to => format!("{file}:{from} to {to} ({ptx})"),
            _ => format!("{file}:{} ({ptx})", named[0].line),
        }
    }
}

#[cfg(test)]
mod tests {
    const TEXT: &str = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<3>;\n\
        .loc 1 5 1\nmov.u32 %r1, 1;\n.loc 1 0 1\nadd.u32 %r2, %r1, %r1;\n.loc 2 9 1\nadd.u32 %r2, %r2, %r1;\n\
        .loc 1 4 1\nadd.u32 %r2, %r2, %r1;\nret;\n}\n.file 1 \"a.cu\"\n.file 2 \"b.cuh\"\n";

    #[test]
    fn a_place_is_a_line_of_the_source_where_the_ptx_names_one() {
        let program = crate::lower(&crate::parse(TEXT).expect("valid")).expect("valid");
        let kernel = &program.kernels[0];
        let said = |pc| kernel.origin(pc).to_string();
        assert_eq!(said(0), "a.cu:5 (PTX line 8)");
        // Of no line of the source.
        assert_eq!(said(1), "PTX line 10");
        assert_eq!(kernel.origins(0, 3), "a.cu:4 to 5 (PTX lines 8 to 14)");
        assert_eq!(kernel.origins(0, 2), "a.cu:5 (PTX lines 8 to 12)");
        assert_eq!(kernel.origins(1, 1), "PTX line 10");
        assert_eq!(kernel.origin(99).to_string(), "PTX line 0");
    }
}
