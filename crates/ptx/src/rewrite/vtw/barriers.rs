//! The barrier that the software variant needs: no warp may touch shared memory for its next
//! logical block while a sibling still does for the last.
//!
//! Where all warps of a block pass the same barriers, one more before the first access to shared
//! memory of each iteration does. Where some threads may return before a barrier that others wait
//! at, they are still alive, and the barrier waits for them: they then take part in all barriers
//! of the others from the loop's tail, until all threads are there. Each barrier becomes a vote
//! (`barrier.red`): those in the body vote that they are not done, those at the tail that they are.

use super::Form;
use crate::analysis::immediate_post_dominators;
use crate::ast::Module;
use crate::isa::{Mode, Op, Space};
use crate::kernel::{Kernel, Operand};

/// Where the barrier goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// No shared memory and no barrier: none is needed.
    None,
    /// Before the instruction on this line of the printed module.
    Before(u32),
    /// At the head of the loop.
    Head,
    /// At the tail, together with all other barriers.
    Drain,
}

impl Plan {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Plan::None => "none",
            Plan::Before(_) => "before the first access to shared memory",
            Plan::Head => "at the head of the loop",
            Plan::Drain => DRAIN,
        }
    }
}

const DRAIN: &str = "at the tail, where threads that returned early wait";

/// Whether a kernel's barriers are votes.
pub fn drains(form: &Form) -> bool {
    form.barrier == DRAIN
}

/// Votes of single threads of a warp came with these versions.
pub fn raise_target(module: &mut Module) {
    module.version = module.version.max((6, 0));
    let old = |name: &str| {
        let number = name.strip_prefix("sm_").map(|n| {
            let digits: String = n.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().unwrap_or(0)
        });
        number.is_some_and(|n: u32| n < 70)
    };
    for target in module.target.iter_mut().filter(|t| old(t)) {
        *target = "sm_70".into();
    }
}

fn is_barrier(kernel: &Kernel, pc: u32) -> bool {
    let instr = &kernel.code[pc as usize];
    matches!(instr.op, Op::Bar | Op::Barrier) && !instr.mods.warp
}

/// Whether an instruction may access shared memory.
fn is_shared(kernel: &Kernel, pc: u32) -> bool {
    let instr = &kernel.code[pc as usize];
    let has = kernel.shared_bytes > 0 || kernel.dynamic_shared.is_some();
    let accesses = matches!(instr.op, Op::Ld | Op::St | Op::Atom | Op::Red | Op::Ldu);
    accesses && has && matches!(instr.mods.space, Some(Space::Shared) | None)
}

/// What a kernel needs; an error where nothing helps.
pub fn plan(kernel: &Kernel) -> Result<Plan, String> {
    let all = 0..kernel.code.len() as u32;
    let barriers: Vec<u32> = all.clone().filter(|pc| is_barrier(kernel, *pc)).collect();
    let shared: Vec<u32> = all.filter(|pc| is_shared(kernel, *pc)).collect();
    if shared.is_empty() && barriers.is_empty() {
        return Ok(Plan::None);
    }
    let conditional = conditional_blocks(kernel);
    let block_of = |pc: u32| kernel.blocks.partition_point(|b| b.end <= pc);
    let missed = |pc: &&u32| {
        let guarded = kernel.code[**pc as usize].guard.is_some();
        guarded || conditional[block_of(**pc)]
    };
    if barriers.iter().find(missed).is_some() {
        for pc in &barriers {
            let instr = &kernel.code[*pc as usize];
            let plain = instr
                .mods
                .mode
                .is_none_or(|m| !matches!(m, Mode::Arrive | Mode::Red));
            let whole = matches!(instr.src.as_slice(), [] | [Operand::Imm(0)]);
            if !plain || !whole || instr.guard.is_some() {
                return Err(format!(
                    "lets threads return before a barrier that others wait at ({}), and \
                     not all of its barriers are plain `bar.sync 0`",
                    kernel.origin(*pc)
                ));
            }
        }
        return Ok(Plan::Drain);
    }
    if shared.is_empty() {
        return Ok(Plan::None);
    }
    Ok(place(kernel, &shared, &block_of))
}

