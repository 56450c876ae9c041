//! Loads, stores and atomics: what they read, and which registers have to stand together.

use super::{Reader, tag};
use crate::analysis::registers::expand::Cost;
use crate::analysis::registers::word::{Effect, Form, Memory, Ranges, Value, Values};
use crate::isa::{AtomOp, Op, Space, Type};
use crate::kernel::{AddrBase, Instr, Operand, RegClass};
use smallvec::smallvec;

impl Reader<'_> {
    pub(super) fn load(&mut self, instr: &Instr) {
        let space = instr.mods.space.unwrap_or(Space::Generic);
        let fixed = match &instr.src[0] {
            Operand::Address { base, offset }
                if matches!(base, AddrBase::Zero | AddrBase::Symbol(_)) =>
            {
                Some((*base, *offset))
            }
            _ => None,
        };
        // Reloads of spilled registers are not merged: that would undo the spilling.
        let spilled = |at: i64| {
            self.kernel
                .spill_base
                .is_some_and(|base| at >= i64::from(base))
        };
        let spilled = space == Space::Local && fixed.is_some_and(|(_, at)| spilled(at));
        let volatile = spilled || instr.mods.sem.is_some_and(|s| s != crate::isa::Sem::Weak);
        let size = instr.mods.types[0].map_or(4, |ty| i64::from(ty.bytes()));
        if let Space::Param | Space::Const = space
            && let Some((start, offset)) = self.known_place(&instr.src[0])
            && size >= 4
        {
            for (at, dst) in instr.dst.iter().enumerate() {
                let place = offset + at as i64 * size;
                let low = self.bank((space as u32, start, place));
                let high = (size == 8).then(|| self.bank((space as u32, start, place + 4)));
                self.assign(instr, dst, (low, high));
            }
            return;
        }
        let (uses, wide) = self.access(instr, space);
        let memory = match instr.mods.nc || instr.op == Op::Ldu {
            true => Memory::Fixed,
            false => memory(space),
        };
        let latency = match memory {
            Memory::Near => 30,
            Memory::Fixed if space != Space::Global => 40,
            _ => 300,
        };
        let effect = if volatile {
            Effect::Ordered
        } else {
            Effect::Load(memory)
        };
        self.several(instr, effect, uses, Cost::new(0, latency, 1), wide);
        self.last(|node| node.reads_bank = space == Space::Const && size >= 4);
    }

    /// On shared memory an atomic is a loop: it takes a lock, reads, and writes if it has the lock.
    pub(super) fn atomic(&mut self, instr: &Instr) {
        let space = instr.mods.space.unwrap_or(Space::Generic);
        let locks = space == Space::Shared;
        let (uses, wide) = self.access(instr, space);
        self.several(instr, Effect::Ordered, uses, Cost::new(0, 300, 1), wide);
        if locks {
            self.last(|node| (node.locks, node.scratch) = (true, 1));
        }
    }

    /// Where an address lies that is known before the kernel runs: what it is counted from, and
    /// the offset. Instructions read constants and parameters there by themselves.
    fn known_place(&self, address: &Operand) -> Option<((u32, u32), i64)> {
        let Operand::Address { base, offset } = address else {
            return None;
        };
        match base {
            AddrBase::Zero => Some(((0, 0), *offset)),
            AddrBase::Symbol(index) => Some(((1, *index), *offset)),
            AddrBase::Reg(reg) => {
                let (low, high) = self.register(*reg);
                let ((start, _), more) = self.code.root(low, high);
                match self.code.form(start) {
                    Form::Bank(word) => Some(((2, word), offset + more)),
                    Form::Number(n) => Some(((0, 0), i64::from(n) + offset + more)),
                    _ => None,
                }
            }
        }
    }

    /// Notes which registers of the last operation have to stand together: its address, a
    /// vector it stores, and whatever it loads or computes.
    pub(super) fn widen(&mut self, instr: &Instr, wide_uses: Ranges) {
        let words: u32 = (instr.dst.iter())
            .map(|dst| 1 + u32::from(self.is_wide(dst)))
            .sum();
        let together = matches!(instr.op, Op::Ld | Op::Ldu | Op::Tex | Op::Atom)
            || instr.mods.types[0].is_some_and(|t| t == Type::F64);
        let Some(node) = self.code.blocks[self.block].nodes.last_mut() else {
            return;
        };
        node.wide_uses = wide_uses;
        node.adds_number = matches!(instr.op, Op::Atom | Op::Red)
            && instr.mods.atom == Some(AtomOp::Add)
            && instr.mods.space == Some(Space::Global)
            && matches!(instr.src.get(1), Some(Operand::Imm(_)));
        node.compares = instr.mods.cmp.filter(|_| instr.op == Op::Setp);
        if let Some(Operand::Address {
            base: AddrBase::Reg(_),
            ..
        }) = instr.src.first()
        {
            node.address = 1 + u8::from(node.wide_uses.contains(&(0, 2)));
        }
        if together && words > 1 && node.defs.len() == words as usize {
            node.wide_defs.push((0, words as u8));
        }
    }

    /// The registers an access reads: its address, folded as far as it goes, and its values.
    pub(super) fn access(&mut self, instr: &Instr, space: Space) -> (Values, Ranges) {
        let mut uses = Values::new();
        let mut wide = Ranges::new();
        let mut data = None;
        let narrow = matches!(
            space,
            Space::Shared | Space::Local | Space::Const | Space::Param
        );
        // The loop around a lock computes with ordinary instructions, which carry constants.
        let in_loop = space == Space::Shared && matches!(instr.op, Op::Atom | Op::Red);
        for src in &instr.src {
            match src {
                Operand::Address {
                    base: AddrBase::Reg(reg),
                    ..
                } => {
                    let (low, high) = self.register(*reg);
                    let (at, _) = self.code.root(low, high);
                    uses.push(self.in_register(at.0));
                    if let Some(high) = at.1.filter(|_| !narrow) {
                        uses.push(self.in_register(high));
                        wide.push((0, 2));
                    }
                }
                Operand::Address {
                    base: AddrBase::Symbol(index),
                    ..
                } if !narrow => {
                    for half in 0..2 {
                        let word = self.bank(("address", index, half));
                        uses.push(self.in_register(word));
                    }
                    wide.push((0, 2));
                }
                Operand::Address { .. } => {}
                other => {
                    data.get_or_insert(uses.len());
                    let wide = instr.mods.types[0].is_some_and(|t| t.bytes() == 8);
                    let (low, high) = self.operand(other, wide);
                    for word in std::iter::once(low).chain(high) {
                        let word = if in_loop {
                            word
                        } else {
                            self.in_register(word)
                        };
                        uses.push(word);
                    }
                }
            }
        }
        if let Some(first) = data
            && uses.len() - first > 1
        {
            wide.push((first as u8, (uses.len() - first) as u8));
        }
        uses.extend(instr.guard.map(|(reg, _)| self.names.read((reg.0, 0))));
        (uses, wide)
    }

    /// A constant has to be moved into a register for an access to read it.
    fn in_register(&mut self, value: Value) -> Value {
        if !self.code.form(value).is_constant() {
            return value;
        }
        let tag = tag(&("move", value));
        let moved = self.emit(Effect::Pure, smallvec![value], 1, Cost::ALU, tag)[0];
        self.last(|node| node.moves = true);
        moved
    }

    /// An operation with all its destinations at once.
    pub(super) fn several(
        &mut self,
        instr: &Instr,
        effect: Effect,
        uses: Values,
        cost: Cost,
        wide_uses: Ranges,
    ) {
        let tag = tag(&(instr.op as u32, &instr.mods, self.offsets(instr)));
        let mut defs = Values::new();
        let mut values = Vec::new();
        for dst in &instr.dst {
            let form = match dst {
                Operand::Reg(reg) if self.class(*reg) == RegClass::Pred => Form::Flag,
                _ => Form::Word,
            };
            let low = self.code.value(form);
            let high = self.is_wide(dst).then(|| self.code.value(Form::Word));
            defs.push(low);
            defs.extend(high);
            values.push((low, high));
        }
        self.push(effect, uses, defs, cost, tag);
        self.widen(instr, wide_uses);
        for (dst, value) in instr.dst.iter().zip(values) {
            self.assign(instr, dst, value);
        }
    }

    /// What distinguishes accesses besides their registers.
    fn offsets(&self, instr: &Instr) -> Vec<i64> {
        let offset = |operand: &Operand| match operand {
            Operand::Address {
                base: AddrBase::Reg(reg),
                offset,
            } => {
                let (low, high) = self.register(*reg);
                Some(self.code.root(low, high).1 + offset)
            }
            Operand::Address { offset, .. } => Some(*offset),
            Operand::NotReg(_) => Some(i64::MAX),
            _ => None,
        };
        instr.src.iter().filter_map(offset).collect()
    }
}

/// Where accesses to a space may meet.
pub(super) fn memory(space: Space) -> Memory {
    match space {
        Space::Shared => Memory::Near,
        Space::Const | Space::Param | Space::Tex => Memory::Fixed,
        _ => Memory::Far,
    }
}
