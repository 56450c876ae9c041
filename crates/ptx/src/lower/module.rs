//! Module scope: functions, variables, textures, source files.

use super::immediate;
use super::layout::{element_bytes, variable_align, variable_bytes};
use crate::ast::{Function, Ident, Init, Item, Linkage, Module, Variable};
use crate::diagnostic::{Diagnostic, nearest};
use crate::isa::{Space, Type};
use crate::kernel::{RelocTarget, Relocation, Symbol};
use std::collections::HashMap;

/// The largest variable that gets initial bytes; anything above is a mistake in the file.
const LARGEST_INITIALISED: u64 = 1 << 30;

/// A variable of module scope.
#[derive(Clone, Copy, Debug)]
pub(super) enum ModuleVar<'a> {
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
pub(super) struct ModuleTable<'a> {
    functions: HashMap<&'a str, &'a Function>,
    aliases: HashMap<&'a str, &'a str>,
    variables: HashMap<&'a str, ModuleVar<'a>>,
    /// Symbols in file order.
    pub symbols: Vec<Symbol>,
    /// Names of `.texref` variables.
    pub textures: Vec<String>,
    /// `.file` table.
    pub files: Vec<(u32, String)>,
}

impl<'a> ModuleTable<'a> {
    /// Collects the module's names; mistakes go to `errors`.
    pub fn new(module: &'a Module, errors: &mut Vec<Diagnostic>) -> Self {
        let mut table = ModuleTable::default();
        let mut initialised: Vec<(&Variable, u32)> = Vec::new();
        for item in &module.items {
            match item {
                Item::Function(function) => table.add_function(function, errors),
                Item::File { index, path } => table.files.push((*index, path.clone())),
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
        // Initialisers may name symbols that are declared further down.
        for (var, index) in initialised {
            let (init, relocations) = table.encode(var, errors);
            let symbol = &mut table.symbols[index as usize];
            symbol.init = init;
            symbol.relocations = relocations;
        }
        table
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
        if matches!(var.ty, Type::Texref) {
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
        if matches!(var.ty, Type::Samplerref | Type::Surfref) {
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

    /// The function of that name, aliases followed; a definition before a declaration.
    pub fn function(&self, name: &str) -> Option<&'a Function> {
        let name = self.aliases.get(name).copied().unwrap_or(name);
        self.functions.get(name).copied()
    }

    /// The variable of that name.
    pub fn variable(&self, name: &str) -> Option<ModuleVar<'a>> {
        self.variables.get(name).copied()
    }

    /// Names of all variables and functions, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.variables.keys().chain(self.functions.keys()).copied()
    }

    fn encode(&self, var: &Variable, errors: &mut Vec<Diagnostic>) -> (Vec<u8>, Vec<Relocation>) {
        let Some(init) = &var.init else {
            return (Vec::new(), Vec::new());
        };
        let size = variable_bytes(var).unwrap_or(0);
        if size > LARGEST_INITIALISED {
            errors.push(Diagnostic::error(
                var.name.span,
                format!("`{}` is too large to be initialised", var.name.name),
            ));
            return (Vec::new(), Vec::new());
        }
        // Distance between elements by nesting depth; a vector is one more level.
        let mut strides = Vec::new();
        let mut rest = size;
        for dim in &var.dims {
            let length = dim.unwrap_or(match init {
                Init::List(items) => items.len() as u64,
                _ => 1,
            });
            rest = rest.checked_div(length).unwrap_or(0);
            strides.push(rest);
        }
        if var.vector > 1 {
            strides.push(u64::from(var.ty.bytes()));
        }
        debug_assert!(element_bytes(var) >= u64::from(var.ty.bytes()));
        let mut encoder = Encoder {
            table: self,
            var,
            strides,
            bytes: vec![0; size as usize],
            relocations: Vec::new(),
            errors,
            overflow: false,
        };
        encoder.item(init, 0, 0);
        if encoder.overflow {
            encoder.errors.push(Diagnostic::error(
                var.name.span,
                format!("`{}` has more initial values than room", var.name.name),
            ));
        }
        let (mut bytes, relocations) = (encoder.bytes, encoder.relocations);
        let last = relocations
            .iter()
            .map(|r| r.offset as usize + usize::from(r.bytes))
            .max()
            .unwrap_or(0);
        while bytes.len() > last && bytes.last() == Some(&0) {
            bytes.pop();
        }
        (bytes, relocations)
    }
}

/// Writes one variable's initial bytes.
struct Encoder<'t, 'a> {
    table: &'t ModuleTable<'a>,
    var: &'t Variable,
    strides: Vec<u64>,
    bytes: Vec<u8>,
    relocations: Vec<Relocation>,
    errors: &'t mut Vec<Diagnostic>,
    overflow: bool,
}

impl Encoder<'_, '_> {
    /// Writes `init` at `offset`; says how far it reached. Scalars in an outer level fill
    /// the inner ones one after the other, as in C.
    fn item(&mut self, init: &Init, depth: usize, offset: u64) -> u64 {
        let width = u64::from(self.var.ty.bytes());
        match init {
            Init::List(items) => {
                let stride = self.strides.get(depth).copied().unwrap_or(width);
                let mut at = offset;
                for item in items {
                    let next = self.item(item, depth + 1, at);
                    at = if matches!(item, Init::List(_)) {
                        at + stride
                    } else {
                        next
                    };
                }
                at
            }
            Init::Int(value) => {
                let bits = match self.var.ty {
                    Type::F32 => u64::from((*value as f32).to_bits()),
                    Type::F64 => (*value as f64).to_bits(),
                    _ => *value as u64,
                };
                self.put(offset, bits)
            }
            Init::Float { bits, width, .. } => match immediate::float(*bits, *width, self.var.ty) {
                Ok(bits) => self.put(offset, bits),
                Err(message) => {
                    self.errors
                        .push(Diagnostic::error(self.var.name.span, message));
                    offset + u64::from(self.var.ty.bytes())
                }
            },
            Init::Symbol {
                name,
                offset: addend,
                mask,
                ..
            } => {
                self.address(name, *addend, *mask, offset);
                offset + width
            }
        }
    }

    fn put(&mut self, offset: u64, bits: u64) -> u64 {
        let width = self.var.ty.bytes() as usize;
        let at = offset as usize;
        match self.bytes.get_mut(at..at + width) {
            Some(room) => {
                let mut value = [0u8; 16];
                value[..8].copy_from_slice(&bits.to_le_bytes());
                room.copy_from_slice(&value[..width]);
            }
            None => self.overflow = true,
        }
        offset + width as u64
    }

    fn address(&mut self, name: &Ident, addend: i64, mask: u64, offset: u64) {
        let width = self.var.ty.bytes();
        if offset + u64::from(width) > self.bytes.len() as u64 {
            self.overflow = true;
            return;
        }
        let target = match self.table.variable(&name.name) {
            Some(ModuleVar::Symbol(index, _)) => RelocTarget::Symbol(index),
            Some(_) => {
                self.errors.push(
                    Diagnostic::error(
                        name.span,
                        format!("the address of `{}` is not known before launch", name.name),
                    )
                    .with_hint("only `.global` and `.const` variables have one"),
                );
                return;
            }
            // Tables of function pointers: calls through them are refused where a kernel
            // makes them, so the entries stay zero.
            None if self.table.function(&name.name).is_some() => return,
            None => {
                let near = nearest(&name.name, self.table.names());
                let error =
                    Diagnostic::error(name.span, format!("`{}` is not declared", name.name));
                self.errors.push(match near {
                    Some(near) => error.with_hint(format!("did you mean `{near}`?")),
                    None => error,
                });
                return;
            }
        };
        let (bytes, shift) = if mask == 0 {
            (width.min(8) as u8, 0)
        } else {
            // `0xff00(symbol)` is byte 1 of the address, and so on.
            let low = mask.trailing_zeros() / 8 * 8;
            ((width as u8).min(8), low as u8)
        };
        self.relocations.push(Relocation {
            offset,
            bytes,
            shift,
            target,
            addend,
        });
    }
}
