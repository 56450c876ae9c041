//! What single PTX instructions cost when the machine has no such instruction: how many
//! registers the sequence keeps for itself, how long it takes, how long it is.

use super::word::{Code, Form, Value};
use crate::isa::{Half, Op, Type};
use crate::kernel::Instr;

/// Registers besides sources and results, cycles, machine instructions.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub scratch: u32,
    pub latency: u32,
    pub length: u32,
}

impl Cost {
    /// One ordinary instruction.
    pub const ALU: Cost = Cost::new(0, 10, 1);

    pub const fn new(scratch: u32, latency: u32, length: u32) -> Cost {
        Cost {
            scratch,
            latency,
            length,
        }
    }
}

/// The cost of an instruction that reads these values.
pub fn cost(instr: &Instr, uses: &[Value], code: &Code) -> Cost {
    let ty = instr.mods.types[0];
    let float = ty.is_some_and(Type::is_float);
    let wide = ty.is_some_and(|t| t.bytes() == 8);
    let exact = !instr.mods.approx && !instr.mods.full;
    let by_number = uses
        .last()
        .is_some_and(|v| matches!(code.form(*v), Form::Number(_)));
    let signed = ty.is_some_and(Type::is_signed);
    match instr.op {
        Op::Div | Op::Rem if !float && by_number => Cost::new(2, 30, 5),
        Op::Div | Op::Rem if !float && wide => Cost::new(9, 400, 80),
        Op::Div | Op::Rem if !float && signed => Cost::new(3, 140, 25),
        Op::Div | Op::Rem if !float => Cost::new(1, 140, 20),
        Op::Div | Op::Sqrt if wide => Cost::new(11, 300, 40),
        Op::Rcp | Op::Rsqrt if wide => Cost::new(5, 200, 25),
        Op::Div if exact => Cost::new(5, 150, 30),
        Op::Rcp if exact => Cost::new(6, 120, 20),
        Op::Sqrt if exact => Cost::new(3, 120, 20),
        Op::Div => Cost::new(0, 40, 4),
        Op::Sin | Op::Cos | Op::Ex2 | Op::Lg2 | Op::Rcp | Op::Sqrt | Op::Rsqrt | Op::Tanh => {
            Cost::new(0, 30, 2)
        }
        Op::Tex => Cost::new(0, 400, 1),
        Op::Shfl => Cost::new(0, 30, 1),
        _ if wide && float => Cost::new(0, 20, 1),
        Op::Mul if wide && instr.mods.half == Some(Half::Hi) => Cost::new(2, 40, 8),
        Op::Mul | Op::Mad if wide => Cost::new(0, 30, 4),
        _ => Cost::ALU,
    }
}
