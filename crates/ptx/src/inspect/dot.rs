//! The control-flow graph for Graphviz.

use super::{block_lines, edges};
use crate::kernel::Kernel;
use std::fmt::Write as _;
use warpsim_present::mangled::shown;

/// The graph of `kernel` in the DOT language: a node a block with its instructions, solid
/// edges for control (taken branches darker), dashed edges to immediate post-dominators.
pub fn cfg_dot(kernel: &Kernel) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "digraph \"{}\" {{", escaped(&shown(&kernel.name)));
    out.push_str("  node [shape=box, fontname=\"monospace\", fontsize=10];\n");
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=9];\n");
    for (index, block) in kernel.blocks.iter().enumerate() {
        let mut label = String::new();
        for line in block_lines(kernel, index) {
            label.push_str(&escaped(&line));
            label.push_str("\\l");
        }
        let style = if block.reachable {
            ""
        } else {
            ", style=dotted"
        };
        let _ = writeln!(out, "  b{index} [label=\"{label}\"{style}];");
    }
    for (from, to, taken) in edges(kernel) {
        let conditional = kernel.blocks[from].successors.len() > 1;
        let style = match (conditional, taken) {
            (true, true) => "label=\"taken\", color=\"#c05000\"",
            (true, false) => "label=\"falls through\", color=\"#606060\"",
            _ => "color=\"#606060\"",
        };
        let _ = writeln!(out, "  b{from} -> b{to} [{style}];");
    }
    for (index, block) in kernel.blocks.iter().enumerate() {
        // Where there is only one way to go the post-dominator says nothing new.
        if let Some(meet) = block.ipdom.filter(|_| block.successors.len() > 1) {
            let _ = writeln!(
                out,
                "  b{index} -> b{meet} [style=dashed, color=\"#3060c0\", constraint=false];"
            );
        }
    }
    out.push_str("}\n");
    out
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
