//! From the lowered kernel to words: every instruction becomes the machine operations that an
//! assembler makes of it.

use super::expand::{Cost, cost};
use super::order::{depths, dominators, reverse_post_order};
use super::ssa::Names;
use super::word::{Block, Code, Effect, Form, Memory, Node, Sum, Value};
use crate::analysis::liveness;
use crate::isa::{AtomOp, Half, Op, Space, Special, Type};
use crate::kernel::{AddrBase, Instr, Kernel, Operand, RegClass, RegId, TexBase};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

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
    let depth = depths(&successors, &predecessors, &dominators(&predecessors));
    for ((block, preds), depth) in code.blocks.iter_mut().zip(predecessors).zip(depth) {
        (block.predecessors, block.depth) = (preds, depth);
    }
    let live = liveness(kernel);
    let names = Names::new(&mut code, order.len());
    let mut reader = Reader {
        kernel,
        code,
        names,
        block: 0,
        constants: HashMap::new(),
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
    constants: HashMap<Form, Value>,
}

impl Reader<'_> {
    fn class(&self, reg: RegId) -> RegClass {
        self.kernel.registers[reg.0 as usize].class
    }

    fn constant(&mut self, form: Form) -> Value {
        let code = &mut self.code;
        *self
            .constants
            .entry(form)
            .or_insert_with(|| code.value(form))
    }

    fn number(&mut self, n: u32) -> Value {
        self.constant(Form::Number(n))
    }

    /// Some word of constant memory; the same for the same thing.
    fn bank(&mut self, what: impl Hash) -> Value {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        self.constant(Form::Bank(hasher.finish() as u32))
    }

    fn register(&self, reg: RegId) -> Pair {
        let low = self.names.read((reg.0, 0));
        let wide = self.class(reg) == RegClass::B64;
        (low, wide.then(|| self.names.read((reg.0, 1))))
    }

    fn operand(&mut self, operand: &Operand, wide: bool) -> Pair {
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
                let defs = self.emit(effect, vec![], words, Cost::new(0, 20, 1), tag);
                (defs[0], defs.get(1).copied())
            }
        }
    }

    /// Adds an operation with `words` new words; instructions read one constant at most, the
    /// others are moved into registers for it.
    fn emit(
        &mut self,
        effect: Effect,
        uses: Vec<Value>,
        words: u32,
        cost: Cost,
        tag: u64,
    ) -> Vec<Value> {
        let defs: Vec<Value> = (0..words).map(|_| self.code.value(Form::Word)).collect();
        self.push(effect, uses, defs.clone(), cost, tag);
        defs
    }

    fn push(&mut self, effect: Effect, uses: Vec<Value>, defs: Vec<Value>, cost: Cost, tag: u64) {
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
            defs,
            uses,
            wide_defs: Vec::new(),
            wide_uses: Vec::new(),
            scratch: cost.scratch.max(moved),
            latency: cost.latency,
            length: cost.length + moved,
            compares: None,
            adds_number: false,
            address: 0,
            tag,
        });
    }

    fn word(&mut self, instr: &Instr, part: u32, uses: Vec<Value>) -> Value {
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
        let uses = vec![guard, old, new];
        self.push(Effect::Pure, uses, vec![def], Cost::ALU, tag(&"choose"));
        def
    }

    fn instruction(&mut self, instr: &Instr) {
        match instr.op {
            Op::Bra | Op::Ret | Op::Exit | Op::Trap => {
                let uses = instr.guard.map(|(reg, _)| self.names.read((reg.0, 0)));
                let uses = uses.into_iter().collect();
                self.push(Effect::Branch, uses, vec![], Cost::ALU, 0);
            }
            Op::Mov => self.mov(instr),
            Op::Cvta => {
                let value = self.operand(&instr.src[0], true);
                self.assign(instr, &instr.dst[0], value);
            }
            Op::Ld | Op::Ldu => self.load(instr),
            Op::St | Op::Red | Op::Prefetch | Op::Prefetchu => {
                let space = instr.mods.space.unwrap_or(Space::Generic);
                let (uses, wide) = self.access(instr, space);
                self.push(Effect::Store(memory(space)), uses, vec![], Cost::ALU, 0);
                self.widen(instr, wide);
            }
            Op::Atom => {
                let space = instr.mods.space.unwrap_or(Space::Generic);
                let (uses, wide) = self.access(instr, space);
                self.several(instr, Effect::Ordered, uses, Cost::new(0, 300, 1), wide);
            }
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

    fn load(&mut self, instr: &Instr) {
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
        if let (Space::Param | Space::Const, Some((base, offset))) = (space, fixed) {
            let symbol = match base {
                AddrBase::Symbol(index) => i64::from(index),
                _ => -1,
            };
            let size = i64::from(instr.mods.ty().bytes());
            for (at, dst) in instr.dst.iter().enumerate() {
                let place = offset + at as i64 * size;
                let low = self.bank((space as u32, symbol, place));
                let high = (size == 8).then(|| self.bank((space as u32, symbol, place + 4)));
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
    }

    /// Notes which registers of the last operation have to stand together: its address, a
    /// vector it stores, and whatever it loads or computes.
    fn widen(&mut self, instr: &Instr, wide_uses: Vec<(u8, u8)>) {
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
    fn access(&mut self, instr: &Instr, space: Space) -> (Vec<Value>, Vec<(u8, u8)>) {
        let mut uses = Vec::new();
        let mut wide = Vec::new();
        let mut data = None;
        let narrow = matches!(
            space,
            Space::Shared | Space::Local | Space::Const | Space::Param
        );
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
                    uses.push(self.in_register(low));
                    uses.extend(high.map(|high| self.in_register(high)));
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
        self.emit(Effect::Pure, vec![value], 1, Cost::ALU, tag)[0]
    }

    /// An operation with all its destinations at once.
    fn several(
        &mut self,
        instr: &Instr,
        effect: Effect,
        uses: Vec<Value>,
        cost: Cost,
        wide_uses: Vec<(u8, u8)>,
    ) {
        let mut defs = Vec::new();
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
        let tag = tag(&(instr.op as u32, &instr.mods, self.offsets(instr)));
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

    fn convert(&mut self, instr: &Instr) {
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
                _ => Some(self.word(instr, 1, vec![low])),
            },
            (_, 4, false) => Some(self.number(0)),
            _ => high,
        };
        self.assign(instr, &instr.dst[0], (low, high));
    }

    fn compute(&mut self, instr: &Instr) {
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
        let mut uses = Vec::new();
        for src in &instr.src {
            if let Operand::Texture(TexBase::Handle(reg)) = src {
                uses.push(self.register(*reg).0);
                continue;
            }
            if matches!(src, Operand::Texture(_)) {
                continue;
            }
            let (low, high) = self.operand(src, wide);
            uses.push(low);
            uses.extend(high);
        }
        let effect = match instr.op {
            Op::Tex => Effect::Load(Memory::Texture),
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
            false => Vec::new(),
        };
        self.several(instr, effect, uses, cost, wide);
        self.remember_sum(instr);
    }

    /// 32-bit results that need no operation, or that the assembler computes itself.
    fn folded(&mut self, instr: &Instr) -> Option<Pair> {
        let mods = &instr.mods;
        if mods.types[0].is_none_or(|t| t.is_float() || t.bytes() != 4) || instr.dst.len() != 1 {
            return None;
        }
        let sources: Vec<Value> = instr.src.iter().map(|s| self.operand(s, false).0).collect();
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

    /// Integer operations on 64 bits, word by word; `None` for what takes both at once.
    fn in_halves(&mut self, instr: &Instr) -> Option<Pair> {
        let mods = &instr.mods;
        let ty = mods.types[0]?;
        if ty.is_float() || mods.cc {
            return None;
        }
        let wide_sources = mods.half != Some(Half::Wide);
        let src: Vec<Pair> = (instr.src.iter())
            .map(|s| self.operand(s, wide_sources))
            .collect();
        let zero = self.number(0);
        let high = |at: usize| src[at].1.unwrap_or(zero);
        let is = |this: &Self, value: Value, n: u32| this.code.form(value) == Form::Number(n);
        match instr.op {
            Op::Add | Op::Sub => {
                let (mut a, mut b) = ((src[0].0, high(0)), (src[1].0, high(1)));
                let is_number = |v: Value| matches!(self.code.form(v), Form::Number(_));
                if instr.op == Op::Add && is_number(a.0) && is_number(a.1) {
                    (a, b) = (b, a);
                }
                if is(self, b.0, 0) && is(self, b.1, 0) {
                    return Some((a.0, Some(a.1)));
                }
                let sum = self.with_carry(instr, vec![a.0, b.0], vec![a.1, b.1]);
                let offset = match (self.code.form(b.0), self.code.form(b.1)) {
                    (Form::Number(l), Form::Number(h)) => {
                        Some((u64::from(h) << 32 | u64::from(l)) as i64)
                    }
                    _ => None,
                };
                if let Some(offset) = offset {
                    let offset = if instr.op == Op::Sub { -offset } else { offset };
                    let base = (a.0, Some(a.1));
                    let high = sum.1;
                    self.code.sums.insert(sum.0, Sum { high, base, offset });
                }
                Some(sum)
            }
            Op::Mul if mods.half == Some(Half::Wide) => {
                let (a, b) = (src[0].0, src[1].0);
                let low = self.word(instr, 0, vec![a, b]);
                Some((low, Some(self.word(instr, 1, vec![a, b]))))
            }
            Op::Mad if mods.half == Some(Half::Wide) => {
                let (a, b) = (src[0].0, src[1].0);
                let c = (src[2].0, high(2));
                Some(self.with_carry(instr, vec![a, b, c.0], vec![a, b, c.1]))
            }
            Op::And | Op::Or | Op::Xor | Op::Not | Op::Selp => {
                let mut halves = [zero; 2];
                for (part, half) in halves.iter_mut().enumerate() {
                    let mut uses: Vec<Value> = (src.iter())
                        .map(|s| if part == 0 { s.0 } else { s.1.unwrap_or(zero) })
                        .collect();
                    if instr.op == Op::Selp {
                        uses[2] = src[2].0;
                    }
                    *half = match instr.op {
                        Op::And if uses.iter().any(|v| is(self, *v, 0)) => zero,
                        Op::And if is(self, uses[1], u32::MAX) => uses[0],
                        Op::Or | Op::Xor if is(self, uses[1], 0) => uses[0],
                        Op::Or | Op::Xor if is(self, uses[0], 0) => uses[1],
                        Op::Selp if uses[0] == uses[1] => uses[0],
                        _ => self.word(instr, part as u32, uses),
                    };
                }
                Some((halves[0], Some(halves[1])))
            }
            Op::Shl | Op::Shr => self.shifted(instr, &src),
            _ => None,
        }
    }

    /// Two operations that pass a carry.
    fn with_carry(&mut self, instr: &Instr, low: Vec<Value>, high: Vec<Value>) -> Pair {
        let tags = (0..2).map(|part| tag(&(instr.op as u32, &instr.mods, "carry", part)));
        let tags: Vec<u64> = tags.collect();
        let carry = self.code.value(Form::Flag);
        let first = self.code.value(Form::Word);
        self.push(Effect::Pure, low, vec![first, carry], Cost::ALU, tags[0]);
        let mut high = high;
        high.push(carry);
        let second = self.emit(Effect::Pure, high, 1, Cost::ALU, tags[1])[0];
        (first, Some(second))
    }

    fn shifted(&mut self, instr: &Instr, src: &[Pair]) -> Option<Pair> {
        let zero = self.number(0);
        let (low, high) = (src[0].0, src[0].1.unwrap_or(zero));
        let Form::Number(by) = self.code.form(src[1].0) else {
            return None;
        };
        let (by, left) = (by.min(63), instr.op == Op::Shl);
        let amount = self.number(by % 32);
        let signed = !left && instr.mods.ty().is_signed();
        if by == 0 {
            return Some((low, Some(high)));
        }
        if by >= 32 {
            let from = if left { low } else { high };
            let moved = match by {
                32 => from,
                _ if self.code.form(from) == Form::Number(0) => zero,
                _ => self.word(instr, 2, vec![from, amount]),
            };
            return Some(match (left, signed) {
                (true, _) => (zero, Some(moved)),
                (false, false) => (moved, Some(zero)),
                (false, true) => (moved, Some(self.word(instr, 3, vec![high]))),
            });
        }
        let high_is_zero = self.code.form(high) == Form::Number(0);
        let (outer, inner) = if left { (low, high) } else { (high, low) };
        // The word that is shifted alone, and the one into which bits move.
        let alone = match !left && high_is_zero {
            true => zero,
            false => self.word(instr, 0, vec![outer, amount]),
        };
        let uses = match high_is_zero {
            true => vec![low, amount],
            false => vec![inner, outer, amount],
        };
        let filled = self.word(instr, 1, uses);
        Some(match left {
            true => (alone, Some(filled)),
            false => (filled, Some(alone)),
        })
    }

    /// Notes that a 32-bit register is another plus a number.
    fn remember_sum(&mut self, instr: &Instr) {
        if !matches!(instr.op, Op::Add | Op::Sub) || instr.guard.is_some() || instr.mods.sat {
            return;
        }
        if instr.mods.ty().is_float() || instr.mods.ty().bytes() != 4 {
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

fn memory(space: Space) -> Memory {
    match space {
        Space::Shared => Memory::Near,
        Space::Const | Space::Param | Space::Tex => Memory::Fixed,
        _ => Memory::Far,
    }
}

/// Where the 64-bit registers among an instruction's sources stand.
fn pairs(
    instr: &Instr,
    code: &Code,
    uses: &[Value],
    is_wide: impl Fn(&Operand) -> bool,
) -> Vec<(u8, u8)> {
    let mut at = 0;
    let mut found = Vec::new();
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

fn tag(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
