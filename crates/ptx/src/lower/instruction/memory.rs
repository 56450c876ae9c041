//! Loads, stores, atomics and prefetches.

use crate::ast::{self, AddressBase, Instruction};
use crate::isa::{AtomOp, Mods, Op, Space, Type};
use crate::kernel::{AddrBase, Destinations, Operand, RegClass, RegId, Sources};
use crate::lower::builder::{Builder, Resolved};
use crate::lower::operand::shape::Kind;
use crate::lower::operand::{span_of, what_is};
use crate::lower::scope::Entity;
use std::borrow::Cow;

/// What an address in brackets turned out to be.
pub(in crate::lower) enum Place {
    /// Memory.
    Memory(Operand),
    /// A scalar parameter that is kept in a register.
    Register(RegId),
}

type Guard = Option<(RegId, bool)>;

impl Builder<'_> {
    /// Resolves the address of something that lies in memory; where it names a register, that is an error,
    /// for this `reason`.
    pub(in crate::lower) fn address_in_memory(
        &mut self,
        operand: &ast::Operand,
        instr: &Instruction,
        reason: &str,
    ) -> Option<Operand> {
        let mut mods = instr.mods;
        match self.place(operand, &mut mods, instr)? {
            Place::Memory(address) => Some(address),
            Place::Register(_) => {
                self.error(span_of(operand), reason);
                None
            }
        }
    }

    /// Resolves `[…]`. Sets the space in `mods` when the name decides it: a generic access
    /// that names a variable is an access to the variable's own space, and parameters of
    /// inlined functions live in local memory.
    pub(in crate::lower) fn place(
        &mut self,
        operand: &ast::Operand,
        mods: &mut Mods,
        instr: &Instruction,
    ) -> Option<Place> {
        let ast::Operand::Address { base, offset, span } = operand else {
            self.error(
                span_of(operand),
                format!("`{}` needs an address in brackets here", instr.text),
            );
            return None;
        };
        let offset = *offset;
        let in_device_function = self.frames.len() > 1;
        let AddressBase::Name(id) = base else {
            let base = AddrBase::Zero;
            return Some(Place::Memory(Operand::Address { base, offset }));
        };
        let found = self.resolve(id)?;
        let (space, base, start) = match found {
            Resolved::Entity(Entity::Register(reg)) => {
                let register = self.register(reg);
                if register.class == RegClass::Pred || register.ty.bytes() < 4 {
                    let message = format!("`{}` cannot hold an address", id.name);
                    let hint = "addresses are kept in registers of 32 or 64 bits";
                    self.error_hint(id.span, message, hint);
                    return None;
                }
                if mods.space == Some(Space::Param) && in_device_function {
                    mods.space = Some(Space::Local);
                }
                let base = AddrBase::Reg(reg);
                return Some(Place::Memory(Operand::Address { base, offset }));
            }
            Resolved::Entity(Entity::ParamRegister(reg, _)) => {
                if !matches!(mods.space, Some(Space::Param) | None) {
                    self.space_mismatch(instr, id, "a parameter");
                    return None;
                }
                return Some(Place::Register(reg));
            }
            Resolved::Entity(Entity::ParamMemory(at, size)) => {
                if mods.space == Some(Space::Param) {
                    mods.space = Some(Space::Local);
                }
                self.check_bounds(instr, mods, id, at, at.saturating_add(size), offset);
                (Space::Local, AddrBase::Zero, at)
            }
            Resolved::Entity(Entity::KernelParam(at)) => {
                let end = self.param_bytes;
                self.check_bounds(instr, mods, id, at, end, offset);
                (Space::Param, AddrBase::Zero, at)
            }
            Resolved::Entity(Entity::Shared(at)) => (Space::Shared, AddrBase::Zero, at),
            Resolved::Entity(Entity::Local(at)) => (Space::Local, AddrBase::Zero, at),
            Resolved::Entity(Entity::InFrame(base, at)) => {
                if mods.space == Some(Space::Param) {
                    mods.space = Some(Space::Local);
                }
                (Space::Local, AddrBase::Reg(base), at)
            }
            Resolved::Symbol(index, space) => (space, AddrBase::Symbol(index), 0),
            other => {
                let what = what_is(&other);
                self.error(*span, format!("`{}` is {what}, not an address", id.name));
                return None;
            }
        };
        match mods.space {
            None | Some(Space::Generic) => mods.space = Some(space),
            Some(asked) if asked == space => {}
            Some(_) => {
                let what = what_is(&found);
                self.space_mismatch(instr, id, what);
                return None;
            }
        }
        let offset = (start as i64).wrapping_add(offset);
        Some(Place::Memory(Operand::Address { base, offset }))
    }

    fn space_mismatch(&mut self, instr: &Instruction, id: &ast::Ident, what: &str) {
        self.error(
            id.span,
            format!(
                "`{}` cannot access `{}`, which is {what}",
                instr.text, id.name
            ),
        );
    }

    /// Parameters are small and their accesses are constant: check them here.
    fn check_bounds(
        &mut self,
        instr: &Instruction,
        mods: &Mods,
        id: &ast::Ident,
        start: u64,
        end: u64,
        offset: i64,
    ) {
        let bytes = mods.types[0].map_or(1, Type::bytes) * u32::from(mods.vector.max(1));
        let first = i128::from(start) + i128::from(offset);
        if offset < 0 || first + i128::from(bytes) > i128::from(end) {
            self.error(
                id.span,
                format!(
                    "`{}` reaches beyond parameter `{}` ({bytes} bytes at {offset}, {} there)",
                    instr.text,
                    id.name,
                    end - start
                ),
            );
        }
    }

    /// `ld`, `ldu`.
    pub(in crate::lower) fn load(&mut self, instr: &Instruction, guard: Guard) -> Option<()> {
        let [dst, address] = self.hinted_operands(instr)?;
        let mut mods = instr.mods;
        let ty = mods.types[0]?;
        let place = self.place(address, &mut mods, instr);
        let list = self.vector(dst, &mods, instr)?;
        let kind = Kind::AtLeast(ty);
        let dst: Option<Destinations> = list
            .iter()
            .map(|d| self.destination(d, kind, &instr.text))
            .collect();
        match (place?, dst?) {
            (Place::Memory(address), dst) => {
                self.emit(instr.op, mods, dst, [address].as_slice()).guard = guard;
            }
            (Place::Register(from), dst) => {
                if let Some(Operand::Reg(to)) = dst.first() {
                    self.move_out(*to, from, ty, guard);
                }
            }
        }
        Some(())
    }

    /// `st`.
    pub(in crate::lower) fn store(&mut self, instr: &Instruction, guard: Guard) -> Option<()> {
        let [address, value] = self.hinted_operands(instr)?;
        let mut mods = instr.mods;
        let ty = mods.types[0]?;
        let place = self.place(address, &mut mods, instr);
        let list = self.vector(value, &mods, instr)?;
        let values: Option<Sources> = list
            .iter()
            .map(|v| self.source(v, Kind::AtLeast(ty), &instr.text))
            .collect();
        match (place?, values?) {
            (Place::Memory(address), values) => {
                if mods.space == Some(Space::Param) {
                    self.error(instr.span, "kernel parameters cannot be written");
                    return None;
                }
                let mut src = values;
                src.insert(0, address);
                self.emit(instr.op, mods, Destinations::new(), src).guard = guard;
            }
            (Place::Register(to), values) => self.move_in(to, values[0], ty, guard),
        }
        Some(())
    }

    /// Two operands, and perhaps a cache policy behind them, which is only a hint.
    fn hinted_operands<'i>(&mut self, instr: &'i Instruction) -> Option<[&'i ast::Operand; 2]> {
        match instr.operands.as_slice() {
            [a, b] | [a, b, _] => Some([a, b]),
            _ => {
                self.wrong_count(instr, 2, 3);
                None
            }
        }
    }

    /// Elements of a vector operand, as many as the instruction says.
    pub(in crate::lower) fn vector<'o>(
        &mut self,
        operand: &'o ast::Operand,
        mods: &Mods,
        instr: &Instruction,
    ) -> Option<Cow<'o, [ast::Operand]>> {
        let list = self.elements(operand);
        let wanted = usize::from(mods.vector.max(1));
        if list.len() != wanted {
            self.error(
                span_of(operand),
                format!(
                    "`{}` moves {wanted} element{} but {} {} given",
                    instr.text,
                    if wanted == 1 { "" } else { "s" },
                    list.len(),
                    if list.len() == 1 { "is" } else { "are" }
                ),
            );
            return None;
        }
        Some(list)
    }

    /// `atom` and `red`.
    pub(in crate::lower) fn atomic(&mut self, instr: &Instruction, guard: Guard) -> Option<()> {
        let mut mods = instr.mods;
        let ty = mods.types[0]?;
        let values = if mods.atom == Some(AtomOp::Cas) { 2 } else { 1 };
        let returns = usize::from(instr.op == Op::Atom);
        if mods.vector > 1 {
            self.unsupported(
                instr.span,
                format!("`{}`: vector atomics are not supported yet", instr.text),
            );
            return None;
        }
        let wanted = returns + 1 + values;
        if instr.operands.len() != wanted && instr.operands.len() != wanted + 1 {
            self.wrong_count(instr, wanted, wanted);
            return None;
        }
        let kind = Kind::Value(ty);
        let dst = (returns == 1).then(|| self.destination(&instr.operands[0], kind, &instr.text));
        let place = self.place(&instr.operands[returns], &mut mods, instr);
        let values: Option<Vec<Operand>> = instr.operands[returns + 1..wanted]
            .iter()
            .map(|v| self.source(v, kind, &instr.text))
            .collect();
        let Place::Memory(address) = place? else {
            self.error(instr.span, "a parameter cannot be the target of an atomic");
            return None;
        };
        let mut src = vec![address];
        src.extend(values?);
        let dst = match dst {
            Some(dst) => vec![dst?],
            None => vec![],
        };
        self.emit(instr.op, mods, dst, src).guard = guard;
        Some(())
    }

    /// `prefetch`, `prefetchu`.
    pub(in crate::lower) fn prefetch(&mut self, instr: &Instruction, guard: Guard) -> Option<()> {
        let [address] = self.operands::<1>(instr)?;
        let mut mods = instr.mods;
        if let Place::Memory(address) = self.place(address, &mut mods, instr)? {
            self.emit(instr.op, mods, vec![], vec![address]).guard = guard;
        }
        Some(())
    }
}
