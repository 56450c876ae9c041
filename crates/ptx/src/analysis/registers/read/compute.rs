//! Arithmetic: conversions that are none, results that are known, everything else.

use super::{Pair, Reader};
use crate::analysis::registers::expand::cost;
use crate::analysis::registers::word::{
    Code, Effect, Form, Memory, Ranges, Role, Sum, Value, Values,
};
use crate::isa::{Half, Op, Type};
use crate::kernel::{AddrBase, Instr, Operand, TexBase};
use smallvec::smallvec;

impl Reader<'_> {
    pub(super) fn convert(&mut self, instr: &Instr) {
        let (to, from) = (instr.mods.ty(), instr.mods.types[1].unwrap_or(Type::U32));
        let plain = !to.is_float() && !from.is_float() && !instr.mods.sat && instr.src.len() == 1;
        if !plain || from.bytes() < 4 || to.bytes() < 4 {
            return self.compute(instr);
        }
        let (low, high) = self.operand(&instr.src[0], from.bytes() == 8);
        let high = match (to.bytes(), from.bytes(), from.is_signed()) {
            (4, ..) => None,
            (_, 4, true) => match self.code.form(low) {
                Form::Number(n) => Some(self.number(((n as i32) >> 31) as u32)),
                _ => Some(self.word(instr, 1, smallvec![low])),
            },
            (_, 4, false) => Some(self.number(0)),
            _ => high,
        };
        self.assign(instr, &instr.dst[0], (low, high));
    }

    pub(super) fn compute(&mut self, instr: &Instr) {
        if let [dst] = &instr.dst[..]
            && self.is_wide(dst)
            && let Some(value) = self.in_halves(instr)
        {
            return self.assign(instr, dst, value);
        }
        if let Some(value) = self.folded(instr) {
            return self.assign(instr, &instr.dst[0], value);
        }
        let wide = instr.mods.types.iter().flatten().any(|t| t.bytes() == 8);
        let mut uses = Values::new();
        for src in &instr.src {
            if let Operand::Texture(TexBase::Handle(reg)) = src {
                uses.push(self.register(*reg).0);
                continue;
            }
            if matches!(src, Operand::Texture(_)) {
                continue;
            }
            if let Operand::Address {
                base: AddrBase::Reg(reg),
                ..
            } = src
            {
                let (low, high) = self.register(*reg);
                uses.push(low);
                uses.extend(high);
                continue;
            }
            let (low, high) = self.operand(src, wide);
            uses.push(low);
            uses.extend(high);
        }
        let effect = match instr.op {
            Op::Tex | Op::TexLevel | Op::TexGrad | Op::Tld4 => Effect::Load(Memory::Texture),
            Op::Cp
            | Op::Mbarrier
            | Op::Suld
            | Op::Sust
            | Op::Sured
            | Op::Wmma
            | Op::Mma
            | Op::Ldmatrix
            | Op::Stmatrix
            | Op::Movmatrix => Effect::Ordered,
            Op::Bar
            | Op::Barrier
            | Op::Membar
            | Op::Fence
            | Op::Call
            | Op::Nanosleep
            | Op::Pmevent
            | Op::Brkpt
            | Op::Vote
            | Op::Match
            | Op::Shfl
            | Op::Redux
            | Op::Activemask
            | Op::Addc
            | Op::Subc
            | Op::Madc => Effect::Ordered,
            _ if instr.mods.cc => Effect::Ordered,
            _ => Effect::Pure,
        };
        let cost = cost(instr, &uses, &self.code);
        let wide = match instr.mods.types.iter().flatten().any(|t| *t == Type::F64) {
            true => pairs(instr, &self.code, &uses, |op| self.is_wide(op)),
            false => Ranges::new(),
        };
        self.several(instr, effect, uses, cost, wide);
        if instr.op == Op::Bfe {
            // Where and how many bits are one number for the machine.
            self.last(|node| node.scratch = 0);
        }
        let integer = instr.mods.types[0].is_some_and(|t| !t.is_float() && t.bytes() == 4);
        let role = match instr.op {
            Op::Mul if instr.mods.half == Some(Half::Lo) => Role::Product,
            Op::Shl => Role::Product,
            Op::Add if !instr.mods.sat && !instr.mods.cc => Role::Addition,
            _ => Role::Other,
        };
        if integer {
            self.last(|node| node.role = role);
        }
        self.remember_sum(instr);
    }

    /// 32-bit results that need no operation, or that the assembler computes itself.
    fn folded(&mut self, instr: &Instr) -> Option<Pair> {
        let mods = &instr.mods;
        if mods.types[0].is_none_or(|t| t.is_float() || t.bytes() != 4) || instr.dst.len() != 1 {
            return None;
        }
        let sources: Values = instr.src.iter().map(|s| self.operand(s, false).0).collect();
        let number = |at: usize| match self.code.form(*sources.get(at)?) {
            Form::Number(n) => Some(n),
            _ => None,
        };
        let (a, b) = (number(0), number(1));
        let low = mods.half == Some(Half::Lo);
        let value = match (instr.op, a, b) {
            (Op::Add, Some(a), Some(b)) => Some(a.wrapping_add(b)),
            (Op::Sub, Some(a), Some(b)) => Some(a.wrapping_sub(b)),
            (Op::Mul, Some(a), Some(b)) if low => Some(a.wrapping_mul(b)),
            (Op::Shl, Some(a), Some(b)) => Some(a.checked_shl(b).unwrap_or(0)),
            (Op::And, Some(a), Some(b)) => Some(a & b),
            (Op::Or, Some(a), Some(b)) => Some(a | b),
            (Op::Xor, Some(a), Some(b)) => Some(a ^ b),
            _ => None,
        };
        if mods.sat || mods.cc {
            return None;
        }
        if let Some(value) = value {
            return Some((self.number(value), None));
        }
        match (instr.op, a, b) {
            (Op::Add | Op::Sub | Op::Or | Op::Xor | Op::Shl | Op::Shr, _, Some(0)) => {
                Some((sources[0], None))
            }
            (Op::Add | Op::Or | Op::Xor, Some(0), _) => Some((sources[1], None)),
            (Op::Mul, _, Some(1)) if low => Some((sources[0], None)),
            (Op::And, _, Some(u32::MAX)) => Some((sources[0], None)),
            (Op::And | Op::Mul, _, Some(0)) if instr.op == Op::And || low => {
                Some((self.number(0), None))
            }
            _ => None,
        }
    }

    /// Notes that a 32-bit register is another plus a number.
    fn remember_sum(&mut self, instr: &Instr) {
        if !matches!(instr.op, Op::Add | Op::Sub) || instr.guard.is_some() || instr.mods.sat {
            return;
        }
        if instr.mods.types[0].is_none_or(|ty| ty.is_float() || ty.bytes() != 4) {
            return;
        }
        let Operand::Reg(dst) = &instr.dst[0] else {
            return;
        };
        // The source may have been written by this very instruction: look at what it read.
        let Some(node) = self.code.blocks[self.block].nodes.last() else {
            return;
        };
        let number = |at: usize| match self.code.form(node.uses[at]) {
            Form::Number(n) => Some(n as i32),
            _ => None,
        };
        let (base, offset) = match (instr.op, number(0), number(1)) {
            (Op::Add, None, Some(n)) => (node.uses[0], n),
            (Op::Add, Some(n), None) => (node.uses[1], n),
            (Op::Sub, None, Some(n)) => (node.uses[0], n.wrapping_neg()),
            _ => return,
        };
        let base = (base, None);
        let (low, high) = self.register(*dst);
        let offset = i64::from(offset);
        self.code.sums.insert(low, Sum { high, base, offset });
    }
}

/// Where the 64-bit registers among an instruction's sources stand.
fn pairs(instr: &Instr, code: &Code, uses: &[Value], is_wide: impl Fn(&Operand) -> bool) -> Ranges {
    let mut at = 0;
    let mut found = Ranges::new();
    for src in &instr.src {
        let wide = is_wide(src) || matches!(src, Operand::Imm(_));
        let word = uses.get(at).is_some_and(|v| code.is_word(*v));
        if is_wide(src) && word {
            found.push((at as u8, 2));
        }
        at += 1 + usize::from(wide);
    }
    found
}
