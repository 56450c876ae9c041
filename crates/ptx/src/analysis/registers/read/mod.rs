//! From the lowered kernel to words: every instruction becomes the machine operations that an
//! assembler makes of it.

mod access;
mod compute;
mod halves;
mod operand;

use super::expand::Cost;
use super::order::{depths, dominators, reverse_post_order};
use super::ssa::Names;
use super::word::{Block, Code, Effect, Form, Node, SmallMap, Value, Values, number_of};
use crate::analysis::{liveness, writes};
use crate::isa::{Op, Space};
use crate::kernel::{Instr, Kernel, Operand, RegClass, RegId};
use smallvec::smallvec;
use std::hash::Hash;

/// The two words of an operand; the upper one is missing where it is 32 bits wide or a flag.
type Pair = (Value, Option<Value>);

/// Reads a kernel.
pub fn read(kernel: &Kernel) -> Code {
    let successors: Vec<Vec<u32>> = kernel.blocks.iter().map(|b| b.successors.clone()).collect();
    let order = reverse_post_order(&successors);
    let mut place = vec![u32::MAX; kernel.blocks.len()];
    for (index, block) in order.iter().enumerate() {
        place[*block as usize] = index as u32;
    }
    let mut code = Code::default();
    for block in &order {
        let from = &kernel.blocks[*block as usize];
        let mut successors: Vec<u32> = (from.successors.iter())
            .map(|s| place[*s as usize])
            .collect();
        successors.dedup();
        let inside = |pc: &u32| (from.start..from.end).contains(pc);
        code.blocks.push(Block {
            successors,
            rolled: kernel.rolled.iter().any(inside),
            ..Block::default()
        });
    }
    let successors: Vec<Vec<u32>> = code.blocks.iter().map(|b| b.successors.clone()).collect();
    let predecessors = crate::analysis::predecessors(&successors);
    let idom = dominators(&predecessors);
    let depth = depths(&successors, &predecessors, &idom);
    for ((block, preds), depth) in code.blocks.iter_mut().zip(predecessors).zip(depth) {
        (block.predecessors, block.depth) = (preds, depth);
    }
    let live = liveness(kernel);
    let names = Names::new(&mut code, idom, written_once(kernel));
    let mut reader = Reader {
        kernel,
        code,
        names,
        block: 0,
        constants: SmallMap::default(),
    };
    for (index, block) in order.iter().enumerate() {
        reader.block = index;
        let live_in = &live.live_in[*block as usize];
        let names = live_in.iter().flat_map(|reg| names_of(kernel, reg));
        let names: Vec<_> = names.collect();
        reader
            .names
            .begin(&mut reader.code, index as u32, names.into_iter());
        let from = &kernel.blocks[*block as usize];
        for pc in from.start..from.end {
            reader.instruction(&kernel.code[pc as usize]);
        }
        reader.names.end(index as u32);
    }
    let Reader {
        mut code, names, ..
    } = reader;
    names.finish(&mut code);
    code
}

/// Which registers are written in one place.
fn written_once(kernel: &Kernel) -> Vec<bool> {
    let mut places = vec![0u32; kernel.registers.len()];
    for reg in kernel.code.iter().flat_map(writes) {
        places[usize::from(reg.0)] += 1;
    }
    places.iter().map(|count| *count == 1).collect()
}

fn names_of(kernel: &Kernel, reg: RegId) -> Vec<((u16, u8), Form)> {
    match kernel.registers[reg.0 as usize].class {
        RegClass::Pred => vec![((reg.0, 0), Form::Flag)],
        RegClass::B32 => vec![((reg.0, 0), Form::Word)],
        RegClass::B64 => vec![((reg.0, 0), Form::Word), ((reg.0, 1), Form::Word)],
    }
}

struct Reader<'a> {
    kernel: &'a Kernel,
    code: Code,
    names: Names,
    block: usize,
    /// Constants have one value each.
    constants: SmallMap<Form, Value>,
}

