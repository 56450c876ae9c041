//! Operands: registers, numbers, and what lies in constant memory.

use super::{Pair, Reader, tag};
use crate::analysis::registers::expand::Cost;
use crate::analysis::registers::word::{Effect, Form, Value, number_of};
use crate::isa::Special;
use crate::kernel::{Operand, RegClass, RegId};
use smallvec::smallvec;
use std::hash::Hash;

impl Reader<'_> {
    pub(super) fn class(&self, reg: RegId) -> RegClass {
        self.kernel.registers[reg.0 as usize].class
    }

    pub(super) fn constant(&mut self, form: Form) -> Value {
        let code = &mut self.code;
        *self
            .constants
            .entry(form)
            .or_insert_with(|| code.value(form))
    }

    pub(super) fn number(&mut self, n: u32) -> Value {
        self.constant(Form::Number(n))
    }

    /// Some word of constant memory; the same for the same thing.
    pub(super) fn bank(&mut self, what: impl Hash) -> Value {
        self.constant(Form::Bank(number_of(&what) as u32))
    }

    pub(super) fn register(&self, reg: RegId) -> Pair {
        let low = self.names.read((reg.0, 0));
        let wide = self.class(reg) == RegClass::B64;
        (low, wide.then(|| self.names.read((reg.0, 1))))
    }

    pub(super) fn operand(&mut self, operand: &Operand, wide: bool) -> Pair {
        match operand {
            Operand::Reg(reg) | Operand::NotReg(reg) => self.register(*reg),
            Operand::Imm(bits) => {
                let low = self.number(*bits as u32);
                (low, wide.then(|| self.number((*bits >> 32) as u32)))
            }
            Operand::Symbol { index, offset } => {
                let low = self.bank(("symbol", index, offset, 0));
                (low, wide.then(|| self.bank(("symbol", index, offset, 1))))
            }
            Operand::Special(special) => self.special(*special, wide),
            _ => (self.number(0), None),
        }
    }

    fn special(&mut self, special: Special, wide: bool) -> Pair {
        match special {
            Special::Ntid(_)
            | Special::Nctaid(_)
            | Special::DynamicSmemSize
            | Special::TotalSmemSize => (self.bank(("special", special)), None),
            Special::WarpSize => (self.number(32), None),
            _ => {
                let changes = matches!(
                    special,
                    Special::Clock
                        | Special::ClockHi
                        | Special::Clock64
                        | Special::Globaltimer
                        | Special::GlobaltimerLo
                        | Special::GlobaltimerHi
                );
                let effect = if changes {
                    Effect::Ordered
                } else {
                    Effect::Pure
                };
                let tag = tag(&("special", special));
                let words = 1 + u32::from(wide);
                let defs = self.emit(effect, smallvec![], words, Cost::new(0, 20, 1), tag);
                (defs[0], defs.get(1).copied())
            }
        }
    }
}
