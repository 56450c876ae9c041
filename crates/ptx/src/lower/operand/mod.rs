//! Operands: names and literals turned into registers, bits and addresses, with checks.

pub(in crate::lower) mod immediate;
pub(in crate::lower) mod shape;
pub(in crate::lower) mod special;

use crate::ast::{self, Ident, Span};
use crate::isa::{Mods, Op, Space, Type};
use crate::kernel::{Operand, RegClass, RegId, TEXREF_HANDLES};
use crate::lower::builder::{Builder, Resolved};
use crate::lower::scope::Entity;
use immediate::spelled;
use shape::Kind;
use special::special_bytes;
use std::borrow::Cow;
use std::slice;

/// Where an operand stands in the text.
pub(in crate::lower) fn span_of(operand: &ast::Operand) -> Span {
    match operand {
        ast::Operand::Name(id)
        | ast::Operand::Not(id)
        | ast::Operand::Negate(id)
        | ast::Operand::Offset(id, _) => id.span,
        ast::Operand::Int(_, span)
        | ast::Operand::Float { span, .. }
        | ast::Operand::Sink(span)
        | ast::Operand::Address { span, .. }
        | ast::Operand::Vector(_, span) => *span,
        ast::Operand::Texture(fetch) => fetch.span,
        ast::Operand::Call(call) => call.callee.span,
        ast::Operand::Pair(a, _) => span_of(a),
    }
}

/// The kind of thing an operand is, for messages.
fn described(operand: &ast::Operand) -> &'static str {
    match operand {
        ast::Operand::Name(_) => "a name",
        ast::Operand::Not(_) => "a negated predicate",
        ast::Operand::Negate(_) => "a negated operand",
        ast::Operand::Int(..) => "an integer",
        ast::Operand::Float { .. } => "a floating-point literal",
        ast::Operand::Sink(_) => "`_`",
        ast::Operand::Address { .. } => "an address in brackets",
        ast::Operand::Vector(..) => "a vector",
        ast::Operand::Pair(..) => "a pair",
        ast::Operand::Offset(..) => "an address",
        ast::Operand::Texture(_) => "a texture",
        ast::Operand::Call(_) => "a call",
    }
}

