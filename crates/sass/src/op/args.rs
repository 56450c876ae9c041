//! Reading an instruction's operands and modifiers: what is left over, or is not what it should be, is an error.

use super::state::{Dst, PredicateDst};
use super::value::{From, Predicate, Value};
use crate::program::instruction::Instruction;
use crate::program::operand::{Change, Index, Operand, PT, Place, RZ, URZ};

/// The operands and modifiers of an instruction that have not been read yet.
pub struct Args<'i> {
    instruction: &'i Instruction,
    modifiers: Vec<&'i str>,
    operands: std::iter::Peekable<std::slice::Iter<'i, Operand>>,
}

/// An address in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The register, and the uniform one beside it.
    pub index: Option<u8>,
    /// The register is the first of two.
    pub wide: bool,
    /// The uniform register.
    pub uniform: Option<u8>,
    /// What is added.
    pub offset: i32,
}

impl<'i> Args<'i> {
    /// All of an instruction's.
    pub fn new(instruction: &'i Instruction) -> Args<'i> {
        Args {
            instruction,
            modifiers: instruction.modifiers.iter().map(String::as_str).collect(),
            operands: instruction.operands.iter().peekable(),
        }
    }

    /// The instruction.
    pub fn instruction(&self) -> &'i Instruction {
        self.instruction
    }

    /// Whether it has this modifier, which is read.
    pub fn modifier(&mut self, name: &str) -> bool {
        match self.modifiers.iter().position(|m| *m == name) {
            Some(at) => {
                self.modifiers.remove(at);
                true
            }
            None => false,
        }
    }

    /// The first of these that it has, which is read.
    pub fn one_of<T: Copy>(&mut self, names: &[(&str, T)]) -> Option<T> {
        let found = names.iter().find(|(name, _)| self.modifier(name));
        found.map(|(_, value)| *value)
    }

    /// Modifiers that change nothing here.
    pub fn without_effect(&mut self, names: &[&str]) {
        self.modifiers.retain(|m| !names.contains(m));
    }

    /// How many operands are left.
    pub fn left(&self) -> usize {
        self.operands.len()
    }

    /// That nothing is left.
    pub fn end(mut self) -> Result<(), String> {
        if let Some(modifier) = self.modifiers.first() {
            return Err(format!(
                "the modifier .{modifier} of {} is not known",
                self.instruction.name
            ));
        }
        match self.operands.next() {
            None => Ok(()),
            Some(_) => Err(format!(
                "{} has more operands than are known",
                self.instruction.spelling()
            )),
        }
    }

