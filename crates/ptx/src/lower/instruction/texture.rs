//! Texture fetches, surface accesses, and what both can be asked.

use crate::ast::{self, AddressBase, Ident, Instruction};
use crate::isa::{AtomOp, Geometry, Op, Type};
use crate::kernel::{Operand, RegClass, RegId, TexBase};
use crate::lower::builder::{Builder, Resolved};
use crate::lower::operand::shape::Kind;
use crate::lower::operand::{span_of, what_is};
use crate::lower::scope::Entity;

type Guard = Option<(RegId, bool)>;

/// Whether `sured` has an operation of a type: those of `sured.b`, and of `sured.p`, where the surface says whether
/// numbers have a sign.
fn reduces(formatted: bool, op: AtomOp, ty: Type) -> bool {
    match (op, formatted) {
        (AtomOp::Add, false) => matches!(ty, Type::U32 | Type::S32 | Type::U64),
        (AtomOp::Min | AtomOp::Max, false) => {
            matches!(ty, Type::U32 | Type::S32 | Type::U64 | Type::S64)
        }
        (AtomOp::Min | AtomOp::Max, true) => matches!(ty, Type::B32 | Type::B64),
        (AtomOp::Add, true) | (AtomOp::And | AtomOp::Or, _) => ty == Type::B32,
        _ => false,
    }
}

