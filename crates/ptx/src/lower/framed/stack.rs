//! The stack in local memory: what calls leave there, once it is known which registers live across them.

use super::{FramedFunctions, STACK_BYTES, Site, local, word};
use crate::analysis::{self, RegSet};
use crate::isa::{Cmp, Mods, Op, Type};
use crate::kernel::{AddrBase, Instr, Intrinsic, Kernel, NO_PC, Operand, Pc, RegClass, RegId};
use crate::lower::module::layout::align_up;

fn is_mark(what: Option<Intrinsic>) -> bool {
    matches!(
        what,
        Some(
            Intrinsic::StackBegins
                | Intrinsic::Enter(_)
                | Intrinsic::Leave(_)
                | Intrinsic::Save(_)
                | Intrinsic::Restore(_)
        )
    )
}

/// Puts instructions where the marks are, now that it is known which registers live across calls.
/// Targets must be resolved; labels are moved with the code.
pub(in crate::lower) fn finish(
    kernel: &mut Kernel,
    framed: &FramedFunctions<'_>,
    labels: &mut [(Pc, String)],
) {
    let Some(stack) = framed.stack else { return };
    let saved = saved_registers(kernel, framed);
    let bytes_of = |list: &[RegId]| 8 * list.len() as u64;
    let sizes: Vec<u64> = (framed.list.iter().enumerate())
        .map(|(index, f)| {
            let own = framed.sites.iter().zip(&saved);
            let most = own
                .filter(|(site, _)| site.caller == Some(index))
                .map(|(_, list)| bytes_of(list));
            align_up(f.locals, 16) + align_up(most.max().unwrap_or(0), 16)
        })
        .collect();
    let begins = kernel.local_bytes.next_multiple_of(16);
    // A function that cannot be entered again is there once at most.
    let once = (0..sizes.len()).filter(|index| framed.serves_all(*index));
    let once: u64 = once.map(|index| sizes[index]).sum();
    let deep = if framed.recursive > 0 { STACK_BYTES } else { 0 };
    kernel.local_bytes = begins.saturating_add(deep).saturating_add(once as u32);
    let expand = Expansion {
        framed,
        saved: &saved,
        sizes: &sizes,
        stack,
        begins,
        ends: kernel.local_bytes,
    };
    let old = std::mem::take(&mut kernel.code);
    let mut moved = Vec::with_capacity(old.len() + 1);
    for instr in old {
        moved.push(kernel.code.len() as Pc);
        if is_mark(instr.intrinsic) {
            expand.put(&instr, kernel);
        } else {
            kernel.code.push(instr);
        }
    }
    moved.push(kernel.code.len() as Pc);
    for instr in kernel.code.iter_mut().filter(|i| i.target != NO_PC) {
        instr.target = moved[instr.target as usize];
    }
    for pc in &mut kernel.rolled {
        *pc = moved[*pc as usize];
    }
    for (pc, _) in labels {
        *pc = moved[*pc as usize];
    }
    kernel.crossings = framed.crossings.moved(&moved);
}

/// The registers that each call saves. A call reads those before it writes its parameters, which
/// may make others live across calls before it: until nothing changes, the marks say what is known.
fn saved_registers(kernel: &mut Kernel, framed: &FramedFunctions<'_>) -> Vec<Vec<RegId>> {
    kernel.blocks = analysis::build_blocks(&kernel.code);
    let mut saved: Vec<Vec<RegId>> = vec![Vec::new(); framed.sites.len()];
    loop {
        let live = analysis::liveness(kernel);
        let before = saved.clone();
        for block in 0..kernel.blocks.len() {
            live.walk_back(kernel, block, |pc, after| {
                if let Some(Intrinsic::Restore(number)) = kernel.code[pc as usize].intrinsic {
                    saved[number as usize] = framed.saved_at(number, after);
                }
            });
        }
        if saved == before {
            return saved;
        }
        let operands = |number: u32| saved[number as usize].iter().map(|reg| Operand::Reg(*reg));
        for instr in &mut kernel.code {
            match instr.intrinsic {
                Some(Intrinsic::Save(number)) => instr.src = operands(number).collect(),
                Some(Intrinsic::Restore(number)) => instr.dst = operands(number).collect(),
                _ => {}
            }
        }
    }
}

impl FramedFunctions<'_> {
    /// Whether a call may lead to another of its caller.
    fn leads_back(&self, site: &Site) -> bool {
        let callee = &self.list[site.callee];
        let caller = site.caller.map(|caller| &self.list[caller]);
        caller.is_some_and(|caller| self.leads[callee.kind][caller.kind])
    }

    /// The registers of the caller that are needed behind a call which may lead back to it.
    fn saved_at(&self, number: u32, after: &RegSet) -> Vec<RegId> {
        let site = &self.sites[number as usize];
        let Some(caller) = site.caller else {
            return Vec::new();
        };
        if !self.leads_back(site) {
            return Vec::new();
        }
        let base = self.list[caller].base;
        after
            .iter()
            .filter(|reg| self.owners.get(usize::from(reg.0)) == Some(&Some(caller)))
            .filter(|reg| *reg != base && !site.results.contains(reg))
            .collect()
    }
}

struct Expansion<'e, 'a> {
    framed: &'e FramedFunctions<'a>,
    saved: &'e [Vec<RegId>],
    sizes: &'e [u64],
    stack: RegId,
    begins: u32,
    ends: u32,
}

