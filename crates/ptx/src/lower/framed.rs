//! Functions that may be entered again before they have returned: they cannot be inlined.
//!
//! The body of such a function stands behind the kernel's own code, once for each call from outside:
//! threads that part ways inside it meet again where that call returns, which is only known to
//! follow if nobody else returns from there. Beyond [`MOST_COPIES`] calls one body serves several. Its
//! parameters and results have registers (or places in local memory) of their own, into which
//! callers copy. A call sets the number of its return site and branches to the body; a return is a
//! chain of branches to the return sites, since the machine has no indirect one. To the divergence
//! models all this is ordinary control flow.
//!
//! What an activation needs again after a call that may lead back to its function lies on a stack in
//! local memory: its `.local` variables and the registers that live across the call. Which these are
//! is known when the code is complete, so calls leave marks in it, which [`finish`] replaces.

use super::builder::{Builder, Frame};
use super::params::{ParamUse, Passed};
use super::scope::{Entity, Scope};
use crate::analysis::{self, RegSet};
use crate::ast::{self, Function, Ident, Span, Variable};
use crate::isa::{Cmp, Mods, Op, Space, Type};
use crate::kernel::{AddrBase, Instr, Intrinsic, Kernel, NO_PC, Operand, Pc, RegClass, RegId};

/// Bytes of local memory that a thread of a kernel with such functions has for its stack.
pub const STACK_BYTES: u32 = 8 << 10;

/// Calls from outside that get bodies of their own.
const MOST_COPIES: usize = 32;

/// A function that is not inlined: one of its bodies.
#[derive(Debug)]
pub(super) struct Framed<'a> {
    pub function: &'a Function,
    /// Which function it is, and for which call from outside.
    kind: usize,
    copy: usize,
    /// Where its body begins, and where its return is.
    entry: u32,
    exit: u32,
    params: Vec<Entity>,
    returns: Vec<Entity>,
    /// The number of the site to return to.
    site: RegId,
    /// Where the activation's part of the stack begins.
    pub base: RegId,
    /// Bytes of its `.local` variables.
    pub locals: u64,
    /// Labels of the sites that it returns to.
    sites: Vec<u32>,
    emitted: bool,
}

/// A call of such a function.
#[derive(Debug)]
struct Site {
    caller: Option<usize>,
    callee: usize,
    /// Registers that hold results between the return and the mark behind it.
    results: Vec<RegId>,
}

/// All of a kernel's.
#[derive(Debug, Default)]
pub(super) struct FramedFunctions<'a> {
    pub list: Vec<Framed<'a>>,
    kinds: Vec<&'a Function>,
    /// Calls from outside so far.
    copies: usize,
    /// By pairs of functions: may a call of the first lead to one of the second?
    leads: Vec<Vec<bool>>,
    sites: Vec<Site>,
    /// The function whose body is being lowered.
    pub current: Option<usize>,
    /// By register: the function that it belongs to.
    pub owners: Vec<Option<usize>>,
    /// The top of the stack.
    stack: Option<RegId>,
}

fn word() -> Mods {
    let mut mods = Mods::default();
    mods.types[0] = Some(Type::U32);
    mods
}

impl<'a> Builder<'a> {
    /// Gives the functions that may be entered again their registers, before anything else.
    pub(super) fn declare_framed(&mut self, reach: &super::reach::Reach<'a>) {
        self.framed.kinds = reach.recursive.clone();
        for kind in 0..reach.recursive.len() {
            self.declare_body(kind, 0);
        }
        if reach.recursive.is_empty() {
            return;
        }
        let stack = self.new_register("%stack", Type::U32, Span::default());
        self.framed.stack = Some(stack);
        self.framed.leads = (reach.recursive.iter())
            .map(|from| {
                let to = reach.recursive.iter();
                to.map(|to| reach.may_reach(from, to)).collect()
            })
            .collect();
        // The sum of both is not known yet: the mark stands for it.
        self.mark(Intrinsic::StackBegins);
    }

