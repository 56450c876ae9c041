//! One instruction: guard, operands against the shape of the opcode, emission.

pub(in crate::lower) mod asynchronous;
pub(in crate::lower) mod call;
pub(in crate::lower) mod control;
pub(in crate::lower) mod matrix;
pub(in crate::lower) mod memory;
pub(in crate::lower) mod params;
pub(in crate::lower) mod texture;
pub(in crate::lower) mod video;

use crate::ast::{self, Instruction};
use crate::isa::{Mode, Op, Space, Type};
use crate::kernel::{Destinations, Operand, RegId, Sources};
use crate::lower::builder::Builder;
use crate::lower::operand::shape::{Kind, shape_of};
use crate::lower::operand::span_of;
use smallvec::{Array, SmallVec};

type Guard = Option<(RegId, bool)>;

impl<'a> Builder<'a> {
    /// Lowers one instruction. Mistakes are recorded; the rest of the kernel is still
    /// looked at, so that all of them are found.
    pub(in crate::lower) fn instruction(&mut self, instr: &'a Instruction) {
        self.line = instr.span.line;
        // A bad guard is reported; the operands are still worth checking.
        let guard = instr.guard.as_ref().and_then(|guard| {
            let reg = self.predicate(&guard.pred)?;
            Some((reg, guard.negated))
        });
        // Every failure has been reported where it was found.
        let _: Option<()> = match instr.op {
            Op::Ld | Op::Ldu => self.load(instr, guard),
            Op::St => self.store(instr, guard),
            Op::Atom | Op::Red => self.atomic(instr, guard),
            Op::Prefetch | Op::Prefetchu => self.prefetch(instr, guard),
            Op::Tex | Op::TexLevel | Op::TexGrad | Op::Tld4 => self.texture(instr, guard),
            Op::Suld | Op::Sust | Op::Sured => self.surface(instr, guard),
            Op::Txq | Op::Suq => self.texture_query(instr, guard),
            op if op.is_video() => self.video(instr, guard),
            op if op.is_asynchronous() => self.asynchronous(instr, guard),
            op if op.is_matrix() => self.matrix(instr, guard),
            Op::Mov => self.mov(instr, guard),
            Op::Bra => self.branch(instr, guard),
            Op::Brx => self.indexed_branch(instr, guard),
            Op::Call => self.call(instr, guard),
            Op::Ret => {
                self.ret(instr, guard);
                Some(())
            }
            Op::Bar | Op::Barrier if instr.mods.mode == Some(Mode::Red) => {
                self.barrier_reduction(instr, guard)
            }
            _ => self.regular(instr, guard),
        };
    }

