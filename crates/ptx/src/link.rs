//! Linking: several files as one. What one declares `.extern` another may define; names that a file
//! keeps to itself do not meet those of others.

use crate::ast::{
    AddressBase, Function, Ident, Init, Instruction, Item, Linkage, Module, Operand, Statement,
    Variable,
};
use std::collections::{HashMap, HashSet};

/// One module of several. The first says what target it is for; the newest version counts.
pub fn link(modules: Vec<Module>) -> Module {
    let mut linked = Module::default();
    let mut taken: HashSet<String> = HashSet::new();
    let mut files = 0;
    for (number, mut module) in modules.into_iter().enumerate() {
        if number == 0 {
            linked.target.clone_from(&module.target);
            linked.address_size = module.address_size;
        }
        linked.version = linked.version.max(module.version);
        let mut changed = HashMap::new();
        for item in &module.items {
            let Some((name, linkage)) = named(item) else {
                continue;
            };
            let own = linkage == Linkage::Internal;
            if own && taken.contains(name) && !changed.contains_key(name) {
                let fresh = (number..).map(|n| format!("{name}${n}"));
                let free = fresh.into_iter().find(|new| !taken.contains(new));
                changed.insert(name.to_string(), free.unwrap_or_default());
            }
        }
        if !changed.is_empty() {
            Renaming { changed: &changed }.items(&mut module.items);
        }
        taken.extend(
            module
                .items
                .iter()
                .filter_map(named)
                .map(|(n, _)| n.to_string()),
        );
        files = renumber(&mut module.items, files);
        linked.items.append(&mut module.items);
    }
    linked
}

/// Name and linkage of what an item declares.
fn named(item: &Item) -> Option<(&str, Linkage)> {
    match item {
        Item::Variable(var) => Some((&var.name.name, var.linkage)),
        Item::Function(function) => Some((&function.name.name, function.linkage)),
        _ => None,
    }
}

/// Numbers the source files on from `before`; says where they end.
fn renumber(items: &mut [Item], before: u32) -> u32 {
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
struct Renaming<'a> {
    changed: &'a HashMap<String, String>,
}

impl Renaming<'_> {
    fn name(&self, id: &mut Ident) {
        if let Some(new) = self.changed.get(id.name.as_str()) {
            id.name = new.as_str().into();
        }
    }

    fn items(&self, items: &mut [Item]) {
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

#[cfg(test)]
mod tests {
    use super::link;
    use crate::{lower, parse, print};

    const HEAD: &str = ".version 7.0\n.target sm_75\n.address_size 64\n";

    fn module(text: &str) -> crate::ast::Module {
        parse(&format!("{HEAD}{text}")).expect("valid")
    }

    #[test]
    fn what_one_declares_another_defines_and_own_names_do_not_meet() {
        let first = module(
            ".extern .func (.param .b32 r) twice(.param .b32 x);\n.extern .global .u32 shared_by_all;\n\
             .global .u32 own = 1;\n.file 1 \"a.cu\"\n\
             .visible .entry k()\n{\n.reg .b32 %r<3>;\n.loc 1 7 0\nld.global.u32 %r0, [own];\n{\n\
             .param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r0;\ncall.uni (b), twice, (a);\n\
             ld.param.b32 %r1, [b];\n}\nst.global.u32 [shared_by_all], %r1;\nret;\n}\n",
        );
        let second = module(
            ".visible .global .u32 shared_by_all;\n.global .u32 own = 2;\n.file 1 \"b.cu\"\n\
             .visible .func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\n.loc 1 9 0\n\
             ld.param.b32 %r0, [x];\nld.global.u32 %r1, [own];\nmul.lo.u32 %r0, %r0, %r1;\n\
             st.param.b32 [r], %r0;\nret;\n}\n",
        );
        let apart = lower(&first).expect("valid");
        assert_eq!(apart.kernels[0].undefined[0].0, "twice");
        let both = link(vec![first, second]);
        let program = lower(&both).expect("valid");
        assert!(program.kernels[0].undefined.is_empty());
        assert!(program.symbols.iter().all(|s| !s.external));
        let names: Vec<&str> = program.symbols.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["shared_by_all", "own", "own$1"]);
        let files: Vec<_> = program.files.iter().map(|(n, _)| *n).collect();
        assert_eq!(files, [1, 2]);
        let from_second = program.kernels[0]
            .code
            .iter()
            .any(|i| i.source == Some((2, 9)));
        assert!(from_second, "lines are those of their own file");
        assert_eq!(
            parse(&print(&both)).as_ref(),
            Ok(&both),
            "it can be written down"
        );
    }
}
