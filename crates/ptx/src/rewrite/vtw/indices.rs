//! Index registers: which of them code reads, and the registers that take their place.

use super::walk::{instructions, names, written};
use crate::ast::{Instruction, Operand, Statement};
use crate::isa::{Op, Type};
use std::collections::BTreeMap;

/// What a special register is an index of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `%tid`
    Tid,
    /// `%ctaid`
    Ctaid,
    /// `%nctaid`: not an index, but no longer what the hardware says.
    Nctaid,
}

/// A component of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Index {
    pub kind: Kind,
    /// 0, 1 or 2 for x, y, z.
    pub component: u8,
}

const KINDS: [(Kind, &str); 3] = [
    (Kind::Tid, "tid"),
    (Kind::Ctaid, "ctaid"),
    (Kind::Nctaid, "nctaid"),
];
const COMPONENTS: [&str; 3] = ["x", "y", "z"];

impl Index {
    /// The index that a name stands for.
    pub fn of(name: &str) -> Option<Index> {
        let (base, component) = name.strip_prefix('%')?.split_once('.')?;
        let kind = KINDS.iter().find(|k| k.1 == base)?.0;
        let component = COMPONENTS.iter().position(|c| *c == component)? as u8;
        Some(Index { kind, component })
    }

    fn base(self) -> &'static str {
        KINDS.iter().find(|k| k.0 == self.kind).map_or("", |k| k.1)
    }

    /// As PTX spells it.
    pub fn special(self) -> String {
        format!("%{}", self.text().replace('_', "."))
    }

    /// As part of a name.
    pub fn text(self) -> String {
        format!("{}_{}", self.base(), COMPONENTS[self.component as usize])
    }
}

/// The indices that a body reads itself.
pub fn read(body: &[Statement]) -> Vec<Index> {
    let mut found = Vec::new();
    instructions(body, &mut |instruction| {
        for operand in &instruction.operands {
            names(operand, &mut |id| found.extend(Index::of(&id.name)));
        }
    });
    found.sort();
    found.dedup();
    found
}

/// How often each register is written.
pub fn writes(body: &[Statement]) -> BTreeMap<&str, u32> {
    let mut counts = BTreeMap::new();
    instructions(body, &mut |instruction| {
        for name in written(instruction) {
            *counts.entry(name).or_default() += 1;
        }
    });
    counts
}

/// The registers that hold indices.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    names: BTreeMap<Index, String>,
    /// Those that are ours to declare.
    pub own: Vec<String>,
}

impl Registers {
    /// Registers for `wanted`. Where the body copies an index to a register that nothing else
    /// writes, that one is taken, and the copy is no longer needed.
    pub fn choose(wanted: &[Index], body: &[Statement]) -> Registers {
        let counts = writes(body);
        let mut registers = Registers::default();
        for statement in body {
            let Statement::Instruction(instruction) = statement else {
                continue;
            };
            if let Some((index, to)) = copy(instruction)
                && counts.get(to) == Some(&1)
            {
                registers.names.entry(index).or_insert_with(|| to.into());
            }
        }
        for index in wanted {
            let own = &mut registers.own;
            registers.names.entry(*index).or_insert_with(|| {
                let name = format!("%vtw_{}", index.text());
                own.push(name.clone());
                name
            });
        }
        registers
    }

    /// The register of an index.
    pub fn get(&self, index: Index) -> Option<&str> {
        self.names.get(&index).map(String::as_str)
    }

    /// Whether an instruction copies an index to the very register that now holds it.
    pub fn is_copy(&self, instruction: &Instruction) -> bool {
        copy(instruction).is_some_and(|(index, to)| self.get(index) == Some(to))
    }
}

/// The index that an instruction copies to a register of 32 bits, and the register.
fn copy(instruction: &Instruction) -> Option<(Index, &str)> {
    let word = matches!(
        instruction.mods.types[0],
        Some(Type::U32 | Type::S32 | Type::B32)
    );
    if instruction.op != Op::Mov || instruction.guard.is_some() || !word {
        return None;
    }
    match instruction.operands.as_slice() {
        [Operand::Name(to), Operand::Name(from)] => Some((Index::of(&from.name)?, &to.name)),
        _ => None,
    }
}
