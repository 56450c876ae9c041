//! What changes when a file becomes part of several: names that only it knows, and the numbers of its source files.

use crate::ast::{
    AddressBase, Function, Ident, Init, Instruction, Item, Operand, Statement, Variable,
};
use std::collections::HashMap;

/// Numbers the source files on from `before`; says where they end.
pub(super) fn renumber(items: &mut [Item], before: u32) -> u32 {
    let mut last = before;
    for item in items {
        match item {
            Item::File { index, .. } => {
                *index += before;
                last = last.max(*index);
            }
            Item::Function(Function {
                body: Some(body), ..
            }) => locations(body, before),
            _ => {}
        }
    }
    last
}

fn locations(list: &mut [Statement], before: u32) {
    for statement in list {
        match statement {
            Statement::Loc { file, .. } => *file += before,
            Statement::Block(inner) => locations(inner, before),
            _ => {}
        }
    }
}

/// Gives names that only one file knows other ones, wherever they stand in it: a local name that is
/// the same is renamed with its uses.
pub(super) struct Renaming<'a> {
    /// New names by old ones.
    pub(super) changed: &'a HashMap<String, String>,
}

impl Renaming<'_> {
    fn name(&self, id: &mut Ident) {
        if let Some(new) = self.changed.get(id.name.as_str()) {
            id.name = new.as_str().into();
        }
    }

    pub(super) fn items(&self, items: &mut [Item]) {
        for item in items {
            match item {
                Item::Variable(var) => self.variable(var),
                Item::Function(function) => {
                    self.name(&mut function.name);
                    let params = function.params.iter_mut().chain(&mut function.returns);
                    params.for_each(|var| self.variable(var));
                    self.statements(function.body.as_deref_mut().unwrap_or_default());
                }
                Item::Alias { alias, target } => {
                    self.name(alias);
                    self.name(target);
                }
                _ => {}
            }
        }
    }

    fn variable(&self, var: &mut Variable) {
        self.name(&mut var.name);
        if let Some(init) = &mut var.init {
            self.init(init);
        }
    }

    fn init(&self, init: &mut Init) {
        match init {
            Init::List(items) => items.iter_mut().for_each(|item| self.init(item)),
            Init::Symbol { name, .. } => self.name(name),
            _ => {}
        }
    }

    fn statements(&self, list: &mut [Statement]) {
        for statement in list {
            match statement {
                Statement::Label(id) => self.name(id),
                Statement::Variable(var) => self.variable(var),
                Statement::Instruction(instr) => self.instruction(instr),
                Statement::Block(inner) => self.statements(inner),
                Statement::BranchTargets { targets, .. }
                | Statement::CallTargets { targets, .. } => {
                    targets.iter_mut().for_each(|t| self.name(t));
                }
                _ => {}
            }
        }
    }

    fn instruction(&self, instr: &mut Instruction) {
        if let Some(guard) = &mut instr.guard {
            self.name(&mut guard.pred);
        }
        instr.operands.iter_mut().for_each(|o| self.operand(o));
    }

    fn operand(&self, operand: &mut Operand) {
        match operand {
            Operand::Name(id) | Operand::Not(id) | Operand::Negate(id) | Operand::Offset(id, _) => {
                self.name(id);
            }
            Operand::Address {
                base: AddressBase::Name(id),
                ..
            } => self.name(id),
            Operand::Vector(list, _) => list.iter_mut().for_each(|o| self.operand(o)),
            Operand::Pair(a, b) => {
                self.operand(a);
                self.operand(b);
            }
            Operand::Texture(fetch) => {
                self.name(&mut fetch.texture);
                fetch.coords.iter_mut().for_each(|o| self.operand(o));
            }
            Operand::Call(call) => {
                self.name(&mut call.callee);
                let values = call.returns.iter_mut().chain(&mut call.args);
                values.for_each(|o| self.operand(o));
            }
            _ => {}
        }
    }
}
