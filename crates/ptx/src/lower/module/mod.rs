//! Module scope: functions, variables, textures, source files.

pub(in crate::lower) mod init;
pub(in crate::lower) mod layout;
pub(in crate::lower) mod reach;

use crate::ast::{Function, Init, Item, Linkage, Module, Variable};
use crate::diagnostic::Diagnostic;
use crate::isa::{Space, Type};
use crate::kernel::{FUNCTION_ADDRESSES, Symbol};
use crate::name::{Name, NameTable};
use crate::origin::Files;
use init::encode;
use layout::{variable_align, variable_bytes};
use reach::{each_instruction, names};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A variable of module scope.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) enum ModuleVar<'a> {
    /// `.global` or `.const`: index of its symbol, and its space.
    Symbol(u32, Space),
    /// `.shared`, laid out kernel by kernel.
    Shared(&'a Variable),
    /// `.texref`: index in the program's list.
    Texture(u32),
    /// Known, but nothing that code here can use: `.local` or `.samplerref` and the like.
    Other,
}

/// All names of module scope.
#[derive(Debug, Default)]
pub(in crate::lower) struct ModuleTable<'a> {
    functions: NameTable<&'a str, &'a Function>,
    aliases: HashMap<&'a str, &'a str>,
    variables: NameTable<&'a str, ModuleVar<'a>>,
    /// Symbols in file order.
    pub symbols: Vec<Symbol>,
    /// Names of `.texref` variables.
    pub textures: Vec<String>,
    /// `.file` table.
    pub files: Arc<Files>,
    /// Functions by number, in file order.
    numbers: HashMap<&'a str, u32>,
    /// Those whose address is taken.
    taken: Vec<&'a str>,
}

impl<'a> ModuleTable<'a> {
    /// Collects the module's names; mistakes go to `errors`.
    /// `named` are the functions whose names are used as values.
    pub fn new(module: &'a Module, named: &HashSet<Name>, errors: &mut Vec<Diagnostic>) -> Self {
        let mut table = ModuleTable::default();
        let mut initialised: Vec<(&Variable, u32)> = Vec::new();
        for item in &module.items {
            match item {
                Item::Function(function) => table.add_function(function, errors),
                Item::File { index, path } => {
                    Arc::make_mut(&mut table.files).push((*index, path.clone()));
                }
                Item::Alias { alias, target } => {
                    table.aliases.insert(&alias.name, &target.name);
                }
                Item::Variable(var) => {
                    if let Some(index) = table.add_variable(var, errors) {
                        initialised.push((var, index));
                    }
                }
                Item::Section { .. } | Item::Pragma(_) | Item::CallPrototype(_) => {}
            }
        }
        table.find_taken(module, named);
        // Initialisers may name symbols that are declared further down.
        for (var, index) in initialised {
            let (init, relocations) = encode(&table, var, errors);
            let symbol = &mut table.symbols[index as usize];
            symbol.init = init;
            symbol.relocations = relocations;
        }
        table
    }

    /// Notes the functions whose address is taken.
    fn find_taken(&mut self, module: &'a Module, named: &HashSet<Name>) {
        for item in &module.items {
            if let Item::Function(function) = item {
                let name = &*function.name.name;
                let next = self.numbers.len() as u32;
                self.numbers.entry(name).or_insert(next);
                let aliased = self
                    .aliases
                    .iter()
                    .any(|(alias, of)| *of == name && named.contains(*alias));
                if !function.entry
                    && (named.contains(name) || aliased)
                    && !self.taken.contains(&name)
                {
                    self.taken.push(name);
                }
            }
        }
    }

    fn add_function(&mut self, function: &'a Function, errors: &mut Vec<Diagnostic>) {
        match self.functions.get(function.name.name.as_str()) {
            Some(other) if other.body.is_some() && function.body.is_some() => {
                // A weak definition gives way to the first one.
                if function.linkage != Linkage::Weak && other.linkage != Linkage::Weak {
                    errors.push(
                        Diagnostic::error(
                            function.name.span,
                            format!("`{}` is defined twice", function.name.name),
                        )
                        .with_hint(format!("the first is on line {}", other.name.span.line)),
                    );
                } else if other.linkage == Linkage::Weak {
                    self.functions.insert(&function.name.name, function);
                }
            }
            Some(other) if other.body.is_some() => {}
            _ => {
                self.functions.insert(&function.name.name, function);
            }
        }
    }

