//! Calls: device functions are inlined where they can be, functions of the CUDA runtime stay calls.

use crate::ast::{self, Function, Ident, Instruction, Variable};
use crate::isa::{AtomOp, Cmp, Mods, Op, Space, Type};
use crate::kernel::{AddrBase, HEAP, Instr, Intrinsic, Operand, RegId};
use crate::lower::builder::{
    Builder, Frame, LONGEST_CODE, MOST_INLINED, MOST_STATEMENTS, Resolved,
};
use crate::lower::instruction::params::{ParamUse, Passed};
use crate::lower::operand::shape::Kind;
use crate::lower::operand::what_is;
use crate::lower::scope::{Entity, Scope};

/// Chains of calls deeper than this are refused; each level of inlining recurses here.
const DEEPEST_CALLS: usize = 64;

fn intrinsic(name: &str) -> Option<Intrinsic> {
    match name {
        "vprintf" => Some(Intrinsic::Vprintf),
        "__assertfail" => Some(Intrinsic::AssertFail),
        "malloc" => Some(Intrinsic::Malloc),
        "free" => Some(Intrinsic::Free),
        _ => None,
    }
}

impl<'a> Builder<'a> {
    /// `call`, under an optional guard.
    pub(in crate::lower) fn call(
        &mut self,
        instr: &'a Instruction,
        guard: Option<(RegId, bool)>,
    ) -> Option<()> {
        let [operand] = self.operands::<1>(instr)?;
        let ast::Operand::Call(call) = operand else {
            self.error(instr.span, "a call needs a function and its parameters");
            return None;
        };
        let ast::Call {
            returns,
            callee,
            args,
            ..
        } = &**call;
        let Some(function) = self.table.function(&callee.name) else {
            return self.call_through(instr, call, guard);
        };
        if function.body.is_none() {
            return match intrinsic(&callee.name) {
                Some(which) => self.call_intrinsic(instr, which, returns, args, function, guard),
                None => self.call_undefined(callee, guard),
            };
        }
        let skip = guard.map(|(pred, negated)| {
            let skip = self.new_label();
            self.emit_branch(skip, Some((pred, !negated)));
            skip
        });
        self.call_function(function, callee, returns, args)?;
        if let Some(skip) = skip {
            self.place_label(skip);
        }
        Some(())
    }

    /// A call of a function that has a body: inlined, unless it may call itself or is too large.
    fn call_function(
        &mut self,
        function: &'a Function,
        callee: &Ident,
        returns: &'a [ast::Operand],
        args: &'a [ast::Operand],
    ) -> Option<()> {
        if function.params.len() != args.len() || function.returns.len() > returns.len().max(1) {
            self.error_hint(
                callee.span,
                format!("`{}` is called with {} arguments", callee.name, args.len()),
                format!("it is declared with {}", function.params.len()),
            );
            return None;
        }
        if let Some(kind) = self.framed_function(function) {
            self.call_framed(kind, callee, returns, args);
            return Some(());
        }
        if self.frames.len() > DEEPEST_CALLS {
            self.inlined.too_large = true;
            self.give_up(
                callee.span,
                format!("calls are nested more than {DEEPEST_CALLS} deep (functions are inlined)"),
            );
            return None;
        }
        self.inlined.statements += function.body.as_ref().map_or(0, Vec::len);
        if self.inlined.functions >= MOST_INLINED
            || self.inlined.statements > MOST_STATEMENTS
            || self.code.len() > LONGEST_CODE
        {
            self.inlined.too_large = true;
            self.give_up(
                callee.span,
                format!(
                    "too many calls: functions are inlined, and this kernel comes to {} calls, {} \
                     statements and {} instructions",
                    self.inlined.functions,
                    self.inlined.statements,
                    self.code.len()
                ),
            );
            return None;
        }
        self.inline(function, callee, returns, args);
        Some(())
    }

    /// A call through a register: a chain of comparisons with the addresses of the functions that
    /// it may be to, which are those whose address is taken and whose parameters fit.
    fn call_through(
        &mut self,
        instr: &'a Instruction,
        call: &'a ast::Call,
        guard: Option<(RegId, bool)>,
    ) -> Option<()> {
        let ast::Call {
            returns,
            callee,
            args,
            prototype,
        } = call;
        let Resolved::Entity(Entity::Register(reg)) = self.resolve(callee)? else {
            self.error(callee.span, format!("`{}` is not a function", callee.name));
            return None;
        };
        let ty = self.register(reg).ty;
        if ty.bytes() < 4 {
            self.error(
                callee.span,
                format!("`{}` cannot hold an address", callee.name),
            );
            return None;
        }
        let candidates = self.candidates(args.len(), returns.len(), prototype.as_ref())?;
        let skip = guard.map(|(pred, negated)| {
            let skip = self.new_label();
            self.emit_branch(skip, Some((pred, !negated)));
            skip
        });
        let done = self.new_label();
        let mut compare = Mods {
            cmp: Some(Cmp::Ne),
            ..Mods::default()
        };
        compare.types[0] = Some(if ty.bytes() == 8 {
            Type::U64
        } else {
            Type::U32
        });
        for function in candidates {
            let next = self.new_label();
            let other = self.new_register("%other", Type::Pred, instr.span);
            let address = self.table.address_of(&function.name.name)?;
            let src = vec![Operand::Reg(reg), Operand::Imm(address)];
            self.emit(Op::Setp, compare, vec![Operand::Reg(other)], src);
            self.emit_branch(next, Some((other, false)));
            self.call_function(function, callee, returns, args)?;
            self.emit_branch(done, None);
            self.place_label(next);
        }
        let stop = self.emit(Op::Call, Mods::default(), vec![], vec![Operand::Reg(reg)]);
        stop.intrinsic = Some(Intrinsic::NoSuchFunction);
        self.place_label(done);
        if let Some(skip) = skip {
            self.place_label(skip);
        }
        Some(())
    }

