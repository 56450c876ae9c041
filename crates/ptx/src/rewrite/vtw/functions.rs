//! Device functions that read indices, themselves or through what they call: they get them as
//! further parameters.

use super::indices::{Index, Registers, read};
use super::walk::{ident, instructions, instructions_mut, names_mut, statements};
use crate::ast::{Function, Item, Linkage, Module, Operand, Statement, Variable};
use crate::isa::{Op, Space, Type};
use std::collections::BTreeMap;

/// What each device function reads.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    functions: BTreeMap<String, Need>,
}

#[derive(Clone, Debug, Default)]
struct Need {
    indices: Vec<Index>,
    exits: bool,
}

fn callees(body: &[Statement]) -> Vec<&str> {
    let mut found = Vec::new();
    instructions(body, &mut |instruction| {
        for operand in &instruction.operands {
            if let Operand::Call(call) = operand {
                found.push(call.callee.name.as_str());
            }
        }
    });
    found
}

/// Finds out what the device functions of a module read.
pub fn needs(module: &Module) -> Needs {
    let bodies: Vec<(&str, &[Statement])> = (module.items.iter())
        .filter_map(|item| match item {
            Item::Function(f) if !f.entry => Some((f.name.name.as_str(), f.body.as_deref()?)),
            _ => None,
        })
        .collect();
    let mut needs = Needs::default();
    for (name, body) in &bodies {
        let mut exits = false;
        instructions(body, &mut |i| exits |= i.op == Op::Exit);
        let indices = read(body);
        needs
            .functions
            .insert((*name).into(), Need { indices, exits });
    }
    loop {
        let mut changed = false;
        for (name, body) in &bodies {
            let (indices, exits) = (needs.of(body), needs.exits_in_callee(body));
            let need = needs.functions.entry((*name).into()).or_default();
            changed |= need.indices != indices || need.exits != (exits || need.exits);
            need.indices = indices;
            need.exits |= exits;
        }
        if !changed {
            return needs;
        }
    }
}

impl Needs {
    /// The indices that a body reads, itself or through what it calls.
    pub fn of(&self, body: &[Statement]) -> Vec<Index> {
        let mut all = read(body);
        for callee in callees(body) {
            if let Some(need) = self.functions.get(callee) {
                all.extend(&need.indices);
            }
        }
        all.sort();
        all.dedup();
        all
    }

    /// Whether something that a body calls ends threads.
    pub fn exits_in_callee(&self, body: &[Statement]) -> bool {
        let exits = |callee: &str| self.functions.get(callee).is_some_and(|n| n.exits);
        callees(body).into_iter().any(exits)
    }

    /// Gives the functions that a body calls the indices they need.
    pub fn pass(&self, body: &mut [Statement], registers: &Registers) {
        instructions_mut(body, &mut |instruction| {
            for operand in &mut instruction.operands {
                let Operand::Call(call) = operand else {
                    continue;
                };
                let Some(need) = self.functions.get(call.callee.name.as_str()) else {
                    continue;
                };
                let given = need.indices.iter().filter_map(|i| registers.get(*i));
                call.args
                    .extend(given.map(|name| Operand::Name(ident(name))));
            }
        });
    }
}

/// Gives every device function that needs indices parameters for them.
pub fn pass_indices(module: &mut Module, needs: &Needs) {
    for item in &mut module.items {
        if let Item::Function(function) = item
            && !function.entry
            && let Some(need) = needs.functions.get(function.name.name.as_str())
            && !need.indices.is_empty()
        {
            take_indices(function, &need.indices, needs);
        }
    }
}

fn take_indices(function: &mut Function, indices: &[Index], needs: &Needs) {
    let name = function.name.name.clone();
    let parameter = |index: &Index| format!("{name}_vtw_{}", index.text());
    function.params.extend(indices.iter().map(|index| Variable {
        linkage: Linkage::Internal,
        space: Space::Param,
        align: None,
        vector: 0,
        ty: Type::B32,
        name: ident(parameter(index)),
        count: None,
        dims: Vec::new(),
        init: None,
        ptr: None,
    }));
    let Some(body) = &mut function.body else {
        return;
    };
    let registers = Registers::choose(indices, &[]);
    replace(body, &registers);
    needs.pass(body, &registers);
    let mut first = vec![super::walk::comment(
        "virtual thread blocks: the indices come from the caller",
    )];
    for index in indices {
        let (register, from) = (registers.get(*index).unwrap_or_default(), parameter(index));
        first.extend(statements(&format!(".reg .b32 {register};")));
        first.extend(statements(&format!("ld.param.u32 {register}, [{from}];")));
    }
    // Declarations first, as everywhere.
    first.sort_by_key(|s| !matches!(s, Statement::Variable(_) | Statement::Comment(_)));
    body.splice(0..0, first);
}

/// Puts registers in the place of index registers.
pub fn replace(body: &mut [Statement], registers: &Registers) {
    instructions_mut(body, &mut |instruction| {
        let mut replaced = false;
        for operand in &mut instruction.operands {
            names_mut(operand, &mut |id| {
                if let Some(register) = Index::of(&id.name).and_then(|i| registers.get(i)) {
                    id.name = register.into();
                    replaced = true;
                }
            });
        }
        // The hardware's registers can be read as 16 bits, ours have 32.
        if replaced
            && instruction.op == Op::Mov
            && matches!(
                instruction.mods.types[0],
                Some(Type::U16 | Type::S16 | Type::B16)
            )
        {
            let to = statements("cvt.u16.u32 %a, %b;");
            if let Some(Statement::Instruction(cvt)) = to.into_iter().next() {
                instruction.mnemonic = cvt.mnemonic;
            }
        }
    });
}
