//! All kernels of a module, one after the other or side by side.

use super::module::ModuleTable;
use super::{Lowered, Options, in_order, lower_kernel};
use crate::ast::{Function, Item, Module, Operand, Statement};
use crate::diagnostic::Diagnostic;
use crate::kernel::Program;
use crate::lower::module::reach::each_instruction;
use crate::name::Name;
use crate::workers::side_by_side;
use std::collections::HashSet;
use std::mem;
use std::sync::{Mutex, PoisonError};

/// Statements from which on threads take less time than it takes to begin them.
const WORTH_THREADS: usize = 20_000;

/// Whether a kernel is called as a function: no manual allows it, and it is inlined like one.
pub(super) fn calls_kernels(module: &Module) -> bool {
    let mut kernels: HashSet<&str> = HashSet::new();
    for item in &module.items {
        match item {
            Item::Function(function) if function.entry => kernels.insert(&function.name.name),
            Item::Alias { alias, .. } => kernels.insert(&alias.name),
            _ => continue,
        };
    }
    let mut found = false;
    for item in &module.items {
        if let Item::Function(function) = item {
            each_instruction(function.body.as_deref().unwrap_or_default(), &mut |instr| {
                if let Some(Operand::Call(call)) = instr.operands.first() {
                    found |= kernels.contains(call.callee.name.as_str());
                }
            });
        }
    }
    found
}

/// Lowers a module whose kernels have these statements, where they are not in the tree.
pub(super) fn lower_items(
    module: &Module,
    named: &HashSet<Name>,
    bodies: Vec<Mutex<Vec<Statement>>>,
    options: Options,
) -> Result<Program, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let table = ModuleTable::new(module, named, &mut errors);
    let mut kernels = Vec::new();
    let mut rejected = Vec::new();
    let functions = module.items.iter().filter_map(|item| match item {
        Item::Function(function) if function.entry && function.body.is_some() => Some(function),
        _ => None,
    });
    let functions: Vec<&Function> = functions.collect();
    let all = lower_all(&table, &functions, &bodies, options);
    for (function, lowered) in functions.iter().zip(all) {
        errors.extend(lowered.errors);
        if !lowered.unsupported.is_empty() {
            rejected.push((
                function.name.name.to_string(),
                in_order(lowered.unsupported),
            ));
        } else if let Some(kernel) = lowered.kernel {
            kernels.push(kernel);
        }
    }
    if !errors.is_empty() {
        return Err(in_order(errors));
    }
    Ok(Program {
        kernels,
        symbols: table.symbols,
        files: table.files,
        textures: table.textures,
        rejected,
    })
}

/// Lowers kernels, side by side where there is much to do.
fn lower_all(
    table: &ModuleTable<'_>,
    functions: &[&Function],
    bodies: &[Mutex<Vec<Statement>>],
    options: Options,
) -> Vec<Lowered> {
    let lower = |function: &Function, body: &[Statement]| {
        let lowered = lower_kernel(table, function, body, options.inline_limit);
        match lowered.too_large && options.inline_limit.is_none() {
            true => lower_kernel(table, function, body, Some(0)),
            false => lowered,
        }
    };
    let one = |n: usize| match bodies.get(n) {
        Some(body) => {
            let body = mem::take(&mut *body.lock().unwrap_or_else(PoisonError::into_inner));
            lower(functions[n], &body)
        }
        None => lower(functions[n], statements(functions[n])),
    };
    let held = |body: &Mutex<Vec<Statement>>| body.lock().map_or(0, |body| body.len());
    let in_tree = functions.iter().map(|function| statements(function).len());
    if in_tree.chain(bodies.iter().map(held)).sum::<usize>() > WORTH_THREADS {
        let made = side_by_side(functions.len(), || (), |(), n| Some(one(n)));
        return made.unwrap_or_default();
    }
    (0..functions.len()).map(one).collect()
}

fn statements(function: &Function) -> &[Statement] {
    function.body.as_deref().unwrap_or_default()
}
