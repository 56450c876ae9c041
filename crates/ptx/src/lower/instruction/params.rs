//! Parameters of device functions and calls.
//!
//! A scalar that is only ever loaded and stored whole is kept in a register, so that a call
//! costs moves. Everything else (arrays of bytes, parts of a scalar, vectors, parameters
//! whose address is taken) lives in the thread's local memory with the layout it declares.

use crate::ast::{AddressBase, Operand as Written, Statement, Variable};
use crate::isa::{Mods, Op, Space, Type};
use crate::kernel::{AddrBase, Operand, RegClass, RegId};
use crate::lower::LARGEST_PARAMS;
use crate::lower::builder::Builder;
use crate::lower::module::layout::{variable_align, variable_bytes};
use crate::lower::module::reach::names;
use crate::lower::scope::Entity;
use std::collections::{HashMap, HashSet};

/// Which parameter names of a statement list cannot be kept in a register.
#[derive(Debug, Default)]
pub(in crate::lower) struct ParamUse<'a> {
    in_memory: HashSet<&'a str>,
    bytes: HashMap<&'a str, u32>,
}

impl<'a> ParamUse<'a> {
    /// Looks at all accesses in `list` and the blocks inside.
    pub fn of(list: &'a [Statement]) -> Self {
        let mut usage = ParamUse::default();
        let mut lists = vec![list];
        while let Some(list) = lists.pop() {
            for statement in list {
                match statement {
                    Statement::Block(inner) => lists.push(inner),
                    Statement::Instruction(instr) => {
                        for operand in &instr.operands {
                            usage.operand(instr.op, &instr.mods, operand);
                        }
                    }
                    _ => {}
                }
            }
        }
        usage
    }

    fn operand(&mut self, op: Op, mods: &Mods, operand: &'a Written) {
        match operand {
            Written::Call { .. } => {}
            Written::Address {
                base: AddressBase::Name(id),
                offset,
                ..
            } => {
                let bytes = mods.types[0].map_or(0, Type::bytes);
                let whole = *offset == 0 && mods.vector <= 1 && matches!(op, Op::Ld | Op::St);
                let known = *self.bytes.entry(&id.name).or_insert(bytes);
                if !whole || known != bytes {
                    self.in_memory.insert(&id.name);
                }
            }
            other => names(other, &mut |name| {
                self.in_memory.insert(name);
            }),
        }
    }

    /// Can `formal` use the register of a parameter of type `ty` on the other side of a call?
    pub fn can_share(&self, formal: &Variable, ty: Type) -> bool {
        formal.space == Space::Param
            && self.keeps_in_register(formal)
            && formal.ty.bytes() == ty.bytes()
    }

    fn keeps_in_register(&self, var: &Variable) -> bool {
        let name = var.name.name.as_str();
        var.dims.is_empty()
            && var.vector <= 1
            && var.ty.bytes() <= 8
            && !self.in_memory.contains(name)
            && self.bytes.get(name).is_none_or(|b| *b == var.ty.bytes())
    }
}

fn bits(signed: bool, bytes: u32) -> Type {
    match (signed, bytes) {
        (true, 1) => Type::S8,
        (true, 2) => Type::S16,
        (true, 4) => Type::S32,
        (true, _) => Type::S64,
        (false, 1) => Type::U8,
        (false, 2) => Type::U16,
        (false, 4) => Type::U32,
        (false, _) => Type::U64,
    }
}

fn typed(types: &[Type]) -> Mods {
    let mut mods = Mods::default();
    for (place, ty) in mods.types.iter_mut().zip(types) {
        *place = Some(*ty);
    }
    mods
}

type Guard = Option<(RegId, bool)>;