    /// The next operand as it is written.
    pub fn operand(&mut self) -> Result<&'i Operand, String> {
        let lacks = || format!("{} lacks an operand", self.instruction.spelling());
        self.operands.next().ok_or_else(lacks)
    }

    fn expected<T>(&self, what: &str, got: &Operand) -> Result<T, String> {
        Err(format!(
            "{} takes {what} where it has {:?}",
            self.instruction.spelling(),
            got.place
        ))
    }

    /// Whether a predicate is next.
    pub fn predicate_next(&mut self) -> bool {
        let next = self.operands.peek();
        next.is_some_and(|o| matches!(o.place, Place::Predicate(_) | Place::UniformPredicate(_)))
    }

    /// Where a result goes.
    pub fn dst(&mut self) -> Result<Dst, String> {
        let operand = self.operand()?;
        Ok(match operand.place {
            _ if operand.change != Change::default() => {
                return self.expected("a register", operand);
            }
            Place::Register(RZ, None) | Place::Uniform(URZ) => Dst::Nowhere,
            Place::Register(number, None) => Dst::Register(number),
            Place::Uniform(number) => Dst::Uniform(number),
            _ => return self.expected("a register", operand),
        })
    }

    /// Where a predicate goes.
    pub fn predicate_dst(&mut self) -> Result<PredicateDst, String> {
        let operand = self.operand()?;
        match operand.place {
            Place::Predicate(number) if !operand.change.invert => Ok(PredicateDst::Thread(number)),
            Place::UniformPredicate(number) if !operand.change.invert => {
                Ok(PredicateDst::Uniform(number))
            }
            _ => self.expected("a predicate", operand),
        }
    }

    /// Where a predicate goes, where one is next; else nowhere.
    pub fn optional_predicate_dst(&mut self) -> Result<PredicateDst, String> {
        match self.predicate_next() {
            true => self.predicate_dst(),
            false => Ok(PredicateDst::Thread(PT)),
        }
    }

    /// A predicate.
    pub fn predicate(&mut self) -> Result<Predicate, String> {
        let operand = self.operand()?;
        let (number, uniform) = match operand.place {
            Place::Predicate(number) => (number, false),
            Place::UniformPredicate(number) => (number, true),
            _ => return self.expected("a predicate", operand),
        };
        Ok(Predicate {
            number,
            uniform,
            invert: operand.change.invert,
        })
    }

    /// A predicate, or one that is always false where there is none.
    pub fn predicate_or_false(&mut self) -> Result<Predicate, String> {
        match self.predicate_next() {
            true => self.predicate(),
            false => Ok(Predicate {
                number: PT,
                uniform: false,
                invert: true,
            }),
        }
    }

    /// A source, with what selects a part of it.
    pub fn selected(&mut self) -> Result<(Value, Option<&'i str>), String> {
        let operand = self.operand()?;
        let change = operand.change;
        let from = match &operand.place {
            Place::Register(number, selector) => {
                let value = Value {
                    from: From::Register(*number),
                    change,
                };
                return Ok((value, selector.as_deref()));
            }
            Place::Uniform(number) => From::Uniform(*number),
            Place::Number { bits, .. } => From::Number(*bits),
            Place::Constant {
                bank,
                index: None,
                offset,
            } => From::Constant {
                bank: *bank,
                offset: *offset as u32,
            },
            _ => return self.expected("a value", operand),
        };
        Ok((Value { from, change }, None))
    }

    /// A source.
    pub fn value(&mut self) -> Result<Value, String> {
        match self.selected()? {
            (value, None | Some("64")) => Ok(value),
            (_, Some(part)) => Err(format!(
                "the part .{part} of an operand of {} is not known",
                self.instruction.spelling()
            )),
        }
    }

    /// An integer source, which nothing but a sign and bits can be changed of.
    pub fn integer(&mut self) -> Result<Value, String> {
        let value = self.value()?;
        match value.change.absolute {
            false => Ok(value),
            true => Err(format!(
                "{} takes no absolute values",
                self.instruction.spelling()
            )),
        }
    }

    /// A source of floating point.
    pub fn float(&mut self) -> Result<Value, String> {
        let value = self.value()?;
        match value.change.invert {
            false => Ok(value),
            true => Err(format!(
                "{} takes no inverted bits",
                self.instruction.spelling()
            )),
        }
    }

    /// A number.
    pub fn number(&mut self) -> Result<u32, String> {
        let operand = self.operand()?;
        match operand.place {
            Place::Number { bits, float: false } => Ok(bits),
            _ => self.expected("a number", operand),
        }
    }

    /// A word.
    pub fn word(&mut self) -> Result<&'i str, String> {
        let operand = self.operand()?;
        match &operand.place {
            Place::Word(word) => Ok(word),
            _ => self.expected("a name", operand),
        }
    }

    /// A convergence barrier.
    pub fn barrier(&mut self) -> Result<u8, String> {
        let operand = self.operand()?;
        match operand.place {
            Place::Barrier(number) if number < 16 => Ok(number),
            _ => self.expected("a convergence barrier", operand),
        }
    }

    /// An address.
    pub fn address(&mut self) -> Result<Address, String> {
        let operand = self.operand()?;
        let Place::Memory {
            index,
            uniform,
            offset,
            ..
        } = operand.place
        else {
            return self.expected("an address", operand);
        };
        let (index, wide) = match index {
            Some(Index::Register { number, wide }) => (Some(number), wide),
            Some(Index::Uniform(_)) => return self.expected("an address", operand),
            None => (None, false),
        };
        Ok(Address {
            index,
            wide,
            uniform,
            offset,
        })
    }
}