impl Builder<'_> {
    /// The texture or surface that a name stands for.
    fn texture_named(&mut self, name: &Ident) -> Option<TexBase> {
        match self.resolve(name)? {
            Resolved::Texture(index) => Some(TexBase::Texref(index)),
            Resolved::Entity(Entity::Register(reg))
                if self.register(reg).class == RegClass::B64 =>
            {
                Some(TexBase::Handle(reg))
            }
            other => {
                let what = what_is(&other);
                self.error_hint(
                    name.span,
                    format!("`{}` is {what}, not a texture", name.name),
                    "a `.texref` or `.surfref` variable or a 64-bit register with a handle is needed",
                );
                None
            }
        }
    }

    /// `[texture, {coordinates}]`: the texture, then the coordinates.
    fn texture_and_coordinates(
        &mut self,
        operand: &ast::Operand,
        ty: Type,
        instr: &Instruction,
    ) -> Option<Vec<Operand>> {
        let ast::Operand::Texture(fetch) = operand else {
            self.error(
                span_of(operand),
                format!("`{}` needs `[texture, {{coordinates}}]` here", instr.text),
            );
            return None;
        };
        if let Some(sampler) = &fetch.sampler {
            self.unsupported(
                sampler.span,
                "separate samplers (texmode_independent) are not supported yet",
            );
        }
        let base = self.texture_named(&fetch.texture)?;
        let mut places = Vec::new();
        for coord in &fetch.coords {
            places.extend_from_slice(&self.elements(coord));
        }
        let places: Option<Vec<Operand>> = places
            .iter()
            .map(|c| self.source(c, Kind::Value(ty), &instr.text))
            .collect();
        let mut src = vec![Operand::Texture(base)];
        src.extend(places?);
        Some(src)
    }

    fn results(&mut self, operand: &ast::Operand, ty: Type, text: &str) -> Option<Vec<Operand>> {
        let list = self.elements(operand);
        list.iter()
            .map(|d| self.destination(d, Kind::AtLeast(ty), text))
            .collect()
    }

    /// `tex`, `tex.level`, `tex.grad` and `tld4`. A texture has one level, so levels and gradients
    /// are checked and change nothing.
    pub(in crate::lower) fn texture(&mut self, instr: &Instruction, guard: Guard) -> Option<()> {
        let own = match instr.op {
            Op::TexLevel => 3,
            Op::TexGrad => 4,
            _ => 2,
        };
        if instr.operands.len() > own {
            self.unsupported(
                instr.span,
                format!(
                    "`{}`: offsets and depth comparison are not supported yet",
                    instr.text
                ),
            );
            return None;
        }
        let [dst, texture, rest @ ..] = &instr.operands[..] else {
            self.wrong_count(instr, own, own);
            return None;
        };
        if matches!(dst, ast::Operand::Pair(..)) {
            self.unsupported(
                instr.span,
                format!(
                    "`{}`: residency predicates are not supported yet",
                    instr.text
                ),
            );
            return None;
        }
        let coordinate = instr.mods.types[1].unwrap_or(Type::F32);
        let mut src = self.texture_and_coordinates(texture, coordinate, instr)?;
        if instr.op == Op::Tld4 && instr.mods.geometry != Some(Geometry::D2) {
            self.unsupported(
                instr.span,
                format!("`{}`: only `.2d` is supported yet", instr.text),
            );
            return None;
        }
        // A vector of three coordinates is written as four; and there is no more to read.
        src.truncate(4);
        for extra in rest {
            for value in &*self.elements(extra) {
                self.source(value, Kind::Value(Type::F32), &instr.text)?;
            }
        }
        let dst = self.results(dst, instr.mods.types[0]?, &instr.text);
        self.emit(instr.op, instr.mods, dst?, src).guard = guard;
        Some(())
    }

    /// `suld`, `sust`, `sured`.
    pub(in crate::lower) fn surface(&mut self, instr: &Instruction, guard: Guard) -> Option<()> {
        self.surface_form(instr)?;
        let [first, second] = self.operands::<2>(instr)?;
        let ty = instr.mods.types[0]?;
        let (dst, place, values) = match instr.op {
            Op::Suld => (self.results(first, ty, &instr.text)?, second, vec![]),
            _ => {
                let list = self.vector(second, &instr.mods, instr)?;
                let values: Option<Vec<Operand>> = list
                    .iter()
                    .map(|v| self.source(v, Kind::AtLeast(ty), &instr.text))
                    .collect();
                (vec![], first, values?)
            }
        };
        let mut src = self.texture_and_coordinates(place, Type::S32, instr)?;
        let axes = match instr.mods.geometry {
            Some(Geometry::D1) => 1,
            Some(Geometry::D2 | Geometry::A1d) => 2,
            _ => 3,
        };
        if src.len() <= axes {
            self.error(
                instr.span,
                format!("`{}` needs {axes} coordinates", instr.text),
            );
            return None;
        }
        src.truncate(1 + axes);
        // Coordinates and values stand at fixed places, however many there are of the first.
        src.resize(4, Operand::Imm(0));
        src.extend(values);
        self.emit(instr.op, instr.mods, dst, src).guard = guard;
        Some(())
    }

    /// What surface accesses may be beyond what the table of instructions says.
    fn surface_form(&mut self, instr: &Instruction) -> Option<()> {
        let mods = &instr.mods;
        let ty = mods.types[0]?;
        if instr.op == Op::Suld && mods.formatted {
            let why = "formatted loads were taken back before any GPU had them; `suld.b` loads bits, and `tex` \
                       loads with a format";
            self.unsupported(instr.span, format!("`{}`: {why}", instr.text));
            return None;
        }
        let reduction = instr.op == Op::Sured;
        let bits = ty == Type::B32 || ty == Type::B64 && reduction;
        let layers = matches!(mods.geometry, Some(Geometry::A1d | Geometry::A2d));
        let wrong = match () {
            () if mods.geometry == Some(Geometry::Cube) => "has no cubes",
            () if mods.formatted && !bits => "takes bits (`.b32`): the surface has the type",
            () if reduction && layers => "has no layers",
            () if reduction && !reduces(mods.formatted, mods.atom?, ty) => {
                "has no such operation of this type"
            }
            () if u32::from(mods.vector.max(1)) * ty.bytes() > 16 => {
                "accesses more than 16 bytes at once"
            }
            () => return Some(()),
        };
        self.error(instr.span, format!("`{}` {wrong}", instr.text));
        None
    }

    /// `txq`, `suq`.
    pub(in crate::lower) fn texture_query(
        &mut self,
        instr: &Instruction,
        guard: Guard,
    ) -> Option<()> {
        let [dst, place] = self.operands::<2>(instr)?;
        let ast::Operand::Address {
            base: AddressBase::Name(name),
            ..
        } = place
        else {
            self.error(span_of(place), "the name or handle of a texture is needed");
            return None;
        };
        let base = self.texture_named(name)?;
        let dst = self.destination(dst, Kind::Value(Type::B32), &instr.text)?;
        self.emit(
            instr.op,
            instr.mods,
            vec![dst],
            vec![Operand::Texture(base)],
        )
        .guard = guard;
        Some(())
    }
}