impl Builder<'_> {
    /// The place of a parameter of a device function or call.
    pub(in crate::lower) fn param_entity(
        &mut self,
        var: &Variable,
        usage: &ParamUse<'_>,
    ) -> Entity {
        if var.space == Space::Reg {
            return self.new_entity(&var.name.name, var.ty, var.vector, var.name.span);
        }
        if usage.keeps_in_register(var) {
            // Parameters narrower than a register are kept zero-extended to 32 bits.
            let ty = if var.ty.bytes() < 4 {
                Type::B32
            } else {
                var.ty
            };
            let reg = self.new_register(&var.name.name, ty, var.name.span);
            return Entity::ParamRegister(reg, var.ty);
        }
        let bytes = variable_bytes(var).unwrap_or(u64::MAX);
        if bytes > LARGEST_PARAMS {
            self.error(
                var.name.span,
                format!("parameter `{}` is too large", var.name.name),
            );
            return Entity::ParamMemory(0, LARGEST_PARAMS);
        }
        let offset = self.allocate_local(bytes, variable_align(var));
        Entity::ParamMemory(offset, bytes)
    }

    /// `ld.param` of a parameter in a register: as wide as the destination, extended by the
    /// type of the load.
    pub(in crate::lower) fn move_out(&mut self, to: RegId, from: RegId, ty: Type, guard: Guard) {
        let (width, kept) = (self.register(to).ty.bytes(), self.register(from).ty.bytes());
        let (dst, src) = (vec![Operand::Reg(to)], vec![Operand::Reg(from)]);
        let instr = if width == kept && kept == ty.bytes() {
            self.emit(Op::Mov, typed(&[bits(false, width)]), dst, src)
        } else {
            let signed = ty.is_signed();
            let mods = typed(&[bits(signed, width), bits(signed, ty.bytes())]);
            self.emit(Op::Cvt, mods, dst, src)
        };
        instr.guard = guard;
    }

    /// `st.param` to a parameter in a register.
    pub(in crate::lower) fn move_in(&mut self, to: RegId, value: Operand, ty: Type, guard: Guard) {
        let kept = self.register(to).ty.bytes();
        let wide_source = match value {
            Operand::Reg(reg) => self.register(reg).ty.bytes() != kept,
            _ => false,
        };
        let (dst, src) = (vec![Operand::Reg(to)], vec![value]);
        let instr = if ty.bytes() == kept && !wide_source {
            self.emit(Op::Mov, typed(&[bits(false, kept)]), dst, src)
        } else {
            let mods = typed(&[bits(false, kept), bits(false, ty.bytes())]);
            self.emit(Op::Cvt, mods, dst, src)
        };
        instr.guard = guard;
    }

    /// Hands a value over, into or out of a call: `to` is the receiving parameter, `ty` the
    /// declared type of the parameter. False when the two do not fit each other.
    pub(in crate::lower) fn hand_over(&mut self, to: &Entity, from: &Passed, ty: Type) -> bool {
        match (to, from) {
            (Entity::ParamRegister(to, _), Passed::Value(value)) => {
                self.move_in(*to, *value, ty, None);
            }
            (Entity::ParamRegister(to, kept), Passed::Entity(Entity::ParamRegister(from, ty))) => {
                if kept.bytes() != ty.bytes() {
                    return false;
                }
                let width = self.register(*to).ty.bytes();
                let mods = typed(&[bits(false, width)]);
                self.emit(
                    Op::Mov,
                    mods,
                    vec![Operand::Reg(*to)],
                    vec![Operand::Reg(*from)],
                );
            }
            (Entity::ParamRegister(to, kept), Passed::Entity(Entity::Register(from))) => {
                if !self.same_file(*from, *to) || self.register(*from).ty.bytes() < kept.bytes() {
                    return false;
                }
                self.move_in(*to, Operand::Reg(*from), *kept, None);
            }
            (Entity::ParamRegister(to, kept), Passed::Entity(Entity::ParamMemory(at, size))) => {
                if *size != u64::from(kept.bytes()) {
                    return false;
                }
                self.emit_local(Op::Ld, *kept, *at, Operand::Reg(*to));
            }
            (Entity::Register(to), Passed::Value(value)) => {
                let ty = self.register(*to).ty;
                let mods = typed(&[ty]);
                self.emit(Op::Mov, mods, vec![Operand::Reg(*to)], vec![*value]);
            }
            (Entity::Register(to), Passed::Entity(Entity::Register(from))) => {
                let (a, b) = (self.register(*to), self.register(*from));
                if a.class != b.class || a.ty.bytes() != b.ty.bytes() {
                    return false;
                }
                let mods = typed(&[a.ty]);
                self.emit(
                    Op::Mov,
                    mods,
                    vec![Operand::Reg(*to)],
                    vec![Operand::Reg(*from)],
                );
            }
            (Entity::Register(to), Passed::Entity(Entity::ParamRegister(from, kept))) => {
                if !self.same_file(*from, *to) || self.register(*to).ty.bytes() < kept.bytes() {
                    return false;
                }
                self.move_out(*to, *from, *kept, None);
            }
            (Entity::Register(to), Passed::Entity(Entity::ParamMemory(at, size))) => {
                if *size > u64::from(self.register(*to).ty.bytes()) || ty.bytes() > 8 {
                    return false;
                }
                self.emit_local(Op::Ld, ty, *at, Operand::Reg(*to));
            }
            (Entity::ParamMemory(at, size), Passed::Entity(Entity::ParamRegister(from, kept))) => {
                if *size != u64::from(kept.bytes()) {
                    return false;
                }
                self.emit_local(Op::St, *kept, *at, Operand::Reg(*from));
            }
            (Entity::ParamMemory(at, size), Passed::Value(value)) => {
                if *size != u64::from(ty.bytes()) {
                    return false;
                }
                self.emit_local(Op::St, ty, *at, *value);
            }
            (Entity::ParamMemory(at, size), Passed::Entity(Entity::Register(from))) => {
                if *size != u64::from(ty.bytes()) || self.register(*from).ty.bytes() < ty.bytes() {
                    return false;
                }
                self.emit_local(Op::St, ty, *at, Operand::Reg(*from));
            }
            (Entity::ParamMemory(to, room), Passed::Entity(Entity::ParamMemory(from, size))) => {
                if room != size {
                    return false;
                }
                self.copy_local(*to, *from, *size);
            }
            _ => return false,
        }
        true
    }

    fn same_file(&self, a: RegId, b: RegId) -> bool {
        (self.register(a).class == RegClass::Pred) == (self.register(b).class == RegClass::Pred)
    }

    fn emit_local(&mut self, op: Op, ty: Type, at: u64, value: Operand) {
        let mut mods = typed(&[bits(false, ty.bytes())]);
        mods.space = Some(Space::Local);
        let address = Operand::Address {
            base: AddrBase::Zero,
            offset: at as i64,
        };
        if op == Op::Ld {
            self.emit(op, mods, vec![value], vec![address]);
        } else {
            self.emit(op, mods, vec![], vec![address, value]);
        }
    }

    /// Copies bytes within local memory, in the widest steps that both sides allow.
    fn copy_local(&mut self, to: u64, from: u64, size: u64) {
        let span = crate::ast::Span::default();
        let mut done = 0;
        while done < size {
            let step = [8, 4, 2, 1]
                .into_iter()
                .find(|s| {
                    (to + done).is_multiple_of(*s)
                        && (from + done).is_multiple_of(*s)
                        && size - done >= *s
                })
                .unwrap_or(1);
            let ty = bits(false, step as u32);
            let kept = if step == 8 { Type::U64 } else { Type::U32 };
            let reg = Operand::Reg(self.new_register("%copy", kept, span));
            self.emit_local(Op::Ld, ty, from + done, reg);
            self.emit_local(Op::St, ty, to + done, reg);
            done += step;
        }
    }
}

/// What stands on the giving side of a call.
#[derive(Debug)]
pub(in crate::lower) enum Passed {
    /// A parameter or register.
    Entity(Entity),
    /// An immediate, address or special register.
    Value(Operand),
}