    /// Registers of one body of a function.
    fn declare_body(&mut self, kind: usize, copy: usize) -> usize {
        let function = self.framed.kinds[kind];
        let index = self.framed.list.len();
        let outside = self.framed.current.replace(index);
        let body = function.body.as_deref().unwrap_or_default();
        let usage = ParamUse::of(body);
        let name = &function.name.name;
        let span = function.name.span;
        let site = self.new_register(&format!("{name}.site"), Type::U32, span);
        let base = self.new_register(&format!("{name}.frame"), Type::U32, span);
        let entry = self.new_label();
        let exit = self.new_label();
        let mut entities = |list: &'a [Variable]| -> Vec<Entity> {
            list.iter()
                .map(|var| self.param_entity(var, &usage))
                .collect()
        };
        let params = entities(&function.params);
        let returns = entities(&function.returns);
        self.framed.list.push(Framed {
            function,
            kind,
            copy,
            entry,
            exit,
            params,
            returns,
            site,
            base,
            locals: 0,
            sites: Vec::new(),
            emitted: false,
        });
        self.framed.current = outside;
        index
    }

    /// Which function that has bodies of its own this is, if it is one.
    pub(super) fn framed_function(&self, function: &Function) -> Option<usize> {
        let kinds = &self.framed.kinds;
        kinds.iter().position(|f| std::ptr::eq(*f, function))
    }

    /// The body that a call here goes to.
    fn body_for(&mut self, kind: usize) -> usize {
        let framed = &mut self.framed;
        let caller = framed.current.map(|caller| &framed.list[caller]);
        let copy = match caller {
            Some(caller) if framed.leads[kind][caller.kind] => caller.copy,
            _ => {
                framed.copies += 1;
                (framed.copies - 1) % MOST_COPIES
            }
        };
        let known = framed.list.iter();
        let known = known.clone().position(|f| (f.kind, f.copy) == (kind, copy));
        known.unwrap_or_else(|| self.declare_body(kind, copy))
    }

    fn mark(&mut self, what: Intrinsic) {
        self.emit(Op::Call, Mods::default(), vec![], vec![])
            .intrinsic = Some(what);
    }

    /// Room for a `.local` variable of the function being lowered.
    pub(super) fn allocate_in_frame(&mut self, index: usize, bytes: u64, align: u64) -> Entity {
        let framed = &mut self.framed.list[index];
        let offset = super::layout::align_up(framed.locals, align.min(16));
        framed.locals = offset.saturating_add(bytes);
        Entity::InFrame(framed.base, offset)
    }

    /// A call.
    pub(super) fn call_framed(
        &mut self,
        kind: usize,
        callee: &Ident,
        returns: &'a [ast::Operand],
        args: &'a [ast::Operand],
    ) {
        let index = self.body_for(kind);
        let function = self.framed.list[index].function;
        let number = self.framed.sites.len() as u32;
        let passed: Vec<Option<Passed>> = args
            .iter()
            .zip(&function.params)
            .map(|(arg, formal)| self.argument(arg, formal, callee))
            .collect();
        self.mark(Intrinsic::Save(number));
        // A function that calls itself may pass its own parameters in another order.
        let passed: Vec<Option<Passed>> = passed
            .into_iter()
            .map(|p| p.map(|p| self.out_of_the_way(p)))
            .collect();
        for (at, (formal, passed)) in function.params.iter().zip(passed).enumerate() {
            let entity = self.framed.list[index].params[at].clone();
            if let Some(passed) = passed
                && !self.hand_over(&entity, &passed, formal.ty)
            {
                self.argument_mismatch(callee, formal);
            }
        }
        let back = self.new_label();
        let framed = &mut self.framed.list[index];
        let id = framed.sites.len() as u64;
        framed.sites.push(back);
        let (site, entry) = (framed.site, framed.entry);
        self.emit(
            Op::Mov,
            word(),
            vec![Operand::Reg(site)],
            vec![Operand::Imm(id)],
        );
        self.emit_branch(entry, None);
        self.place_label(back);
        let mut results = Vec::new();
        let mut held = Vec::new();
        for (at, formal) in function.returns.iter().enumerate() {
            let entity = self.framed.list[index].returns[at].clone();
            held.push(match &entity {
                Entity::ParamRegister(reg, _) | Entity::Register(reg) => {
                    let ty = self.register(*reg).ty;
                    let temp = self.new_register("%result", ty, callee.span);
                    results.push(temp);
                    let temp = match &entity {
                        Entity::ParamRegister(_, kept) => Entity::ParamRegister(temp, *kept),
                        _ => Entity::Register(temp),
                    };
                    if !self.hand_over(&temp, &Passed::Entity(entity), formal.ty) {
                        self.argument_mismatch(callee, formal);
                    }
                    temp
                }
                _ => entity,
            });
        }
        self.framed.sites.push(Site {
            caller: self.framed.current,
            callee: index,
            results,
        });
        self.mark(Intrinsic::Restore(number));
        for (at, (formal, held)) in function.returns.iter().zip(held).enumerate() {
            let Some(ast::Operand::Name(id)) = returns.get(at) else {
                continue;
            };
            if let Some(super::builder::Resolved::Entity(target)) = self.resolve(id)
                && !self.hand_over(&target, &Passed::Entity(held), formal.ty)
            {
                self.argument_mismatch(callee, formal);
            }
        }
    }

    /// The same value in a register of its own.
    fn out_of_the_way(&mut self, passed: Passed) -> Passed {
        let (Passed::Entity(Entity::Register(reg) | Entity::ParamRegister(reg, _))
        | Passed::Value(Operand::Reg(reg))) = passed
        else {
            return passed;
        };
        let ty = self.register(reg).ty;
        let temp = self.new_register("%passed", ty, Span::default());
        let mut mods = Mods::default();
        mods.types[0] = Some(ty);
        self.emit(
            Op::Mov,
            mods,
            vec![Operand::Reg(temp)],
            vec![Operand::Reg(reg)],
        );
        match passed {
            Passed::Entity(Entity::Register(_)) => Passed::Entity(Entity::Register(temp)),
            Passed::Entity(Entity::ParamRegister(_, kept)) => {
                Passed::Entity(Entity::ParamRegister(temp, kept))
            }
            _ => Passed::Value(Operand::Reg(temp)),
        }
    }

    /// The bodies of all functions that have been called, and their returns.
    pub(super) fn emit_framed(&mut self) {
        while let Some(index) =
            (self.framed.list.iter()).position(|f| !f.emitted && !f.sites.is_empty())
        {
            self.framed.list[index].emitted = true;
            self.emit_body(index);
            if self.has_given_up() {
                return;
            }
        }
        for index in 0..self.framed.list.len() {
            if self.framed.list[index].emitted {
                self.emit_return(index);
            }
        }
    }

    fn emit_body(&mut self, index: usize) {
        let framed = &self.framed.list[index];
        let (function, entry, exit) = (framed.function, framed.entry, framed.exit);
        let (params, returns) = (framed.params.clone(), framed.returns.clone());
        let suffix = match framed.copy {
            0 => format!("@{}", function.name.name),
            copy => format!("@{}.{copy}", function.name.name),
        };
        // Its temporaries must not lie where the kernel keeps something.
        self.local_top = self.local_bytes;
        self.framed.current = Some(index);
        self.frames.push(Frame {
            first_scope: self.scopes.len(),
            join: Some(exit),
            suffix,
        });
        self.scopes.push(Scope::default());
        self.place_label(entry);
        self.label_names
            .push((self.code.len() as u32, function.name.name.to_string()));
        self.mark(Intrinsic::Enter(index as u32));
        // What was passed in memory goes into the activation's own.
        for (formal, entity) in function.params.iter().zip(params) {
            let own = match &entity {
                Entity::ParamMemory(at, size) => self.own_copy(index, *at, *size, true),
                _ => entity,
            };
            self.declare(&formal.name, own);
        }
        let mut copied_back = Vec::new();
        for (formal, entity) in function.returns.iter().zip(returns) {
            let own = match &entity {
                Entity::ParamMemory(at, size) => {
                    let own = self.own_copy(index, *at, *size, false);
                    copied_back.push((own.clone(), *at, *size));
                    own
                }
                _ => entity,
            };
            self.declare(&formal.name, own);
        }
        self.statements(function.body.as_deref().unwrap_or_default());
        self.scopes.pop();
        self.frames.pop();
        self.place_label(exit);
        for (own, at, size) in copied_back {
            if let Entity::InFrame(base, offset) = own {
                self.copy_between((None, at), (Some(base), offset), size);
            }
        }
        let leave = self.framed.list[index].base;
        if let Some(stack) = self.framed.stack {
            self.emit(
                Op::Mov,
                word(),
                vec![Operand::Reg(stack)],
                vec![Operand::Reg(leave)],
            );
        }
        // The sites are known when all bodies are there: their chain stands behind them.
        let chain = self.new_label();
        self.emit_branch(chain, None);
        self.framed.list[index].exit = chain;
        self.framed.current = None;
    }

    fn own_copy(&mut self, index: usize, at: u64, size: u64, filled: bool) -> Entity {
        let own = self.allocate_in_frame(index, size, 16);
        if let (Entity::InFrame(base, offset), true) = (&own, filled) {
            self.copy_between((Some(*base), *offset), (None, at), size);
        }
        own
    }

    /// Copies bytes within local memory, between places that begin at a register or at its start.
    fn copy_between(&mut self, to: (Option<RegId>, u64), from: (Option<RegId>, u64), size: u64) {
        let address = |(base, offset): (Option<RegId>, u64), done: u64| Operand::Address {
            base: base.map_or(AddrBase::Zero, AddrBase::Reg),
            offset: (offset + done) as i64,
        };
        let mut done = 0;
        while done < size {
            let fits = |s: &u64| {
                (to.1 + done).is_multiple_of(*s)
                    && (from.1 + done).is_multiple_of(*s)
                    && size - done >= *s
            };
            let step = [8, 4, 2, 1].into_iter().find(fits).unwrap_or(1);
            let (ty, kept) = match step {
                8 => (Type::U64, Type::U64),
                4 => (Type::U32, Type::U32),
                2 => (Type::U16, Type::U32),
                _ => (Type::U8, Type::U32),
            };
            let reg = Operand::Reg(self.new_register("%copy", kept, Span::default()));
            let mods = local(ty);
            self.emit(Op::Ld, mods, vec![reg], vec![address(from, done)]);
            self.emit(Op::St, mods, vec![], vec![address(to, done), reg]);
            done += step;
        }
    }

    fn emit_return(&mut self, index: usize) {
        let framed = &self.framed.list[index];
        let (chain, site, sites) = (framed.exit, framed.site, framed.sites.clone());
        self.place_label(chain);
        self.framed.current = Some(index);
        let mut compare = word();
        compare.cmp = Some(Cmp::Eq);
        let Some((last, others)) = sites.split_last() else {
            return;
        };
        for (id, label) in others.iter().enumerate() {
            let pred = self.new_register("%site", Type::Pred, Span::default());
            let src = vec![Operand::Reg(site), Operand::Imm(id as u64)];
            self.emit(Op::Setp, compare, vec![Operand::Reg(pred)], src);
            self.emit_branch(*label, Some((pred, false)));
        }
        self.emit_branch(*last, None);
        self.framed.current = None;
    }
}