impl Reader<'_> {
    /// Adds an operation with `words` new words; instructions read one constant at most, the
    /// others are moved into registers for it.
    fn emit(&mut self, effect: Effect, uses: Values, words: u32, cost: Cost, tag: u64) -> Values {
        let defs: Values = (0..words).map(|_| self.code.value(Form::Word)).collect();
        self.push(effect, uses, defs.clone(), cost, tag);
        defs
    }

    fn push(&mut self, effect: Effect, uses: Values, defs: Values, cost: Cost, tag: u64) {
        let constants = uses
            .iter()
            .filter(|v| self.code.form(**v).is_constant())
            .count() as u32;
        let carried = match effect {
            Effect::Pure | Effect::Branch => 1,
            _ => 0,
        };
        let moved = constants.saturating_sub(carried);
        self.code.blocks[self.block].nodes.push(Node {
            effect,
            scratch: cost.scratch.max(moved),
            latency: cost.latency,
            length: cost.length + moved,
            tag,
            ..Node::plain(uses, defs)
        });
    }

    /// Adds to what is known of the last operation.
    fn last(&mut self, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.code.blocks[self.block].nodes.last_mut() {
            change(node);
        }
    }

    fn word(&mut self, instr: &Instr, part: u32, uses: Values) -> Value {
        let tag = tag(&(instr.op as u32, &instr.mods, part));
        self.emit(Effect::Pure, uses, 1, Cost::ALU, tag)[0]
    }

    /// Makes the destination stand for a value. Under a guard the old value may stay, so it is
    /// one more source of whatever made the new one.
    fn assign(&mut self, instr: &Instr, dst: &Operand, value: Pair) {
        let Operand::Reg(reg) = dst else { return };
        let mut value = value;
        if self.class(*reg) == RegClass::B64 && value.1.is_none() {
            value.1 = Some(self.number(0));
        }
        if let Some((guard, _)) = instr.guard {
            let guard = self.names.read((guard.0, 0));
            let old = self.register(*reg);
            value.0 = self.choose(guard, old.0, value.0);
            value.1 = match (old.1, value.1) {
                (Some(old), Some(new)) => Some(self.choose(guard, old, new)),
                (_, new) => new,
            };
        }
        self.names.write((reg.0, 0), value.0);
        if self.class(*reg) == RegClass::B64
            && let Some(high) = value.1
        {
            self.names.write((reg.0, 1), high);
        }
    }

    fn choose(&mut self, guard: Value, old: Value, new: Value) -> Value {
        if self.names.is_undefined(old) || old == new {
            return new;
        }
        let form = match self.code.form(old) {
            Form::Flag => Form::Flag,
            _ => match self.code.form(new) {
                Form::Flag => Form::Flag,
                _ => Form::Word,
            },
        };
        let def = self.code.value(form);
        // A guarded move or a guarded operation: no register besides the old value's.
        let uses = smallvec![guard, old, new];
        self.push(
            Effect::Pure,
            uses,
            smallvec![def],
            Cost::ALU,
            tag(&"choose"),
        );
        def
    }

    fn instruction(&mut self, instr: &Instr) {
        match instr.op {
            Op::Bra | Op::Ret | Op::Exit | Op::Trap => {
                let uses = instr.guard.map(|(reg, _)| self.names.read((reg.0, 0)));
                let uses = uses.into_iter().collect();
                self.push(Effect::Branch, uses, smallvec![], Cost::ALU, 0);
            }
            Op::Mov => self.mov(instr),
            Op::Cvta => {
                let value = self.operand(&instr.src[0], true);
                self.assign(instr, &instr.dst[0], value);
            }
            Op::Ld | Op::Ldu => self.load(instr),
            Op::Red if instr.mods.space == Some(Space::Shared) => self.atomic(instr),
            Op::St | Op::Red | Op::Prefetch | Op::Prefetchu => {
                let space = instr.mods.space.unwrap_or(Space::Generic);
                let (uses, wide) = self.access(instr, space);
                self.push(
                    Effect::Store(access::memory(space)),
                    uses,
                    smallvec![],
                    Cost::ALU,
                    0,
                );
                self.widen(instr, wide);
            }
            Op::Atom => self.atomic(instr),
            Op::Cvt => self.convert(instr),
            _ => self.compute(instr),
        }
    }

    fn mov(&mut self, instr: &Instr) {
        match (&instr.dst[..], &instr.src[..]) {
            ([dst], [src]) => {
                let value = self.operand(src, self.is_wide(dst));
                self.assign(instr, dst, value);
            }
            // Two 32-bit halves are the two words; anything narrower is put together or apart.
            ([low, high], [src]) if self.is_wide(src) => {
                let value = self.operand(src, true);
                self.assign(instr, low, (value.0, None));
                self.assign(instr, high, (value.1.unwrap_or(value.0), None));
            }
            ([dst], [low, high]) if self.is_wide(dst) => {
                let (low, high) = (self.operand(low, false).0, self.operand(high, false).0);
                self.assign(instr, dst, (low, Some(high)));
            }
            _ => self.compute(instr),
        }
    }

    fn is_wide(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Reg(reg) if self.class(*reg) == RegClass::B64)
    }
}

fn tag(what: &impl Hash) -> u64 {
    number_of(what)
}
