//! Names for basic blocks that fit in a cell: a letter each.

use warpsim_ptx::kernel::{Kernel, Pc};

/// A kernel's blocks with their names.
pub struct Names {
    starts: Vec<Pc>,
    names: Vec<char>,
    /// For a legend: label and lines of each block.
    pub described: Vec<String>,
}

impl Names {
    /// A label of one character is the name of its block; the others get letters that are free,
    /// in order. When letters run out the rest is `#`.
    pub fn of(kernel: &Kernel) -> Names {
        let own = |label: &Option<String>| {
            let mut characters = label.as_deref()?.chars();
            let first = characters.next()?;
            characters.next().is_none().then_some(first)
        };
        let taken: Vec<char> = kernel.blocks.iter().filter_map(|b| own(&b.label)).collect();
        let letters = ('a'..='z').chain('A'..='Z').chain('0'..='9');
        let mut free = letters.filter(|c| !taken.contains(c));
        let names = kernel.blocks.iter().map(|b| match own(&b.label) {
            Some(name) => name,
            None => free.next().unwrap_or('#'),
        });
        let described = kernel.blocks.iter().map(|b| {
            let label = b.label.as_deref().unwrap_or("");
            let lines = kernel.origins(b.start, b.end - 1);
            [label, &lines].join(" ").trim_start().to_string()
        });
        Names {
            starts: kernel.blocks.iter().map(|b| b.start).collect(),
            names: names.collect(),
            described: described.collect(),
        }
    }

    /// The block of an instruction.
    pub fn block(&self, pc: Pc) -> usize {
        self.starts.partition_point(|s| *s <= pc).saturating_sub(1)
    }

    /// The name of a block.
    pub fn name(&self, block: usize) -> char {
        self.names.get(block).copied().unwrap_or('#')
    }
}
