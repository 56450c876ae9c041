//! Machine code for a reader: what a kernel takes, where its threads part and meet, every instruction with its control
//! bits explained.

use crate::op;
use crate::program::instruction::{BYTES, Instruction};
use crate::program::operand::{Index, PT, Place, RZ, URZ};
use crate::program::{Kernel, Program};
use std::collections::BTreeMap;
use std::fmt::Write;

/// All that there is to know about a kernel, without its code.
pub fn summary(program: &Program, kernel: &Kernel) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "{} (sm_{}, {})",
        kernel.name, program.architecture, program.made_by
    );
    let padding = kernel
        .code
        .iter()
        .rev()
        .take_while(|i| i.name == "NOP")
        .count();
    let _ = writeln!(
        out,
        "  instructions   {} and {padding} of padding, {} bytes",
        kernel.code.len() - padding,
        kernel.code.len() as u32 * BYTES
    );
    let named = named(kernel);
    let _ = writeln!(
        out,
        "  registers      {} of a thread; named are {}, {} of the warp, {} predicates",
        kernel.registers, named.registers, named.uniform, named.predicates
    );
    let _ = writeln!(
        out,
        "  memory         shared {} B, stack {} B per thread, parameters {} B from c[0x0][{:#x}]",
        kernel.shared, kernel.stack, kernel.parameter_bytes, kernel.parameters
    );
    let unknown = unknown(kernel);
    if !unknown.is_empty() {
        let _ = writeln!(
            out,
            "  not known      {}: it cannot be executed",
            unknown.join(", ")
        );
    }
    let begins = kernel.code.iter().filter(|i| i.name == "BSSY").count();
    let branches: Vec<&Instruction> = kernel.code.iter().filter(|i| parts(i)).collect();
    let _ = writeln!(
        out,
        "  control        {} branches that may part threads, {begins} places where threads meet again, {} barriers",
        branches.len(),
        kernel.code.iter().filter(|i| i.name == "BAR").count()
    );
    for branch in branches {
        let to = match target(branch) {
            Some(target) if target <= branch.offset => format!("back to {target:#06x}, a loop"),
            Some(target) => format!("to {target:#06x}"),
            None => "to where registers say".to_string(),
        };
        let meets = match met_at(kernel, branch.offset) {
            Some((begin, at)) => format!("meets again at {at:#06x} ({begin:#06x} says so)"),
            None => "nobody waits for its threads".to_string(),
        };
        let _ = writeln!(out, "    {:#06x}: {to}; {meets}", branch.offset);
    }
    out
}

