//! What the opcodes of machine code mean: a table, a family a file.
//!
//! An entry has a function that reads an instruction's operands and modifiers, all of them, and returns what executes
//! it. An opcode without entry, a modifier that its function does not ask for and an operand of another kind are errors
//! before anything runs.

mod args;
mod atomic;
mod bits;
mod compare;
mod convert;
mod float;
mod flow;
mod half;
mod integer;
mod memory;
mod moves;
mod special;
pub(crate) mod state;
mod texture;
pub(crate) mod value;
mod warp;

use crate::program::instruction::Instruction;
use args::Args;
pub use flow::Flow;
pub(crate) use memory::RESERVED_SHARED;
use state::{Reach, Row, Trouble};
use std::collections::HashMap;
use std::sync::OnceLock;

/// An opcode.
pub struct Entry {
    /// As it is written, without modifiers.
    pub name: &'static str,
    /// What it does, for a reader.
    pub about: &'static str,
    /// Reads one.
    build: Build,
}

type Build = fn(&mut Args<'_>) -> Result<Action, String>;

/// An opcode of the table.
const fn entry(name: &'static str, about: &'static str, build: Build) -> Entry {
    Entry { name, about, build }
}

/// Executes an instruction that only changes registers.
type Alu = Box<dyn Fn(&mut Reach<'_, '_>) + Send + Sync>;
/// Executes one that goes to memory.
type Access = Box<dyn Fn(&mut Reach<'_, '_>) -> Result<(), Trouble> + Send + Sync>;

/// What executes an instruction.
pub enum Action {
    /// It changes nothing.
    Nothing,
    /// It changes registers.
    Alu(Alu),
    /// It goes to memory.
    Access(Access),
    /// It decides what is executed next.
    Flow(Flow),
}

impl Action {
    fn alu(f: impl Fn(&mut Reach<'_, '_>) + Send + Sync + 'static) -> Result<Action, String> {
        Ok(Action::Alu(Box::new(f)))
    }

    fn access(
        f: impl Fn(&mut Reach<'_, '_>) -> Result<(), Trouble> + Send + Sync + 'static,
    ) -> Result<Action, String> {
        Ok(Action::Access(Box::new(f)))
    }
}

/// The families.
const FAMILIES: [&[Entry]; 13] = [
    integer::OPS,
    bits::OPS,
    compare::OPS,
    float::OPS,
    half::OPS,
    convert::OPS,
    special::OPS,
    moves::OPS,
    memory::OPS,
    atomic::OPS,
    texture::OPS,
    warp::OPS,
    flow::OPS,
];

/// Every opcode that is known.
pub fn opcodes() -> impl Iterator<Item = &'static Entry> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The entry of an opcode.
pub fn find(name: &str) -> Option<&'static Entry> {
    static TABLE: OnceLock<HashMap<&'static str, &'static Entry>> = OnceLock::new();
    let table = TABLE.get_or_init(|| opcodes().map(|entry| (entry.name, entry)).collect());
    table.get(name).copied()
}

/// What executes an instruction, or why it cannot be.
pub fn decode(instruction: &Instruction) -> Result<Action, String> {
    let unknown = || format!("the opcode {} is not known", instruction.name);
    let entry = find(&instruction.name).ok_or_else(unknown)?;
    let mut args = Args::new(instruction);
    let action = (entry.build)(&mut args)?;
    args.end()?;
    Ok(action)
}

/// A result of two integers.
fn of_two(
    args: &mut Args<'_>,
    f: impl Fn(u32, u32) -> u32 + Send + Sync + Copy + 'static,
) -> Result<Action, String> {
    let (dst, a, b) = (args.dst()?, args.integer()?, args.integer()?);
    Action::alu(move |r| {
        let (a, b) = (a.integer(r), b.integer(r));
        r.set(dst, &Row::of(|lane| f(a.0[lane], b.0[lane])));
    })
}

/// A result of one integer.
fn of_one(
    args: &mut Args<'_>,
    f: impl Fn(u32) -> u32 + Send + Sync + Copy + 'static,
) -> Result<Action, String> {
    let (dst, a) = (args.dst()?, args.integer()?);
    Action::alu(move |r| {
        let a = a.integer(r);
        r.set(dst, &Row::of(|lane| f(a.0[lane])));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opcode_stands_in_one_family() {
        let mut names: Vec<&str> = opcodes().map(|entry| entry.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    fn wrong(text: &str) -> String {
        let instruction = Instruction::read(0, [0; 2], text).expect("it can be read");
        let decoded = decode(&instruction);
        decoded.err().unwrap_or_else(|| panic!("{text} is taken"))
    }

    #[test]
    fn what_is_not_known_is_named() {
        assert_eq!(wrong("FROB R1,R2"), "the opcode FROB is not known");
        assert_eq!(
            wrong("IADD3.FROB R1,R2,R3,R4"),
            "the modifier .FROB of IADD3 is not known"
        );
        assert_eq!(wrong("IADD3 R1,R2,R3"), "IADD3 lacks an operand");
        assert!(wrong("IADD3 R1,R2,R3,R4,R5,R6").contains("more operands"));
        assert!(wrong("IADD3 0x1,R2,R3,R4").contains("takes a register"));
        assert!(wrong("MUFU.FROB R1,R2").contains("FROB"));
    }
}