    /// Enters a variable; says which symbol wants an initialiser.
    fn add_variable(&mut self, var: &'a Variable, errors: &mut Vec<Diagnostic>) -> Option<u32> {
        let name = var.name.name.as_str();
        // Surfaces are bound like textures.
        if matches!(var.ty, Type::Texref | Type::Surfref) {
            let index = self.textures.len() as u32;
            if self
                .variables
                .insert(name, ModuleVar::Texture(index))
                .is_none()
            {
                self.textures.push(name.to_string());
            }
            return None;
        }
        if matches!(var.ty, Type::Samplerref) {
            self.variables.insert(name, ModuleVar::Other);
            return None;
        }
        let Some(size) = variable_bytes(var).filter(|s| *s < 1 << 40) else {
            errors.push(Diagnostic::error(
                var.name.span,
                format!("`{name}` is too large"),
            ));
            return None;
        };
        match var.space {
            Space::Shared => {
                let known = matches!(self.variables.get(name), Some(ModuleVar::Shared(v)) if v.linkage != Linkage::Extern);
                if !(known && var.linkage == Linkage::Extern) {
                    self.variables.insert(name, ModuleVar::Shared(var));
                }
                None
            }
            Space::Global | Space::Const => {
                let external = var.linkage == Linkage::Extern;
                let symbol = Symbol {
                    name: name.to_string(),
                    space: var.space,
                    size,
                    align: variable_align(var),
                    init: Vec::new(),
                    relocations: Vec::new(),
                    external,
                };
                match self.variables.get(name) {
                    // A declaration and its definition are one symbol; the definition counts.
                    Some(ModuleVar::Symbol(index, _)) => {
                        let index = *index;
                        let old = &mut self.symbols[index as usize];
                        if external {
                            return None;
                        }
                        let replaces =
                            old.external || matches!(var.linkage, Linkage::Weak | Linkage::Common);
                        if !replaces {
                            errors.push(Diagnostic::error(
                                var.name.span,
                                format!("`{name}` is defined twice"),
                            ));
                            return None;
                        }
                        if !old.external {
                            return None;
                        }
                        *old = symbol;
                        Some(index)
                    }
                    _ => {
                        let index = self.symbols.len() as u32;
                        self.symbols.push(symbol);
                        self.variables
                            .insert(name, ModuleVar::Symbol(index, var.space));
                        Some(index)
                    }
                }
            }
            _ => {
                self.variables.insert(name, ModuleVar::Other);
                None
            }
        }
    }

    /// What code sees as the address of a function.
    pub fn address_of(&self, name: &str) -> Option<u64> {
        let function = self.function(name)?;
        let at = self.numbers.get(function.name.name.as_str())?;
        Some(FUNCTION_ADDRESSES + 16 * u64::from(*at))
    }

    /// Functions whose address code or data takes, in file order.
    pub fn taken(&self) -> impl Iterator<Item = &'a Function> + '_ {
        self.taken.iter().filter_map(|name| self.function(name))
    }

    /// The function of that name, aliases followed; a definition before a declaration.
    pub fn function(&self, name: &str) -> Option<&'a Function> {
        let name = self.aliases.get(name).copied().unwrap_or(name);
        self.functions.get(name).copied()
    }

    /// The variable of that name.
    pub fn variable(&self, name: &str) -> Option<ModuleVar<'a>> {
        self.variables.get(name).copied()
    }

    /// Whether the module has `.shared` variables.
    pub fn has_shared(&self) -> bool {
        let shared = |var: &ModuleVar<'_>| matches!(var, ModuleVar::Shared(_));
        self.variables.values().any(shared)
    }

    /// Names of all variables and functions, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.variables.keys().chain(self.functions.keys()).copied()
    }
}

/// The functions and aliases that code or initialisers name as a value, not to call them.
pub(in crate::lower) fn named_functions(module: &Module) -> HashSet<Name> {
    // Of the names that files are full of, those that can be a function's.
    let candidates: HashSet<Name> = (module.items.iter())
        .filter_map(|item| match item {
            Item::Function(function) if !function.entry => Some(function.name.name.clone()),
            Item::Alias { alias, .. } => Some(alias.name.clone()),
            _ => None,
        })
        .collect();
    let mut named = HashSet::new();
    if candidates.is_empty() {
        return named;
    }
    let mut find = |name: &str| {
        if let Some(name) = candidates.get(name) {
            named.insert(Name::clone(name));
        }
    };
    for item in &module.items {
        match item {
            Item::Variable(Variable {
                init: Some(init), ..
            }) => in_init(init, &mut find),
            Item::Function(Function {
                body: Some(body), ..
            }) => each_instruction(body, &mut |instr| {
                instr.operands.iter().for_each(|o| names(o, &mut find));
            }),
            _ => {}
        }
    }
    named
}

/// The names that an initialiser mentions.
fn in_init<'a>(init: &'a Init, found: &mut impl FnMut(&'a str)) {
    match init {
        Init::List(items) => items.iter().for_each(|item| in_init(item, found)),
        Init::Symbol { name, .. } => found(&name.name),
        _ => {}
    }
}
