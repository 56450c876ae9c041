//! Looking at lowered kernels: a summary, disassembly, and the control-flow graph as DOT or
//! SVG. Nothing here is needed to run a kernel.

mod arrays;
mod disassemble;
mod dot;
mod layers;
mod summary;
mod svg;

pub use arrays::arrays_in_words;
pub use disassemble::{disassemble, disassemble_all, disassemble_naming, mnemonic};
pub use dot::cfg_dot;
pub use summary::{Branch, Summary, summarize};
pub use svg::cfg_svg;

use crate::kernel::Kernel;

/// Longest list of instructions that a picture shows for one block.
const MOST_LINES: u32 = 14;
/// Longest instruction text in a picture, in characters.
const LONGEST_LINE: usize = 64;

/// What a picture writes into a block: a title and its instructions, long ones cut.
fn block_lines(kernel: &Kernel, index: usize) -> Vec<String> {
    let block = &kernel.blocks[index];
    let label = block.label.as_deref().unwrap_or("");
    let mut lines = vec![
        format!("B{index}  {}..{}  {label}", block.start, block.end - 1)
            .trim_end()
            .to_string(),
    ];
    let count = block.end - block.start;
    // A long block shows its beginning and its end, where the branch is.
    let head = if count > MOST_LINES {
        MOST_LINES - 3
    } else {
        count
    };
    let line = |pc: u32| shortened(&format!("{pc:>4}  {}", disassemble(kernel, pc)));
    lines.extend((block.start..block.start + head).map(line));
    if head < count {
        lines.push(format!("      … {} more", count - head - 2));
        lines.extend((block.end - 2..block.end).map(line));
    }
    lines
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST_LINE {
        return text.to_string();
    }
    let kept: String = text.chars().take(LONGEST_LINE - 1).collect();
    format!("{kept}…")
}

/// The edges of the graph: from, to, and whether the branch at the end of `from` was taken.
fn edges(kernel: &Kernel) -> Vec<(usize, usize, bool)> {
    let mut list = Vec::new();
    for (from, block) in kernel.blocks.iter().enumerate() {
        let target = kernel.code[block.end as usize - 1].target;
        for to in &block.successors {
            let taken = kernel.blocks[*to as usize].start == target;
            list.push((from, *to as usize, taken));
        }
    }
    list
}