    /// Exactly `N` operands, or a report.
    pub(in crate::lower) fn operands<'i, const N: usize>(
        &mut self,
        instr: &'i Instruction,
    ) -> Option<[&'i ast::Operand; N]> {
        let found = <&[ast::Operand; N]>::try_from(&instr.operands[..]).ok();
        if found.is_none() {
            self.wrong_count(instr, N, N);
        }
        found.map(<[ast::Operand; N]>::each_ref)
    }

    /// Of an instruction with several shapes, none has as many operands as were written.
    fn wrong_number_of_operands(&mut self, instr: &Instruction) {
        let message = format!(
            "`{}` has the wrong number of operands: {}",
            instr.text,
            instr.operands.len()
        );
        self.error(instr.span, message);
    }

    /// Reports a wrong number of operands.
    pub(in crate::lower) fn wrong_count(&mut self, instr: &Instruction, least: usize, most: usize) {
        let wanted = if least == most {
            format!("{least}")
        } else {
            format!("{least} to {most}")
        };
        self.error(
            instr.span,
            format!(
                "`{}` takes {wanted} operand{}, not {}",
                instr.text,
                if most == 1 { "" } else { "s" },
                instr.operands.len()
            ),
        );
    }

    /// An instruction that the shape table describes.
    fn regular(&mut self, instr: &Instruction, guard: Guard) -> Option<()> {
        let tiny = |ty: &Type| matches!(ty, Type::E4m3 | Type::E5m2 | Type::E4m3x2 | Type::E5m2x2);
        let known = !instr.mods.types.iter().flatten().any(tiny);
        let Some(shape) = shape_of(instr.op, &instr.mods).filter(|_| known) else {
            self.unsupported(instr.span, format!("`{}` is not supported yet", instr.text));
            return None;
        };
        let has_dst = usize::from(!shape.dst.is_empty());
        let most = has_dst + shape.src.len();
        let least = most - shape.src_optional;
        if !(least..=most).contains(&instr.operands.len()) {
            self.wrong_count(instr, least, most);
            return None;
        }
        let (dst, src) = instr.operands.split_at(has_dst);
        let dst = match dst.first() {
            Some(dst) => self.destinations(dst, &shape.dst, shape.dst_optional, instr),
            None => Some(Destinations::new()),
        };
        let src: Option<Sources> = all(src.len(), |n| {
            self.source(&src[n], shape.src[n], &instr.text)
        });
        let mut mods = instr.mods;
        // Parameters of inlined functions live in local memory, and so do their addresses.
        let address = matches!(instr.op, Op::Cvta | Op::Isspacep);
        if address && mods.space == Some(Space::Param) && self.frames.len() > 1 {
            mods.space = Some(Space::Local);
        }
        self.emit(instr.op, mods, dst?, src?).guard = guard;
        Some(())
    }

    /// `d` or `d|p`.
    fn destinations(
        &mut self,
        operand: &ast::Operand,
        kinds: &[Kind],
        optional: usize,
        instr: &Instruction,
    ) -> Option<Destinations> {
        let pair: [&ast::Operand; 2];
        let list = match operand {
            ast::Operand::Pair(a, b) => {
                pair = [a, b];
                &pair[..]
            }
            single => &[single],
        };
        if list.len() > kinds.len() || list.len() < kinds.len() - optional {
            self.error(
                span_of(operand),
                format!(
                    "`{}` writes {} here",
                    instr.text,
                    match kinds.len() {
                        1 => "one register, not a pair",
                        _ => "a pair `d|p`",
                    }
                ),
            );
            return None;
        }
        all(list.len(), |n| {
            self.destination(list[n], kinds[n], &instr.text)
        })
    }

    /// `bar.red`: the count in the middle may be missing.
    fn barrier_reduction(&mut self, instr: &Instruction, guard: Guard) -> Option<()> {
        if !(3..=4).contains(&instr.operands.len()) {
            self.wrong_count(instr, 3, 4);
            return None;
        }
        let kind = match instr.mods.types[0] {
            Some(Type::Pred) | None => Kind::Pred,
            Some(ty) => Kind::Value(ty),
        };
        let dst = self.destination(&instr.operands[0], kind, &instr.text);
        let (pred, numbers) = instr.operands[1..].split_last()?;
        let mut src = Vec::new();
        for number in numbers {
            src.push(self.source(number, Kind::Value(Type::U32), &instr.text));
        }
        src.push(self.source(pred, Kind::Pred, &instr.text));
        let src: Option<Vec<Operand>> = src.into_iter().collect();
        self.emit(instr.op, instr.mods, vec![dst?], src?).guard = guard;
        Some(())
    }

    /// `mov`: plain, of an address, packing and unpacking vectors.
    fn mov(&mut self, instr: &'a Instruction, guard: Guard) -> Option<()> {
        let [dst, src] = self.operands::<2>(instr)?;
        let ty = instr.mods.types[0]?;
        let whole = if ty == Type::Pred {
            Kind::Pred
        } else {
            Kind::Value(ty)
        };
        let to = self.elements(dst);
        let from = self.elements(src);
        let several = to.len().max(from.len());
        // `mov.v4` copies vector registers component by component.
        let copies = to.len() == from.len() && several > 1;
        if !copies && to.len() > 1 && from.len() > 1 {
            self.error(
                instr.span,
                format!(
                    "`{}` has {} and {} elements",
                    instr.text,
                    to.len(),
                    from.len()
                ),
            );
            return None;
        }
        if copies {
            let mut mods = instr.mods;
            mods.vector = 0;
            for (to, from) in to.iter().zip(&*from) {
                let dst = self.destination(to, whole, &instr.text);
                let src = self.source(from, whole, &instr.text);
                self.emit(Op::Mov, mods, vec![dst?], vec![src?]).guard = guard;
            }
            return Some(());
        }
        let part = if several == 1 {
            Some(whole)
        } else {
            part_of(ty, several)
        };
        let Some(part) = part else {
            self.error(
                instr.span,
                format!("`{}` cannot be split into {several} parts", instr.text),
            );
            return None;
        };
        let kind_in = |list: &[ast::Operand]| if list.len() > 1 { part } else { whole };
        let dst: Option<Destinations> = all(to.len(), |n| {
            self.destination(&to[n], kind_in(&to), &instr.text)
        });
        let src: Option<Sources> = all(from.len(), |n| {
            self.source(&from[n], kind_in(&from), &instr.text)
        });
        self.emit(instr.op, instr.mods, dst?, src?).guard = guard;
        Some(())
    }
}

/// What `each` makes of every number below `count`, if it makes something of all of them. It is asked
/// for all, so that all mistakes are found.
fn all<A: Array<Item = Operand>>(
    count: usize,
    mut each: impl FnMut(usize) -> Option<Operand>,
) -> Option<SmallVec<A>> {
    let mut found = SmallVec::new();
    for number in 0..count {
        if let Some(operand) = each(number) {
            found.push(operand);
        }
    }
    (found.len() == count).then_some(found)
}

/// The type of one of `parts` parts of a `ty`. Bytes have no registers of their own size in
/// most code, so wider registers will do for them.
fn part_of(ty: Type, parts: usize) -> Option<Kind> {
    match (ty.bytes() as usize / parts, ty.bytes() as usize % parts) {
        (4, 0) => Some(Kind::Value(Type::B32)),
        (2, 0) => Some(Kind::Value(Type::B16)),
        (1, 0) => Some(Kind::AtLeast(Type::B8)),
        _ => None,
    }
}
