//! What a kernel reaches through calls: functions and shared variables. Lowering lays out
//! shared memory from this before it emits any address.

use super::module::{ModuleTable, ModuleVar};
use crate::ast::{AddressBase, Function, Operand, Statement, Variable};
use crate::isa::Space;
use std::collections::HashSet;

/// The result of [`reach`].
#[derive(Debug, Default)]
pub(super) struct Reach<'a> {
    /// Shared variables of module and function scope, in order of first use.
    pub shared: Vec<&'a Variable>,
    seen_vars: HashSet<*const Variable>,
    seen_functions: HashSet<*const Function>,
}

/// Follows `function` and everything it calls directly.
pub(super) fn reach<'a>(table: &ModuleTable<'a>, function: &'a Function) -> Reach<'a> {
    let mut reach = Reach::default();
    let mut work = vec![function];
    while let Some(function) = work.pop() {
        if !reach.seen_functions.insert(std::ptr::from_ref(function)) {
            continue;
        }
        let mut lists = vec![function.body.as_deref().unwrap_or_default()];
        while let Some(list) = lists.pop() {
            for statement in list {
                match statement {
                    Statement::Block(inner) => lists.push(inner),
                    Statement::Variable(var) if var.space == Space::Shared => reach.add(var),
                    Statement::Instruction(instr) => {
                        for operand in &instr.operands {
                            names(operand, &mut |name| {
                                if let Some(ModuleVar::Shared(var)) = table.variable(name) {
                                    reach.add(var);
                                }
                            });
                            if let Operand::Call { callee, .. } = operand {
                                work.extend(table.function(&callee.name));
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    reach
}

impl<'a> Reach<'a> {
    fn add(&mut self, var: &'a Variable) {
        if self.seen_vars.insert(std::ptr::from_ref(var)) {
            self.shared.push(var);
        }
    }
}

/// Calls `found` with every name an operand mentions.
pub(super) fn names<'o>(operand: &'o Operand, found: &mut impl FnMut(&'o str)) {
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
        Operand::Texture {
            texture, coords, ..
        } => {
            found(&texture.name);
            coords.iter().for_each(|o| names(o, found));
        }
        Operand::Call { returns, args, .. } => {
            returns.iter().chain(args).for_each(|o| names(o, found));
        }
        _ => {}
    }
}
