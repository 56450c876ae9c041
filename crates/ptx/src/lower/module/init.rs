//! Initialisers of module variables.

use crate::ast::{Ident, Init, Variable};
use crate::diagnostic::Diagnostic;
use crate::isa::Type;
use crate::kernel::{RelocTarget, Relocation};
use crate::lower::module::layout::variable_bytes;
use crate::lower::module::{ModuleTable, ModuleVar};
use crate::lower::operand::immediate;
use warpsim_present::misspelt;

/// The largest variable that gets initial bytes; anything above is a mistake in the file.
const LARGEST_INITIALISED: u64 = 1 << 30;

/// The initial bytes of `var` (trailing zeros left out) and the addresses in them.
pub(in crate::lower) fn encode(
    table: &ModuleTable<'_>,
    var: &Variable,
    errors: &mut Vec<Diagnostic>,
) -> (Vec<u8>, Vec<Relocation>) {
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
    let mut encoder = Encoder {
        table,
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
            None => match self.table.address_of(&name.name) {
                Some(at) => RelocTarget::Absolute(at),
                None => {
                    let near = misspelt(&name.name, self.table.names());
                    let error =
                        Diagnostic::error(name.span, format!("`{}` is not declared", name.name));
                    self.errors.push(match near {
                        Some(near) => error.with_hint(format!("did you mean `{near}`?")),
                        None => error,
                    });
                    return;
                }
            },
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