/// Before the first access, where all warps come by it.
fn place(kernel: &Kernel, shared: &[u32], block_of: &dyn Fn(u32) -> usize) -> Plan {
    // Blocks that every thread passes once, in order: from the entry down the post-dominators as
    // long as nothing leads back.
    let mut trunk = vec![0usize];
    while let Some(next) = kernel.blocks[trunk[trunk.len() - 1]].ipdom {
        if trunk.contains(&(next as usize)) {
            break;
        }
        trunk.push(next as usize);
    }
    let first = shared.iter().find(|pc| trunk.contains(&block_of(**pc)));
    let Some(&first) = first else {
        return Plan::Head;
    };
    let block = block_of(first);
    let before_all = shared
        .iter()
        .all(|pc| *pc >= first && !reaches(kernel, block_of(*pc), block));
    match before_all {
        true => Plan::Before(kernel.code[first as usize].line),
        false => Plan::Head,
    }
}

/// Whether control can come from the end of a block to the start of another.
fn reaches(kernel: &Kernel, from: usize, to: usize) -> bool {
    let mut seen = vec![false; kernel.blocks.len()];
    let mut work = kernel.blocks[from].successors.clone();
    while let Some(block) = work.pop() {
        if block as usize == to {
            return true;
        }
        if !std::mem::replace(&mut seen[block as usize], true) {
            work.extend(&kernel.blocks[block as usize].successors);
        }
    }
    false
}

/// Where the ways from each block meet if those that end the thread count, too: they all lead to
/// one more block, as they will to the loop's tail; traps, which end all of them, do not. (The kernel's own meeting points are those of
/// the threads that stay.)
fn meeting_points(kernel: &Kernel) -> (Vec<Vec<u32>>, Vec<Option<u32>>) {
    let end = kernel.blocks.len() as u32;
    let mut successors: Vec<Vec<u32>> = Vec::new();
    for block in &kernel.blocks {
        let mut all = block.successors.clone();
        match kernel.code[block.end as usize - 1].op {
            // It ends everything, not one thread.
            Op::Trap => {}
            Op::Ret | Op::Exit => all.push(end),
            _ if all.is_empty() => all.push(end),
            _ => {}
        }
        successors.push(all);
    }
    successors.push(Vec::new());
    let points = immediate_post_dominators(&successors);
    (successors, points)
}

/// Blocks that some threads of a block of threads may come to and others not: those that depend,
/// directly or not, on a branch, or a return under a guard, that is not proven to go one way for
/// all.
fn conditional_blocks(kernel: &Kernel) -> Vec<bool> {
    let count = kernel.blocks.len();
    let ends = |b: usize| &kernel.code[kernel.blocks[b].end as usize - 1];
    let (successors, points) = meeting_points(kernel);
    // By block, the blocks whose ends decide about it.
    let mut deciders: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
    for a in (0..count).filter(|a| successors[*a].len() > 1) {
        for s in &successors[a] {
            let mut at = Some(*s);
            while let Some(b) = at {
                if at == points[a] || deciders[b as usize].contains(&a) {
                    break;
                }
                deciders[b as usize].push(a);
                at = points[b as usize];
            }
        }
    }
    let mut found = vec![false; count];
    for (b, out) in found.iter_mut().enumerate() {
        let mut seen = vec![false; count];
        let mut work = deciders[b].clone();
        while let Some(a) = work.pop() {
            if std::mem::replace(&mut seen[a], true) {
                continue;
            }
            *out |= !ends(a).uniform;
            work.extend(&deciders[a]);
        }
    }
    found
}

/// Whether threads of a warp that part would meet only at the loop's tail, and come to a barrier,
/// or to an operation among the threads of a warp, one part after the other: the sides of a
/// branch met before it, but threads may return from between. The line of what they come to.
pub fn comes_in_parts(kernel: &Kernel) -> Option<u32> {
    let (_, points) = meeting_points(kernel);
    let together = |pc: u32| {
        let instr = &kernel.code[pc as usize];
        is_barrier(kernel, pc) || instr.mods.warp || instr.mods.sync
    };
    for (a, block) in kernel.blocks.iter().enumerate() {
        let (Some(meet), last) = (block.ipdom, &kernel.code[block.end as usize - 1]) else {
            continue;
        };
        let comes = |s: &u32| *s == meet || reaches(kernel, *s as usize, meet as usize);
        let parts = block.successors.len() > 1 && !last.uniform;
        if !parts || points[a] == Some(meet) || !block.successors.iter().all(comes) {
            continue;
        }
        for (b, other) in kernel.blocks.iter().enumerate() {
            if b != meet as usize && !reaches(kernel, meet as usize, b) {
                continue;
            }
            if let Some(pc) = (other.start..other.end).find(|pc| together(*pc)) {
                return Some(kernel.code[pc as usize].line);
            }
        }
    }
    None
}
