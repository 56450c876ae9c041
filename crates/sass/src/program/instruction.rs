//! An instruction of machine code as it is written.

use super::control::Control;
use super::operand::{Operand, PT};

/// Bytes of an instruction.
pub const BYTES: u32 = 16;

/// The predicate that decides on which lanes an instruction executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Its number; [`PT`] is always true.
    pub number: u8,
    /// It is one of the warp.
    pub uniform: bool,
    /// It executes where the predicate is false.
    pub invert: bool,
}

impl Guard {
    /// Always true.
    pub const ALWAYS: Guard = Guard {
        number: PT,
        uniform: false,
        invert: false,
    };
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Where it lies, from the start of its section.
    pub offset: u32,
    /// As the disassembler writes it.
    pub text: String,
    /// Its 128 bits, low word first.
    pub words: [u64; 2],
    /// Whether it executes.
    pub guard: Guard,
    /// `IMAD`.
    pub name: String,
    /// `WIDE`, `U32`.
    pub modifiers: Vec<String>,
    /// What it works on.
    pub operands: Vec<Operand>,
}

impl Instruction {
    /// Reads one.
    pub fn read(offset: u32, words: [u64; 2], text: &str) -> Result<Instruction, String> {
        let text = text.trim();
        let (guard, rest) = match text.strip_prefix('@') {
            Some(rest) => {
                let (guard, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                (read_guard(guard)?, rest.trim_start())
            }
            None => (Guard::ALWAYS, text),
        };
        let (opcode, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        let mut parts = opcode.split('.');
        let name = parts.next().unwrap_or_default();
        if name.is_empty() {
            return Err(format!("`{text}` is not an instruction"));
        }
        let immediate = (words[0] >> 32) as u32;
        let operands = split(operands)
            .map(|operand| Operand::read(operand, immediate))
            .collect::<Result<_, _>>()?;
        Ok(Instruction {
            offset,
            text: text.to_string(),
            words,
            guard,
            name: name.to_string(),
            modifiers: parts.map(str::to_string).collect(),
            operands,
        })
    }

    /// Its control bits.
    pub fn control(&self) -> Control {
        Control::of(self.words[1])
    }

    /// The opcode with its modifiers.
    pub fn spelling(&self) -> String {
        let parts = std::iter::once(self.name.as_str());
        let parts = parts.chain(self.modifiers.iter().map(String::as_str));
        parts.collect::<Vec<_>>().join(".")
    }
}

/// The parts between commas that are in no braces.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    let parts = text.split(move |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

fn read_guard(text: &str) -> Result<Guard, String> {
    let (invert, name) = match text.strip_prefix('!') {
        Some(name) => (true, name),
        None => (false, text),
    };
    let (uniform, name) = match name.strip_prefix("UP") {
        Some(rest) => (true, rest),
        None => (false, name.strip_prefix('P').unwrap_or("")),
    };
    let number = match name {
        "T" => Some(PT),
        digits => digits.parse().ok().filter(|&n: &u8| n < PT),
    };
    let number = number.ok_or_else(|| format!("`@{text}` is not a predicate"))?;
    Ok(Guard {
        number,
        uniform,
        invert,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_instruction() {
        let words = [0x4, 0x000f_c800];
        let i =
            Instruction::read(0x70, words, "@!P3 IMAD.WIDE.U32 R4,R9,0x4,R4").expect("it is one");
        assert_eq!(
            (i.name.as_str(), i.modifiers.join(" ")),
            ("IMAD", "WIDE U32".into())
        );
        assert_eq!(i.operands.len(), 4);
        assert_eq!(i.spelling(), "IMAD.WIDE.U32");
        let guard = Guard {
            number: 3,
            uniform: false,
            invert: true,
        };
        assert_eq!(i.guard, guard);
        let exit = Instruction::read(0, words, "@UP0 EXIT").expect("it is one");
        assert!(exit.guard.uniform && exit.operands.is_empty());
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |text: &str| Instruction::read(0, [0; 2], text).expect_err("it is wrong");
        assert_eq!(wrong("@P9 EXIT"), "`@P9` is not a predicate");
        assert_eq!(wrong("MOV R1,$"), "`$` is not an operand");
        assert_eq!(wrong(""), "`` is not an instruction");
    }
}
