//! A kernel decoded once.

use crate::op::{self, Action};
use crate::program::instruction::Guard;
use crate::program::operand::{Index, Place, RZ};
use crate::program::{Kernel, Program};
use std::fmt::Write;

/// Where the driver puts what kernels find in constant bank 0, of those that are known.
pub(super) mod driver {
    /// Threads of a block in x, y, z.
    pub const BLOCK: u32 = 0x0;
    /// Blocks in x, y, z.
    pub const GRID: u32 = 0xc;
    /// Where generic addresses of local memory begin, 64 bits.
    pub const LOCAL: u32 = 0x20;
    /// Where the stack of a thread begins: its end.
    pub const STACK: u32 = 0x28;
    /// Where constant bank 3 lies in global memory, 64 bits.
    pub const CONSTANTS: u32 = 0xd0;
    /// What describes global memory to loads and stores, 64 bits.
    pub const DESCRIPTOR: u32 = 0x208;
}

/// An instruction ready to execute.
pub(super) struct Decoded {
    pub guard: Guard,
    pub action: Action,
}

/// A kernel ready to execute.
pub struct Code {
    pub(super) name: String,
    pub(super) ops: Vec<Decoded>,
    pub(super) kernel: Kernel,
    /// Registers of a thread that the code names.
    pub(super) registers: usize,
    /// It asks where constant bank 3 lies in memory.
    pub(super) asks_for_constants: bool,
}

impl Code {
    /// Decodes a kernel. The error has a line for every kind of instruction that is not known, each with its first
    /// place.
    pub fn new(program: &Program, kernel: &Kernel) -> Result<Code, String> {
        let mut ops = Vec::with_capacity(kernel.code.len());
        let mut wrong: Vec<(String, usize)> = Vec::new();
        let mut registers = 0;
        let mut asks_for_constants = false;
        for (number, instruction) in kernel.code.iter().enumerate() {
            let checked = constants(kernel, instruction, &mut asks_for_constants);
            match checked.and_then(|()| op::decode(instruction)) {
                Ok(action) => ops.push(Decoded {
                    guard: instruction.guard,
                    action,
                }),
                Err(why) if wrong.iter().all(|(known, _)| *known != why) => {
                    wrong.push((why, number));
                }
                Err(_) => {}
            }
            registers = registers.max(highest(instruction));
        }
        if !wrong.is_empty() {
            return Err(told(program, kernel, &wrong));
        }
        Ok(Code {
            name: kernel.name.clone(),
            ops,
            kernel: kernel.clone(),
            // What follows the first register of a vector.
            registers: registers + 4,
            asks_for_constants,
        })
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }
}

/// The most problems that are told.
const MOST_TOLD: usize = 8;

fn told(program: &Program, kernel: &Kernel, wrong: &[(String, usize)]) -> String {
    let mut out = format!("kernel {} cannot be executed as machine code", kernel.name);
    for (why, number) in wrong.iter().take(MOST_TOLD) {
        let line = kernel.lines.get(*number);
        let line = line.map_or(String::new(), |line| format!("{line}:"));
        // Writing to a String cannot fail.
        let place = kernel.place(*number);
        let _ = write!(out, "\n  {}:{line} {place}: {why}", program.name);
    }
    if wrong.len() > MOST_TOLD {
        let _ = write!(out, "\n  and {} more", wrong.len() - MOST_TOLD);
    }
    out
}

/// The number of the highest register that an instruction names, plus one.
fn highest(instruction: &crate::program::instruction::Instruction) -> usize {
    let numbers = instruction.operands.iter().filter_map(|o| match o.place {
        Place::Register(number, _) => Some(number),
        Place::Memory {
            index: Some(Index::Register { number, .. }),
            ..
        }
        | Place::Constant {
            index: Some(Index::Register { number, .. }),
            ..
        } => Some(number),
        _ => None,
    });
    let highest = numbers.filter(|&number| number != RZ).max();
    highest.map_or(0, |number| usize::from(number) + 1)
}

/// Constants that are not there are errors, not zeros.
fn constants(
    kernel: &Kernel,
    instruction: &crate::program::instruction::Instruction,
    asks: &mut bool,
) -> Result<(), String> {
    for operand in &instruction.operands {
        let Place::Constant {
            bank,
            index,
            offset,
        } = operand.place
        else {
            continue;
        };
        let offset = offset as u32;
        match bank {
            0 if offset >= kernel.parameters && offset < i32::MAX as u32 => {}
            0 => {
                let known = match index {
                    None | Some(Index::Register { number: RZ, .. }) => match offset {
                        driver::BLOCK..driver::LOCAL if offset < driver::GRID + 12 => true,
                        driver::CONSTANTS | 0xd4 => {
                            *asks = true;
                            true
                        }
                        driver::LOCAL | 0x24 | driver::STACK | driver::DESCRIPTOR | 0x20c => true,
                        _ => false,
                    },
                    _ => false,
                };
                if !known {
                    return Err(format!(
                        "what the driver puts at c[0x0][{offset:#x}] is not known"
                    ));
                }
            }
            2 | 3 => {}
            _ => return Err(format!("constant bank {bank} is not known")),
        }
    }
    Ok(())
}