/// The code, an instruction a line: where it lies, what it is, its control bits as they are and in words.
pub fn code(kernel: &Kernel) -> String {
    let mut out = String::new();
    let mut marks: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (offset, name) in &kernel.functions {
        marks.entry(*offset).or_default().push(name.clone());
    }
    for i in &kernel.code {
        let Some(target) = target(i) else { continue };
        let text = match i.name.as_str() {
            "BSSY" => format!("threads of {:#06x} meet here", i.offset),
            "CALL" => continue,
            _ => format!("from {:#06x}", i.offset),
        };
        marks.entry(target).or_default().push(text);
    }
    for i in &kernel.code {
        for mark in marks.get(&i.offset).into_iter().flatten() {
            let _ = writeln!(out, "        # {mark}");
        }
        let control = i.control();
        let line = format!(
            "{:#06x}  {:<52} {control}  {}",
            i.offset,
            i.text,
            control.explain()
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

struct Named {
    registers: usize,
    uniform: usize,
    predicates: usize,
}

/// How many registers the code names.
fn named(kernel: &Kernel) -> Named {
    let (mut registers, mut uniform, mut predicates) = ([false; 256], [false; 64], [false; 8]);
    let mut index = |index: &Option<Index>, registers: &mut [bool; 256]| match index {
        Some(Index::Register { number, .. }) => registers[usize::from(*number)] = true,
        Some(Index::Uniform(number)) => uniform[usize::from(*number & 63)] = true,
        None => {}
    };
    for i in &kernel.code {
        if !i.guard.uniform {
            predicates[usize::from(i.guard.number & 7)] = true;
        }
        for operand in &i.operands {
            match &operand.place {
                Place::Register(number, _) => registers[usize::from(*number)] = true,
                Place::Predicate(number) => predicates[usize::from(*number & 7)] = true,
                Place::Uniform(number) => index(&Some(Index::Uniform(*number)), &mut registers),
                Place::Constant { index: i, .. } => index(i, &mut registers),
                Place::Memory {
                    index: i, uniform, ..
                } => {
                    index(i, &mut registers);
                    index(&uniform.map(Index::Uniform), &mut registers);
                }
                _ => {}
            }
        }
    }
    registers[usize::from(RZ)] = false;
    uniform[usize::from(URZ)] = false;
    predicates[usize::from(PT)] = false;
    let count = |all: &[bool]| all.iter().filter(|&&used| used).count();
    Named {
        registers: count(&registers),
        uniform: count(&uniform),
        predicates: count(&predicates),
    }
}

/// The spellings that are not known.
fn unknown(kernel: &Kernel) -> Vec<String> {
    let wrong = kernel.code.iter().filter(|i| op::decode(i).is_err());
    let mut spellings: Vec<String> = wrong.map(Instruction::spelling).collect();
    spellings.sort();
    spellings.dedup();
    spellings
}

/// Whether threads may part at an instruction.
fn parts(i: &Instruction) -> bool {
    let guarded = i.guard.number != PT && !i.guard.uniform;
    let asks = matches!(
        i.operands.first().map(|o| &o.place),
        Some(Place::Predicate(_))
    );
    match i.name.as_str() {
        "BRA" => (guarded || asks) && !i.modifiers.iter().any(|m| m == "U"),
        "BRX" => true,
        _ => false,
    }
}

/// Where an instruction may go, or where threads meet because of it.
fn target(i: &Instruction) -> Option<u32> {
    if !matches!(i.name.as_str(), "BRA" | "BSSY" | "CALL") {
        return None;
    }
    match i.operands.last()?.place {
        Place::Number { bits, .. } => Some(bits),
        _ => None,
    }
}

/// The innermost convergence barrier around a place: where it begins and where its threads meet.
fn met_at(kernel: &Kernel, offset: u32) -> Option<(u32, u32)> {
    let begins = kernel.code.iter().filter(|i| i.name == "BSSY");
    let around = begins.filter_map(|i| Some((i.offset, target(i)?)));
    around
        .filter(|&(begin, at)| begin < offset && offset < at)
        .min_by_key(|&(begin, at)| at - begin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::listing;

    const TEXT: &str = "warpsim machine code 1\narchitecture 90\nmade-by hand\nkernel k\n\
        sizes registers 8 shared 0 stack 0 parameters 0x210 4\nfunction 0x0 k\n\
        0000000000000000 000fe20003800000 BSSY B0,0x30\n\
        0000000000000000 000fea0003800000 @P0 BRA 0x20\n\
        0000000000000000 001fea0003800000 FROB R3,R4\n\
        0000000000000000 000fea0003800000 BSYNC B0\n\
        0000000000000000 000fea0003800000 EXIT\n\
        0000000000000000 000fc00000000000 NOP\n";

    #[test]
    fn where_threads_part_and_meet_is_told() {
        let program = listing::read("k.sass", TEXT).unwrap_or_else(|e| panic!("{e}"));
        let text = summary(&program, &program.kernels[0]);
        assert!(text.contains("5 and 1 of padding"), "{text}");
        assert!(
            text.contains("named are 2, 0 of the warp, 1 predicates"),
            "{text}"
        );
        assert!(text.contains("FROB: it cannot be executed"), "{text}");
        let branch = "0x0010: to 0x0020; meets again at 0x0030 (0x0000 says so)";
        assert!(text.contains(branch), "{text}");
        let text = code(&program.kernels[0]);
        assert!(
            text.contains("# threads of 0x0000 meet here\n0x0030  BSYNC B0"),
            "{text}"
        );
        assert!(text.contains("# from 0x0010\n0x0020  FROB R3,R4"), "{text}");
        assert!(text.contains("waits for 0; stall 5"), "{text}");
    }
}