impl Expansion<'_, '_> {
    fn put(&self, mark: &Instr, kernel: &mut Kernel) {
        let stack = Operand::Reg(self.stack);
        let imm = |n: u64| Operand::Imm(n);
        let mut put = |op, mods, dst, src| push(kernel, mark, op, mods, dst, src);
        match mark.intrinsic {
            Some(Intrinsic::StackBegins) => {
                let begins = imm(u64::from(self.begins));
                if self.begins < self.ends {
                    put(Op::Mov, word(), vec![stack], vec![begins]);
                }
            }
            Some(Intrinsic::Enter(index) | Intrinsic::Leave(index)) if self.needs_none(index) => {}
            Some(Intrinsic::Leave(index)) => {
                let base = Operand::Reg(self.framed.list[index as usize].base);
                put(Op::Mov, word(), vec![stack], vec![base]);
            }
            Some(Intrinsic::Enter(index)) => {
                let base = Operand::Reg(self.framed.list[index as usize].base);
                let size = imm(self.sizes[index as usize]);
                put(Op::Mov, word(), vec![base], vec![stack]);
                put(Op::Add, word(), vec![stack], vec![stack, size]);
                if self.framed.recursive == 0 {
                    return;
                }
                // Stops the thread if that is beyond the end.
                let ends = imm(u64::from(self.ends));
                put(Op::Call, Mods::default(), vec![], vec![stack, ends, size]);
                if let Some(last) = kernel.code.last_mut() {
                    last.intrinsic = Some(Intrinsic::StackCheck);
                }
            }
            Some(Intrinsic::Save(number)) => {
                if let Some(caller) = self.returns_to(number) {
                    // First the site's number, whose register then serves for predicates.
                    for (reg, address) in self.places(number, caller).into_iter().rev() {
                        self.save(number, reg, address, mark, kernel);
                    }
                }
            }
            Some(Intrinsic::Restore(number)) => {
                if let Some(caller) = self.returns_to(number) {
                    // The callee has left the stack as it found it.
                    let base = Operand::Reg(self.framed.list[caller].base);
                    let size = imm(self.sizes[caller]);
                    put(Op::Sub, word(), vec![base], vec![stack, size]);
                    for (reg, address) in self.places(number, caller) {
                        self.restore(number, reg, address, mark, kernel);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a body that is entered once at most keeps nothing on the stack.
    fn needs_none(&self, index: u32) -> bool {
        self.framed.serves_all(index as usize) && self.sizes[index as usize] == 0
    }

    /// The caller, if the call may lead back to it.
    fn returns_to(&self, number: u32) -> Option<usize> {
        let site = &self.framed.sites[number as usize];
        site.caller.filter(|_| self.framed.leads_back(site))
    }

    fn save(&self, number: u32, reg: RegId, at: Operand, mark: &Instr, kernel: &mut Kernel) {
        let (ty, is_predicate) = kept(kernel, reg);
        let mut value = Operand::Reg(reg);
        if is_predicate {
            let scratch = Operand::Reg(self.scratch(number));
            let src = vec![Operand::Imm(1), Operand::Imm(0), value];
            push(kernel, mark, Op::Selp, word(), vec![scratch], src);
            value = scratch;
        }
        push(kernel, mark, Op::St, local(ty), vec![], vec![at, value]);
    }

    fn restore(&self, number: u32, reg: RegId, at: Operand, mark: &Instr, kernel: &mut Kernel) {
        let (ty, is_predicate) = kept(kernel, reg);
        let to = Operand::Reg(reg);
        if !is_predicate {
            return push(kernel, mark, Op::Ld, local(ty), vec![to], vec![at]);
        }
        let scratch = Operand::Reg(self.scratch(number));
        push(kernel, mark, Op::Ld, local(ty), vec![scratch], vec![at]);
        let mut compare = word();
        compare.cmp = Some(Cmp::Ne);
        let src = vec![scratch, Operand::Imm(0)];
        push(kernel, mark, Op::Setp, compare, vec![to], src);
    }

    /// A word that is not needed at a call: the number of the callee's site.
    fn scratch(&self, number: u32) -> RegId {
        let callee = self.framed.sites[number as usize].callee;
        self.framed.list[callee].site
    }

    /// Where the registers that are saved at a call lie, the scratch word last.
    fn places(&self, number: u32, caller: usize) -> Vec<(RegId, Operand)> {
        let base = self.framed.list[caller].base;
        let scratch = self.scratch(number);
        let mut list = self.saved[number as usize].clone();
        list.sort_by_key(|reg| *reg == scratch);
        let from = align_up(self.framed.list[caller].locals, 16);
        let address = |at: usize| Operand::Address {
            base: AddrBase::Reg(base),
            offset: (from + 8 * at as u64) as i64,
        };
        let places = list.iter().enumerate();
        places.map(|(at, reg)| (*reg, address(at))).collect()
    }
}

fn push(
    kernel: &mut Kernel,
    mark: &Instr,
    op: Op,
    mods: Mods,
    dst: Vec<Operand>,
    src: Vec<Operand>,
) {
    let mut instr = mark.clone();
    instr.intrinsic = None;
    (instr.op, instr.mods, instr.dst, instr.src) = (op, mods, dst.into(), src.into());
    kernel.code.push(instr);
}

/// How a register is kept in memory, and whether it is a predicate.
fn kept(kernel: &Kernel, reg: RegId) -> (Type, bool) {
    match kernel.registers[usize::from(reg.0)].class {
        RegClass::Pred => (Type::U32, true),
        RegClass::B32 => (Type::U32, false),
        RegClass::B64 => (Type::U64, false),
    }
}