    fn candidates(
        &mut self,
        args: usize,
        returns: usize,
        prototype: Option<&Ident>,
    ) -> Option<Vec<&'a Function>> {
        let table = self.table;
        let named = match prototype {
            Some(label) => Some((label, self.resolve(label)?)),
            None => None,
        };
        let bytes = |list: &[Variable]| -> Vec<Option<u64>> {
            list.iter()
                .map(crate::lower::module::layout::variable_bytes)
                .collect()
        };
        let fits = |f: &&'a Function| f.params.len() == args && f.returns.len() == returns;
        let usable = |f: &&'a Function| f.body.is_some() && !f.entry;
        match named {
            Some((_, Resolved::Entity(Entity::Callees(targets)))) => {
                let list = targets.iter().filter_map(|t| table.function(&t.name));
                Some(list.filter(fits).filter(usable).collect())
            }
            Some((_, Resolved::Entity(Entity::Prototype(params, results)))) => {
                let same =
                    |f: &&'a Function| bytes(&f.params) == params && bytes(&f.returns) == results;
                Some(table.taken().filter(same).filter(usable).collect())
            }
            Some((label, other)) => {
                let what = what_is(&other);
                self.error(
                    label.span,
                    format!("`{}` is {what}, not a call prototype", label.name),
                );
                None
            }
            None => Some(table.taken().filter(fits).filter(usable).collect()),
        }
    }

    /// A function that another file may define: if none does, launches are refused.
    fn call_undefined(&mut self, callee: &Ident, guard: Option<(RegId, bool)>) -> Option<()> {
        self.complaints.undefined(&callee.name, self.line);
        self.emit(Op::Trap, Mods::default(), vec![], vec![]).guard = guard;
        Some(())
    }

    fn inline(
        &mut self,
        function: &'a Function,
        callee: &Ident,
        returns: &'a [ast::Operand],
        args: &'a [ast::Operand],
    ) {
        let body = function.body.as_deref().unwrap_or_default();
        let usage = ParamUse::of(body);
        self.inlined.functions += 1;
        let suffix = format!("@{}.{}", function.name.name, self.inlined.functions);
        let saved_top = self.local_top;
        let saved_source = self.source;
        // Arguments are read in the caller's scope, parameters belong to the callee's. All
        // formals are new registers or new memory, so one after the other is safe.
        let passed: Vec<Option<Passed>> = args
            .iter()
            .zip(&function.params)
            .map(|(arg, formal)| self.argument(arg, formal, callee))
            .collect();
        let given: Vec<RegId> = passed
            .iter()
            .filter_map(|p| match p {
                Some(Passed::Entity(Entity::ParamRegister(reg, _))) => Some(*reg),
                _ => None,
            })
            .collect();
        let targets: Vec<Option<Entity>> = (0..function.returns.len())
            .map(|index| match returns.get(index) {
                Some(ast::Operand::Name(id)) => match self.resolve(id)? {
                    Resolved::Entity(entity) => Some(entity),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        let join = self.new_label();
        let frame = Frame {
            first_scope: self.scopes.len(),
            join: Some(join),
            suffix,
        };
        self.frames.push(frame);
        self.scopes.push(Scope::default());
        // A scalar in a register is passed without a copy: the callee only reads its
        // parameters, so the caller's register can stand for them.
        for (formal, passed) in function.params.iter().zip(passed) {
            let entity = match &passed {
                Some(Passed::Entity(Entity::ParamRegister(reg, ty)))
                    if usage.can_share(formal, *ty) =>
                {
                    Entity::ParamRegister(*reg, formal.ty)
                }
                _ => {
                    let entity = self.param_entity(formal, &usage);
                    if let Some(passed) = passed
                        && !self.hand_over(&entity, &passed, formal.ty)
                    {
                        self.argument_mismatch(callee, formal);
                    }
                    entity
                }
            };
            self.declare(&formal.name, entity);
        }
        let mut results = Vec::new();
        for (formal, target) in function.returns.iter().zip(targets) {
            let entity = match &target {
                // Not when the same parameter is also an argument: the callee could write
                // the result before it has read all arguments.
                Some(Entity::ParamRegister(reg, ty))
                    if usage.can_share(formal, *ty) && !given.contains(reg) =>
                {
                    Entity::ParamRegister(*reg, formal.ty)
                }
                _ => {
                    let entity = self.param_entity(formal, &usage);
                    results.push((entity.clone(), formal, target));
                    entity
                }
            };
            self.declare(&formal.name, entity);
        }
        self.statements(body);
        self.scopes.pop();
        self.frames.pop();
        self.end_inlined(join);
        for (result, formal, target) in results {
            if let Some(to) = target
                && !self.hand_over(&to, &Passed::Entity(result), formal.ty)
            {
                self.argument_mismatch(callee, formal);
            }
        }
        self.local_top = saved_top;
        self.source = saved_source;
    }

    /// Places the join label. A `ret` that ends the body needs no branch to it.
    fn end_inlined(&mut self, join: u32) {
        let jumped_over = self.label_at_end();
        if let Some(last) = self.code.last()
            && last.op == Op::Bra
            && last.target == join
            && last.guard.is_none()
            && !jumped_over
        {
            // Labels in front of it move to the join by themselves: same address.
            self.code.pop();
        }
        self.place_label(join);
    }

    fn ask_heap(&mut self, which: Intrinsic, dst: Vec<Operand>, src: &[Operand]) -> &mut Instr {
        let mut mods = Mods {
            space: Some(Space::Global),
            ..Mods::default()
        };
        mods.types[0] = Some(Type::U64);
        let heap = Operand::Address {
            base: AddrBase::Zero,
            offset: HEAP as i64,
        };
        let value = src.first().copied().unwrap_or(Operand::Imm(0));
        if which == Intrinsic::Malloc {
            mods.atom = Some(AtomOp::Malloc);
            return self.emit(Op::Atom, mods, dst, vec![heap, value]);
        }
        mods.atom = Some(AtomOp::Free);
        self.emit(Op::Red, mods, vec![], vec![heap, value])
    }

    pub(in crate::lower) fn argument(
        &mut self,
        arg: &ast::Operand,
        formal: &Variable,
        callee: &Ident,
    ) -> Option<Passed> {
        if let ast::Operand::Name(id) = arg
            && let Resolved::Entity(entity) = self.resolve(id)?
        {
            return Some(Passed::Entity(entity));
        }
        let kind = match formal.ty {
            Type::Pred => Kind::Pred,
            ty => Kind::AtLeast(ty),
        };
        self.source(arg, kind, &format!("call {}", callee.name))
            .map(Passed::Value)
    }

    pub(in crate::lower) fn argument_mismatch(&mut self, callee: &Ident, formal: &Variable) {
        self.error(
            callee.span,
            format!(
                "parameter `{}` of `{}` does not fit what is passed for it",
                formal.name.name, callee.name
            ),
        );
    }

    fn call_intrinsic(
        &mut self,
        instr: &Instruction,
        which: Intrinsic,
        returns: &[ast::Operand],
        args: &[ast::Operand],
        function: &Function,
        guard: Option<(RegId, bool)>,
    ) -> Option<()> {
        let callee = &function.name;
        let mut src = Vec::new();
        for (arg, formal) in args.iter().zip(&function.params) {
            let value = match self.argument(arg, formal, callee)? {
                Passed::Value(value) => value,
                Passed::Entity(Entity::Register(reg) | Entity::ParamRegister(reg, _)) => {
                    Operand::Reg(reg)
                }
                Passed::Entity(entity) => {
                    let reg = self.new_register("%arg", formal.ty, instr.span);
                    let to = Entity::ParamRegister(reg, formal.ty);
                    if !self.hand_over(&to, &Passed::Entity(entity), formal.ty) {
                        self.argument_mismatch(callee, formal);
                        return None;
                    }
                    Operand::Reg(reg)
                }
            };
            src.push(value);
        }
        let mut dst = Vec::new();
        let mut stored = None;
        if let (Some(ast::Operand::Name(id)), Some(formal)) =
            (returns.first(), function.returns.first())
            && let Resolved::Entity(entity) = self.resolve(id)?
        {
            dst.push(Operand::Reg(match entity {
                Entity::Register(reg) | Entity::ParamRegister(reg, _) => reg,
                other => {
                    let reg = self.new_register("%result", formal.ty, instr.span);
                    stored = Some((other, Entity::ParamRegister(reg, formal.ty), formal));
                    reg
                }
            }));
        }
        match which {
            // The heap is a part of memory, and asking it for something an atomic there.
            Intrinsic::Malloc | Intrinsic::Free => self.ask_heap(which, dst, &src).guard = guard,
            _ => {
                let call = self.emit(Op::Call, Mods::default(), dst, src);
                call.intrinsic = Some(which);
                call.guard = guard;
            }
        }
        if let Some((to, from, formal)) = stored
            && !self.hand_over(&to, &Passed::Entity(from), formal.ty)
        {
            self.argument_mismatch(callee, formal);
        }
        Some(())
    }
}
