//! Machine code as data: kernels, their instructions, and what the cubin says about them.

pub mod control;
pub mod instruction;
pub mod operand;

use instruction::{BYTES, Instruction};

/// A variable in a bank of constants, or in global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name, as in the PTX.
    pub name: String,
    /// Where it lies in its bank.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// The kernels of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// What messages call the file.
    pub name: String,
    /// The architecture, e.g. 90.
    pub architecture: u32,
    /// Who made and who read it, for the reader.
    pub made_by: String,
    /// The hash of the PTX that it was made from, where that is known.
    pub source: Option<String>,
    /// First contents of constant bank 3, where `.const` variables lie.
    pub constants: Vec<u8>,
    /// The variables in it.
    pub variables: Vec<Variable>,
    /// The kernels.
    pub kernels: Vec<Kernel>,
}

/// A kernel with the functions that it calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel {
    /// Its name, as in the PTX.
    pub name: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Static shared memory in bytes, what the hardware keeps for itself left out.
    pub shared: u32,
    /// Bytes of a thread's stack.
    pub stack: u32,
    /// Where parameters begin in constant bank 0.
    pub parameters: u32,
    /// Their bytes.
    pub parameter_bytes: u32,
    /// Constant bank 2, where the compiler's own constants lie.
    pub constants: Vec<u8>,
    /// Functions of its section: where each begins.
    pub functions: Vec<(u32, String)>,
    /// The instructions.
    pub code: Vec<Instruction>,
    /// The line of each in the listing, counted from 1; none where it does not come from one.
    pub lines: Vec<u32>,
}

impl Program {
    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

impl Kernel {
    /// The number of the instruction at an offset.
    pub fn at(&self, offset: u32) -> Option<usize> {
        let number = (offset / BYTES) as usize;
        (offset.is_multiple_of(BYTES) && number < self.code.len()).then_some(number)
    }

    /// Where the instruction of that number stands.
    pub fn place(&self, number: usize) -> String {
        let text = self.code.get(number).map_or("", |i| i.text.as_str());
        format!("/*{:04x}*/ {text}", number as u32 * BYTES)
    }
}
