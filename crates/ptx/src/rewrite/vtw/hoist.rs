//! What depends on no index and may run once, before the loop: instructions that compute from
//! parameters, constants, sizes of the block and of the grid, and from each other.
//!
//! An instruction is hoisted only if it is the only one that writes its registers: then they have
//! one value for as long as the kernel runs, and computing it where it is not needed does no harm,
//! since nothing that can fail is moved and no memory but parameters and constants is read.

use super::indices::{Index, Kind, writes};
use super::walk::{names, sources, written};
use crate::ast::{Function, Instruction, Operand, Statement};
use crate::isa::{Op, Pipe, Sem, Space};
use std::collections::BTreeSet;

/// Special registers that hold the same for all threads of the grid.
const SAME_FOR_ALL: [&str; 7] = [
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%nwarpid",
    "%nsmid",
    "%dynamic_smem_size",
    "%total_smem_size",
];

/// Takes the instructions that may be hoisted out of a kernel's body, in an order in which they
/// can run, and no more than `most`.
pub fn take(function: &Function, body: &mut Vec<Statement>, most: usize) -> Vec<Instruction> {
    let parameters: BTreeSet<&str> = function
        .params
        .iter()
        .map(|p| p.name.name.as_str())
        .collect();
    let mut counts = std::collections::BTreeMap::new();
    for (name, count) in writes(body) {
        counts.insert(name.to_string(), count);
    }
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut hoisted = Vec::new();
    loop {
        let before = hoisted.len();
        body.retain(|statement| {
            let Statement::Instruction(instruction) = statement else {
                return true;
            };
            let alone = |name: &&str| counts.get(*name) == Some(&1);
            let results = written(instruction);
            let known_name = |name: &str| match counts.get(name) {
                Some(_) => known.contains(name),
                // Not a register: a variable, whose address is the same for all.
                None => is_same(name),
            };
            let moves = hoisted.len() < most
                && may_move(instruction, &parameters)
                && !results.is_empty()
                && results.iter().all(alone)
                && sources(instruction).all(|o| reads_known(o, &known_name));
            if moves {
                known.extend(results.into_iter().map(str::to_string));
                hoisted.push(instruction.clone());
            }
            !moves
        });
        if hoisted.len() == before {
            return hoisted;
        }
    }
}

fn is_same(name: &str) -> bool {
    match Index::of(name) {
        Some(index) => index.kind == Kind::Nctaid,
        None => !name.starts_with('%') || SAME_FOR_ALL.contains(&name),
    }
}

fn reads_known(operand: &Operand, known: &dyn Fn(&str) -> bool) -> bool {
    let mut all = true;
    names(operand, &mut |id| all &= known(&id.name));
    all
}

/// Whether an instruction computes from its operands alone and can do no harm.
fn may_move(instruction: &Instruction, parameters: &BTreeSet<&str>) -> bool {
    let mods = &instruction.mods;
    if instruction.guard.is_some() || mods.cc || !instruction.op.is_supported() {
        return false;
    }
    match instruction.op {
        Op::Ld => match mods.space {
            Some(Space::Param) => instruction.operands.get(1).is_some_and(|address| {
                let mut own = false;
                names(address, &mut |id| {
                    own = parameters.contains(id.name.as_str())
                });
                own
            }),
            // An address in a register could lie outside what there is.
            Some(Space::Const) => instruction.operands.get(1).is_some_and(|address| {
                let mut variable = true;
                names(address, &mut |id| variable &= !id.name.starts_with('%'));
                variable && mods.sem.is_none_or(|s| s == Sem::Weak)
            }),
            _ => false,
        },
        Op::Activemask | Op::Shfl | Op::Vote | Op::Match | Op::Redux => false,
        Op::Addc | Op::Subc | Op::Madc => false,
        op => matches!(op.pipe(mods), Pipe::Int | Pipe::Fp | Pipe::Sfu),
    }
}
