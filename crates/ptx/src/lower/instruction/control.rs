//! Branches and the ends of threads and functions.

use crate::ast::{self, Ident, Instruction};
use crate::isa::{Cmp, Mods, Op, Type};
use crate::kernel::{Operand, RegId};
use crate::lower::builder::{Builder, Resolved};
use crate::lower::operand::shape::Kind;
use crate::lower::operand::what_is;
use crate::lower::scope::Entity;

type Guard = Option<(RegId, bool)>;

impl Builder<'_> {
    fn label(&mut self, id: &Ident) -> Option<u32> {
        match self.resolve(id)? {
            Resolved::Entity(Entity::Label(label)) => Some(label),
            other => {
                let what = what_is(&other);
                self.error(id.span, format!("`{}` is {what}, not a label", id.name));
                None
            }
        }
    }

    /// `bra`.
    pub(in crate::lower) fn branch(&mut self, instr: &Instruction, guard: Guard) -> Option<()> {
        let [target] = self.operands::<1>(instr)?;
        let ast::Operand::Name(id) = target else {
            self.error(instr.span, "a branch needs a label");
            return None;
        };
        let label = self.label(id)?;
        self.emit_branch(label, guard);
        let last = self.code.last_mut()?;
        last.mods = instr.mods;
        Some(())
    }

    /// `brx.idx`: a chain of two-way branches, since the machine has no other. An index out of
    /// range is undefined; here it is a trap that names the index and the number of targets.
    pub(in crate::lower) fn indexed_branch(
        &mut self,
        instr: &Instruction,
        guard: Guard,
    ) -> Option<()> {
        let [index, list] = self.operands::<2>(instr)?;
        let index = self.source(index, Kind::Value(Type::U32), &instr.text);
        let ast::Operand::Name(id) = list else {
            self.error(instr.span, "`brx.idx` needs a `.branchtargets` label");
            return None;
        };
        let targets = match self.resolve(id)? {
            Resolved::Entity(Entity::Targets(targets)) => targets,
            other => {
                let what = what_is(&other);
                self.error(
                    id.span,
                    format!("`{}` is {what}, not a `.branchtargets` list", id.name),
                );
                return None;
            }
        };
        let labels: Vec<Option<u32>> = targets.iter().map(|t| self.label(t)).collect();
        let labels: Vec<u32> = labels.into_iter().collect::<Option<_>>()?;
        let index = index?;
        let skip = guard.map(|(pred, negated)| {
            let skip = self.new_label();
            self.emit_branch(skip, Some((pred, !negated)));
            skip
        });
        let mut mods = Mods {
            cmp: Some(Cmp::Eq),
            ..Mods::default()
        };
        mods.types[0] = Some(Type::U32);
        for (number, label) in labels.iter().enumerate() {
            let pred = self.new_register("%brx", Type::Pred, instr.span);
            let src = vec![index, Operand::Imm(number as u64)];
            self.emit(Op::Setp, mods, vec![Operand::Reg(pred)], src);
            self.emit_branch(*label, Some((pred, false)));
        }
        let bounds = vec![index, Operand::Imm(labels.len() as u64)];
        self.emit(Op::Trap, Mods::default(), vec![], bounds);
        if let Some(skip) = skip {
            self.place_label(skip);
        }
        Some(())
    }

    /// `ret`: leaves an inlined function for its join, or ends the thread.
    pub(in crate::lower) fn ret(&mut self, instr: &Instruction, guard: Guard) {
        match self.frames.last().and_then(|f| f.join) {
            Some(join) => self.emit_branch(join, guard),
            None => self.emit(Op::Ret, instr.mods, vec![], vec![]).guard = guard,
        }
    }
}
