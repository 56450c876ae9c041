//! What a kernel reaches through calls: functions and shared variables. Lowering lays out
//! shared memory from this before it emits any address, and knows from it which functions can be
//! entered again before they have returned.

use crate::ast::{AddressBase, Function, Instruction, Operand, Statement, Variable};
use crate::isa::Space;
use crate::lower::module::{ModuleTable, ModuleVar};
use std::collections::HashSet;

/// The result of [`reach`].
#[derive(Debug, Default)]
pub(in crate::lower) struct Reach<'a> {
    /// Shared variables of module and function scope, in order of first use.
    pub shared: Vec<&'a Variable>,
    /// Functions that may call themselves, directly or through others, in order of first use.
    pub recursive: Vec<&'a Function>,
    /// Others that are too large to be inlined.
    pub large: Vec<&'a Function>,
    seen_vars: HashSet<*const Variable>,
    /// Functions with those that they may call.
    calls: Vec<(&'a Function, Vec<&'a Function>)>,
}

/// Follows a kernel with this body and everything it calls. A call through a register may be to any function
/// whose address is taken.
pub(in crate::lower) fn reach<'a>(
    table: &ModuleTable<'a>,
    kernel: &'a Function,
    body: &'a [Statement],
    inline_limit: Option<usize>,
) -> Reach<'a> {
    let mut reach = Reach::default();
    let shared = table.has_shared();
    let mut seen: HashSet<*const Function> = HashSet::new();
    let mut work = vec![kernel];
    while let Some(function) = work.pop() {
        if !seen.insert(std::ptr::from_ref(function)) {
            continue;
        }
        let mut called = Vec::new();
        let mut lists = vec![match std::ptr::eq(function, kernel) {
            true => body,
            false => function.body.as_deref().unwrap_or_default(),
        }];
        while let Some(list) = lists.pop() {
            for statement in list {
                match statement {
                    Statement::Block(inner) => lists.push(inner),
                    Statement::Variable(var) if var.space == Space::Shared => reach.add(var),
                    Statement::Instruction(instr) => {
                        for operand in &instr.operands {
                            if shared {
                                names(operand, &mut |name| {
                                    if let Some(ModuleVar::Shared(var)) = table.variable(name) {
                                        reach.add(var);
                                    }
                                });
                            }
                            if let Operand::Call(call) = operand {
                                match table.function(&call.callee.name) {
                                    Some(one) => called.push(one),
                                    None => called.extend(table.taken()),
                                }
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        work.extend(&called);
        reach.calls.push((function, called));
    }
    let recursive = reach.calls.iter().map(|(f, _)| *f);
    reach.recursive = recursive.filter(|f| reach.may_reach(f, f)).collect();
    if let Some(limit) = inline_limit {
        let large = reach.calls.iter().map(|(f, _)| *f);
        let is_recursive =
            |f: &Function| (reach.recursive.iter()).any(|other| std::ptr::eq(*other, f));
        let large = large.filter(|f| {
            let body = f.body.as_deref().unwrap_or_default();
            !f.entry && !body.is_empty() && instructions(body) > limit && !is_recursive(f)
        });
        reach.large = large.collect();
    }
    reach
}

/// How many instructions a function has, those that it calls apart.
fn instructions(body: &[Statement]) -> usize {
    let mut count = 0;
    each_instruction(body, &mut |_| count += 1);
    count
}

impl<'a> Reach<'a> {
    fn add(&mut self, var: &'a Variable) {
        if self.seen_vars.insert(std::ptr::from_ref(var)) {
            self.shared.push(var);
        }
    }

    /// Whether a call of `from` may lead to one of `to`, by one call at least.
    pub fn may_reach(&self, from: &Function, to: &Function) -> bool {
        let called = |f: &Function| {
            let of = self.calls.iter().find(|(g, _)| std::ptr::eq(*g, f));
            of.map_or(&[][..], |(_, called)| called)
        };
        let mut seen: HashSet<*const Function> = HashSet::new();
        let mut work: Vec<&Function> = called(from).to_vec();
        while let Some(function) = work.pop() {
            if std::ptr::eq(function, to) {
                return true;
            }
            if seen.insert(std::ptr::from_ref(function)) {
                work.extend(called(function));
            }
        }
        false
    }
}

/// Calls `found` with every instruction of a body.
pub(in crate::lower) fn each_instruction<'o>(
    body: &'o [Statement],
    found: &mut impl FnMut(&'o Instruction),
) {
    let mut lists = vec![body];
    while let Some(list) = lists.pop() {
        for statement in list {
            match statement {
                Statement::Block(inner) => lists.push(inner),
                Statement::Instruction(instr) => found(instr),
                _ => {}
            }
        }
    }
}

/// Calls `found` with every name an operand mentions.
pub(in crate::lower) fn names<'o>(operand: &'o Operand, found: &mut impl FnMut(&'o str)) {
    match operand {
        Operand::Name(id) | Operand::Not(id) | Operand::Negate(id) | Operand::Offset(id, _) => {
            found(&id.name);
        }
        Operand::Address {
            base: AddressBase::Name(id),
            ..
        } => found(&id.name),
        Operand::Vector(list, _) => list.iter().for_each(|o| names(o, found)),
        Operand::Pair(a, b) => {
            names(a, found);
            names(b, found);
        }
        Operand::Texture(fetch) => {
            found(&fetch.texture.name);
            fetch.coords.iter().for_each(|o| names(o, found));
        }
        Operand::Call(call) => {
            let values = call.returns.iter().chain(&call.args);
            values.for_each(|o| names(o, found));
        }
        _ => {}
    }
}