fn local(ty: Type) -> Mods {
    let mut mods = Mods::default();
    mods.types[0] = Some(ty);
    mods.space = Some(Space::Local);
    mods
}

fn is_mark(what: Option<Intrinsic>) -> bool {
    matches!(
        what,
        Some(
            Intrinsic::StackBegins
                | Intrinsic::Enter(_)
                | Intrinsic::Save(_)
                | Intrinsic::Restore(_)
        )
    )
}

/// Puts instructions where the marks are, now that it is known which registers live across calls.
/// Targets must be resolved; labels are moved with the code.
pub(super) fn finish(
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
            super::layout::align_up(f.locals, 16)
                + super::layout::align_up(most.max().unwrap_or(0), 16)
        })
        .collect();
    let begins = kernel.local_bytes.next_multiple_of(16);
    kernel.local_bytes = begins + STACK_BYTES;
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
        let operands = |list: &[RegId]| list.iter().map(|reg| Operand::Reg(*reg)).collect();
        for instr in &mut kernel.code {
            match instr.intrinsic {
                Some(Intrinsic::Save(number)) => instr.src = operands(&saved[number as usize]),
                Some(Intrinsic::Restore(number)) => instr.dst = operands(&saved[number as usize]),
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
                put(Op::Mov, word(), vec![stack], vec![begins]);
            }
            Some(Intrinsic::Enter(index)) => {
                let base = Operand::Reg(self.framed.list[index as usize].base);
                let size = imm(self.sizes[index as usize]);
                put(Op::Mov, word(), vec![base], vec![stack]);
                put(Op::Add, word(), vec![stack], vec![stack, size]);
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

    /// A word that nobody needs at a call: the number of the callee's site.
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
        let from = super::layout::align_up(self.framed.list[caller].locals, 16);
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
    (instr.op, instr.mods, instr.dst, instr.src) = (op, mods, dst, src);
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