impl Builder<'_> {
    /// A source operand of the given kind; `text` is the instruction as written.
    #[inline]
    pub(in crate::lower) fn source(
        &mut self,
        operand: &ast::Operand,
        kind: Kind,
        text: &str,
    ) -> Option<Operand> {
        match operand {
            ast::Operand::Name(id) => match self.recent(&id.name) {
                Some(reg) => self
                    .check_register(reg, kind, text, id)
                    .then_some(Operand::Reg(reg)),
                None => self.named_source(id, 0, kind, text),
            },
            ast::Operand::Offset(id, offset) => self.named_source(id, *offset, kind, text),
            ast::Operand::Not(id) if kind == Kind::Pred => {
                let reg = self.named_register(id)?;
                self.check_register(reg, kind, text, id)
                    .then_some(Operand::NotReg(reg))
            }
            ast::Operand::Int(value, at) => {
                let ty = match kind {
                    Kind::Value(ty) | Kind::AtLeast(ty) => ty,
                    Kind::Pred => Type::Pred,
                    Kind::Pointer => Type::U64,
                };
                match immediate::integer(*value, ty) {
                    Ok(bits) => Some(Operand::Imm(bits)),
                    Err(message) => {
                        self.error_hint(*at, message, "write it as `0f…` or `0d…`");
                        None
                    }
                }
            }
            ast::Operand::Float {
                bits,
                width,
                span: at,
            } => match kind {
                Kind::Value(ty) | Kind::AtLeast(ty) => match immediate::float(*bits, *width, ty) {
                    Ok(bits) => Some(Operand::Imm(bits)),
                    Err(message) => {
                        self.error(*at, message);
                        None
                    }
                },
                _ => self.wrong_kind(operand, kind, text),
            },
            _ => self.wrong_kind(operand, kind, text),
        }
    }

    fn wrong_kind(&mut self, operand: &ast::Operand, kind: Kind, text: &str) -> Option<Operand> {
        let needed = match kind {
            Kind::Pred => "a predicate".to_string(),
            Kind::Pointer => "an address in a register".to_string(),
            Kind::Value(ty) | Kind::AtLeast(ty) => format!("a `.{}` value", spelled(ty)),
        };
        self.error(
            span_of(operand),
            format!("`{text}` needs {needed} here, not {}", described(operand)),
        );
        None
    }

    fn named_source(&mut self, id: &Ident, offset: i64, kind: Kind, text: &str) -> Option<Operand> {
        let address = |at: u64| Some(Operand::Imm((at as i64).wrapping_add(offset) as u64));
        let found = self.resolve(id)?;
        match found {
            Resolved::Entity(Entity::Register(reg)) if offset == 0 => self
                .check_register(reg, kind, text, id)
                .then_some(Operand::Reg(reg)),
            Resolved::Entity(Entity::Shared(at) | Entity::Local(at)) => {
                self.check_address(id, kind, text)?;
                address(at)
            }
            Resolved::Entity(Entity::ParamMemory(at, _) | Entity::KernelParam(at)) => {
                self.check_address(id, kind, text)?;
                address(at)
            }
            Resolved::Symbol(index, _) => {
                self.check_address(id, kind, text)?;
                Some(Operand::Symbol { index, offset })
            }
            Resolved::Special(special) if offset == 0 => {
                let bytes = special_bytes(special);
                match kind {
                    Kind::Value(ty) | Kind::AtLeast(ty) if ty.bytes() <= bytes => {
                        Some(Operand::Special(special))
                    }
                    Kind::Pointer | Kind::Pred => {
                        self.error(id.span, format!("`{text}` cannot read `{}` here", id.name));
                        None
                    }
                    Kind::Value(ty) | Kind::AtLeast(ty) => {
                        self.error(
                            id.span,
                            format!(
                                "`{}` has {} bits but `{text}` needs {} here",
                                id.name,
                                bytes * 8,
                                ty.bytes() * 8
                            ),
                        );
                        None
                    }
                }
            }
            Resolved::Entity(Entity::InFrame(base, at)) => {
                self.check_address(id, kind, text)?;
                Some(self.frame_address(base, at, offset, kind))
            }
            Resolved::Function(at) if offset == 0 => {
                self.check_address(id, kind, text)?;
                address(at)
            }
            Resolved::Texture(index) if offset == 0 => {
                self.check_address(id, kind, text)?;
                Some(Operand::Imm(TEXREF_HANDLES + u64::from(index)))
            }
            Resolved::Texture(_) | Resolved::Unusable => {
                self.unsupported(
                    id.span,
                    format!(
                        "`{}` as an operand of `{text}` is not supported yet",
                        id.name
                    ),
                );
                None
            }
            other => {
                let what = what_is(&other);
                self.error(
                    id.span,
                    format!("`{}` is {what}; `{text}` cannot use it here", id.name),
                );
                None
            }
        }
    }

    /// The address of something in a function's part of the stack.
    fn frame_address(&mut self, base: RegId, at: u64, offset: i64, kind: Kind) -> Operand {
        let mut mods = Mods::default();
        mods.types[0] = Some(Type::U32);
        let span = Span::default();
        let narrow = self.new_register("%place", Type::U32, span);
        let at = (at as i64).wrapping_add(offset) as u64;
        let src = vec![Operand::Reg(base), Operand::Imm(at)];
        self.emit(Op::Add, mods, vec![Operand::Reg(narrow)], src);
        let is_narrow = matches!(kind, Kind::Value(ty) | Kind::AtLeast(ty) if ty.bytes() == 4);
        if is_narrow {
            return Operand::Reg(narrow);
        }
        let wide = self.new_register("%place", Type::U64, span);
        mods.types = [Some(Type::U64), Some(Type::U32), None];
        let src = vec![Operand::Reg(narrow)];
        self.emit(Op::Cvt, mods, vec![Operand::Reg(wide)], src);
        Operand::Reg(wide)
    }

    /// Addresses of variables fit only where an integer of 32 or 64 bits is read.
    fn check_address(&mut self, id: &Ident, kind: Kind, text: &str) -> Option<()> {
        let fits = match kind {
            Kind::Pointer => true,
            Kind::Pred => false,
            Kind::Value(ty) | Kind::AtLeast(ty) => ty.bytes() >= 4 && !ty.is_float(),
        };
        if !fits {
            self.error(
                id.span,
                format!(
                    "the address of `{}` does not fit the type of `{text}`",
                    id.name
                ),
            );
        }
        fits.then_some(())
    }

    /// The register that a name stands for.
    pub(in crate::lower) fn named_register(&mut self, id: &Ident) -> Option<RegId> {
        self.register_or(id, || "a register is needed here".into())
    }

    /// The register that a name stands for; what is needed instead of anything else, for the message.
    fn register_or(&mut self, id: &Ident, needed: impl Fn() -> String) -> Option<RegId> {
        match self.resolve(id)? {
            Resolved::Entity(Entity::Register(reg)) => Some(reg),
            other => {
                let (needed, what) = (needed(), what_is(&other));
                self.error(id.span, format!("{needed}; `{}` is {what}", id.name));
                None
            }
        }
    }

    /// A guard or other predicate.
    pub(in crate::lower) fn predicate(&mut self, id: &Ident) -> Option<RegId> {
        let reg = self.named_register(id)?;
        if self.register(reg).class != RegClass::Pred {
            let ty = spelled(self.register(reg).ty);
            self.error(
                id.span,
                format!(
                    "`{}` is a `.{ty}` register; a predicate is needed here",
                    id.name
                ),
            );
            return None;
        }
        Some(reg)
    }

    /// Checks a register's width against what the position needs.
    #[inline]
    fn check_register(&mut self, reg: RegId, kind: Kind, text: &str, id: &Ident) -> bool {
        let register = self.register(reg);
        let is_pred = register.class == RegClass::Pred;
        match kind {
            Kind::Value(needed) if !is_pred && register.ty.bytes() == needed.bytes() => true,
            _ => self.check_other(reg, kind, text, id),
        }
    }

    /// Checks a register that is not simply as wide as the type.
    fn check_other(&mut self, reg: RegId, kind: Kind, text: &str, id: &Ident) -> bool {
        let register = self.register(reg);
        let ty = register.ty;
        let is_pred = register.class == RegClass::Pred;
        let problem = match kind {
            Kind::Pred if !is_pred => Some(format!(
                "`{}` is a `.{}` register but `{text}` needs a predicate here",
                id.name,
                spelled(ty)
            )),
            Kind::Pred => None,
            _ if is_pred => Some(format!(
                "`{}` is a predicate but `{text}` needs a value here",
                id.name
            )),
            Kind::Pointer => (ty.bytes() < 4).then(|| {
                format!(
                    "`{}` has {} bits, too few for an address",
                    id.name,
                    ty.bytes() * 8
                )
            }),
            Kind::Value(needed) => (ty.bytes() != needed.bytes()).then(|| {
                format!(
                    "`{}` has {} bits but `{text}` needs {} here",
                    id.name,
                    ty.bytes() * 8,
                    needed.bytes() * 8
                )
            }),
            Kind::AtLeast(needed) => (ty.bytes() < needed.bytes()).then(|| {
                format!(
                    "`{}` has {} bits but `{text}` needs at least {} here",
                    id.name,
                    ty.bytes() * 8,
                    needed.bytes() * 8
                )
            }),
        };
        match problem {
            Some(message) => {
                let hint = format!("`{}` is declared `.{}`", id.name, spelled(ty));
                self.error_hint(id.span, message, hint);
                false
            }
            None => true,
        }
    }

    /// A destination of the given kind.
    #[inline]
    pub(in crate::lower) fn destination(
        &mut self,
        operand: &ast::Operand,
        kind: Kind,
        text: &str,
    ) -> Option<Operand> {
        match operand {
            ast::Operand::Sink(_) => Some(Operand::Sink),
            ast::Operand::Name(id) => {
                let recent = self.recent(&id.name);
                let reg = match recent {
                    Some(reg) => reg,
                    None => self.written_register(id, text)?,
                };
                self.check_register(reg, kind, text, id)
                    .then_some(Operand::Reg(reg))
            }
            _ => {
                self.error(
                    span_of(operand),
                    format!("`{text}` writes a register, not {}", described(operand)),
                );
                None
            }
        }
    }

    /// The register that a name stands for, which is written.
    fn written_register(&mut self, id: &Ident, text: &str) -> Option<RegId> {
        self.register_or(id, || format!("`{text}` writes a register"))
    }

    /// The elements of a vector operand: `{a, b}` or a vector register. A scalar is a
    /// vector of one.
    pub(in crate::lower) fn elements<'o>(
        &mut self,
        operand: &'o ast::Operand,
    ) -> Cow<'o, [ast::Operand]> {
        match operand {
            ast::Operand::Vector(list, _) => Cow::Borrowed(list),
            ast::Operand::Name(id) => match self.find(&id.name, id.span) {
                Some(Resolved::Entity(Entity::Vector(parts))) => ["x", "y", "z", "w"]
                    .iter()
                    .take(parts.len())
                    .map(|part| {
                        ast::Operand::Name(Ident {
                            name: format!("{}.{part}", id.name).into(),
                            span: id.span,
                        })
                    })
                    .collect(),
                _ => Cow::Borrowed(slice::from_ref(operand)),
            },
            _ => Cow::Borrowed(slice::from_ref(operand)),
        }
    }
}

/// What a resolved name is, for messages.
pub(in crate::lower) fn what_is(found: &Resolved) -> &'static str {
    match found {
        Resolved::Entity(entity) => match entity {
            Entity::Register(_) => "a register",
            Entity::Vector(_) => "a vector register",
            Entity::ParamRegister(..) | Entity::ParamMemory(..) | Entity::KernelParam(_) => {
                "a parameter"
            }
            Entity::Shared(_) => "a shared variable",
            Entity::Local(_) | Entity::InFrame(..) => "a local variable",
            Entity::Label(_) => "a label",
            Entity::Targets(_) => "a list of branch targets",
            Entity::Prototype(..) => "a call prototype",
            Entity::Callees(_) => "a list of functions",
        },
        Resolved::Symbol(_, Space::Const) => "a constant variable",
        Resolved::Symbol(..) => "a global variable",
        Resolved::Texture(_) => "a texture",
        Resolved::Special(_) => "a special register",
        Resolved::Function(_) => "a function",
        Resolved::Unusable => "a variable that code cannot use here",
    }
}
