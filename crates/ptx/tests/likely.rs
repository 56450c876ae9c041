//! Likely-convergence points against their definition, on random flow graphs.

use proptest::prelude::*;
use std::fmt::Write;
use warpsim_ptx::isa::Op;
use warpsim_ptx::kernel::{Kernel, NO_PC};

/// A kernel whose blocks go where the graph says: a branch for each edge but the last.
fn kernel(graph: &[Vec<u32>]) -> Kernel {
    let mut text = String::from(
        ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<2>;\n\
         .reg .b32 %r<3>;\nmov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 1;\n",
    );
    for (at, next) in graph.iter().enumerate() {
        let _ = writeln!(text, "B{at}: add.u32 %r1, %r1, 1;");
        match next[..] {
            [] => text.push_str("ret;\n"),
            [only] => {
                let _ = writeln!(text, "bra B{only};");
            }
            [first, second, ..] => {
                let _ = writeln!(text, "@%p1 bra B{first};\nbra B{second};");
            }
        }
    }
    text.push_str("}\n");
    let module = warpsim_ptx::parse(&text).expect("valid");
    let mut program = warpsim_ptx::lower::lower(&module).expect("valid");
    program.kernels.remove(0).into_kernel()
}

fn reaches(kernel: &Kernel, from: u32, to: u32, without: Option<u32>) -> bool {
    let mut seen = vec![false; kernel.blocks.len()];
    let mut work = vec![from];
    while let Some(b) = work.pop() {
        if Some(b) == without || std::mem::replace(&mut seen[b as usize], true) {
            continue;
        }
        if b == to {
            return true;
        }
        work.extend(&kernel.blocks[b as usize].successors);
    }
    false
}

/// Headers with their latches, one entry for each header or one for each latch.
fn loops(kernel: &Kernel, by_latch: bool) -> Vec<(u32, Vec<u32>)> {
    let count = kernel.blocks.len() as u32;
    let mut all = Vec::new();
    for header in 0..count {
        let back = |latch: &u32| {
            kernel.blocks[*latch as usize].successors.contains(&header)
                && reaches(kernel, 0, *latch, None)
                && (header == 0 || !reaches(kernel, 0, *latch, Some(header)))
        };
        let latches: Vec<u32> = (0..count).filter(back).collect();
        if by_latch {
            all.extend(latches.into_iter().map(|latch| (header, vec![latch])));
        } else if !latches.is_empty() {
            all.push((header, latches));
        }
    }
    all
}

/// The blocks of a loop: those that reach a latch without the header, and the header. Blocks that
/// nothing leads to count, too.
fn body(kernel: &Kernel, (header, latches): &(u32, Vec<u32>)) -> Vec<u32> {
    let arrives = |block: u32, latch: &u32| reaches(kernel, block, *latch, Some(*header));
    let inside = |block: &u32| block == header || latches.iter().any(|l| arrives(*block, l));
    (0..kernel.blocks.len() as u32).filter(inside).collect()
}

fn point(kernel: &Kernel, index: u32, by_latch: bool) -> u32 {
    let block = &kernel.blocks[index as usize];
    let all = loops(kernel, by_latch);
    let around = all
        .iter()
        .map(|l| (body(kernel, l), l))
        .filter(|(body, _)| body.contains(&index));
    let Some((_, (header, latches))) = around.min_by_key(|(body, l)| (body.len(), l.0)) else {
        return NO_PC;
    };
    let end = match latches[..] {
        [latch] => latch,
        _ => *header,
    };
    let arrive = block
        .successors
        .iter()
        .all(|side| reaches(kernel, *side, end, block.ipdom));
    if *latches == [index] || block.ipdom == Some(end) || !arrive {
        return NO_PC;
    }
    kernel.blocks[end as usize].start
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn points_are_as_defined(
        raw in proptest::collection::vec(proptest::collection::vec(0u32..12, 0..3), 1..12)
    ) {
        let count = raw.len() as u32;
        let graph: Vec<Vec<u32>> = raw
            .iter()
            .map(|list| list.iter().map(|t| t % count).collect())
            .collect();
        let kernel = kernel(&graph);
        for (index, block) in (0..).zip(&kernel.blocks) {
            let last = &kernel.code[block.end as usize - 1];
            if last.op != Op::Bra || block.successors.len() < 2 || !block.reachable {
                continue;
            }
            prop_assert_eq!(last.likely.loop_end, point(&kernel, index, false), "block {}", index);
            prop_assert_eq!(last.likely.backward, point(&kernel, index, true), "block {}", index);
        }
    }
}
