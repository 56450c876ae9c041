//! Statement lists: declarations, labels, blocks.

use super::builder::Builder;
use super::scope::{Entity, Scope};
use crate::ast::{Statement, Variable};
use crate::isa::Space;
use crate::lower::instruction::params::ParamUse;
use crate::lower::module::layout::{variable_align, variable_bytes};

/// Registers a declaration like `%r<…>` may stand for.
const MOST_REGISTERS: u32 = 1 << 24;

impl<'a> Builder<'a> {
    /// Lowers a list of statements in the current scope.
    pub(super) fn statements(&mut self, list: &'a [Statement]) {
        self.declare_labels(list);
        let has_params = list
            .iter()
            .any(|s| matches!(s, Statement::Variable(v) if v.space == Space::Param));
        let usage = if has_params {
            ParamUse::of(list)
        } else {
            ParamUse::default()
        };
        for statement in list {
            if self.has_given_up() {
                return;
            }
            match statement {
                Statement::Label(id) => {
                    if let Some(super::builder::Resolved::Entity(Entity::Label(label))) =
                        self.find(&id.name, id.span)
                    {
                        self.place_label(label);
                        let pc = self.code.len() as u32;
                        let suffix = self.frames.last().map_or("", |f| f.suffix.as_str());
                        self.label_names.push((pc, format!("{}{suffix}", id.name)));
                    }
                }
                Statement::Variable(var) => self.variable(var, &usage),
                Statement::Instruction(instr) => self.instruction(instr),
                Statement::Block(inner) => {
                    self.scopes.push(Scope::default());
                    self.statements(inner);
                    self.scopes.pop();
                }
                Statement::Loc {
                    file, line, rest, ..
                } => self.locate(*file, *line, rest),
                Statement::Pragma(words) => {
                    if words.iter().any(|word| word == "nounroll") {
                        self.rolled.push(self.code.len() as u32);
                    }
                }
                Statement::BranchTargets { .. }
                | Statement::CallTargets { .. }
                | Statement::CallPrototype(_)
                | Statement::Comment(_) => {}
            }
        }
    }

    /// Labels are known in their whole block, also above the place where they stand.
    fn declare_labels(&mut self, list: &'a [Statement]) {
        for statement in list {
            match statement {
                Statement::Label(id) => {
                    let label = self.new_label();
                    self.declare(id, Entity::Label(label));
                }
                Statement::BranchTargets { label, targets } => {
                    self.declare(label, Entity::Targets(targets.clone()));
                }
                Statement::CallTargets { label, targets } => {
                    self.declare(label, Entity::Callees(targets.clone()));
                }
                Statement::CallPrototype(prototype) => {
                    let bytes = |list: &[Variable]| list.iter().map(variable_bytes).collect();
                    let (params, returns) = (bytes(&prototype.params), bytes(&prototype.returns));
                    self.declare(&prototype.label, Entity::Prototype(params, returns));
                }
                _ => {}
            }
        }
    }

    fn variable(&mut self, var: &'a Variable, usage: &ParamUse<'a>) {
        let name = var.name.name.as_str();
        match (var.space, var.count) {
            (Space::Reg, Some(count)) => {
                if count > MOST_REGISTERS {
                    self.error(
                        var.name.span,
                        format!("`{name}<{count}>` is too many registers"),
                    );
                }
                let scope = self.scopes.last_mut().expect("a function has a scope");
                if !scope.declare_range(name, count, var.ty, var.vector) {
                    self.error(var.name.span, format!("`{name}<…>` is declared twice"));
                }
            }
            (Space::Reg, None) => {
                let entity = self.new_entity(name, var.ty, var.vector, var.name.span);
                self.declare(&var.name, entity);
            }
            (Space::Param, _) => {
                let entity = self.param_entity(var, usage);
                self.declare(&var.name, entity);
            }
            (Space::Local, _) => {
                let Some(bytes) = variable_bytes(var).filter(|b| *b < 1 << 30) else {
                    self.error(var.name.span, format!("`{name}` is too large"));
                    return;
                };
                let entity = match self.framed.current {
                    Some(index) => self.allocate_in_frame(index, bytes, variable_align(var)),
                    None => Entity::Local(self.allocate_local(bytes, variable_align(var))),
                };
                self.declare(&var.name, entity);
            }
            (Space::Shared, _) => match self.shared.offset(var) {
                Some(offset) => self.declare(&var.name, Entity::Shared(offset)),
                None => self.error(var.name.span, format!("`{name}` has no place")),
            },
            _ => self.error_hint(
                var.name.span,
                format!("`{name}` cannot be declared inside a function"),
                "move `.global` and `.const` variables to module scope",
            ),
        }
    }
}
